import EventLog

/// One row, folded from its changes in whatever order they arrived.
///
/// Each column holds the value of its last change in commit order; ties go by arrival, those of one event by their order in it.
/// An INSERT or a DELETE resets everything older. The register remembers the identities of changes that had an effect, so a repeat
/// does nothing. A change without effect is older than everything here; where its history is kept, it is remembered, too
/// (`note(late:at:)`).
struct RowRegister: Codable, Sendable {
    /// Orders changes: by commit, then by arrival.
    struct Position: Codable, Hashable, Comparable, Sendable {
        let committedAt: Timestamp
        let sequence: UInt64

        init(committedAt: Timestamp, sequence: UInt64) {
            self.committedAt = committedAt
            self.sequence = sequence
        }

        init(_ change: RowChange, at sequence: UInt64) {
            // Equal times leave the order to the sequences.
            let time = change.isPlacedByArrival ? Timestamp(seconds: 0) : change.committedAt
            self.init(committedAt: time, sequence: sequence)
        }

        static func < (left: Position, right: Position) -> Bool {
            (left.committedAt, left.sequence) < (right.committedAt, right.sequence)
        }
    }

    /// A change below which everything is reset.
    private struct Floor: Codable {
        var position: Position
        var isDelete: Bool
    }

    /// The last INSERT or DELETE in commit order; `nil` if none came yet.
    private var floor: Floor?
    /// The last UPDATE above the floor. An UPDATE shows that the row exists, even above a DELETE.
    private var lastUpdate: Position?
    private var columns = RowColumns()
    /// The changes that had an effect; a repeat of one does nothing.
    private var applied = AppliedChanges()

    /// Applies one change; `nil` if it is a repeat or too old to have an effect. Sequences must ascend from call to call.
    /// Cost: that of `RowColumns.set`; of an INSERT or a DELETE O(columns of the row).
    ///
    /// - Parameters:
    ///   - comparing: false if the caller does not need to know what differs afterwards; the effect's `changed` is
    ///     meaningless then.
    ///   - noting: false if the caller finds repeats itself.
    ///   - relations: finds where the names of one change stand in another.
    mutating func apply(
        _ change: RowChange,
        at sequence: UInt64,
        comparing: Bool = true,
        noting: Bool = true,
        _ relations: inout ShapeRelations
    ) -> RowEffect? {
        let position = Position(change, at: sequence)
        guard floor.map({ $0.position <= position }) ?? true,
            change.isPlacedByArrival || !noting || !applied.contains(change.identity), !isStale(change)
        else { return nil }
        var effect = RowEffect(wasPresent: isPresent, wasSoftDeleted: comparing && isSoftDeleted)
        effect.isComparing = comparing
        let isEffective =
            change.operation == .update
            ? update(change, at: position, &effect, &relations) : reset(change, at: position, &effect, &relations)
        guard isEffective else { return nil }
        if noting { applied.append(change.identity, at: sequence) }
        (effect.isPresent, effect.isSoftDeleted) = (isPresent, comparing && isSoftDeleted)
        return effect
    }

    /// Whether the row is too large to show all of it for the little that an UPDATE states.
    func isLarge(for change: RowChange) -> Bool { change.operation == .update && columns.isLarge(for: change) }

    /// Whether a change comes late: one with a later position had an effect.
    func isBehind(_ change: RowChange, at sequence: UInt64) -> Bool {
        let position = Position(change, at: sequence)
        return floor.map { position < $0.position } ?? false || lastUpdate.map { position < $0 } ?? false
    }

    /// Notes a late change that `apply` found to have no effect; false if it is a repeat, or a row that was read.
    mutating func note(late change: RowChange, at sequence: UInt64) -> Bool {
        if applied.contains(change.identity) || change.isReading { return false }
        applied.append(change.identity, at: sequence)
        return true
    }

