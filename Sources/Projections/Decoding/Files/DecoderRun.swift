import EventLog

/// One event as a rule of a decoder file turns it into changes.
struct DecoderRun {
    private var decoder: FileDecoder
    private var changes: [Change]
    private var context: FoldContext
    /// The things of sets that this event has stated.
    private var stated: [FileDecoder.SetName: Set<FileDecoder.Member>] = [:]
    /// The sets that this event states as a whole, in the order of the rule's steps.
    private var snapshots: [FileDecoder.SetName] = []
    /// The same, to find one.
    private var known: Set<FileDecoder.SetName> = []
    /// How many issues were left out.
    private var silentCount = 0
    /// The most issues of one event: a bad list would otherwise have one for each element.
    private static let issuesMax = 16

    /// Carries out a rule for an event. The decoder, the changes and the context are lent for that time, since a copy of
    /// either would be made whole when it changes.
    static func carryOut(
        _ rule: DecoderStep,
        _ scope: inout DecoderScope,
        _ decoder: inout FileDecoder,
        _ changes: inout [Change],
        _ context: inout FoldContext
    ) {
        var run = DecoderRun(
            decoder: FileDecoder(),
            changes: [],
            context: FoldContext(names: Names(), event: context.event)
        )
        run.lend(&decoder, &changes, &context)
        run.carryOut(rule, &scope, isRule: true)
        run.finish()
        run.lend(&decoder, &changes, &context)
    }

    private mutating func lend(
        _ decoder: inout FileDecoder,
        _ changes: inout [Change],
        _ context: inout FoldContext
    ) {
        swap(&self.decoder, &decoder)
        swap(&self.changes, &changes)
        swap(&self.context, &context)
    }

    private init(decoder: FileDecoder, changes: [Change], context: FoldContext) {
        (self.decoder, self.changes, self.context) = (decoder, changes, context)
    }

    // MARK: - Steps

    /// Carries out a step for each element of its lists that fits, or once. The tests of a rule have chosen the event, so
    /// they are not asked again.
    private mutating func carryOut(_ step: DecoderStep, _ scope: inout DecoderScope, isRule: Bool) {
        if step.each.isEmpty { return carryOutOnce(step, &scope, isRule: isRule) }
        for place in step.each {
            switch scope.value(.place(place)) {
            case .array(let elements)?:
                for element in elements {
                    scope.entering(element, isLoop: true) { carryOutOnce(step, &$0, isRule: isRule) }
                }
            case .object(let object)?:
                for member in object.members {
                    scope.entering(member.value, key: member.name, isLoop: true) {
                        carryOutOnce(step, &$0, isRule: isRule)
                    }
                }
            default: break
            }
        }
    }

    private mutating func carryOutOnce(_ step: DecoderStep, _ scope: inout DecoderScope, isRule: Bool) {
        Steps.count(1)
        guard isRule || scope.fits(step.when) else { return }
        for inner in step.steps { carryOut(inner, &scope, isRule: false) }
        guard let effect = step.effect else { return }
        guard let from = step.from else { return apply(effect, scope, scope, step.line) }
        guard let value = scope.value(from), value != .null else {
            return issue("there is no value at from", step.line)
        }
        let outer = scope
        scope.entering(value, isLoop: false) { apply(effect, $0, outer, step.line) }
    }

    private mutating func issue(_ reason: String, _ line: Int) {
        guard context.reasons.count < Self.issuesMax else { return silentCount += 1 }
        context.issue("decoder \(decoder.file?.name ?? ""), line \(line): \(reason)")
    }

    // MARK: - Effects

    /// - Parameters:
    ///   - inner: where the members of the shape are.
    ///   - outer: where the ids of `at` and the members of `with` are.
    private mutating func apply(
        _ effect: DecoderEffect,
        _ inner: DecoderScope,
        _ outer: DecoderScope,
        _ line: Int
    ) {
        if effect.operation == .snapshot {
            if let name = setName(effect, outer), known.insert(name).inserted { snapshots.append(name) }
            return
        }
        let reader = EffectReader(effect: effect, inner: inner, outer: outer)
        switch effect.subject {
        case .message: message(reader, line)
        case .channel: channel(reader, line)
        case .user: user(reader, line)
        case .reaction: reaction(reader, line)
        case .event: retract(reader, line)
        case .item: item(reader, line)
        case .session: session(reader, line)
        case .typing:
            guard let channel = id("channel", reader, line), let user = id("user", reader, line) else { return }
            changes.append(.community(.typing(channel: channel, user: user)))
        case .presence:
            guard let user = id("user", reader, line) else { return }
            guard let status = reader.text("status").known else { return issue("the presence has no status", line) }
            changes.append(.community(.presence(user: user, status: status)))
        }
    }

