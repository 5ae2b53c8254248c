/// A named table of a `DerivedStore`: values under keys of at most 480 bytes, ordered by the keys' bytes.
///
/// Every value is stored with a checksum over key and value; a value that does not match it is never returned (I17).
public struct DerivedTable: Sendable {
    /// The longest key, in bytes.
    public static let keyBytesMax = 480
    /// The most entries that one commit of a removal takes.
    private static let removalCount = 10_000

    let store: DerivedStore
    /// The table's name.
    public let name: String
    /// The first four bytes of all stored keys of the table.
    let number: UInt32

    private var values: Table { store.environment.tables[1] }

    /// The value under a key; `nil` if there is none.
    ///
    /// - Throws: `EventLogError` with code `damaged` if the value is altered: remove the table and compute it anew.
    public func value(at key: [UInt8]) throws -> [UInt8]? {
        try wrapping {
            try store.read { view in try withValue(at: key, view) { Array($0) } }
        }
    }

    /// Lends the entries of a range of keys in order, all from one commit, which stays open for the length of the walk;
    /// `body` returns false to stop. The bytes are valid within `body` only.
    ///
    /// - Parameter end: the first key past the range; `nil` for the table's end.
    /// - Throws: `EventLogError` with code `damaged` if a value is altered.
    public func forEach(
        from first: [UInt8] = [],
        to end: [UInt8]? = nil,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var passed = MapRelease()
        defer { passed.finish() }
        try wrapping {
            try store.read { view in
                try forEach(from: first, to: end, view) { key, value in
                    passed.pass(value)
                    return try body(key, value)
                }
            }
        }
    }

    /// Stores values in one synced commit, each in place of any former one under its key. It walks over the entries
    /// again each time the map has to grow.
    ///
    /// A few large batches are better than many small ones. They are in memory meanwhile, so keep one below some 16
    /// MiB.
    public func put(_ entries: some Sequence<(key: [UInt8], value: [UInt8])>) throws {
        try wrapping {
            try store.write { transaction in
                for entry in entries { try put(entry.value, at: entry.key, transaction) }
            }
        }
    }

    /// Stores values in one synced commit if the value under `key` is still `expected` (`nil`: no value). Returns false
    /// and stores nothing if another thread or process has changed it.
    public func put(
        _ entries: some Sequence<(key: [UInt8], value: [UInt8])>,
        where key: [UInt8],
        holds expected: [UInt8]?
    ) throws -> Bool {
        try wrapping {
            try store.write { transaction in
                guard try withValue(at: key, transaction.view, { Array($0) }) == expected else { return false }
                for entry in entries { try put(entry.value, at: entry.key, transaction) }
                return true
            }
        }
    }

    /// Removes the entries of a range of keys, in commits of 10,000. Readers may see some of them removed and others
    /// not.
    public func remove(from first: [UInt8], to end: [UInt8]?) throws {
        try wrapping {
            while try store.write({ try removeSome(from: first, to: end, $0) }) {}
        }
    }

    /// Removes all entries.
    public func removeAll() throws {
        try remove(from: [], to: nil)
    }

    private func wrapping<Result>(_ body: () throws -> Result) throws -> Result {
        try EventLogError.wrapping("use derived table", name, body)
    }
}

// MARK: - Within a transaction

extension DerivedTable {
    /// Lends the value under a key; `nil` if there is none. The bytes are valid until the transaction's next write.
    func withValue<Result>(
        at key: [UInt8],
        _ view: TransactionView,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        try prefixed(key).withUnsafeBytes { key in
            guard let stored = try view.value(of: key, in: values) else { return nil }
            return try body(try opened(stored, key))
        }
    }

