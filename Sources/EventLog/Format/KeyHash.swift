/// A fast 64-bit hash of (source, key) for the index in memory and in the cache; never part of what the log proves.
///
/// Multiply and fold, eight bytes at a time. Equal hashes cost a look at the record and nothing else, so the hash needs
/// to be fast and even, not strong.
enum KeyHash {
    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let offset: UInt64 = 0xD1B5_4A32_D192_ED03

    static func seed(of source: SourceName) -> UInt64 {
        var name = source.rawValue
        return name.withUTF8 { hash(UnsafeRawBufferPointer($0), seed: offset) }
    }

    static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var state = mixed(seed ^ UInt64(bytes.count))
        var index = 0
        while index + 8 <= bytes.count {
            state = mixed(state ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian)
            index += 8
        }
        var rest: UInt64 = 0
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index += 1
        }
        return mixed(mixed(state ^ rest) ^ offset)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = (value ^ offset).multipliedFullWidth(by: factor)
        return product.high ^ product.low ^ (value >> 32 | value << 32)
    }
}