    private func setName(_ effect: DecoderEffect, _ scope: DecoderScope) -> FileDecoder.SetName? {
        guard let set = effect.set else { return nil }
        let scopeText = set.scope.map { scope.value($0)?.writtenText ?? "" } ?? ""
        return FileDecoder.SetName(name: ExactText(set.name), scope: ExactText(scopeText))
    }

    /// The handle of an id; `nil`, with an issue, if it is no text or number.
    private mutating func id(_ name: String, _ reader: EffectReader, _ line: Int) -> EntityID? {
        guard let text = reader.id(name), !text.isEmpty else {
            issue("the \(reader.effect.subject.rawValue) has no \(name)", line)
            return nil
        }
        return context.names.id(text)
    }

    /// Notes that a thing of a set was stated, or is gone.
    private mutating func note(_ effect: DecoderEffect, _ scope: DecoderScope, _ first: EntityID, _ second: EntityID) {
        guard let name = setName(effect, scope) else { return }
        let member = FileDecoder.Member(subject: effect.subject.number, first: first, second: second)
        if effect.operation == .delete {
            decoder.sets[name]?[member] = nil
        } else {
            decoder.sets[name, default: [:]][member] = context.event.sequence.rawValue
            stated[name, default: []].insert(member)
        }
    }

    private mutating func message(_ reader: EffectReader, _ line: Int) {
        guard let channel = id("channel", reader, line), let id = id("id", reader, line) else { return }
        let effect = reader.effect
        let key = MessageKey(channel: channel, id: id)
        if effect.operation == .delete, let text = reader.own {
            let own = context.names.id(text)
            if decoder.relations.hasSeen(own) { return }
            decoder.relations.note(.nothing, by: own, at: context.event.sequence.rawValue)
        }
        note(effect, reader.outer, channel, id)
        guard effect.operation != .delete else {
            let permanence: Permanence = effect.isForEver ? .forever : .untilWritten
            return changes.append(
                .message(.deleted(MessageDeletion(key: key, permanence: permanence, isOfChannel: true)))
            )
        }
        let said = StatedMessage(reader, &context.names)
        if let fault = said.fault { return issue("the message's \(fault) has another type", line) }
        let isWhole = effect.needs.allSatisfy { said.has($0) }
        if effect.operation == .edit { return edit(said, key, reader, line) }
        guard isWhole || effect.operation == .patch else {
            let lacking = effect.needs.first { !said.has($0) } ?? ""
            return issue("the message has no \(lacking)", line)
        }
        let own = reader.own.map { context.names.id($0) }
        if let own {
            if decoder.relations.knows(own) { return }
            let author = said.author.known.map { context.names.id($0) }
            decoder.relations.note(.message(key, author: author), by: own, at: context.event.sequence.rawValue)
        }
        var write = said.write(key, decoder.file?.order ?? .byID)
        switch effect.operation {
        case .make: write.meeting = .adds
        case .patch: write.meeting = .patches(said.members(changing: effect.changes), makes: isWhole)
        default: write.meeting = .replaces
        }
        changes.append(.message(.written(write)))
        if let reactions = effect.reactions {
            changes.append(.message(.reactions(key, self.reactions(reactions, reader))))
        }
        if let own { release(own, key) }
    }

    // MARK: - Relations

    /// Carries out an edit, or keeps it until its message comes. Only the message's author edits it.
    private mutating func edit(_ said: StatedMessage, _ key: MessageKey, _ reader: EffectReader, _ line: Int) {
        guard let text = reader.own else { return issue("the edit has no id of its own", line) }
        guard let version = said.version.known else { return issue("the edit has no version", line) }
        let (own, sequence) = (context.names.id(text), context.event.sequence.rawValue)
        if decoder.relations.knows(own) { return }
        decoder.relations.note(.edit(key, version: version), by: own, at: sequence)
        var write = said.write(key, decoder.file?.order ?? .byID)
        write.meeting = .patches(said.members(changing: reader.effect.changes), makes: false)
        let author = said.author.known.map { context.names.id($0) }
        guard case .message(let target, let known)? = decoder.relations.deed(of: key.id) else {
            return decoder.relations.wait(.edit(write, author: author), by: own, for: key.id, at: sequence)
        }
        if target == key, known == author { changes.append(.message(.written(write))) }
    }

