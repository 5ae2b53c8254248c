/// A set of sequences, as bits in pages: a compaction has millions of them, most close together.
package struct SequenceSet: Hashable, Sendable {
    /// The sequences of a page have all but the lowest ten bits in common.
    private static let pageShift: UInt64 = 10

    fileprivate typealias Page = SIMD16<UInt64>
    fileprivate var pages: [UInt64: Page] = [:]

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
        pages[Self.page(of: sequence), default: .zero][Self.word(sequence)] |= Self.bit(sequence)
    }

    package func contains(_ sequence: UInt64) -> Bool {
        pages[Self.page(of: sequence)].map { Self.has(sequence, $0) } ?? false
    }

    package mutating func formUnion(_ sequences: some Sequence<UInt64>) {
        for sequence in sequences { insert(sequence) }
    }

    package mutating func formUnion(_ other: SequenceSet) {
        pages.merge(other.pages) { $0 | $1 }
    }

    @inline(__always)
    fileprivate static func page(of sequence: UInt64) -> UInt64 { sequence >> pageShift }

    @inline(__always)
    fileprivate static func has(_ sequence: UInt64, _ page: Page) -> Bool { page[word(sequence)] & bit(sequence) != 0 }

    /// The word of its page in which a sequence has its bit.
    @inline(__always)
    fileprivate static func word(_ sequence: UInt64) -> Int { Int(truncatingIfNeeded: sequence >> 6 & 15) }

    @inline(__always)
    fileprivate static func bit(_ sequence: UInt64) -> UInt64 { 1 << (sequence & 63) }
}

/// Looks sequences up in a set. Of those that lie close together only the first needs a search.
struct SequenceFinder {
    private let set: SequenceSet
    private var number: UInt64?
    private var page = SequenceSet.Page.zero

    init(_ set: SequenceSet) {
        self.set = set
    }

    @inline(__always)
    mutating func contains(_ sequence: UInt64) -> Bool {
        let number = SequenceSet.page(of: sequence)
        if number != self.number {
            self.number = number
            page = set.pages[number] ?? .zero
        }
        return SequenceSet.has(sequence, page)
    }
}

/// Collects sequences for a set. Those that lie close together are added to it at once.
struct SequenceCollector {
    private(set) var set: SequenceSet
    private var number: UInt64 = 0
    private var page = SequenceSet.Page.zero

    init(_ set: SequenceSet = []) {
        self.set = set
    }

    @inline(__always)
    mutating func insert(_ sequence: UInt64) {
        let number = SequenceSet.page(of: sequence)
        if number != self.number {
            flush()
            self.number = number
        }
        page[SequenceSet.word(sequence)] |= SequenceSet.bit(sequence)
    }

    /// The set with all of them.
    mutating func finish() -> SequenceSet {
        flush()
        return set
    }

    private mutating func flush() {
        if page != .zero { set.pages[number, default: .zero] |= page }
        page = .zero
    }
}

extension SequenceSet: ExpressibleByArrayLiteral {
    package init(arrayLiteral sequences: UInt64...) {
        self.init(sequences)
    }
}
