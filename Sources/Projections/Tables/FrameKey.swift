import EventLog
import JSON

/// A keyed hash of frames, which detects repeats (I26). The key is the log's identity: sixteen random bytes made at the
/// log's birth. It is the same wherever the log is replayed, and the remote does not know it, so the remote cannot
/// craft two frames with one hash.
///
/// Two given frames collide under about one key in 2^64. The hash sums products over stretches of 1 KiB and combines
/// the sums as a polynomial modulo 2^127 - 1 (the construction of VMAC; T. Krovetz and W. Dai, draft-krovetz-vmac-01).
/// Cost: about a fifteenth of SHA-256. Compactions store hashes in facts, so the function must not change.
struct FrameKey: Sendable {
    /// The key of states without a log.
    static let none = FrameKey([])
    /// A key that is drawn for the process, for hashes that never leave it; see `TableKey` on its randomness.
    static let process = FrameKey(TableKey.process.bytes)

    /// A stretch has as many words as the key.
    private static let stretchWords = 128
    private static let stretchBytes = 8 * stretchWords
    /// 2^127 - 1, a prime.
    private static let modulus: UInt128 = 1 << 127 - 1

    /// The key words: `words[i]` is added to word `i` of every stretch.
    private let words: [UInt64]
    /// The polynomial is evaluated here. The upper half is below 2^62, so that the sums in `multiplied` do not
    /// overflow.
    let point: UInt128

    /// Derives the key from a log's identity by SHA-256 in counter mode: four words for each part.
    ///
    /// - Parameter identity: the identity of the log; empty for `none`.
    init(_ identity: [UInt8]) {
        let head = Array("eventlog frames".utf8) + identity
        let random = (0...UInt8(Self.stretchWords / 4)).flatMap { part in
            let words = Hasher256.hash(head + [part]).words
            return [words.0, words.1, words.2, words.3]
        }
        assert(random.count >= Self.stretchWords + 2, "the key has a word for each word of a stretch, and the point")
        words = Array(random[..<Self.stretchWords])
        let (high, low) = (random[Self.stretchWords], random[Self.stretchWords + 1])
        point = UInt128(high >> 2) << 64 | UInt128(low)
    }

    /// The hash of a frame, below 2^127 - 1. An empty frame has one stretch, too.
    func hash(_ bytes: UnsafeRawBufferPointer) -> UInt128 {
        var hash: UInt128 = 1
        var offset = 0
        repeat {
            let end = min(offset + Self.stretchBytes, bytes.count)
            hash = Self.reduced(multiplied(hash) &+ sum(bytes, offset..<end))
            offset = end
        } while offset < bytes.count
        // The length tells apart frames that differ only in zero bytes at the end.
        hash = Self.reduced(multiplied(hash) &+ UInt128(bytes.count))
        // Numbers are reduced to at most 2^127 on the way; only the result must be unique.
        return hash < Self.modulus ? hash : hash - Self.modulus
    }

    /// The sum of the products of neighbouring words of a stretch, each word plus its key word; modulo 2^126.
    @inline(__always)
    private func sum(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt128 {
        words.withUnsafeBufferPointer { words in
            var (high, low): (UInt64, UInt64) = (0, 0)
            var (offset, place) = (range.lowerBound, 0)
            while offset < range.upperBound {
                let second = offset + 8 < range.upperBound ? bytes.partialWord(offset + 8) : 0
                let product = (bytes.partialWord(offset) &+ words[place])
                    .multipliedFullWidth(by: second &+ words[place + 1])
                let (sum, carries) = low.addingReportingOverflow(product.low)
                low = sum
                high = high &+ product.high &+ (carries ? 1 : 0)
                (offset, place) = (offset + 16, place + 2)
            }
            return UInt128((high << 2) >> 2) << 64 | UInt128(low)
        }
    }

    /// A number of at most 2^127 times the point, modulo 2^127 - 1; at most 2^127.
    @inline(__always)
    func multiplied(_ number: UInt128) -> UInt128 {
        assert(number <= UInt128(1) << 127, "larger numbers overflow the sums below")
        let (left, right) = (Self.halves(number), Self.halves(point))
        let low = Self.product(left.low, right.low)
        let middle = Self.product(left.low, right.high) &+ Self.product(left.high, right.low)
        let high = Self.product(left.high, right.high)
        // 2^127 is 1 here, so 2^128 is 2, and the bits that a shift by 64 lifts to 2^127 and above come in again below.
        let shifted = (middle & (1 << 63 - 1)) << 64
        let sum = Self.reduced(Self.reduced(low) &+ Self.reduced(shifted))
        return Self.reduced(Self.reduced(sum &+ (middle >> 63)) &+ Self.reduced(high << 1))
    }

    /// A smaller number of the same remainder, at most 2^127: 2^127 is 1 modulo 2^127 - 1.
    @inline(__always)
    private static func reduced(_ number: UInt128) -> UInt128 { (number & modulus) &+ (number >> 127) }

    @inline(__always)
    private static func halves(_ number: UInt128) -> (high: UInt64, low: UInt64) {
        (UInt64(truncatingIfNeeded: number >> 64), UInt64(truncatingIfNeeded: number))
    }

    @inline(__always)
    private static func product(_ left: UInt64, _ right: UInt64) -> UInt128 {
        let product = left.multipliedFullWidth(by: right)
        return UInt128(product.high) << 64 | UInt128(product.low)
    }
}
