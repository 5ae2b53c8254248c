import EventLog
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Runs a test on candidates, several at a time, each once.
///
/// `first` finds the first interesting candidate of a list, however many workers there are, so every search takes the
/// same way. For one thread, which blocks while the workers run.
final class CandidateRunner {
    /// Thrown once the deadline has passed.
    struct TimeIsOver: Error {}

    let test: InterestTest
    private let book: AnswerBook
    private let workers: Int
    private let deadline: ContinuousClock.Instant?
    /// Candidates whose answers the search has used. Those behind a hit in the same batch do not count.
    private var asked: Set<Hash256> = []
    /// Called after each batch.
    var report: ((_ tests: Int) -> Void)?

    init(
        _ test: InterestTest,
        book: AnswerBook = AnswerBook(),
        workers: Int = ProcessInfo.processInfo.activeProcessorCount,
        deadline: ContinuousClock.Instant? = nil
    ) {
        (self.test, self.book, self.workers, self.deadline) = (test, book, max(workers, 1), deadline)
    }

    /// How many different candidates were tested or known; the same for any number of workers.
    var testCount: Int { asked.count }

    /// The answer for one candidate, known or new.
    func isInteresting(_ candidate: Candidate) throws -> Bool {
        try first(1) { _ in candidate } != nil
    }

    /// The least index whose candidate is interesting; `nil` if there is none.
    ///
    /// - Parameter make: Makes the candidate of an index; `nil` to skip it. Called ahead for a batch, so it must depend
    ///   on the index alone.
    /// - Throws: `TimeIsOver` if a new test would begin after the deadline; what the test throws.
    func first(_ count: Int, _ make: (Int) -> Candidate?) throws -> Int? {
        var next = 0
        while next < count {
            let indexes = Array(next..<min(next + workers, count))
            let batch = indexes.map(make)
            let answers = try answers(to: batch)
            assert(answers.count == batch.count, "each candidate of a batch has a place among the answers")
            for (index, answer) in zip(indexes, answers) {
                guard let (identity, holds) = answer else { continue }
                asked.insert(identity)
                if holds { return index }
            }
            report?(testCount)
            next += indexes.count
        }
        return nil
    }

    /// Runs the test again, even if its answer is known.
    ///
    /// - Throws: `EngineError` if the answer is not the expected one; `TimeIsOver`.
    func confirm(_ candidate: Candidate, is expected: Bool) throws {
        try checkTime()
        guard try test.isInteresting(candidate) != expected else { return }
        throw EngineError("shrink: the test does not answer the same twice; it must depend on the state alone")
    }

    /// Records an answer that was found in another way.
    func note(_ answer: Bool, to candidate: Candidate) {
        let identity = candidate.identity
        asked.insert(identity)
        if book.answer(to: identity) == nil { book.note(answer, to: identity) }
        report?(testCount)
    }

    /// The known answer for a candidate, if any.
    func known(_ candidate: Candidate) -> Bool? { book.answer(to: candidate.identity) }

    /// - Throws: `TimeIsOver` once the deadline has passed.
    func checkTime() throws {
        if let deadline, ContinuousClock.now >= deadline { throw TimeIsOver() }
    }

    /// The identity and answer of each candidate; `nil` where there is no candidate. Only candidates without a known
    /// answer are tested.
    private func answers(to batch: [Candidate?]) throws -> [(Hash256, Bool)?] {
        let identities = batch.map { $0?.identity }
        let open = batch.indices.filter { index in
            identities[index].map { book.answer(to: $0) == nil } ?? false
        }
        if !open.isEmpty {
            try checkTime()
            let found = try evaluate(open.compactMap { batch[$0] })
            assert(found.count == open.count, "each open question gets an answer")
            for (index, answer) in zip(open, found) {
                if let identity = identities[index] { book.note(answer, to: identity) }
            }
        }
        return identities.map { identity in
            identity.flatMap { identity in book.answer(to: identity).map { (identity, $0) } }
        }
    }

    private func evaluate(_ candidates: [Candidate]) throws -> [Bool] {
        let test = test
        return try concurrentMap(candidates.indices) { try test.isInteresting(candidates[$0]) }
    }
}
