import JSON

/// The hash key of the tables in memory, drawn once for the process. A remote does not know it, so it cannot make up
/// ids that collide (I26).
///
/// This is the only randomness in the module, and it decides nothing but where an entry lies in a table and by which hashes
/// two states are compared within the process (`FrameKey.process`). It comes from Swift's `Hasher`, which draws its seed at
/// the process's start. No state, order, document or file depends on it: a table is searched for one place by its hash, the
/// caller compares the keys, nothing lists a table, and saved states contain no hash. A table is rebuilt when its state is
/// loaded.
struct TableKey: BitwiseCopyable, Sendable {
    static let process = TableKey()

    /// Two words mask the input and two the product, so that neither is known outside.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    private init() {
        func word(_ number: Int) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(number)
            return UInt64(truncatingIfNeeded: hasher.finalize())
        }
        words = (word(0), word(1), word(2), word(3))
    }

    /// The words, for a key that is made of them.
    var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// The hash of two words.
    @inline(__always)
    func hash(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = (left ^ words.0).multipliedFullWidth(by: right ^ words.1)
        return Self.fold(product.low ^ words.2, product.high ^ words.3)
    }

    /// The hash of a word and all bytes of a buffer.
    @inline(__always)
    func hash(_ word: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var state = hash(word, UInt64(bytes.count))
        var offset = 0
        while offset < bytes.count {
            state = hash(state, bytes.partialWord(offset))
            offset += 8
        }
        return state
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
