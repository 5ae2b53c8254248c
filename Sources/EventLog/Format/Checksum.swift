/// The eight bytes at the end of every value of a table that the hash tree does not cover: the first eight bytes of
/// SHA-256(table name ‖ 0 ‖ key ‖ value before the checksum).
///
/// It has no key, so it reveals accidents but no forgery. What must withstand forgery is named by acts (I25).
enum Checksum {
    static let byteCount = 8

    /// The zero between name and key keeps two tables from sharing a sum, since no name contains one.
    static func of(table: String, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher256()
        hasher.update(Array(table.utf8) + [0])
        hasher.update(key)
        hasher.update(value)
        return hasher.finalize().words.0
    }

    /// The value followed by its checksum.
    static func summed(_ value: [UInt8], table: String, key: UnsafeRawBufferPointer) -> [UInt8] {
        let sum = value.withUnsafeBytes { of(table: table, key: key, value: $0) }
        return value + withUnsafeBytes(of: sum.bigEndian) { Array($0) }
    }

    /// The value without its checksum; `nil` if the two do not match.
    static func opened(
        _ stored: UnsafeRawBufferPointer,
        table: String,
        key: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        let count = stored.count - byteCount
        guard count >= 0, let sum = stored.bigEndian(at: count, as: UInt64.self) else { return nil }
        let value = UnsafeRawBufferPointer(rebasing: stored[..<count])
        return of(table: table, key: key, value: value) == sum ? value : nil
    }
}
