/// A set of sequences that is filled in ascending order. Takes 16 bytes for each run of consecutive ones.
struct SequenceRanges {
    private var ranges: [ClosedRange<UInt64>] = []

    /// Adds a range, which must begin after the end of all earlier ones.
    mutating func append(_ range: ClosedRange<UInt64>) {
        assert(ranges.last.map { $0.upperBound < range.lowerBound } ?? true, "ranges are added in ascending order")
        if let last = ranges.last, last.upperBound == range.lowerBound - 1 {
            ranges[ranges.count - 1] = last.lowerBound...range.upperBound
        } else {
            ranges.append(range)
        }
    }

    /// Whether a range contains the sequence. Cost: O(log ranges).
    func contains(_ sequence: UInt64) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < sequence { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(sequence)
    }
}
