/// What tables in memory hash with: a key drawn once for the process. Who makes ids up does not know it, and so cannot make
/// them collide.
///
/// This is the one place in the module where chance comes in, and it decides nothing but where an entry lies in a table.
/// The key is what Swift's own `Hasher` draws for its sets and dictionaries. No state, order, document or file depends on
/// it: tables are asked for one place by its hash, the asker compares what lies there, nothing walks over a table, and
/// saved states hold no hash; a table is built anew when its state is loaded.
struct TableKey: BitwiseCopyable, Sendable {
    static let process = TableKey()

    private let words: (UInt64, UInt64, UInt64, UInt64)

    private init() {
        func word(_ number: Int) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(number)
            return UInt64(truncatingIfNeeded: hasher.finalize())
        }
        words = (word(0), word(1), word(2), word(3))
    }

    /// The hash of two words.
    @inline(__always)
    func hash(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = (left ^ words.0).multipliedFullWidth(by: right ^ words.1)
        return Self.fold(product.low ^ words.2, product.high ^ words.3)
    }

    /// The hash of a word and all of some bytes.
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
