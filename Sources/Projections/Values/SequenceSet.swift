/// A set of sequences, as bits in pages: a compaction has millions of them, most close together.
package struct SequenceSet: Hashable, Sendable {
    /// The sequences of a page have all but the lowest ten bits in common.
    private static let pageShift: UInt64 = 10

    private var pages: [UInt64: SIMD16<UInt64>] = [:]

    /// Makes a set of some sequences.
    package init(_ sequences: some Sequence<UInt64> = []) {
        formUnion(sequences)
    }

    package var isEmpty: Bool { pages.isEmpty }

    /// O(pages).
    package var count: Int {
        pages.values.reduce(0) { sum, page in page.indices.reduce(sum) { $0 + page[$1].nonzeroBitCount } }
    }

    package mutating func insert(_ sequence: UInt64) {
        pages[sequence >> Self.pageShift, default: .zero][Self.word(sequence)] |= Self.bit(sequence)
    }

    package func contains(_ sequence: UInt64) -> Bool {
        pages[sequence >> Self.pageShift].map { $0[Self.word(sequence)] & Self.bit(sequence) != 0 } ?? false
    }

    package mutating func formUnion(_ sequences: some Sequence<UInt64>) {
        for sequence in sequences { insert(sequence) }
    }

    package mutating func formUnion(_ other: SequenceSet) {
        pages.merge(other.pages) { $0 | $1 }
    }

    /// The word of its page in which a sequence has its bit.
    @inline(__always)
    private static func word(_ sequence: UInt64) -> Int { Int(truncatingIfNeeded: sequence >> 6 & 15) }

    @inline(__always)
    private static func bit(_ sequence: UInt64) -> UInt64 { 1 << (sequence & 63) }
}

extension SequenceSet: ExpressibleByArrayLiteral {
    package init(arrayLiteral sequences: UInt64...) {
        self.init(sequences)
    }
}
