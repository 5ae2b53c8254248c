import Clients
public import EventLog
public import Projections

/// Searches a log for the first event after which its state is wrong.
///
/// The ends are fixed when the search is made, so a log that grows meanwhile moves neither. States are folded from the nearest
/// one that is known, so a search costs little more than one replay; kept states make it cheaper (`ReplayOptions.keeping`).
///
/// ```swift
/// var search = try LogBisection(of: log)
/// let outcome = try search.run { $0.document()["issues"]?.array?.isEmpty == false ? .bad : .good }
/// #expect(outcome == .first(SequenceNumber(87)))
/// ```
public struct LogBisection {
    private var search: Bisection
    /// The walk of the search. It still holds the last good state, so showing what the found event changed folds little.
    package private(set) var walk: StateWalk
    /// Called before each test, with its point.
    package var testing: (SequenceNumber) -> Void = { _ in }
    /// Called with the nearest good and bad points whenever one of them moves.
    package var narrowed: (_ good: SequenceNumber, _ bad: SequenceNumber) -> Void = { _, _ in }

    /// The nearest points known to be good and bad; before the search, its ends.
    package var good: SequenceNumber { search.good }
    package var bad: SequenceNumber { search.bad }

    /// How many states were tested.
    public var tested: Int { search.tested }

    /// The greatest number of states that the search tests unless some are skipped: both ends, then one for each halving.
    package var stepsMax: Int {
        2 + (UInt64.bitWidth - (search.bad.rawValue - search.good.rawValue).leadingZeroBitCount)
    }

    /// Makes a search, and tests nothing yet.
    ///
    /// - Parameters:
    ///   - good: A point where all is well; `nil` for the point before the first event, or where the last compaction was
    ///     decided: earlier states can no longer be folded.
    ///   - bad: A point where it is wrong; `nil` for the log's head.
    ///   - options: Which events are folded, and how.
    /// - Throws: `EngineError` if the ends are equal or in the wrong order.
    public init(
        of store: EventStore,
        good: SequenceNumber? = nil,
        bad: SequenceNumber? = nil,
        options: ReplayOptions = ReplayOptions()
    ) throws {
        let (good, bad) = try store.read { (good ?? $0.decidedAt, bad ?? $0.head) }
        guard good != bad else {
            throw EngineError(
                "bisect: --good and --bad are both sequence \(good); give two points with events between them"
            )
        }
        guard good < bad else {
            throw EngineError(
                "bisect: --good (\(good)) comes after --bad (\(bad)); bisect finds where good becomes bad. To find where it "
                    + "becomes good again, give the points the other way round and negate the test"
            )
        }
        search = Bisection(good: good, bad: bad)
        walk = StateWalk(store: store, options: options)
    }

    /// Searches with a test of the state. The two states around the answer are tested twice.
    ///
    /// - Parameter test: A function of the state alone. It gets log2(events) + 4 states at most, in no order of the log.
    /// - Throws: what `test` throws; `EngineError` with code `no` if it gives two answers for one state; what folding throws.
    public mutating func run(_ test: (LogState) throws -> Verdict) throws -> Bisection.Outcome {
        try run(confirming: "the test", test)
    }

    /// The first event after which an expression can hold, where the payloads tell: a message says a text only after an event
    /// that says it (`Replay.firstEvent`). `nil` where they do not tell.
    ///
    /// Cost: a look through the payloads up to there.
    package func firstChance(of expression: StateExpression) throws -> SequenceNumber? {
        guard let text = expression.neededText else { return nil }
        return try walk.store.read { try Replay.firstEvent(holding: text, in: $0) }
    }

    /// Searches. With a name of the test for the error, the two states around the answer are tested again.
    ///
    /// - Parameter first: As for `Bisection.run`.
    package mutating func run(
        confirming name: String?,
        from first: SequenceNumber? = nil,
        _ test: (LogState) throws -> Verdict
    ) throws -> Bisection.Outcome {
        // A search tests each point once.
        var seen: [SequenceNumber: Verdict] = [:]
        var walk = walk
        defer { self.walk = walk }
        let outcome = try search.run(from: first, narrowed: narrowed) { point in
            testing(point)
            let state = try walk.state(at: point)
            let verdict = try test(state)
            // The search goes on to the right of a good state, so its events need no second fold.
            if verdict == .good { walk.begin(from: state) }
            seen[point] = verdict
            return verdict
        }
        guard let name, case .first(let first) = outcome else { return outcome }
        // Both states were tested: a search ends only when its two ends are neighbours.
        for point in [SequenceNumber(first.rawValue - 1), first] {
            let again = try test(walk.state(at: point))
            guard let before = seen[point], before != again else { continue }
            throw EngineError(
                "bisect: \"\(name)\" does not answer the same twice: at sequence \(point) it was \(before.rawValue), then "
                    + "\(again.rawValue); a test must depend on the state alone",
                code: .no
            )
        }
        return outcome
    }

    /// Searches for the first event after which the states of two logs, or of two readings of one log, differ. Digests decide;
    /// if two readings' digests differ, their rows do.
    ///
    /// - Parameter endsWithShorter: Whether the search ends where the shorter log does.
    /// - Throws: `EngineError` if the other log ends before the good point; what folding throws.
    package mutating func run(
        against other: EventStore,
        options: ReplayOptions,
        endsWithShorter: Bool
    ) throws -> Bisection.Outcome {
        let heads = try [walk.store, other].map { try $0.read { $0.head } }
        if let shorter = heads.min(), endsWithShorter, shorter < search.bad {
            guard search.good < shorter else {
                throw EngineError(
                    "bisect: the other log ends at sequence \(shorter), before --good (\(search.good))"
                )
            }
            search = Bisection(good: search.good, bad: shorter)
        }
        let isSameReading = walk.options.profile == options.profile
        var walks = [walk, StateWalk(store: other, options: options)]
        // This walk holds the nearest good state by then.
        defer { walk = walks[0] }
        return try search.run(narrowed: narrowed) { point in
            testing(point)
            // A copy, because a concurrent closure may not read a variable that changes.
            let now = walks
            // The folds of the two logs are independent.
            var states = try concurrentMap(now.indices) { try now[$0].state(at: point) }
            // Digests also cover orders, which may differ between two readings whose documents are the same.
            guard
                states[0].digest() == states[1].digest()
                    || !isSameReading && StateDiff.differences(states[0], states[1]).isEmpty
            else { return .bad }
            for index in states.indices { walks[index].begin(from: states[index]) }
            return .good
        }
    }
}