    /// Carries out what waits for a message that has come.
    private mutating func release(_ own: EntityID, _ key: MessageKey) {
        guard case .message(_, let author)? = decoder.relations.deed(of: own) else { return }
        for waiting in decoder.relations.takeWaiting(for: own) {
            switch waiting {
            case .edit(let write, let editor):
                if write.key == key, editor == author { changes.append(.message(.written(write))) }
            case .reaction(let emoji, let user):
                changes.append(.message(.reactions(key, .set(.init(emoji: emoji, user: user), isPresent: true))))
            }
        }
    }

    /// Takes back what an event did.
    private mutating func retract(_ reader: EffectReader, _ line: Int) {
        guard let id = id("id", reader, line) else { return }
        switch decoder.relations.retract(id, at: context.event.sequence.rawValue) {
        case .message(let key, _)?:
            changes.append(.message(.deleted(MessageDeletion(key: key, permanence: .forever, isOfChannel: true))))
        case .edit(let key, let version)?:
            changes.append(.message(.withdrawn(key, version: version)))
        case .reaction(let key, let emoji, let user)?:
            changes.append(.message(.reactions(key, .set(.init(emoji: emoji, user: user), isPresent: false))))
        case .nothing?, .refused?, nil: break
        }
    }

    /// The reactions that a message states as a whole.
    private mutating func reactions(_ reactions: DecoderReactions, _ reader: EffectReader) -> ReactionChange {
        var found: [ReactionChange.Reaction] = []
        var scope = reader.inner
        let list = scope.value(.place(reactions.each))
        let entries: [(key: String?, value: JSONValue)] =
            switch list {
            case .array(let elements)?: elements.map { (nil, $0) }
            case .object(let object)?: object.members.map { ($0.name, $0.value) }
            default: []
            }
        for entry in entries {
            scope.entering(entry.value, key: entry.key, isLoop: true) { scope in
                guard let emoji = scope.value(reactions.emoji)?.writtenText else { return }
                for user in scope.value(reactions.users)?.array ?? [] {
                    guard let text = user.writtenText else { continue }
                    found.append(ReactionChange.Reaction(emoji: emoji, user: context.names.id(text)))
                }
            }
        }
        return .stand(found)
    }

    private mutating func channel(_ reader: EffectReader, _ line: Int) {
        guard let id = id("id", reader, line) else { return }
        let effect = reader.effect
        if effect.operation == .make, decoder.stated.contains(id) { return }
        if effect.operation == .replace { decoder.stated.insert(id) }
        note(effect, reader.outer, id, .none)
        if effect.operation == .delete {
            let permanence: Permanence = effect.isForEver ? .forever : .untilWritten
            return changes.append(.channel(.deleted(id, cause: .channelDeleted, permanence: permanence)))
        }
        var details = ChannelFields.Details()
        details.topic = reader.text("topic").known
        changes.append(
            .channel(
                .stated(
                    ChannelFields(
                        id: id,
                        name: reader.text("name").known,
                        kind: reader.text("kind").known,
                        guild: reader.id("guild").map { context.names.id($0) },
                        details: details
                    )
                )
            )
        )
    }

    private mutating func user(_ reader: EffectReader, _ line: Int) {
        guard let id = id("id", reader, line) else { return }
        // Users of the whole source have the source's scope, whose name is empty in no remote.
        let scope = context.names.id(reader.id("scope") ?? DecoderRun.wholeScope)
        note(reader.effect, reader.outer, scope, id)
        guard reader.effect.operation != .delete else {
            return changes.append(.community(.memberRemoved(guild: scope, user: id)))
        }
        changes.append(
            .community(.memberStated(guild: scope, user: id, nickname: reader.text("name").known, roles: []))
        )
    }

    /// The scope of users that are known to the whole source.
    static let wholeScope = "everyone"

    private mutating func reaction(_ reader: EffectReader, _ line: Int) {
        guard let channel = id("channel", reader, line), let message = id("id", reader, line) else { return }
        let key = MessageKey(channel: channel, id: message)
        if reader.effect.operation == .clear {
            return changes.append(.message(.reactions(key, .cleared(emoji: reader.id("emoji")))))
        }
        guard let user = id("user", reader, line) else { return }
        guard let emoji = reader.id("emoji") else { return issue("the reaction has no emoji", line) }
        if let text = reader.own {
            let (own, sequence) = (context.names.id(text), context.event.sequence.rawValue)
            if decoder.relations.knows(own) { return }
            decoder.relations.note(.reaction(key, emoji: emoji, user: user), by: own, at: sequence)
            guard case .message? = decoder.relations.deed(of: message) else {
                return decoder.relations.wait(.reaction(emoji: emoji, user: user), by: own, for: message, at: sequence)
            }
        }
        let isPresent = reader.effect.operation == .add
        changes.append(.message(.reactions(key, .set(.init(emoji: emoji, user: user), isPresent: isPresent))))
    }

