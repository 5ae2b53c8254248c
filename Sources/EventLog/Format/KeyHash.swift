/// A fast 64-bit hash of (source, key) for the index in memory and in the cache; no proof contains it.
///
/// Multiply and fold, eight bytes at a time, with a secret of one cache. Without the secret nobody can make up keys
/// that collide, so the tables stay fast (I26). Two keys with one hash cost only a look at the records.
struct KeyHash: Sendable {
    /// Four random words. `KeyRunList` stores them beside the runs that were made with them.
    let secret: Hash256

    init(secret: Hash256) {
        self.secret = secret
    }

    /// A hash with a new random secret.
    static var random: KeyHash { KeyHash(secret: Hash256(systemRandomBytes(Hash256.byteCount)) ?? .zero) }

    /// The start value for the keys of a source: SHA-256, so that nobody can make up sources with equal seeds.
    static func seed(of source: SourceName) -> UInt64 {
        Hasher256.hash(Array(source.rawValue.utf8)).words.0
    }

    /// The hash of a key's bytes; `seed` is that of its source. The length goes in first: without it, zeros in front of
    /// the last bytes would not count.
    @inline(__always)
    func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        let words = secret.words
        var state = Self.fold(seed ^ words.0, UInt64(bytes.count) ^ words.1)
        var index = 0
        while index + 8 <= bytes.count {
            state = Self.fold(state ^ bytes.word(index), words.2)
            index += 8
        }
        var rest: UInt64 = 0
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index += 1
        }
        return Self.fold(Self.fold(state ^ rest, words.2) ^ words.0, words.3)
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}

/// A checksum of derived values, against accidents only. It mixes four lanes at once, so that a byte of a long value
/// costs a fraction of a cycle. The sums are stored: a change of the constants or of the order makes all derived data
/// look damaged.
enum ValueSum {
    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let offset: UInt64 = 0xD1B5_4A32_D192_ED03

    /// The sum of the bytes. `DerivedTable` passes the sum of the key as the seed, so that a value under another key
    /// does not fit.
    static func sum(of bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var lanes = (seed, seed ^ factor, seed ^ offset, ~seed)
        var index = 0
        while index + 32 <= bytes.count {
            lanes.0 = mixed(lanes.0 ^ bytes.word(index))
            lanes.1 = mixed(lanes.1 ^ bytes.word(index + 8))
            lanes.2 = mixed(lanes.2 ^ bytes.word(index + 16))
            lanes.3 = mixed(lanes.3 ^ bytes.word(index + 24))
            index += 32
        }
        let folded = mixed(mixed(mixed(lanes.0) ^ lanes.1) ^ lanes.2) ^ lanes.3
        return last(UnsafeRawBufferPointer(rebasing: bytes[index...]), seed: folded ^ UInt64(bytes.count))
    }

    private static func last(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var state = mixed(seed ^ UInt64(bytes.count))
        var index = 0
        while index + 8 <= bytes.count {
            state = mixed(state ^ bytes.word(index))
            index += 8
        }
        var rest: UInt64 = 0
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index += 1
        }
        return mixed(mixed(state ^ rest) ^ offset)
    }

    @inline(__always)
    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = (value ^ offset).multipliedFullWidth(by: factor)
        return product.high ^ product.low ^ (value >> 32 | value << 32)
    }
}

extension UnsafeRawBufferPointer {
    /// Eight bytes as one little-endian number; the caller ensures that they lie within the buffer.
    @inline(__always)
    fileprivate func word(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
