import Clients
import EventLog
import EventLogTesting
import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

@Suite struct ScenarioTests {
    @Test(arguments: Scenario.all)
    func givesTheExpectedState(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        var state = try scenario.log(in: directory).read { try Replay.logState(of: $0) }
        let difference = Golden.difference(state.document().lines + "\n", from: scenario.golden())
        #expect(difference == nil)
    }

    /// What a client shows wrongly for a while is compared with what is right then.
    @Test(arguments: Scenario.all.filter { $0.states.contains { $0.point != nil } })
    func givesTheExpectedStateAtEachPoint(scenario: Scenario) throws {
        for point in Set(scenario.states.compactMap(\.point)).sorted() {
            let directory = try TemporaryDirectory()
            let store = try scenario.log(in: directory, through: point)
            #expect(try store.read { $0.head } == point, "the scenario has no event \(point)")
            var state = try store.read { try Replay.logState(of: $0) }
            let golden = scenario.golden(of: FixtureState(.canonical, at: point))
            #expect(Golden.difference(state.document().lines + "\n", from: golden) == nil)
        }
    }

    @Test(arguments: Scenario.all.filter(\.tellsGaps))
    func givesTheExpectedGaps(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        let gaps = try store.read { try Replay.logState(of: $0) }.gaps
        let lines = gaps.map { source, gap in
            "\(gap.from) \(gap.to.map(\.description) ?? "open") \(source) \(gap.topic ?? "-") \(gap.reason)\n"
        }
        #expect(Golden.difference(lines.joined(), from: scenario.gapsGolden) == nil)
    }

    @Test(arguments: Scenario.all)
    func recordedAgainAddsNothing(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        let head = try store.read { $0.head }
        try scenario.record(into: store)
        #expect(try store.read { $0.head } == head)
        #expect(head > .zero)
    }

    /// The digest that is kept up to date event by event is that of a state made at once; whoever forgets to touch a row
    /// fails here.
    @Test(arguments: Scenario.all)
    func keepsItsDigestUpToDate(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        var kept = try scenario.start()
        var fresh = try scenario.start()
        _ = kept.digest()
        for event in try store.allEvents() {
            kept.apply(event)
            fresh.apply(event)
            var copy = fresh
            #expect(kept.digest() == copy.digest(), "at sequence \(event.envelope.sequence)")
        }
    }

    /// Whatever a compaction keeps, the state is the retained one, before and after more events.
    @Test(arguments: Scenario.all, [1, 2, 500])
    func survivesACompaction(scenario: Scenario, keep: Int) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        let policy = RetentionPolicy(messagesPerChannel: keep)
        let before = try store.read { try Replay.logState(of: $0) }
        let summary = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_800_000_000))
        let after = try store.read { try Replay.logState(of: $0) }
        let isLeftAlone = summary.events.before == summary.events.after
        let expected = isLeftAlone ? before : before.retained(by: policy)
        #expect(after.normalFormHash == expected.normalFormHash)
        let again = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_800_000_001))
        #expect(again.events.before == again.events.after)
        #expect(again.digest == summary.digest)
    }
}
