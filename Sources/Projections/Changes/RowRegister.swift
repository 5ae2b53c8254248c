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
            let time = change.isPlacedByArrival ? Timestamp(seconds: 0) : change.committedAt
            self.init(committedAt: time, sequence: sequence)
        }

        static func < (left: Position, right: Position) -> Bool {
            (left.committedAt, left.sequence) < (right.committedAt, right.sequence)
        }
    }

    private struct Floor: Codable {
        var position: Position
        var isDelete: Bool
    }

    private struct Column: Codable {
        var value: JSONValue
        var position: Position
    }

    /// The last INSERT or DELETE.
    private var floor: Floor?
    /// The last UPDATE above the floor.
    private var lastUpdate: Position?
    private var values: [String: Column] = [:]
    /// The last change that named a column.
    private var named: [String: Position] = [:]
    /// The last partial change that lacked a column's value.
    private var lacked: [String: Position] = [:]
    private var identities: [Hash256: Position] = [:]
    /// The events whose change had an effect, in order of arrival.
    private(set) var changedAt: [UInt64] = []

    /// Applies one change; false if it is a repeat or too old to have an effect.
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
    /// deletion of the row.
    private func isStale(_ change: RowChange) -> Bool {
        guard change.isReading, let updatedAt = Self.time(change.record["updated_at"]) else { return false }
        if let floor, floor.isDelete, lastUpdate == nil { return updatedAt <= floor.position.committedAt }
        return Self.time(values["updated_at"]?.value).map { updatedAt < $0 } ?? false
    }

    private static func time(_ value: JSONValue?) -> Timestamp? {
        value?.string.flatMap(RemoteTime.postgres)
    }

    private mutating func reset(at position: Position, isDelete: Bool) {
        floor = Floor(position: position, isDelete: isDelete)
        values = values.filter { $0.value.position > position }
        named = named.filter { $0.value > position }
        lacked = lacked.filter { $0.value > position }
        if let update = lastUpdate, update < position { lastUpdate = nil }
        // Repeats of earlier commits need no identity: the floor is above them.
        identities = identities.filter { $0.value.committedAt >= position.committedAt }
    }

    private mutating func set(_ change: RowChange, at position: Position) -> Bool {
        var isEffective = false
        for member in change.record.members where values[member.name].map({ $0.position < position }) ?? true {
            values[member.name] = Column(value: member.value, position: position)
            isEffective = true
        }
        for name in change.columns {
            isEffective = Self.raise(&named, name, to: position) || isEffective
            guard change.isPartial, change.record[name] == nil else { continue }
            isEffective = Self.raise(&lacked, name, to: position) || isEffective
        }
        return isEffective
    }

    private static func raise(_ positions: inout [String: Position], _ name: String, to position: Position) -> Bool {
        if let known = positions[name], known > position { return false }
        positions[name] = position
        return true
    }
}

/// The current content of a row.
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

    func isSame(as other: SettledRow) -> Bool {
        JSONValue.object(members).isSameJSON(as: .object(other.members))
    }
}

extension RowRegister {
    /// The current row; `nil` if it was deleted or never existed.
    var settled: SettledRow? {
        guard lastUpdate != nil || floor?.isDelete == false else { return nil }
        let stale = values.keys.filter { name in
            guard let lacked = lacked[name], let column = values[name] else { return false }
            return column.position < lacked
        }
        var record = JSONObject()
        for name in Self.sorted(values.keys) { record[name] = values[name]?.value }
        return SettledRow(
            record: record,
            unknownColumns: Self.sorted(named.keys.filter { values[$0] == nil }),
            staleColumns: Self.sorted(stale)
        )
    }

    /// The whole register, for snapshots.
    func snapshot() -> JSONValue {
        let columns = Self.sorted(values.keys).map { name in
            JSONValue.array([.string(name), values[name]?.value ?? .null, values[name]?.position.snapshot ?? .null])
        }
        return .object([
            "floor": floor?.position.snapshot,
            "isDeleted": floor.map { .bool($0.isDelete) },
            "lastUpdate": lastUpdate?.snapshot,
            "values": .array(columns),
            "named": Self.snapshot(named),
            "lacked": Self.snapshot(lacked),
            "identities": .array(
                identities.sorted { $0.value < $1.value }.map { .array([.string($0.key.hex), $0.value.snapshot]) }
            ),
            "changedAt": .array(changedAt.map { .int($0) }),
        ])
    }

    private static func snapshot(_ positions: [String: Position]) -> JSONValue {
        .array(sorted(positions.keys).map { .array([.string($0), positions[$0]?.snapshot ?? .null]) })
    }

    private static func sorted(_ names: some Sequence<String>) -> [String] {
        names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

extension RowRegister.Position {
    var snapshot: JSONValue { .array([committedAt.snapshotValue, .int(sequence)]) }
}
