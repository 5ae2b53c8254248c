import EventLog
import Foundation
import JSON
import TestSupport
import Testing

@testable import Projections

/// Messages that a compaction dropped and that later events state, of every app: what is left of a log and what the rule
/// promises go on alike, whole states compared (I13).
@Suite struct RevivedMessageTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let rounds: UInt64 = isLong ? 200 : 4

    /// Compacts a log of the events of an app's scenarios three times, at random points, with fewer and fewer messages. Each
    /// tail has events of before again, and others.
    @Test(arguments: ["retrocast", "vibechannel", "sidebar", ""], 1...rounds)
    func whatIsLeftGoesOnAsPromised(app: String, seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let lists = try EventStream.lists(of: app)
        try #require(!lists.isEmpty, "\(app) has scenarios")
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        var random = SeededGenerator(seed: seed ^ 0xDEAD)
        var drafts = EventStream(of: lists, seed: seed, mutatingBytes: false).events.map(\.draft)
        drafts += EventStream(of: lists, seed: seed + 1_000, mutatingBytes: false).events.map(\.draft)
        var promised: LogState?
        for keep in [2, 1, 0] {
            let count = min(drafts.count, Int.random(in: 20...150, using: &random))
            // Repeats of what came, with keys of their own.
            let known = try store.allEvents().filter { !$0.envelope.isAct }.map(\.draft)
            var tail = Array(drafts.prefix(count))
            for _ in 0..<10 {
                guard let draft = known.randomElement(using: &random) else { break }
                tail.insert(draft, at: Int.random(in: 0...tail.count, using: &random))
            }
            drafts.removeFirst(count)
            _ = try store.append(tail)
            promised = try goOn(promised, in: store, "seed \(seed), before \(keep)")
            let before = try store.read { try Replay.logState(of: $0) }
            let policy = RetentionPolicy(messagesPerChannel: keep, keepsParents: seed.isMultiple(of: 2))
            let summary = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_900_000_000))
            if summary.events.after < summary.events.before { promised = before.retained(by: policy) }
            promised = try goOn(promised, in: store, "seed \(seed), compacted to \(keep)")
            let again = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_900_000_000))
            #expect(again.events.before == again.events.after, "seed \(seed): a second compaction drops nothing")
        }
        _ = try store.append(drafts)
        _ = try goOn(promised, in: store, "seed \(seed), at the end")
    }

    /// Applies what came since to a promised state, which then equals the log's.
    private func goOn(_ promised: LogState?, in store: EventStore, _ place: String) throws -> LogState? {
        guard var state = promised else { return nil }
        return try store.read { session in
            if session.head > state.sequence {
                try session.forEachEvent(in: state.sequence.next...session.head) { event in
                    state.apply(event.copied())
                    return true
                }
            }
            var found = try Replay.logState(of: session)
            #expect(
                found.normalFormHash == state.normalFormHash,
                "\(place): \(difference(found, state))"
            )
            #expect(found.digest() == state.digest(), "\(place)")
            return state
        }
    }

    private func difference(_ found: LogState, _ promised: LogState) -> String {
        var (left, right) = (found, promised)
        let differences = StateDiff.differences(left.document(), right.document()).prefix(3)
        return differences.map { "\($0)" }.joined(separator: "\n")
    }
}
