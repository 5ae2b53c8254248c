import EventLog

/// One row, folded from its changes in whatever order they arrived.
///
/// Each column holds the value of its last change in commit order; ties go by arrival. An INSERT or a DELETE resets
/// everything older. The register remembers the identities of changes that had an effect, so a repeat does nothing. A
/// change without effect is older than everything here, and so is its repeat.
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

    /// The knowledge of one column, by positions: which change gave its value, which named it last, which lacked its
    /// value.
    struct Column: Codable {
        struct Content: Codable {
            var value: StoredJSON
            var position: Position
        }

        let name: String
        /// The last value; `nil` if no change had one.
        var content: Content?
        /// The last change that named the column.
        var named: Position?
        /// The last partial change that lacked the column's value.
        var lacked: Position?

        /// True if the column exists but no change since the floor had its value.
        var isUnknown: Bool { content == nil && named != nil }

        /// True if a later change may have set the column and was too large to contain it.
        var isStale: Bool {
            guard let content, let lacked else { return false }
            return content.position < lacked
        }

        /// The marks of the column in its row of the document.
        var marks: Marks { Marks(isUnknown: isUnknown, isStale: isStale) }
    }

    /// How a row of the document lists a column beside its value.
    struct Marks: Equatable {
        var isUnknown = false
        var isStale = false
    }

    /// Finds the columns of names that come in ascending order: the next name is mostly that of the next column.
    private struct ColumnWalk {
        private var next = 0

        mutating func place(of name: String, in columns: [Column]) -> Int? {
            if next >= columns.count || !ExactText.areSame(columns[next].name, name) {
                next = columns[next...].partitioningIndex { !ExactText.precedes($0.name, name) }
                guard next < columns.count, ExactText.areSame(columns[next].name, name) else { return nil }
            }
            next += 1
            return next - 1
        }
    }

    /// The last INSERT or DELETE in commit order; `nil` if none came yet.
    private var floor: Floor?
    /// The last UPDATE above the floor. An UPDATE shows that the row exists, even above a DELETE.
    private var lastUpdate: Position?
    /// Sorted by their names' UTF-8 bytes, each name once.
    private var columns: [Column] = []
    /// The identities of changes at or above the floor's time that had an effect, with their positions.
    private var identities: [Hash256: Position] = [:]
    /// How many identities there may be before those that are not needed any more go.
    private var identitiesMax = 16
    /// The sequences of the events whose change had an effect, in order of arrival. A compaction keeps these events.
    private(set) var changedAt: [UInt64] = []

    /// Applies one change; `nil` if it is a repeat or too old to have an effect. Sequences must ascend from call to call.
    /// Cost: O(columns of the change + log(columns of the row)) for an update of known columns, else O(columns of the row).
    ///
    /// - Parameter comparing: false if the caller does not need to know what differs afterwards; the effect's `changed` is
    ///   meaningless then.
    mutating func apply(_ change: RowChange, at sequence: UInt64, comparing: Bool = true) -> RowEffect? {
        let position = Position(change, at: sequence)
        guard change.isPlacedByArrival || identities[change.identity] == nil,
            floor.map({ $0.position < position }) ?? true, !isStale(change)
        else { return nil }
        var effect = RowEffect(wasPresent: isPresent, wasSoftDeleted: comparing && isSoftDeleted)
        effect.isComparing = comparing
        var isEffective = true
        switch change.operation {
        case .insert, .delete:
            let before = comparing ? columns : []
            reset(at: position, isDelete: change.operation == .delete)
            if change.operation == .insert { _ = set(change, at: position, &effect) }
            if comparing { effect.compare(before, columns) }
        case .update:
            isEffective = set(change, at: position, &effect)
            if lastUpdate.map({ $0 < position }) ?? true {
                lastUpdate = position
                isEffective = true
            }
        }
        guard isEffective else { return nil }
        identities[change.identity] = position
        changedAt.append(sequence)
        (effect.isPresent, effect.isSoftDeleted) = (isPresent, comparing && isSoftDeleted)
        return effect
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

    /// Raises the floor, and drops what lies below it.
    private mutating func reset(at position: Position, isDelete: Bool) {
        floor = Floor(position: position, isDelete: isDelete)
        for place in columns.indices { columns[place].forget(upTo: position) }
        columns.removeAll { $0.content == nil && $0.named == nil && $0.lacked == nil }
        if let update = lastUpdate, update < position { lastUpdate = nil }
        if identities.count > identitiesMax {
            identities = neededIdentities
            identitiesMax = 2 * identities.count + 16
        }
    }

    /// Repeats of commits before the floor's need no identity: the floor is above them.
    private var neededIdentities: [Hash256: Position] {
        guard let floor else { return identities }
        return identities.filter { $0.value.committedAt >= floor.position.committedAt }
    }

    /// Takes over the values, and notes the names, for which nothing newer is known; false if there is none.
    private mutating func set(_ change: RowChange, at position: Position, _ effect: inout RowEffect) -> Bool {
        let hasValues = setValues(of: change.record, at: position, &effect)
        return setNames(of: change, at: position, &effect) || hasValues
    }

    private mutating func setValues(
        of record: RowRecord,
        at position: Position,
        _ effect: inout RowEffect
    ) -> Bool {
        var isEffective = false
        let shape = record.shape
        addMissing(shape)
        // The values of the last whole record share its text. Others get texts of their own: a single column would keep the
        // text of a large record.
        let isLast = lastUpdate.map { $0 < position } ?? true
        let sharesText = isLast && shape.names.count == columns.count
        var walk = ColumnWalk()
        for index in shape.sorted {
            guard let place = walk.place(of: shape.names[index], in: columns) else { continue }
            let marks = columns[place].marks
            let value = sharesText ? record.values[index] : record.values[index].detached
            let known = columns[place].content
            if let known, known.position >= position { continue }
            if effect.isComparing, !(known?.value.isSame(as: value) ?? false) {
                effect.changed.append(RowEffect.ColumnChange(name: shape.names[index], value: value))
            }
            // Taken over also if it is the same: the old value would keep the whole text of an older record.
            columns[place].content = Column.Content(value: value, position: position)
            isEffective = true
            if columns[place].marks != marks { effect.hasNewMarks = true }
        }
        return isEffective
    }

    /// Notes which columns a change named, and which values it was too large to contain; false if nothing is news.
    private mutating func setNames(of change: RowChange, at position: Position, _ effect: inout RowEffect) -> Bool {
        var isEffective = false
        let shape = change.columns
        addMissing(shape)
        var walk = ColumnWalk()
        for index in shape.sorted {
            guard let place = walk.place(of: shape.names[index], in: columns) else { continue }
            let marks = columns[place].marks
            isEffective = Self.raise(&columns[place].named, to: position) || isEffective
            if change.isPartial, change.record.text(of: shape.names[index]) == nil {
                isEffective = Self.raise(&columns[place].lacked, to: position) || isEffective
            }
            if columns[place].marks != marks { effect.hasNewMarks = true }
        }
        return isEffective
    }

    /// Moves a position forward; false if it is further already.
    private static func raise(_ known: inout Position?, to position: Position) -> Bool {
        if let known, known > position { return false }
        known = position
        return true
    }

    /// The most new columns that are inserted one by one; each moves the columns behind it, which is faster than comparing
    /// all of them only for a few.
    private static let insertedCountMax = 8

    /// Adds those columns of a shape that are new. Cost: O(columns of the shape), and O(all columns) if one is new.
    private mutating func addMissing(_ shape: RowShape) {
        var walk = ColumnWalk()
        var missing: [String] = []
        for index in shape.sorted where walk.place(of: shape.names[index], in: columns) == nil {
            missing.append(shape.names[index])
        }
        if missing.count <= Self.insertedCountMax {
            for name in missing { columns.insert(Column(name: name), at: insertionPlace(of: name)) }
        } else {
            columns += missing.map { Column(name: $0) }
            columns.sort { ExactText.precedes($0.name, $1.name) }
        }
    }

    private func insertionPlace(of name: String) -> Int {
        columns.partitioningIndex { !ExactText.precedes($0.name, name) }
    }

    private func place(of name: String) -> Int? {
        let place = insertionPlace(of: name)
        return place < columns.count && ExactText.areSame(columns[place].name, name) ? place : nil
    }
}