    /// Applies an UPDATE; false if it has no effect.
    private mutating func update(
        _ change: RowChange,
        at position: Position,
        _ effect: inout RowEffect,
        _ relations: inout ShapeRelations
    ) -> Bool {
        let marks = effect.isComparing ? columns.marks(of: change) : RowColumns.Marks()
        if effect.isComparing { effect.replaced = columns.replaced(by: change) }
        var changed = effect.isComparing ? ChangedColumns.none : nil
        var isEffective = columns.set(change, at: position, noting: &changed, &relations)
        if let changed {
            (effect.changed, effect.marks) = (changed, RowMarksChange(from: marks, to: columns.marks(of: change)))
        }
        if lastUpdate.map({ $0 <= position }) ?? true {
            lastUpdate = position
            isEffective = true
        }
        return isEffective
    }

    /// Applies an INSERT or a DELETE, which raises the floor and drops what lies below it. Always has an effect.
    private mutating func reset(
        _ change: RowChange,
        at position: Position,
        _ effect: inout RowEffect,
        _ relations: inout ShapeRelations
    ) -> Bool {
        // A row that comes or goes is not compared: its history says just that.
        let before = effect.isComparing && effect.wasPresent ? columns : nil
        floor = Floor(position: position, isDelete: change.operation == .delete)
        columns.forget(upTo: position)
        if let update = lastUpdate, update <= position { lastUpdate = nil }
        var changed: ChangedColumns?
        if change.operation == .insert { _ = columns.set(change, at: position, noting: &changed, &relations) }
        if let before, isPresent { effect.compare(before, columns) }
        return true
    }

    /// Whether a row that was read is older than the known one: its `updated_at` is earlier, or is not later than the
    /// deletion of the row. A row without a readable `updated_at` is not.
    private func isStale(_ change: RowChange) -> Bool {
        guard change.isReading, let updatedAt = Self.time(change.record.text(of: "updated_at")) else { return false }
        if let floor, floor.isDelete, lastUpdate == nil { return updatedAt <= floor.position.committedAt }
        return Self.time(text(of: "updated_at")).map { updatedAt < $0 } ?? false
    }

    private static func time(_ value: StoredJSON?) -> Timestamp? {
        value?.string.flatMap(RemoteTime.postgres)
    }
}

extension RowRegister {
    /// Whether the row exists now.
    var isPresent: Bool { lastUpdate != nil || floor?.isDelete == false }

    /// Whether `deleted_at` is set.
    var isSoftDeleted: Bool { columns.isSoftDeleted }

    /// Whether a change was noted.
    var isKnown: Bool { !applied.isEmpty }

    /// The last value of a column, as a text; `nil` if none is known.
    func text(of name: String) -> StoredJSON? { columns.text(of: name) }

    /// The only record that gave values; `nil` if several did, or none.
    var onlyRecord: RowRecord? { columns.onlyRecord }

    /// The columns that have a value, in the order of their names' UTF-8 bytes.
    var values: [(name: String, value: StoredJSON)] { columns.values }

    /// Writes the columns that have a value as an object.
    func write(to text: inout CanonicalText) { columns.write(to: &text) }

    /// What the row lists beside its values.
    var marks: RowColumns.Marks { columns.marks }

    /// The sequences of the events whose change was noted, in order of arrival. A compaction keeps these events.
    var changedAt: [UInt64] { applied.sequences }

    /// The current row; `nil` if it was deleted or never existed.
    var settled: SettledRow? {
        guard isPresent else { return nil }
        let members = columns.values.map { JSONObject.Member(name: $0.name, value: $0.value.value) }
        let marks = columns.marks
        return SettledRow(
            record: JSONObject(distinct: members),
            unknownColumns: marks.unknown,
            staleColumns: marks.stale
        )
    }

    /// The whole register, for normal forms; positions as times and sequences.
    func normalForm() -> JSONValue {
        .object([
            "floor": floor?.position.normalForm,
            "isDeleted": floor.map { .bool($0.isDelete) },
            "lastUpdate": lastUpdate?.normalForm,
            "columns": .array(
                columns.all.map { column in
                    .array([
                        .string(column.name), column.content?.value.value ?? .null,
                        .array(
                            [column.content?.position, column.named, column.lacked].map { $0?.normalForm ?? .null }
                        ),
                    ])
                }
            ),
            "applied": applied.normalForm(),
        ])
    }
}

extension RowRegister.Position {
    var normalForm: JSONValue { .array([committedAt.normalFormText, .int(sequence)]) }
}