    private mutating func item(_ reader: EffectReader, _ line: Int) {
        guard let list = id("list", reader, line), let id = id("id", reader, line) else { return }
        let effect = reader.effect
        let version = reader.time("version")
        if case .fault = version { return issue("the item's version is no time", line) }
        let known = decoder.items[id]
        if let known, known.sequence < context.event.sequence.rawValue {
            // Deleted for ever, or an older version.
            if known.isGone { return }
            if let older = known.version, let newer = version.known, newer < older { return }
        }
        // An item may move to another list and is the same thing of its set.
        note(effect, reader.outer, id, .none)
        if let known, known.list != list || effect.operation == .delete {
            changes.append(.item(.removed(list: known.list, id: id)))
        }
        decoder.items[id] = FileDecoder.ItemMemory(
            list: list,
            version: version.known ?? known?.version,
            isGone: effect.operation == .delete && effect.isForEver,
            sequence: context.event.sequence.rawValue
        )
        if effect.operation == .delete { return }
        let members = effect.subject.members.filter { !["text", "done", "status", "created", "version"].contains($0) }
        var extra: [JSONObject.Member] = []
        for name in members {
            guard let value = reader.value(name), value != .null else { continue }
            extra.append(JSONObject.Member(name: name, value: value))
        }
        let done = reader.value("done")
        changes.append(
            .item(
                .stated(
                    list: list,
                    item: ItemFields(
                        id: id,
                        text: reader.text("text").known,
                        done: done?.bool ?? (done?.writtenText == "1"),
                        status: reader.text("status").known,
                        created: reader.text("created").known,
                        extra: JSONObject(members: extra)
                    )
                )
            )
        )
    }

    private mutating func session(_ reader: EffectReader, _ line: Int) {
        guard let id = id("id", reader, line) else { return }
        guard reader.effect.operation != .delete else { return changes.append(.session(.removed(id))) }
        guard let status = reader.text("status").known, StatusText.states.contains(status) else {
            return issue("the session's status is none of working, idle, needs_input, not_running", line)
        }
        let time = reader.time("timestamp").known
        changes.append(
            .session(
                .observed(
                    SessionFields(
                        id: id,
                        project: reader.text("project").known ?? "Unknown",
                        status: status,
                        timestamp: time?.description,
                        instant: time ?? context.event.recordedAt,
                        device: reader.text("device").known
                    )
                )
            )
        )
    }

    // MARK: - Snapshots

    /// Removes what the sets held that this event states as a whole, and did not state.
    private mutating func finish() {
        if silentCount > 0 {
            context.issue("decoder \(decoder.file?.name ?? ""): \(silentCount) more issues of the event are left out")
        }
        for name in snapshots {
            let here = stated[name] ?? []
            Steps.count(decoder.sets[name]?.count ?? 0)
            let gone = (decoder.sets[name] ?? [:]).keys.filter { !here.contains($0) }.sorted { left, right in
                left.first == right.first
                    ? context.names.precedes(left.second, right.second)
                    : context.names.precedes(left.first, right.first)
            }
            for member in gone {
                decoder.sets[name]?[member] = nil
                changes.append(contentsOf: removal(of: member))
            }
        }
    }

    private mutating func removal(of member: FileDecoder.Member) -> [Change] {
        switch DecoderEffect.Subject(number: member.subject) {
        case .message?:
            let key = MessageKey(channel: member.first, id: member.second)
            let deletion = MessageDeletion(key: key, cause: .leftOut, permanence: .untilWritten, isOfChannel: true)
            return [.message(.deleted(deletion))]
        case .channel?:
            return [.channel(.deleted(member.first, cause: .leftOut, permanence: .untilWritten))]
        case .user?: return [.community(.memberRemoved(guild: member.first, user: member.second))]
        case .item?:
            guard let item = decoder.items.removeValue(forKey: member.first) else { return [] }
            return [.item(.removed(list: item.list, id: member.first))]
        case .session?, .reaction?, .typing?, .presence?, .event?, nil: return []
        }
    }
}

extension DecoderEffect.Subject {
    /// The subject's place in the list of all, for memories.
    fileprivate var number: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }

    fileprivate init?(number: UInt8) {
        guard Int(number) < Self.allCases.count else { return nil }
        self = Self.allCases[Int(number)]
    }
}

// MARK: - Reading

/// Reads the ids and members of one effect.
private struct EffectReader {
    let effect: DecoderEffect
    let inner: DecoderScope
    let outer: DecoderScope