extension RowRegister.Column {
    /// Forgets what changes up to a position stated.
    fileprivate mutating func forget(upTo position: RowRegister.Position) {
        if let content, content.position <= position { self.content = nil }
        if let named, named <= position { self.named = nil }
        if let lacked, lacked <= position { self.lacked = nil }
    }
}

extension RowRegister {
    /// Whether the row exists now.
    var isPresent: Bool { lastUpdate != nil || floor?.isDelete == false }

    /// Whether `deleted_at` is set.
    var isSoftDeleted: Bool { text(of: "deleted_at").map { !$0.isNull } ?? false }

    /// The last value of a column, as a text; `nil` if none is known.
    func text(of name: String) -> StoredJSON? {
        place(of: name).flatMap { columns[$0].content?.value }
    }

    /// The columns that have a value, in the order of their names' UTF-8 bytes.
    var values: [RowEffect.ColumnChange] {
        columns.compactMap { column in
            column.content.map { RowEffect.ColumnChange(name: column.name, value: $0.value) }
        }
    }

    /// The columns that exist but whose value was never seen, sorted.
    var unknownColumns: [String] { columns.filter(\.isUnknown).map(\.name) }

    /// The columns whose known value may be outdated, sorted.
    var staleColumns: [String] { columns.filter(\.isStale).map(\.name) }

    /// The current row; `nil` if it was deleted or never existed.
    var settled: SettledRow? {
        guard isPresent else { return nil }
        let members = columns.compactMap { column in
            column.content.map { JSONObject.Member(name: column.name, value: $0.value.value) }
        }
        return SettledRow(
            record: JSONObject(distinct: members),
            unknownColumns: unknownColumns,
            staleColumns: staleColumns
        )
    }

    /// The whole register, for normal forms; positions as times and sequences.
    func normalForm() -> JSONValue {
        .object([
            "floor": floor?.position.normalForm,
            "isDeleted": floor.map { .bool($0.isDelete) },
            "lastUpdate": lastUpdate?.normalForm,
            "columns": .array(
                columns.map { column in
                    .array([
                        .string(column.name), column.content?.value.value ?? .null,
                        .array(
                            [column.content?.position, column.named, column.lacked].map { $0?.normalForm ?? .null }
                        ),
                    ])
                }
            ),
            "identities": .array(
                neededIdentities.sorted { $0.value < $1.value }.map {
                    .array([.string($0.key.hex), $0.value.normalForm])
                }
            ),
            "changedAt": .array(changedAt.map { .int($0) }),
        ])
    }
}

extension RowRegister.Position {
    var normalForm: JSONValue { .array([committedAt.normalFormText, .int(sequence)]) }
}
