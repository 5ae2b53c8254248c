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
    fileprivate struct Column: Codable {
        struct Content: Codable {
            var value: JSONValue
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

    /// Applies one change; false if it is a repeat or too old to have an effect. Sequences must ascend from call to
    /// call.
    mutating func apply(_ change: RowChange, at sequence: UInt64) -> Bool {
        let position = Position(change, at: sequence)
        guard change.isPlacedByArrival || identities[change.identity] == nil,
            floor.map({ $0.position < position }) ?? true, !isStale(change)
        else { return false }
        var isEffective = true
        switch change.operation {
        case .insert:
            reset(at: position, isDelete: false)
            _ = set(change, at: position)
        case .delete:
            reset(at: position, isDelete: true)
        case .update:
            isEffective = set(change, at: position)
            if lastUpdate.map({ $0 < position }) ?? true {
                lastUpdate = position
                isEffective = true
            }
        }
        if isEffective {
            identities[change.identity] = position
            changedAt.append(sequence)
        }
        return isEffective
    }

    /// Whether a row that was read is older than the known one: its `updated_at` is earlier, or is not later than the
    /// deletion of the row. A row without a readable `updated_at` is not.
    private func isStale(_ change: RowChange) -> Bool {
        guard change.isReading, let updatedAt = Self.time(change.record["updated_at"]) else { return false }
        if let floor, floor.isDelete, lastUpdate == nil { return updatedAt <= floor.position.committedAt }
        return Self.time(value(of: "updated_at")).map { updatedAt < $0 } ?? false
    }

    private static func time(_ value: JSONValue?) -> Timestamp? {
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
    private mutating func set(_ change: RowChange, at position: Position) -> Bool {
        var isEffective = false
        let members = change.record.members
        for (member, place) in zip(members, places(of: members.lazy.map(\.name))) {
            if let known = columns[place].content?.position, known >= position { continue }
            columns[place].content = Column.Content(value: member.value, position: position)
            isEffective = true
        }
        for (name, place) in zip(change.columns, places(of: change.columns)) {
            isEffective = Self.raise(&columns[place].named, to: position) || isEffective
            guard change.isPartial, change.record[name] == nil else { continue }
            isEffective = Self.raise(&columns[place].lacked, to: position) || isEffective
        }
        return isEffective
    }

    /// Moves a position forward; false if it is further already.
    private static func raise(_ known: inout Position?, to position: Position) -> Bool {
        if let known, known > position { return false }
        known = position
        return true
    }

    /// The places of columns in `columns`, in the order of `names`. New columns are added first, as adding one moves
    /// the others.
    private mutating func places(of names: some Collection<String>) -> [Int] {
        var places: [Int] = []
        places.reserveCapacity(names.count)
        for name in names {
            guard let place = place(of: name) else {
                add(names)
                return names.compactMap { self.place(of: $0) }
            }
            places.append(place)
        }
        return places
    }

    /// Adds those columns that are new.
    private mutating func add(_ names: some Collection<String>) {
        for name in names.filter({ place(of: $0) == nil }).sorted(by: ExactText.precedes) {
            if let last = columns.last?.name, ExactText.areSame(last, name) { continue }
            columns.append(Column(name: name))
        }
        columns.sort { ExactText.precedes($0.name, $1.name) }
    }

    private func place(of name: String) -> Int? {
        let place = columns.partitioningIndex { !ExactText.precedes($0.name, name) }
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

/// The current content of a row, as its row of the state document has it.
struct SettledRow: Codable, Sendable {
    var record: JSONObject
    /// Columns that exist but whose value was never seen, sorted.
    var unknownColumns: [String]
    /// Columns whose known value may be outdated, sorted.
    var staleColumns: [String]

    /// Whether `deleted_at` is set.
    var isSoftDeleted: Bool { record["deleted_at"].map { !$0.isNull } ?? false }

    /// The members that the row contributes to its row of the state document.
    var members: JSONObject {
        [
            "state": .string(isSoftDeleted ? "soft_deleted" : "live"),
            "record": .object(record),
            "unknownColumns": .array(unknownColumns.map { .string($0) }),
            "staleColumns": .array(staleColumns.map { .string($0) }),
        ]
    }

    /// Whether both give the same row of the document: numbers by value, members in any order, texts by their bytes.
    func isSame(as other: SettledRow) -> Bool {
        JSONValue.object(record).isSameJSON(as: .object(other.record))
            && Self.areSame(unknownColumns, other.unknownColumns) && Self.areSame(staleColumns, other.staleColumns)
    }

    private static func areSame(_ left: [String], _ right: [String]) -> Bool {
        left.elementsEqual(right, by: ExactText.areSame)
    }
}

extension RowRegister {
    /// Whether the row exists now.
    var isPresent: Bool { lastUpdate != nil || floor?.isDelete == false }

    /// The last value of a column; `nil` if none is known.
    func value(of name: String) -> JSONValue? {
        place(of: name).flatMap { columns[$0].content?.value }
    }

    /// The current row; `nil` if it was deleted or never existed.
    var settled: SettledRow? {
        guard isPresent else { return nil }
        let members = columns.compactMap { column in
            column.content.map { JSONObject.Member(name: column.name, value: $0.value) }
        }
        return SettledRow(
            record: JSONObject(distinct: members),
            unknownColumns: columns.filter(\.isUnknown).map(\.name),
            staleColumns: columns.filter(\.isStale).map(\.name)
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
                        .string(column.name), column.content?.value ?? .null,
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
