import Projections

/// A value in one of SQLite's storage classes (datatype3.html, section 2).
package enum SQLiteValue: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLiteValue {
    /// The order of two values under binary collation: NULL, numbers, texts, blobs.
    enum Order {
        case before, same, after
    }

    /// Compares two values as SQLite sorts them with binary collation (datatype3.html, section 4.1).
    func order(beside other: SQLiteValue) -> Order {
        switch (self, other) {
        case (.null, .null): return .same
        case (.integer(let left), .integer(let right)): return Self.order(left, right)
        case (.integer(let left), .real(let right)): return Self.order(Double(left), right)
        case (.real(let left), .integer(let right)): return Self.order(left, Double(right))
        case (.real(let left), .real(let right)): return Self.order(left, right)
        case (.text(let left), .text(let right)): return Self.order(left.utf8, right.utf8)
        case (.blob(let left), .blob(let right)): return Self.order(left, right)
        default: return Self.order(rank, other.rank)
        }
    }

    /// Returns true if two values mean the same. Times stored as floating-point numbers may differ by rounding: a
    /// relative difference of 1e-15 is a few units in the last place.
    func isSame(as other: SQLiteValue) -> Bool {
        if case .same = order(beside: other) { return true }
        guard case .real(let left) = self, case .real(let right) = other else { return false }
        return abs(left - right) <= max(abs(left), abs(right)) * 1e-15
    }

    /// The place of the storage class in SQLite's order.
    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Order {
        left == right ? .same : left < right ? .before : .after
    }

    private static func order(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Order {
        if left.elementsEqual(right) { return .same }
        return left.lexicographicallyPrecedes(right) ? .before : .after
    }
}

extension SQLiteValue {
    /// A copy of a lent value.
    init(_ cell: CellBatch.Cell) {
        switch cell {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
        case .blob(let bytes): self = .blob(Array(bytes))
        }
    }
}

extension CellBatch {
    func add(_ value: SQLiteValue) {
        switch value {
        case .null: addNull()
        case .integer(let number): add(number)
        case .real(let number): add(number)
        case .text(let text): add(text)
        case .blob(let bytes): add(blob: bytes)
        }
    }
}
