/// Checks that the keys of a page ascend from a lower bound. Keeps a pointer to the last key, so the page must outlive
/// it.
struct KeyOrder {
    /// The least key that the page may have; `nil` if there is no bound.
    private let low: [UInt8]?
    /// Whether the keys are those of the free list.
    private let isNumeric: Bool
    /// Whether the first key must equal `low`.
    private let beginsAtLow: Bool
    private var last: UnsafeRawBufferPointer?

    init(_ low: [UInt8]?, isNumeric: Bool, beginsAtLow: Bool) {
        self.low = low
        self.isNumeric = isNumeric
        self.beginsAtLow = beginsAtLow
    }

    /// Whether `key` may come next; if so, it becomes the last key.
    mutating func accepts(_ key: UnsafeRawBufferPointer) -> Bool {
        // LMDB's longest key (`MDB_MAXKEYSIZE`).
        guard (1...511).contains(key.count) else { return false }
        if let last {
            guard ascends(last, key) else { return false }
        } else if let low {
            guard low.withUnsafeBytes({ beginsAtLow ? sameBytes($0, key) : !ascends(key, $0) }) else { return false }
        }
        last = key
        return true
    }

    /// Whether the last key is below `high`; true if either is missing.
    func endsBefore(_ high: [UInt8]?) -> Bool {
        guard let last, let high else { return true }
        return high.withUnsafeBytes { ascends(last, $0) }
    }

    /// Compares bytes; the keys of the free list are numbers in native byte order.
    private func ascends(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        if isNumeric, left.count == 8, right.count == 8 {
            return left.loadUnaligned(as: UInt64.self) < right.loadUnaligned(as: UInt64.self)
        }
        return precedesBytes(left, right)
    }
}
