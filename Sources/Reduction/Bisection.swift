public import EventLog

/// A test's answer for a state.
public enum Verdict: String, Hashable, Sendable {
    /// Nothing is wrong.
    case good
    /// It is wrong.
    case bad
    /// The test cannot decide.
    case skip
}

/// Searches between a good and a bad point for the first event after which states are bad. It knows sequences only; the
/// caller folds and tests.
///
/// A search tests at most log2(events) + 2 states, both ends included, unless states are skipped. Like every bisection,
/// it assumes that states stay bad once they are.
///
/// It holds two sequences and the skipped ones, no states. That keeps the search testable without a log.
public struct Bisection {
    /// The result of a search.
    public enum Outcome: Hashable, Sendable {
        /// The first bad event.
        case first(SequenceNumber)
        /// The first bad event is one of these, ascending: the test cannot decide the states between.
        case among([SequenceNumber])
        /// Both ends give the same answer.
        case same(Verdict)
        /// The good end is bad and the bad end good.
        case reversed
        /// The test cannot decide the state at this end.
        case unknownEnd(SequenceNumber)
    }

    /// The nearest point known to be good.
    public private(set) var good: SequenceNumber
    /// The nearest point known to be bad.
    public private(set) var bad: SequenceNumber
    /// How many states were tested.
    public private(set) var tested = 0
    /// Points that the test could not decide.
    private var skipped: Set<SequenceNumber> = []

    /// Begins a search between two points; the good one comes before the bad one.
    public init(good: SequenceNumber, bad: SequenceNumber) {
        self.good = good
        self.bad = bad
    }

    /// Searches. `test` gets each point at most once, in no particular order.
    ///
    /// Invariant: `good` was tested or is known as good, and `bad` was tested as bad, from the first loop on. Skipped points may make the
    /// search linear, as in `git bisect`.
    ///
    /// - Parameters:
    ///   - first: The first point that can be bad, where that is known: all points before it are good, and it is tested
    ///     before those between the ends.
    ///   - narrowed: Called with the ends whenever one moves.
    /// - Throws: what `test` throws.
    public mutating func run(
        from first: SequenceNumber? = nil,
        narrowed: (_ good: SequenceNumber, _ bad: SequenceNumber) -> Void = { _, _ in },
        _ test: (SequenceNumber) throws -> Verdict
    ) throws -> Outcome {
        tested = 2
        let ends = try (test(good), test(bad))
        switch ends {
        case (.good, .bad): break
        case (.skip, _): return .unknownEnd(good)
        case (_, .skip): return .unknownEnd(bad)
        case (.bad, .good): return .reversed
        default: return .same(ends.0)
        }
        var start: SequenceNumber?
        if let first, good < first, first <= bad {
            good = SequenceNumber(first.rawValue - 1)
            start = first < bad ? first : nil
        }
        while let point = start ?? next() {
            start = nil
            tested += 1
            switch try test(point) {
            case .good: good = point
            case .bad: bad = point
            case .skip:
                skipped.insert(point)
                continue
            }
            narrowed(good, bad)
        }
        assert(good < bad, "the good end comes before the bad one")
        let left = (good.rawValue + 1...bad.rawValue).map { SequenceNumber($0) }
        return left.count == 1 ? .first(bad) : .among(left)
    }

    /// The point to test next: the middle, or the nearest one that was not skipped. `nil` if no point between the ends
    /// is left.
    ///
    /// Cost: linear in the number of skipped points around the middle.
    private func next() -> SequenceNumber? {
        let (low, high) = (good.rawValue, bad.rawValue)
        guard high - low > 1 else { return nil }
        // Not `(low + high) / 2`, which could overflow.
        let middle = low + (high - low) / 2
        for distance in 0...(high - low) {
            for candidate in [middle + distance, middle - min(distance, middle)]
            where candidate > low && candidate < high && !skipped.contains(SequenceNumber(candidate)) {
                return SequenceNumber(candidate)
            }
        }
        return nil
    }
}
