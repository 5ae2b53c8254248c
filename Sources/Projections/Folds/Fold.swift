public import EventLog

/// One part of the state of one source: a value that changes by `apply` alone (I10).
///
/// Nothing but the change, the event and the state decides: no clock, no randomness, no locale, no order taken from a
/// `Set` or a `Dictionary`.
protocol Fold: StatePart {
    init()

    /// Applies one change. Total: what cannot be applied becomes an issue in the context.
    mutating func apply(_ change: Change, in context: inout FoldContext)

    /// The keys of this fold's rows, each section in the document's order.
    func keys(in section: Section, names: Names) -> [EntityKey]

    /// The keys of this fold's rows, and of things that have a history but no row any more; as `keys` where there are
    /// none of these.
    func knownKeys(in section: Section, names: Names) -> [EntityKey]

    /// The row of one key, without its `source`; `nil` where the state has none.
    func row(for key: EntityKey, context: RowContext) -> JSONValue?

    /// What happened to one entity, oldest first; `nil` where it was never heard of.
    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]?

    /// A part of what happened to one entity, by places in `history`; empty where that has no such places.
    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry>

    /// Drops what the policy drops, as a compaction does (I13). Idempotent.
    mutating func retain(_ policy: RetentionPolicy, names: Names)
}

extension Fold {
    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        keys(in: section, names: names)
    }

    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        let entries = history(of: key, context: context) ?? []
        return entries[places.clamped(to: entries.indices)]
    }
}

/// What rows are made with.
struct RowContext {
    /// The texts behind the handles.
    let names: Names
    /// The instant that what passes with time is judged at.
    let asOf: Timestamp
    /// How the events behind the rows were read otherwise than the remote meant them.
    var rules: ReadingRules = []
}

/// What a compaction keeps.
public struct RetentionPolicy: Hashable, Sendable {
    /// How many of the most recent live messages of each channel stay, and how many tombstones.
    public var messagesPerChannel: Int

    /// Makes a policy.
    public init(messagesPerChannel: Int = 500) {
        self.messagesPerChannel = messagesPerChannel
    }
}

/// One event that changed what is known of an entity.
public struct HistoryEntry: Codable, Hashable, Sendable {
    /// The event's place in the log.
    public var sequence: SequenceNumber
    /// When the recorder received it.
    public var recordedAt: Timestamp
    /// The remote's own time of the change, where it gives one.
    public var remoteTime: Timestamp?
    /// What happened, such as `created`, `edited`, `deleted`.
    public var change: String
    /// Who did it, as far as the remote says.
    public var by: String?
    /// Finer words for the change, such as `retitled`; empty for entities that have none.
    public var kinds: [String]
    /// What is known of the entity after it (of a delete: what was known last).
    public var fields: JSONObject

    init(
        at event: EventReference,
        change: String,
        remoteTime: Timestamp? = nil,
        by: String? = nil,
        kinds: [String] = [],
        fields: JSONObject = JSONObject()
    ) {
        self.sequence = event.sequence
        self.recordedAt = event.recordedAt
        self.remoteTime = remoteTime
        self.change = change
        self.by = by
        self.kinds = kinds
        self.fields = fields
    }
}
