import JSON

/// A 128-bit checksum, in two halves, against accidental differences only. An attacker can make inputs that collide, so
/// what remotes send is compared by a `FrameKey` and looked up by a `TableKey` (I26).
///
/// Equal on every machine and in every run, so it may be stored. Each step folds 128-bit products into one of two
/// chains (the construction of wyhash, Wang Yi, public domain, with other constants). Cost: about a fifteenth of
/// SHA-256.
struct FastHash {
    private static let keys: (UInt64, UInt64, UInt64, UInt64) = (
        0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x27D4_EB2F_1656_67C5
    )

    let high: UInt64
    let low: UInt64

    init(_ bytes: UnsafeRawBufferPointer) {
        // The length tells apart texts that differ only in zero bytes at the end.
        var (first, second) = (Self.keys.0 ^ UInt64(bytes.count), Self.keys.1)
        var offset = 0
        // Two chains, so that the processor multiplies for both at once.
        while bytes.count - offset >= 32 {
            first = Self.fold(bytes.word(offset) ^ Self.keys.0, bytes.word(offset + 8) ^ first)
            second = Self.fold(bytes.word(offset + 16) ^ Self.keys.1, bytes.word(offset + 24) ^ second)
            offset += 32
        }
        while offset < bytes.count {
            let word = bytes.partialWord(offset)
            first = Self.fold(word ^ Self.keys.2, first)
            second = Self.fold(word ^ Self.keys.3, second)
            offset += 8
        }
        high = Self.fold(first ^ Self.keys.2, second ^ Self.keys.0)
        low = Self.fold(second ^ Self.keys.3, first ^ Self.keys.1) ^ first
    }

    /// Mixes two words; flipping one bit of either flips about half of the result's bits.
    @inline(__always)
    static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
        fold(left ^ keys.0, right ^ keys.1) ^ fold(left ^ keys.2, keys.3)
    }

    /// The 128-bit product, its halves combined.
    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
