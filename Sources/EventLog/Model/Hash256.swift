import JSON

#if canImport(CryptoKit)
internal import CryptoKit
#else
internal import CLibCrypto
#endif

/// A SHA-256 hash: 32 bytes.
public struct Hash256: Hashable, Sendable, BitwiseCopyable {
    /// The four quarters of the hash, each big-endian, first to last.
    package let words: (UInt64, UInt64, UInt64, UInt64)

    /// Makes a hash from its 32 bytes; `nil` for any other number of bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() {
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
        }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// Reads 32 bytes at any alignment; the caller ensures that they are readable.
    package init(loading pointer: UnsafeRawPointer) {
        words = (
            UInt64(bigEndian: pointer.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: pointer.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            UInt64(bigEndian: pointer.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
            UInt64(bigEndian: pointer.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
        )
    }

    /// The hash as 32 bytes.
    public var bytes: [UInt8] {
        withBytes { Array($0) }
    }

    /// The hash that a text spells, in 64 hex digits of either case or in base64; `nil` for any other text.
    package init?(spelled text: String) {
        let digits = text.utf8.compactMap { JSONText.hexDigit($0) }
        if digits.count == 64, text.utf8.count == 64 {
            self.init(stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
        } else {
            guard let bytes = Base64.decode(text) else { return nil }
            self.init(bytes)
        }
    }

    /// The hash as 64 lower-case hex digits.
    public var hex: String {
        let digits: [UInt8] = Array("0123456789abcdef".utf8)
        return withBytes { bytes in
            String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
        }
    }

    /// The hex digit at a place, counted 0 ..< 64 from the left, as a number 0 ..< 16.
    package func nibble(_ place: Int) -> Int {
        let word = place < 16 ? words.0 : place < 32 ? words.1 : place < 48 ? words.2 : words.3
        return Int(word >> UInt64(60 - place % 16 * 4) & 15)
    }

    /// Lends the 32 bytes to a closure; they are valid within it only.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let bigEndian = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        return try withUnsafeBytes(of: bigEndian, body)
    }

    /// Whether all bytes are equal.
    public static func == (left: Hash256, right: Hash256) -> Bool {
        left.words == right.words
    }

    /// Feeds half of the hash to a hasher, which is enough: its bytes are evenly distributed.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}

extension Hash256: CustomStringConvertible {
    /// The text that people and scripts read.
    public var description: String { hex }
}

/// SHA-256 (FIPS 180-4) over bytes given in pieces, by the system's library: OpenSSL's libcrypto, or CryptoKit.
///
/// A value: copies go on independently, and hashing allocates no memory.
public struct Hasher256: Sendable {
    private var state = SystemHash()

    /// Begins a hash over no bytes.
    public init() {}

    /// Adds bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        Steps.count(1 + bytes.count / 64)
        state.update(bytes)
    }

    /// Adds bytes.
    public mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Adds the 32 bytes of a hash.
    public mutating func update(_ hash: Hash256) {
        hash.withBytes { state.update($0) }
    }

    /// The hash of all bytes so far.
    public consuming func finalize() -> Hash256 {
        state.finalize()
    }

    /// The hash of one run of bytes.
    public static func hash(_ bytes: [UInt8]) -> Hash256 {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// The hash of one run of bytes.
    public static func hash(_ bytes: UnsafeRawBufferPointer) -> Hash256 {
        Steps.count(1 + bytes.count / 64)
        return SystemHash.hash(bytes)
    }
}

#if canImport(CryptoKit)
private struct SystemHash: Sendable {
    var state = SHA256()

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        state.update(bufferPointer: bytes)
    }

    func finalize() -> Hash256 {
        // A digest of SHA-256 always has 32 bytes, so `zero` is never used.
        state.finalize().withUnsafeBytes { Hash256($0) ?? .zero }
    }

    static func hash(_ bytes: UnsafeRawBufferPointer) -> Hash256 {
        var hash = SystemHash()
        hash.update(bytes)
        return hash.finalize()
    }
}
#else
/// libcrypto's context is a C struct without pointers, so it may be copied and sent to other threads as its bytes.
private struct SystemHash: Sendable {
    private var context = SHA256_CTX()

    init() {
        SHA256_Init(&context)
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        SHA256_Update(&context, bytes.baseAddress, bytes.count)
    }

    consuming func finalize() -> Hash256 {
        Self.finalize(&context)
    }

    /// The hash of one run of bytes, in a context that is neither zeroed nor copied, which takes 7 % off the time of
    /// 65 bytes.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> Hash256 {
        withUnsafeTemporaryAllocation(of: SHA256_CTX.self, capacity: 1) { contexts in
            guard let context = contexts.baseAddress else { return .zero }
            SHA256_Init(context)
            SHA256_Update(context, bytes.baseAddress, bytes.count)
            return finalize(context)
        }
    }

    private static func finalize(_ context: UnsafeMutablePointer<SHA256_CTX>) -> Hash256 {
        withUnsafeTemporaryAllocation(byteCount: Hash256.byteCount, alignment: 8) { digest in
            guard let start = digest.baseAddress else { return .zero }
            // `SHA256_Final` writes all 32 bytes before they are read; plain bytes may be bound to `UInt8`.
            SHA256_Final(start.assumingMemoryBound(to: UInt8.self), context)
            return Hash256(loading: start)
        }
    }
}
#endif

extension Hash256 {
    /// The size of a hash in bytes.
    static let byteCount = 32

    private init(zero: Void) {
        words = (0, 0, 0, 0)
    }

    /// Thirty-two zero bytes, which no known input hashes to.
    static let zero = Hash256(zero: ())
}