    /// An id, from `at` or the shape; `nil` if it is no text or number.
    func id(_ name: String) -> String? {
        if let value = effect.ids[name] { return outer.value(value)?.writtenText }
        return effect.members[name].flatMap { inner.value($0)?.writtenText }
    }

    /// The id of the event itself.
    var own: String? { effect.own.flatMap { inner.value($0)?.writtenText } }

    func value(_ name: String) -> JSONValue? {
        if let value = effect.outerMembers[name] { return outer.value(value) }
        return effect.members[name].flatMap { inner.value($0) }
    }

    func text(_ name: String, keepsEmpty: Bool = false) -> DecoderScope.Stated<String> {
        if let value = effect.outerMembers[name] { return outer.text(value, keepsEmpty: keepsEmpty) }
        return inner.text(effect.members[name], keepsEmpty: keepsEmpty)
    }

    func time(_ name: String) -> DecoderScope.Stated<Timestamp> {
        if let value = effect.outerMembers[name] { return outer.time(value) }
        return inner.time(effect.members[name])
    }

    func list(_ name: String) -> DecoderScope.Stated<[JSONValue]> {
        if let value = effect.outerMembers[name] { return outer.stated(value) { $0.array } }
        return inner.stated(effect.members[name]) { $0.array }
    }
}

/// What an event says of a message.
private struct StatedMessage {
    let author: DecoderScope.Stated<String>
    let version: DecoderScope.Stated<Timestamp>
    private let authorName, content, replyTo: DecoderScope.Stated<String>
    private let createdAt, editedAt: DecoderScope.Stated<Timestamp>
    private let tags, attachments: DecoderScope.Stated<[JSONValue]>
    private let parent: EntityID?
    /// The first member that has another type; `nil` if all can be read.
    let fault: String?

    init(_ reader: EffectReader, _ names: inout Names) {
        (author, authorName) = (reader.text("author"), reader.text("authorName"))
        (content, replyTo) = (reader.text("content", keepsEmpty: true), reader.text("replyTo"))
        (createdAt, editedAt) = (reader.time("createdAt"), reader.time("editedAt"))
        version = reader.time("version")
        (tags, attachments) = (reader.list("tags"), reader.list("attachments"))
        parent = replyTo.known.map { names.id($0) }
        let faults = [
            ("author", author.isFault), ("authorName", authorName.isFault), ("content", content.isFault),
            ("replyTo", replyTo.isFault), ("createdAt", createdAt.isFault), ("editedAt", editedAt.isFault),
            ("version", version.isFault), ("tags", tags.isFault), ("attachments", attachments.isFault),
        ]
        fault = faults.first { $0.1 }?.0
    }

    /// Whether a member has a value.
    func has(_ name: String) -> Bool {
        switch name {
        case "author": author.known != nil
        case "authorName": authorName.known != nil
        case "content": content.known != nil
        case "replyTo": parent != nil
        case "createdAt": createdAt.known != nil
        case "editedAt": editedAt.known != nil
        case "version": version.known != nil
        case "tags": tags.known != nil
        case "attachments": attachments.known != nil
        default: false
        }
    }

    func write(_ key: MessageKey, _ order: MessageOrder) -> MessageWrite {
        let saying = MessageSaying(
            text: MessageText(content.known ?? ""),
            author: author.known,
            authorName: authorName.known,
            createdAt: createdAt.known,
            editedAt: editedAt.known,
            replyTo: parent,
            tags: tags.known?.compactMap(\.writtenText),
            attachments: attachments.known
        )
        var write = MessageWrite(key: key, version: version.known, order: order, saying: saying)
        write.remoteTime = editedAt.known ?? createdAt.known
        write.isOfChannel = true
        return write
    }

    /// The members that a patch changes in a message that is known: those that the event tells, and of these the ones
    /// that the file lists.
    func members(changing listed: Set<String>?) -> MessageMembers {
        var members: MessageMembers = []
        func add(_ name: String, _ isStated: Bool, _ member: MessageMembers) {
            if isStated, listed?.contains(name) ?? true { members.insert(member) }
        }
        add("author", author.isStated, .author)
        add("authorName", authorName.isStated, .authorName)
        add("content", content.known != nil, .content)
        add("createdAt", createdAt.isStated, .createdAt)
        add("editedAt", editedAt.isStated, .editedAt)
        add("replyTo", replyTo.isStated, .replyTo)
        add("tags", tags.isStated, .tags)
        add("attachments", attachments.isStated, .attachments)
        if version.isStated { members.insert(.version) }
        return members
    }
}

extension DecoderScope.Stated {
    fileprivate var isFault: Bool { if case .fault = self { true } else { false } }
}
