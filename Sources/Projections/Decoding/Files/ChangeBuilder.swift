public import EventLog

/// Takes the changes that an `EventDecoder` reads out of one event. Ids are texts, as the remote writes them.
///
/// Its rules are those of decoder files (docs/decoders.md): a version that is older than the known one changes nothing, what
/// was deleted for ever does not come back, and a snapshot removes what it does not state. A change that lacks its ids is an
/// issue, and the others count. Each call costs O(its values); `snapshot` O(the set), at the end of the event. It cannot be copied,
/// because it is of no use once the event is read.
public struct ChangeBuilder: ~Copyable {
    var run: DecoderRun

    /// A set of things that the remote also states as a whole, such as the messages of a page.
    public struct ThingSet: Hashable, Sendable {
        /// The set's name, and what divides it, such as a channel.
        public let name, scope: String

        /// Names a set.
        public init(_ name: String, scope: String = "") {
            (self.name, self.scope) = (name, scope)
        }
    }

    // MARK: - What earlier events said

    /// Whether an earlier event of the source had this key, by which the remote repeats itself. Notes the key: the last 100,000
    /// of a source count. A compaction keeps what is noted.
    public mutating func isRepeat(_ key: String) -> Bool {
        run.decoder.isRepeat(key: key, run.context.event.sequence.rawValue, keeping: DecoderSeenKeys.countDefault)
    }

    /// What an earlier event of the source has remembered under a key; `nil` for nothing.
    public func remembered(_ key: String) -> String? { run.decoder.kept.read(key, of: .source) }

    /// Remembers a text for later events of the source; `nil` forgets it. A compaction keeps every event that remembers or
    /// forgets something, so only what other events must know belongs here.
    public mutating func remember(_ text: String?, as key: String) {
        run.decoder.kept.keep(text, as: key, of: .source, at: run.context.event.sequence.rawValue)
    }

    /// Records an issue at this event: what cannot be read and why; lower case, without a full stop, a secret or a
    /// message's text. After 16 issues of one event the others are counted.
    public mutating func issue(_ reason: String) { run.issue(reason, nil) }

    // MARK: - Sets

    /// This event states the whole set: what the set held and this event does not state is gone.
    public mutating func snapshot(of set: ThingSet) {
        var effect = EffectText(.snapshot, .message)
        effect.set = set
        apply(effect)
    }

    // MARK: - Channels, users, sessions

    /// States a channel until `replaceChannel` has stated it.
    public mutating func makeChannel(_ id: String, name: String? = nil, kind: String? = nil, in set: ThingSet? = nil) {
        channel(.make, id, name, kind, nil, nil, set)
    }

    /// States a channel whole. A version older than the known one changes nothing.
    public mutating func replaceChannel(
        _ id: String,
        name: String? = nil,
        kind: String? = nil,
        topic: String? = nil,
        version: Timestamp? = nil,
        in set: ThingSet? = nil
    ) {
        channel(.replace, id, name, kind, topic, version, set)
    }

    /// States some members of a channel; the others stay. A channel that is gone stays gone. A version older than the known one
    /// changes nothing.
    ///
    /// - Parameter cleared: the members `name`, `kind` and `topic` that have no value any more.
    public mutating func patchChannel(
        _ id: String,
        name: String? = nil,
        kind: String? = nil,
        topic: String? = nil,
        version: Timestamp? = nil,
        cleared: Set<String> = []
    ) {
        channel(.patch, id, name, kind, topic, version, nil, cleared: cleared)
    }

    /// The channel is gone, and its messages with it; for ever, or until it is stated again.
    public mutating func deleteChannel(_ id: String, isForEver: Bool = false, in set: ThingSet? = nil) {
        var effect = EffectText(.delete, .channel)
        effect.ids = ["id": .text(id)]
        (effect.isForEver, effect.set) = (isForEver, set)
        apply(effect)
    }

    private mutating func channel(
        _ operation: DecoderEffect.Operation,
        _ id: String,
        _ name: String?,
        _ kind: String?,
        _ topic: String?,
        _ version: Timestamp?,
        _ set: ThingSet?,
        cleared: Set<String> = []
    ) {
        var effect = EffectText(operation, .channel)
        effect.ids = ["id": .text(id)]
        effect.state("name", name)
        effect.state("kind", kind)
        effect.state("topic", topic)
        effect.state("version", version)
        for member in cleared { effect.state(member, json: .null) }
        effect.set = set
        apply(effect)
    }

    /// States a user's name in a scope until `replaceUser` has stated it.
    public mutating func makeUser(_ id: String, name: String?, scope: String? = nil, in set: ThingSet? = nil) {
        user(.make, id, name, scope, nil, set)
    }

    /// States a user's name in a scope, such as a channel; without one for the whole source. A version older than the known one
    /// changes nothing.
    public mutating func replaceUser(
        _ id: String,
        name: String?,
        scope: String? = nil,
        version: Timestamp? = nil,
        in set: ThingSet? = nil
    ) {
        user(.replace, id, name, scope, version, set)
    }

    private mutating func user(
        _ operation: DecoderEffect.Operation,
        _ id: String,
        _ name: String?,
        _ scope: String?,
        _ version: Timestamp?,
        _ set: ThingSet?
    ) {
        var effect = EffectText(operation, .user)
        effect.ids = ["id": .text(id)]
        if let scope { effect.ids["scope"] = .text(scope) }
        effect.state("name", name)
        effect.state("version", version)
        effect.set = set
        apply(effect)
    }

    /// The user is gone from the scope.
    public mutating func deleteUser(_ id: String, scope: String? = nil, in set: ThingSet? = nil) {
        var effect = EffectText(.delete, .user)
        effect.ids = ["id": .text(id)]
        if let scope { effect.ids["scope"] = .text(scope) }
        effect.set = set
        apply(effect)
    }

    /// States a session's status: `working`, `idle`, `needs_input` or `not_running`.
    ///
    /// - Parameter time: when the remote observed it; the time of receipt if it does not say.
    public mutating func replaceSession(
        _ id: String,
        status: String,
        project: String? = nil,
        device: String? = nil,
        time: Timestamp? = nil
    ) {
        var effect = EffectText(.replace, .session)
        effect.ids = ["id": .text(id)]
        effect.state("status", status)
        effect.state("project", project)
        effect.state("device", device)
        effect.state("timestamp", time)
        apply(effect)
    }

    /// The session is gone.
    public mutating func deleteSession(_ id: String) {
        var effect = EffectText(.delete, .session)
        effect.ids = ["id": .text(id)]
        apply(effect)
    }

    /// A user types in a channel, for the eight seconds from the time of receipt.
    public mutating func typing(_ user: String, in channel: String) {
        var effect = EffectText(.replace, .typing)
        effect.ids = ["user": .text(user), "channel": .text(channel)]
        apply(effect)
    }

    /// A user types in a channel no more.
    public mutating func endTyping(_ user: String, in channel: String) {
        var effect = EffectText(.delete, .typing)
        effect.ids = ["user": .text(user), "channel": .text(channel)]
        apply(effect)
    }

    /// States a user's status, such as `online`.
    public mutating func presence(_ user: String, status: String) {
        var effect = EffectText(.replace, .presence)
        effect.ids = ["user": .text(user)]
        effect.state("status", status)
        apply(effect)
    }

    mutating func apply(_ effect: EffectText) { effect.apply(to: &run) }
}
