public import EventLog
import JSON

/// The policy of a log is the one in its newest act `logtool.policy/1`, which holds the whole of it.
extension RetentionPolicy {
    /// The kind of the act that sets a policy.
    package static let actKind = EventKind("logtool.policy/1" as StaticString)
    /// The attribute by which these acts are found; it always has the same value.
    private static let attribute = Attributes.Pair(name: "sets", value: "policy")

    /// The policy that a log has; the default for a log without one.
    ///
    /// Cost: O(1) for a log without acts of the kind.
    ///
    /// - Throws: `EngineError` for an act that this program cannot read: what another policy keeps must not be dropped.
    ///   `EventLogError`.
    public init(inForce session: borrowing ReadSession) throws {
        try self.init(Self.act(in: session))
    }

    /// The policy that an act sets; the default for `nil`.
    private init(_ act: RecordedEvent?) throws {
        self.init()
        guard let act else { return }
        guard let value = try? JSONValue.parse(act.payload), let policy = Self(value) else {
            throw EngineError(
                "read the policy in event \(act.envelope.sequence): it is none that this program can follow; set it anew with "
                    + "logtool policy LOG set --reset, or use a later version"
            )
        }
        self = policy
    }

    /// The act that set the policy of a log; `nil` without one.
    package static func act(in session: borrowing ReadSession) throws -> RecordedEvent? {
        try session.newestActs(actKind, by: attribute.name)[attribute.value]
    }

    /// Changes the policy of a log. What another process sets at the same time stays as far as `change` leaves it.
    ///
    /// - Parameters:
    ///   - isReset: Whether to begin with the default in place of what the log has.
    ///   - change: Called with the policy to change; again if another process came between.
    /// - Throws: As `init(inForce:)`, unless `isReset`; what `change` throws; `EventLogError`.
    package static func change(
        in store: EventStore,
        isReset: Bool,
        by: String?,
        at now: Timestamp,
        _ change: (inout RetentionPolicy) throws -> Void
    ) throws {
        for round in 1... {
            let (known, number) = try store.read { (try act(in: $0), try $0.lastActNumber(actKind)) }
            let policy = isReset ? RetentionPolicy() : try RetentionPolicy(known)
            var changed = policy
            try change(&changed)
            if changed == policy, !isReset { return }
            do {
                return try changed.set(in: store, by: by, after: number, at: now)
            } catch let error as EventLogError where error.code == .keyConflict {
                if round == roundsMax { throw error }
            }
        }
    }

    /// How often another process may come between.
    private static let roundsMax = 100

    /// Sets the policy of a log.
    ///
    /// - Parameter last: The number of the act that the policy was read from; 0 for the default.
    /// - Throws: `EventLogError`, with code `keyConflict` if that is not the last one any more.
    private func set(in store: EventStore, by: String?, after last: Int, at now: Timestamp) throws {
        var document = json
        document["by"] = by.map { .string($0) }
        try store.appendAct(
            Self.actKind,
            attributes: [Self.attribute],
            payload: JSONValue.object(document).canonicalBytes,
            after: last,
            at: now
        )
    }

    // MARK: - As JSON

    /// The policy as the act and `policy --json` have it: what nothing says is left out. Ages in whole seconds.
    public var json: JSONObject {
        var document = rule.json
        document["parents"] = .bool(keepsParents)
        if !rules.isEmpty {
            document["rules"] = .array(
                rules.sorted { $0.key < $1.key }.map { place, rule in
                    var object: JSONObject = ["source": .string(place.source.rawValue)]
                    object["channel"] = place.channel.map { .string($0) }
                    for member in rule.json.members { object[member.name] = member.value }
                    return .object(object)
                }
            )
        }
        document["archives"] = archivesMax.map { .int($0) }
        let pinned = pins.map(\.description).sorted(by: ExactText.precedes)
        if !pinned.isEmpty { document["pins"] = .array(pinned.map { .string($0) }) }
        return document
    }

    /// Reads what `json` gave, perhaps with `by`; `nil` for anything else, also for members that a later version may add.
    init?(_ value: JSONValue) {
        guard let document = value.object, let keepsParents = document["parents"]?.bool else { return nil }
        self.init(keepsParents: keepsParents)
        rule = Rule()
        for member in document.members {
            switch member.name {
            case "by", "parents": continue
            case "archives":
                guard let count = member.value.number?.int64, count >= 0 else { return nil }
                archivesMax = Int(count)
            case "rules":
                guard let rules = member.value.array else { return nil }
                for rule in rules {
                    guard let (place, rule) = Self.rule(rule) else { return nil }
                    self[place] = rule
                }
            case "pins":
                guard let names = member.value.array else { return nil }
                for name in names {
                    guard let pin = name.string.flatMap(EntityReference.init), pin.isPinnable else { return nil }
                    pins.insert(pin)
                }
            default: guard rule.take(member) else { return nil }
            }
        }
    }

    /// A rule with the source or channel that it is for.
    private static func rule(_ value: JSONValue) -> (Place, Rule)? {
        guard let name = value["source"]?.string, let source = try? SourceName(name) else { return nil }
        var place = Place(source: source)
        var rule = Rule()
        for member in value.object?.members ?? [] {
            switch member.name {
            case "source": continue
            case "channel":
                guard let channel = member.value.string else { return nil }
                place.channel = channel
            default: guard rule.take(member) else { return nil }
            }
        }
        return (place, rule)
    }
}

extension RetentionPolicy.Rule {
    fileprivate var json: JSONObject {
        var object = JSONObject()
        object["keep"] = keep.map { .int($0) }
        object["keepWithin"] = keepWithin.map { .int($0.components.seconds) }
        object["deleted"] = deleted.map { .int($0) }
        return object
    }

    /// Takes a member of `json`; false if it is none, or no count.
    fileprivate mutating func take(_ member: JSONObject.Member) -> Bool {
        guard let number = member.value.number?.int64, number >= 0 else { return false }
        switch member.name {
        case "keep": keep = Int(number)
        case "keepWithin": keepWithin = .seconds(number)
        case "deleted": deleted = Int(number)
        default: return false
        }
        return true
    }
}

extension EntityReference {
    /// Whether a policy can pin what this names: a message or a channel, named in full.
    package var isPinnable: Bool { kind == .message && parts.count == 3 || kind == .channel && parts.count == 2 }
}
