import EventLog

/// Finds some of many gaps by their beginnings and ends. An open gap ends after every instant.
struct GapIndex {
    private static let never = Timestamp(seconds: .max)

    /// With their places in the list given, in the order of their beginnings; equal ones in the order given.
    private let gaps: [(place: Int, from: Timestamp)]
    /// The last end of each half, quarter and so on of `gaps`, the whole at place 1 and the halves of place n at 2n and 2n + 1.
    private var lastEnds: [Timestamp] = []
    /// The places of `lastEnds` from here on are those of `gaps`.
    private var firstLeaf = 1

    /// Cost: O(n log n).
    init(_ gaps: [Gap]) {
        let sorted = gaps.enumerated().sorted { ($0.element.from, $0.offset) < ($1.element.from, $1.offset) }
        self.gaps = sorted.map { ($0.offset, $0.element.from) }
        while firstLeaf < gaps.count { firstLeaf *= 2 }
        lastEnds = Array(repeating: Timestamp(seconds: .min), count: firstLeaf)
        lastEnds += sorted.map { $0.element.to ?? Self.never }
        lastEnds += Array(repeating: Timestamp(seconds: .min), count: firstLeaf - gaps.count)
        for place in (1..<firstLeaf).reversed() {
            lastEnds[place] = max(lastEnds[2 * place], lastEnds[2 * place + 1])
        }
    }

    /// The places of the first gaps that begin no later than one instant and end no earlier than another one, `nil` for open ones, in the
    /// order of their beginnings. Cost: O(log n) for each that is given, and for the search.
    func first(_ count: Int, from begin: Timestamp, to end: Timestamp?) -> [Int] {
        var found: [Int] = []
        find(count, from: begin, to: end ?? Self.never, below: 1, 0..<firstLeaf, &found)
        return found
    }

    /// Whether a gap begins no later than one instant and ends no earlier than another one.
    func has(from begin: Timestamp, to end: Timestamp?) -> Bool { !first(1, from: begin, to: end).isEmpty }

    private func find(
        _ count: Int,
        from begin: Timestamp,
        to end: Timestamp,
        below place: Int,
        _ range: Range<Int>,
        _ found: inout [Int]
    ) {
        Steps.count(1)
        guard found.count < count, range.lowerBound < gaps.count, gaps[range.lowerBound].from <= begin,
            lastEnds[place] >= end
        else { return }
        if range.count == 1 { return found.append(gaps[range.lowerBound].place) }
        let middle = range.lowerBound + range.count / 2
        find(count, from: begin, to: end, below: 2 * place, range.lowerBound..<middle, &found)
        find(count, from: begin, to: end, below: 2 * place + 1, middle..<range.upperBound, &found)
    }
}
