public import EventLog

/// One part of the state of one source: a value that changes by `apply` alone (I10).
///
/// Only the change, the event and the state decide: no clock, no randomness, no locale, no order of a `Set` or a
/// `Dictionary`. Folds do not see each other. Each applies every change, in log order, and passes over those that do
/// not concern it.
protocol Fold: StatePart {
    init()

    /// Applies one change. Total: a change that cannot be applied becomes an issue in the context. Touches every row
    /// that may differ afterwards, or the digest goes wrong (I12); touching more costs only time.
    mutating func apply(_ change: Change, in context: inout FoldContext)

    /// The keys of this fold's rows, each section in the document's order; empty for sections of other folds. A key may
    /// have no row at some `asOf`.
    func keys(in section: Section, names: Names) -> [EntityKey]

    /// The keys of this fold's rows and of things that have a history but no row any more. Defaults to `keys`.
    func knownKeys(in section: Section, names: Names) -> [EntityKey]

    /// The things of `knownKeys` whose histories a filter does not rule out, in that order. Defaults to all.
    func candidates(in section: Section, context: RowContext, _ filter: HistoryFilter) -> [HistoryCandidate]

    /// The row of one key, without its `source`; `nil` if the state has none.
    func row(for key: EntityKey, context: RowContext) -> JSONValue?

    /// SHA-256 over the canonical text of the row of one key, without `source` and without the members outside the digest;
    /// `nil` if the state has none. A fold of which states hold very many rows writes the text without making the row.
    func digestRow(for key: EntityKey, context: RowContext) -> Hash256?

    /// Calls `take` with each key and its `digestRow`, in any order: the digest depends on none. A fold of which states hold
    /// very many rows walks them as they lie.
    func forEachDigestRow(in section: Section, context: RowContext, _ take: (EntityKey, Hash256) -> Void)

    /// The history of one entity, oldest first; `nil` if it was never known.
    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]?

    /// The entries at some places of `history(of:context:)`; places beyond its ends are left out. A fold whose entries
    /// cost much to make implements it itself, and may then leave out the numbers of late versions.
    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry>

    /// Drops everything that a compaction under the policy drops (I13). Idempotent.
    mutating func retain(_ policy: RetentionPolicy, names: Names)
}

extension Fold {
    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        keys(in: section, names: names)
    }

    func candidates(in section: Section, context: RowContext, _ filter: HistoryFilter) -> [HistoryCandidate] {
        knownKeys(in: section, names: context.names).map { HistoryCandidate(key: $0) }
    }

    func digestRow(for key: EntityKey, context: RowContext) -> Hash256? {
        guard var covered = row(for: key, context: context)?.object else { return nil }
        for member in key.section.membersOutsideDigest { covered[member] = nil }
        return JSONValue.object(covered).canonicalHash
    }

    func forEachDigestRow(in section: Section, context: RowContext, _ take: (EntityKey, Hash256) -> Void) {
        for key in keys(in: section, names: context.names) {
            if let row = digestRow(for: key, context: context) { take(key, row) }
        }
    }

    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        let entries = history(of: key, context: context) ?? []
        return entries[places.clamped(to: entries.indices)]
    }
}

/// The members of a row that an event changed, and those that name it, before and after the event; `nil` for a side that has no
/// row.
typealias RowPart = (before: JSONObject?, after: JSONObject?)

/// The values that rows are made with.
struct RowContext {
    /// The texts behind the handles.
    let names: Names
    /// The instant for typing, staleness and everything else that time alone changes. Never the clock of the machine
    /// (I10).
    let asOf: Timestamp
    /// The client's reading rules behind these rows; empty for the canonical reading (I16).
    var rules: ReadingRules = .canonical
    /// The event that set the branch's tip; `nil` for a source without commits.
    var tip: EventReference?
}

/// One event that changed an entity.
public struct HistoryEntry: Codable, Hashable, Sendable {
    /// The event's place in the log.
    public var sequence: SequenceNumber
    /// When the recorder received the event.
    public var recordedAt: Timestamp
    /// The remote's own time of the change; `nil` if it gives none.
    public var remoteTime: Timestamp?
    /// The kind of change, such as `created`, `edited`, `deleted`.
    public var change: String
    /// The author of the change; `nil` if the remote names none.
    public var by: String?
    /// Finer words for the change, such as `retitled`; empty for kinds of entities without such words.
    public var kinds: [String]
    /// The entity's fields after the event; of a deletion, its last known fields; of a late version, the version's own.
    public var fields: JSONObject
    /// The fields before the event, where the entry or the one before it does not show the whole entity (`partial`): of a
    /// partial entry those that the event changed. `nil` for all other entries.
    public var before: JSONObject?
    /// What makes the version late, which is then no change of the entity; `nil` for all other entries.
    public var late: LateVersion?

    /// Whether the fields are only those that the event changed.
    public var isPartial: Bool { fields["partial"]?.bool == true }

    init(
        at event: EventReference,
        change: String,
        remoteTime: Timestamp? = nil,
        by: String? = nil,
        kinds: [String] = [],
        fields: JSONObject = JSONObject(),
        late: LateVersion? = nil
    ) {
        self.sequence = event.sequence
        self.recordedAt = event.recordedAt
        self.remoteTime = remoteTime
        self.change = change
        self.by = by
        self.kinds = kinds
        self.fields = fields
        self.late = late
    }
}
