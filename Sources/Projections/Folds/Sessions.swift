import EventLog

/// The sessions of a source: the last write of each, its age, and the histories.
///
/// The order of observation decides, not the time stamps. A session's history has an entry for each accepted write that
/// starts a span (`started`) or changes the status (`changed`), and one for each removal (`ended`, with the last write's
/// fields). Age adds no entry. At the context's `asOf`, a session is stale from 1800 s and expired from 7200 s after its
/// last accepted write. An expired session stays in the state.
///
/// A source that ever had a session has an aggregate, which is `not_running` if no session is live.
struct Sessions: Fold {
    /// The last accepted write of each session that exists.
    private var present: [EntityID: Written] = [:]
    private var histories = EntityHistories<Span>()
    /// The sequences of the last writes before removals. The history shows them, so a compaction keeps them.
    private var lastWrites: Set<UInt64> = []

    private static let staleSeconds: Int64 = 1800
    private static let expiredSeconds: Int64 = 7200
    private static let aggregateKey = EntityKey(.sessionAggregates, .none)

    /// An accepted write, and the sequence of its event.
    private struct Written: Codable {
        var fields: SessionFields
        var sequence: UInt64
    }

    /// A history entry, kept as the write that it shows: most replays read no history.
    private struct Span: KeptHistoryEntry, Codable {
        enum Word: String, Codable {
            case started, changed, ended
        }

        let sequence: SequenceNumber
        let recordedAt: Timestamp
        let word: Word
        let fields: SessionFields

        init(_ word: Word, _ fields: SessionFields, at event: EventReference) {
            (sequence, recordedAt) = (event.sequence, event.recordedAt)
            (self.word, self.fields) = (word, fields)
        }

        var entry: HistoryEntry {
            HistoryEntry(
                at: EventReference(sequence: sequence, recordedAt: recordedAt),
                change: word.rawValue,
                // Without a time stamp, `instant` is the time of receipt, which is not the remote's. A removal has none.
                remoteTime: word == .ended || fields.timestamp == nil ? nil : fields.instant,
                fields: fields.members
            )
        }
    }

    init() {}

    mutating func apply(_ change: Change, in context: inout FoldContext) {
        guard case .session(let change) = change else { return }
        switch change {
        case .observed(let fields): observe(fields, in: &context)
        case .removed(let id): remove(id, in: &context)
        }
    }

    func keys(in section: Section, names: Names) -> [EntityKey] {
        switch section {
        case .sessions: present.keys.sorted(by: names.precedes).map { EntityKey(.sessions, $0) }
        // From the first session on for ever, so that an end shows as `not_running` and not as nothing.
        case .sessionAggregates: histories.isEmpty ? [] : [Self.aggregateKey]
        default: []
        }
    }

    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        histories.keys(in: section, names: names)
    }

    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        if key == Self.aggregateKey {
            return histories.isEmpty ? nil : .object(["status": .string(aggregate(context))])
        }
        guard key.section == .sessions, let fields = present[key.first]?.fields else { return nil }
        // Compared with `asOf` here and not while folding: time passes without events.
        let age = Self.age(of: fields, asOf: context.asOf)
        var row = fields.members
        row["id"] = .string(context.names.text(fields.id))
        row["state"] = .string(age >= Self.lifeSeconds(of: fields, context) ? "expired" : "live")
        row["stale"] = .bool(age >= Self.staleSeconds)
        return .object(row)
    }

    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]? {
        key.section == .sessions ? histories[key] : nil
    }

    /// Makes only the entries in `places`, unlike the default.
    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        key.section == .sessions ? histories.entries(of: key, in: places) : []
    }

    /// Drops nothing: of sessions, a compaction drops only writes that renewed a session.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {}

    /// Adds the last write of each session, ended ones included, and the events of the histories. The last write gives
    /// a session's age and the fields of its end.
    func collectNeeded(into sequences: inout SequenceSet) {
        for written in present.values { sequences.insert(written.sequence) }
        sequences.formUnion(lastWrites)
        histories.collectNeeded(into: &sequences)
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for id in present.keys.sorted(by: names.precedes) {
            guard let written = present[id] else { continue }
            var members = written.fields.members
            members["id"] = .string(names.text(id))
            members["instant"] = written.fields.instant.normalFormText
            members["sequence"] = .int(written.sequence)
            take(.object(members))
        }
        take(.object(["lastWrites": .array(lastWrites.sorted().map { .int($0) })]))
        histories.normalForm(names: names, into: take)
    }

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { .null }

    mutating func load(facts: JSONValue, names: inout Names) throws {}
}

extension Sessions {
    /// Takes an accepted write. Only a start or another status makes a history entry; every write renews the session.
    private mutating func observe(_ fields: SessionFields, in context: inout FoldContext) {
        let key = EntityKey(.sessions, fields.id)
        let written = Written(fields: fields, sequence: context.event.sequence.rawValue)
        let before = present.updateValue(written, forKey: fields.id)?.fields
        context.touch(key)
        context.touch(Self.aggregateKey)
        if let before, before.status == fields.status { return }
        histories.add(Span(before == nil ? .started : .changed, fields, at: context.event), to: key)
    }

    /// Ends a session; does nothing for an unknown one, so a file that is removed twice ends one session once.
    private mutating func remove(_ id: EntityID, in context: inout FoldContext) {
        guard let written = present.removeValue(forKey: id) else { return }
        lastWrites.insert(written.sequence)
        let key = EntityKey(.sessions, id)
        histories.add(Span(.ended, written.fields, at: context.event), to: key)
        context.touch(key)
        context.touch(Self.aggregateKey)
    }

    /// The first of `needs_input`, `working` and `idle` that a live session has; `not_running` if none has one.
    private func aggregate(_ context: RowContext) -> String {
        let live = present.values.filter {
            Self.age(of: $0.fields, asOf: context.asOf) < Self.lifeSeconds(of: $0.fields, context)
        }
        let statuses = Set(live.map(\.fields.status))
        return ["needs_input", "working", "idle"].first(where: statuses.contains) ?? "not_running"
    }

    /// How long a session is live after its last accepted write, in seconds. Where several rules apply, the one for the
    /// client's special situation comes first.
    private static func lifeSeconds(of fields: SessionFields, _ context: RowContext) -> Int64 {
        let rules = context.rules
        if rules.isEmpty { return expiredSeconds }
        if fields.pid != nil, rules.contains(.processHasEnded) { return 1 }
        if fields.pid != nil, rules.contains(.processHasEndedAfterAMinute) { return 60 }
        if rules.contains(.anotherMacCleansUp) { return 10 }
        if rules.contains(.sessionsLastHalfAMinute) { return 30 }
        if rules.contains(.sessionsLastFiveMinutes) { return 300 }
        return rules.contains(.sessionsLastHalfAnHour) ? staleSeconds : expiredSeconds
    }

    /// Whole seconds since the last accepted write, rounded down; negative if its time stamp is in the future. Saturates.
    private static func age(of fields: SessionFields, asOf: Timestamp) -> Int64 {
        let (seconds, overflow) = asOf.seconds.subtractingReportingOverflow(fields.instant.seconds)
        if overflow { return asOf < fields.instant ? .min : .max }
        return asOf.nanoseconds < fields.instant.nanoseconds && seconds > .min ? seconds - 1 : seconds
    }
}

extension SessionFields {
    /// The members that a row and a history entry have in common.
    fileprivate var members: JSONObject {
        [
            "project": .string(project), "status": .string(status), "timestamp": .text(timestamp),
            "pid": pid.map { .int($0) }, "device": .text(device),
        ]
    }
}
