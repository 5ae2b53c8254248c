#if Recorders
/// Watches the numbers `s` of one connection for holes.
///
/// A server takes a number and queues the frame in two steps, so neighbours may arrive swapped. A number therefore
/// counts as lost only once it is overdue: then its frame was dropped.
struct SequenceWatch: Equatable {
    /// How long a number may be missing before it counts as lost.
    static let grace = Duration.seconds(2)
    /// The most ranges of missing numbers that `takeOverdue` keeps; if there are more, it gives all of them up.
    static let rangeCountMax = 256

    private struct Missing: Equatable {
        var numbers: ClosedRange<UInt64>
        /// When the hole showed: the arrival of the frame behind it.
        let since: Duration
    }

    /// The greatest number seen; before any, the number before the first one expected.
    private(set) var greatest: UInt64
    /// Sorted by number, ascending, and so by `since`: holes show in the order of their numbers. The ranges do not
    /// overlap, and all numbers are less than `greatest`.
    private var missing: [Missing] = []

    /// - Parameter base: the number before the first one expected.
    init(after base: UInt64) {
        greatest = base
    }

    /// True if every number up to the greatest one arrived or was given up.
    var isComplete: Bool { missing.isEmpty }

    /// The last number up to which none is missing, except for numbers that were given up.
    var contiguous: UInt64 { missing.map { $0.numbers.lowerBound - 1 }.min() ?? greatest }

    /// The next instant at which `takeOverdue` may find something.
    var deadline: Duration? { missing.first.map { $0.since + Self.grace } }

    /// Takes the number of a frame. A number that was seen or given up before changes nothing. Cost: O(ranges), but
    /// O(1) for the next number in order.
    mutating func take(_ number: UInt64, at now: Duration) {
        assert(missing.last.map { $0.numbers.upperBound < greatest } ?? true, "a number that was seen is not missing")
        guard number > greatest else { return fill(number) }
        if number - greatest > 1 { missing.append(Missing(numbers: greatest + 1...number - 1, since: now)) }
        greatest = number
    }

    /// Gives up the numbers that are overdue, or all of them if there are too many ranges; returns true if there were
    /// any.
    mutating func takeOverdue(at now: Duration) -> Bool {
        let count = missing.count
        missing.removeAll { $0.since + Self.grace <= now }
        if missing.count > Self.rangeCountMax { missing.removeAll() }
        return missing.count < count
    }

    /// Removes a number from the range that misses it, which may split the range in two.
    private mutating func fill(_ number: UInt64) {
        guard let index = missing.firstIndex(where: { $0.numbers.contains(number) }) else { return }
        let hole = missing.remove(at: index)
        if number < hole.numbers.upperBound {
            missing.insert(Missing(numbers: number + 1...hole.numbers.upperBound, since: hole.since), at: index)
        }
        if number > hole.numbers.lowerBound {
            missing.insert(Missing(numbers: hole.numbers.lowerBound...number - 1, since: hole.since), at: index)
        }
    }
}
#endif
