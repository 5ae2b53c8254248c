public import EventLog
import Projections

/// Finds a small part of a log for which a test still holds.
///
/// The result is 1-minimal in events: the test fails without any single one of them. The log is only read, and held in memory as
/// a whole. The search depends on nothing but log and test, so a second one gives the same result.
///
/// ```swift
/// let shrinking = try LogShrinking(of: log, by: InterestTest { $0.document()["issues"]?.array?.isEmpty == false })
/// let result = try shrinking.run()
/// try result.write(to: "small.eventlog")
/// ```
public struct LogShrinking {
    private let whole: Candidate
    private let test: InterestTest
    private let book: AnswerBook
    private let deadline: ContinuousClock.Instant?

    /// Reads the events of a log.
    ///
    /// - Parameters:
    ///   - test: What must hold for the log, and for what is left of it.
    ///   - deadline: No test begins after it; `nil` for no limit.
    /// - Throws: `EventLogError` with code `damaged` for an event that is not as it was appended.
    public init(of store: EventStore, by test: InterestTest, until deadline: ContinuousClock.Instant? = nil) throws {
        try self.init(of: store, by: test, until: deadline, book: AnswerBook())
    }

    /// Reads the events of a log, and keeps the answers in a file, so that an interrupted search can go on.
    ///
    /// - Throws: as `AnswerBook.init`.
    package init(
        of store: EventStore,
        by test: InterestTest,
        until deadline: ContinuousClock.Instant?,
        answersAt path: String
    ) throws {
        // The root names exactly these events, so that answers of a log that has grown since are not used.
        let root = try store.read { try $0.root(size: $0.head.rawValue) }
        // Answers hold for this root and this test alone; others in the book are not used.
        let book = try AnswerBook(at: path, about: .object(["root": .string(root.hex), "test": test.description]))
        try self.init(of: store, by: test, until: deadline, book: book)
    }

    private init(
        of store: EventStore,
        by test: InterestTest,
        until deadline: ContinuousClock.Instant?,
        book: AnswerBook
    ) throws {
        let (whole, decoders) = try store.read { (try Candidate.whole(of: $0), try Decoders(inForce: $0)) }
        var test = test
        test.decoders = decoders
        (self.whole, self.test, self.deadline, self.book) = (whole, test, deadline, book)
    }

    /// How many answers of an interrupted search were found.
    package var foundCount: Int { book.foundCount }

    /// Searches until nothing helps, or the time is over.
    ///
    /// Cost: tests by the number of processors at once, each of which folds the events that it tests.
    ///
    /// - Throws: `EngineError` with code `no` if the test fails for the whole log; with `trouble` if it holds for a log without
    ///   events, gives two answers for the same events, or has no answer; what the test throws.
    public func run() throws -> ShrinkResult {
        try run { _, _ in }
    }

    /// Searches as `run`.
    ///
    /// - Parameter report: Called with the number of events that are left and the number of tests.
    package func run(_ report: @escaping (_ left: Int, _ tests: Int) -> Void) throws -> ShrinkResult {
        let runner = CandidateRunner(test, book: book, deadline: deadline)
        var search = ShrinkSearch(whole, runner: runner)
        // The search and the runner report from closures of their own.
        let left = EventCount(whole.events.count)
        search.report = { left.value = $0 }
        runner.report = { report(left.value, $0) }
        do {
            guard try search.run() else { throw refusal }
        } catch {
            // The next search must not go on from these answers.
            book.remove()
            throw error
        }
        return ShrinkResult(
            kept: search.best.events,
            wholeCount: whole.events.count,
            testCount: runner.testCount,
            isMinimal: search.isMinimal,
            decoders: test.decoders
        )
    }

    /// Removes the file of answers. The next search begins anew.
    package func forgetAnswers() { book.remove() }

    /// Why nothing was searched: the test does not hold for the whole log.
    private var refusal: EngineError {
        if let fault = test.fault(in: whole) { return EngineError("shrink: \(fault)") }
        let reason = test.troubles.noted.first.map { "; \($0)" } ?? ""
        return EngineError(
            "shrink: the test says no of the whole log, so there is nothing to keep\(reason)",
            code: .no
        )
    }
}

/// A number that two closures share. Both run on the thread of the search.
private final class EventCount {
    var value: Int

    init(_ value: Int) { self.value = value }
}

/// The events that a search has kept.
public struct ShrinkResult: Sendable {
    package private(set) var kept: [CandidateEvent]
    /// How many events the log has.
    public let wholeCount: Int
    /// How many different parts of the log were tested.
    public let testCount: Int
    /// True if every single event is needed; false if the time was over before that was shown.
    public let isMinimal: Bool
    /// What was replaced; `nil` if nothing should be.
    package private(set) var anonymized: Anonymizer.Result?
    /// The test, with the same replacements in the texts that it names; `nil` if nothing was replaced.
    package private(set) var askedThen: InterestTest?

    private var decoders: Decoders

    init(kept: [CandidateEvent], wholeCount: Int, testCount: Int, isMinimal: Bool, decoders: Decoders) {
        (self.kept, self.wholeCount, self.testCount, self.isMinimal) = (kept, wholeCount, testCount, isMinimal)
        self.decoders = decoders
    }

    /// The events, in the order of the log.
    public var events: [DraftEvent] { kept.map(\.draft) }

    /// Puts substitutes in the place of words, ids and times, as far as the test still holds. If the events are minimal,
    /// the test must also fail without any one of them.
    ///
    /// - Throws: `EngineError` with code `no` if the test fails whatever is replaced.
    package mutating func anonymize(_ test: InterestTest) throws {
        try Anonymizer.refuse(decoders, of: kept, "shrink --anonymize")
        let decoders = decoders
        var test = test
        test.decoders = decoders
        let issues = try test.issues(of: Candidate(kept)).count
        let (isMinimal, question) = (isMinimal, test)
        let demand = Anonymizer.Demand(texts: test.placedTexts, members: test.members, decoders: decoders) {
            replaced,
            substitutes in
            var asked = question.naming { substitutes.replace($0, at: $1) }
            asked.decoders = substitutes.renamed(decoders)
            return try asked.isInteresting(Candidate(replaced))
                // Replacing must not make payloads undecodable.
                && asked.issues(of: Candidate(replaced)).count <= issues
                && (!isMinimal || asked.needsEach(of: replaced))
        }
        guard let result = try Anonymizer.run(kept, demand) else {
            throw EngineError(
                "shrink --anonymize: whatever is replaced, the test says no then; ask for what does not depend on words, ids "
                    + "and times, or leave --anonymize out",
                code: .no
            )
        }
        (kept, anonymized) = (result.events, result)
        self.decoders = result.substitutes.renamed(decoders)
        askedThen = test.naming { result.substitutes.replace($0, at: $1) }
        askedThen?.decoders = self.decoders
    }

    /// Makes a log of the events, with new sequences. It appears at its path whole and verified, or not at all, because it is
    /// made in a temporary folder and copied by `EventStore.backup`.
    ///
    /// - Throws: `EventLogError` if something exists at the path, or the log cannot be written.
    public func write(to path: String) throws {
        try NewLog.write(events, decoders, to: path)
    }
}