    /// Lends entries in order from a key on. If `lowest` is given, begins with the last entry at or before that key
    /// which is not below `lowest`, if there is one.
    func forEach(
        from first: [UInt8],
        to end: [UInt8]?,
        lowest: [UInt8]? = nil,
        _ view: TransactionView,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        assert(lowest.map { !first.lexicographicallyPrecedes($0) } ?? true, "the lowest key is not above the first")
        var cursor = try Cursor(view, values)
        var found = false
        if let lowest {
            found = try cursor.seek(atMost: prefixed(first)) && !precedes(cursor.key, prefixed(lowest))
        }
        if !found { found = try cursor.seek(atLeast: prefixed(first)) }
        let end = end.map { prefixed($0) }
        while found, isBefore(end, cursor.key) {
            // Without the number of the table.
            let key = UnsafeRawBufferPointer(rebasing: cursor.key[4...])
            guard try body(key, try opened(cursor.value, cursor.key)) else { return }
            found = try cursor.advance()
        }
    }

    func put(_ value: [UInt8], at key: [UInt8], _ transaction: borrowing WriteTransaction) throws {
        guard key.count <= Self.keyBytesMax else {
            throw EventLogError(
                .invalidArgument,
                operation: "use derived table",
                object: name,
                reason: "a key has \(key.count) bytes, at most \(Self.keyBytesMax) are allowed"
            )
        }
        try prefixed(key).withUnsafeBytes { key in
            let sum = value.withUnsafeBytes { ValueSum.sum(of: $0, seed: ValueSum.sum(of: key, seed: 0)) }
            var summed: [UInt8] = []
            summed.reserveCapacity(value.count + MemoryLayout.size(ofValue: sum))
            summed.append(contentsOf: value)
            withUnsafeBytes(of: sum.bigEndian) { summed.append(contentsOf: $0) }
            try summed.withUnsafeBytes { try transaction.put($0, at: key, in: values) }
        }
    }

    func remove(_ key: [UInt8], _ transaction: borrowing WriteTransaction) throws {
        try prefixed(key).withUnsafeBytes { try transaction.remove($0, from: values) }
    }

    /// Removes at most one commit's worth; returns whether more may follow.
    private func removeSome(
        from first: [UInt8],
        to end: [UInt8]?,
        _ transaction: borrowing WriteTransaction
    ) throws -> Bool {
        // The keys are copied and the cursor is closed before the first removal: a write invalidates the bytes that
        // LMDB lends, and no cursor may outlive the commit.
        var keys: [[UInt8]] = []
        let end = end.map { prefixed($0) }
        do {
            var cursor = try Cursor(transaction.view, values)
            var found = try cursor.seek(atLeast: prefixed(first))
            while found, keys.count < Self.removalCount, isBefore(end, cursor.key) {
                keys.append(Array(cursor.key))
                found = try cursor.advance()
            }
        }
        for key in keys { try key.withUnsafeBytes { try transaction.remove($0, from: values) } }
        return keys.count == Self.removalCount
    }

    /// The stored key: the table's number, then the key.
    private func prefixed(_ key: [UInt8]) -> [UInt8] {
        withKey(number) { Array($0) + key }
    }

    /// Whether a stored key belongs to this table and is below `end`.
    private func isBefore(_ end: [UInt8]?, _ key: UnsafeRawBufferPointer) -> Bool {
        guard key.bigEndian(as: UInt32.self) == number else { return false }
        return end.map { precedes(key, $0) } ?? true
    }

    private func precedes(_ key: UnsafeRawBufferPointer, _ other: [UInt8]) -> Bool {
        other.withUnsafeBytes { key.lexicographicallyPrecedes($0) }
    }

    private func opened(
        _ stored: UnsafeRawBufferPointer,
        _ key: UnsafeRawBufferPointer
    ) throws -> UnsafeRawBufferPointer {
        if let value = Self.withoutSum(stored, key) { return value }
        throw EventLogError(
            .damaged,
            operation: "use derived table",
            object: name,
            reason: "a value is altered",
            advice: "delete the log's cache directories; they are computed anew"
        )
    }

    /// A value without its checksum; `nil` if the two do not match. The key is the stored one, with the table's number.
    static func withoutSum(_ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let count = stored.count - 8
        guard count >= 0, let sum = stored.bigEndian(at: count, as: UInt64.self) else { return nil }
        let value = UnsafeRawBufferPointer(rebasing: stored[..<count])
        return ValueSum.sum(of: value, seed: ValueSum.sum(of: key, seed: 0)) == sum ? value : nil
    }
}
