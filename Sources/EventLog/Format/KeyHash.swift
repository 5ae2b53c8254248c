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

    /// A checksum of derived values: four lanes of the same mixing, so that long values cost a fraction of a cycle a byte.
    static func sum(of bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var lanes = (seed, seed ^ factor, seed ^ offset, ~seed)
        var index = 0
        while index + 32 <= bytes.count {
            lanes.0 = mixed(lanes.0 ^ word(bytes, index))
            lanes.1 = mixed(lanes.1 ^ word(bytes, index + 8))
            lanes.2 = mixed(lanes.2 ^ word(bytes, index + 16))
            lanes.3 = mixed(lanes.3 ^ word(bytes, index + 24))
            index += 32
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
        let folded = mixed(mixed(mixed(lanes.0) ^ lanes.1) ^ lanes.2) ^ lanes.3
        return hash(rest, seed: folded ^ UInt64(bytes.count))
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
    }

    @inline(__always)
    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = (value ^ offset).multipliedFullWidth(by: factor)
        return product.high ^ product.low ^ (value >> 32 | value << 32)
    }
}
