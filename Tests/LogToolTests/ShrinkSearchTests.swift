import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Reduction

@Suite struct ShrinkSearchTests {
    /// A log of gateway frames: creates in three channels, edits, deletes, each drawn.
    private static func candidate(events count: Int, seed: UInt64) throws -> Candidate {
        var random = SeededGenerator(seed: seed)
        var drafts: [DraftEvent] = []
        for number in 0..<count {
            let target = number == 0 ? 0 : Int.random(in: 0..<number, using: &random)
            let kind = Int.random(in: 0..<6, using: &random)
            let (name, id) = kind < 4 ? ("CREATE", number) : (kind == 4 ? "UPDATE" : "DELETE", target)
            let text = "text \(number % 7) of some length"
            let frame =
                #"{"op":0,"s":\#(number + 1),"t":"MESSAGE_\#(name)","d":{"id":"\#(1000 + id)","channel_id":"\#(10 + id % 3)","#
                + #""author_id":"7","content":"\#(text)","created_at":"2026-01-01T00:00:00Z"}}"#
            drafts.append(
                DraftEvent(
                    recordedAt: Timestamp(seconds: 1_767_225_600 + Int64(number)),
                    source: try SourceName(number % 5 == 0 ? "side" : "guild"),
                    kind: try EventKind("gateway.frame/1"),
                    key: try EventKey("k/\(number)"),
                    payload: Array(frame.utf8)
                )
            )
        }
        return Candidate(
            drafts.enumerated().map { place, draft in
                CandidateEvent(place: place, origin: SequenceNumber(UInt64(place + 1)), draft: draft)
            }
        )
    }

    private static func search(
        _ whole: Candidate,
        _ test: InterestTest,
        workers: Int
    ) throws -> (search: ShrinkSearch, tests: Int)? {
        let runner = CandidateRunner(test, workers: workers)
        var search = ShrinkSearch(whole, runner: runner)
        return try search.run() ? (search, runner.testCount) : nil
    }

    private static func test(_ expression: String) throws -> InterestTest {
        InterestTest(question: .expression(try StateExpression(parsing: expression)))
    }

    /// A conjunction of messages: their creates and nothing else are needed, whatever else the log holds.
    @Test(arguments: 1...12)
    func aConjunctionShrinksToItsEvents(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let whole = try Self.candidate(events: 120, seed: UInt64(seed))
        var state = LogState()
        state.apply(whole.events.map(\.draft))
        let live = state.rows(in: .messages, asOf: Timestamp(seconds: 0)).compactMap { row -> String? in
            guard let source = row["source"]?.string, let channel = row["channel"]?.string else { return nil }
            return row["id"]?.string.map { "\(source)/\(channel)/\($0)" }
        }
        let planted = live.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
        let expression = planted.map { #"exists(messages["\#($0)"])"# }.joined(separator: " and ")
        let found = try #require(try Self.search(whole, Self.test(expression), workers: 2))
        #expect(found.search.isMinimal)
        #expect(found.search.best.events.count == planted.count, "seed \(seed): \(expression)")
    }

    /// Events that hold what the test names come first, and what they need besides is found all the same.
    @Test func textsThatATestNamesAreLookedFor() throws {
        let whole = try Self.candidate(events: 200, seed: 9)
        let needle = whole.events.filter { $0.holds("1150") }
        #expect(!needle.isEmpty && needle.count < 10)
        for expression in ["exists(messages[\"1150\"])", "exists(messages[\"1150\"]) and count(messages) > 3"] {
            guard let found = try Self.search(whole, Self.test(expression), workers: 2) else { continue }
            #expect(found.search.isMinimal)
            #expect(found.search.best.events.contains { $0.holds("1150") })
            #expect(found.search.best.events.count == (expression.contains("count") ? 4 : 1))
        }
    }

    /// Any expression: no single event of the result can go, and the result still shows it.
    @Test(arguments: [
        "count(messages) > 5", "exists(deletedMessages)", "duplicate(messages[channel=\"11\"], content)",
        "count(messages[source=\"side\"]) > 2 and exists(deletedMessages[source=\"guild\"])",
        "exists(messages[revisions > 1])",
    ])
    func noSingleEventOfAResultCanGo(expression: String) throws {
        for seed in 1...4 {
            let whole = try Self.candidate(events: 90, seed: UInt64(seed))
            let test = try Self.test(expression)
            guard let found = try Self.search(whole, test, workers: 2) else { continue }
            let best = found.search.best
            #expect(try test.isInteresting(best))
            for place in best.events.indices {
                var smaller = best
                smaller.events.remove(at: place)
                #expect(try !test.isInteresting(smaller), "seed \(seed), event \(place)")
            }
        }
    }

    /// Of small logs all parts are tried: none that is interesting is smaller than a conjunction's result.
    @Test(arguments: 1...6)
    func noPartOfASmallLogIsSmaller(seed: Int) throws {
        let whole = try Self.candidate(events: 9, seed: UInt64(seed))
        let test = try Self.test("count(messages) > 2")
        guard let found = try Self.search(whole, test, workers: 1) else { return }
        var least = whole.events.count
        for mask in 1..<(1 << whole.events.count) {
            let part = whole.events.indices.filter { mask >> $0 & 1 == 1 }
            guard part.count < least, try test.isInteresting(Candidate(part.map { whole.events[$0] })) else { continue }
            least = part.count
        }
        #expect(found.search.best.events.count == least)
    }

    @Test(arguments: ["exists(deletedMessages)", "count(messages[channel=\"11\"]) > 4"])
    func oneWorkerAndManyFindTheSame(expression: String) throws {
        let whole = try Self.candidate(events: 150, seed: 5)
        let runs = try [1, 2, 7].map { workers in
            try #require(try Self.search(whole, Self.test(expression), workers: workers))
        }
        for run in runs.dropFirst() {
            #expect(run.search.best.events.map(\.draft) == runs[0].search.best.events.map(\.draft))
            #expect(run.tests == runs[0].tests)
        }
    }

    /// What is cut within a payload leaves one that can be decoded.
    @Test func textsAndMembersAreCut() throws {
        let whole = try Self.candidate(events: 40, seed: 2)
        let found = try #require(try Self.search(whole, Self.test("count(messages) > 0"), workers: 2))
        let payload = try JSONValue.parse(try #require(found.search.best.events.first).draft.payload)
        #expect(payload["t"]?.string == "MESSAGE_CREATE" && payload["s"] != nil)
        #expect((payload["d"]?["content"]?.string ?? "").count < 3)
        var state = LogState()
        state.apply(found.search.best.events.map(\.draft))
        #expect(state.issues.isEmpty)
    }

    @Test func timeThatIsOverGivesTheBestSoFar() throws {
        let whole = try Self.candidate(events: 60, seed: 3)
        let runner = CandidateRunner(try Self.test("exists(messages)"), workers: 1, deadline: .now)
        var search = ShrinkSearch(whole, runner: runner)
        #expect(try search.run())
        #expect(!search.isMinimal && search.best.events.count == whole.events.count)
    }

    @Test func aTestThatAnEmptyLogPassesIsRefused() throws {
        let whole = try Self.candidate(events: 10, seed: 3)
        #expect(throws: EngineError.self) {
            _ = try Self.search(whole, Self.test("count(messages) < 1000"), workers: 1)
        }
    }
}
