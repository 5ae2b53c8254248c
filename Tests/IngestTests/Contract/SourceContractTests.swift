#if Recorders
import EventLog
import Foundation
import JSON
import TestSupport
import Testing

@testable import Ingest

/// What every source keeps, whatever it records (I2 to I4, I15). A new source joins by a `ContractRemote`.
@Suite(.hangGuard) struct SourceContractTests {
    @Test(arguments: ContractSource.allCases)
    func oneRunRecordsEverythingAsItCame(_ source: ContractSource) async throws {
        let remote = try await source.start()
        let (bench, log) = (ContractBench(remote), try TemporaryLog())
        try await bench.run(log.store)
        try bench.expectWhole(log, "one run")
        let events = try log.events()
        let own = Set(bench.own(events))
        for bytes in remote.odd { #expect(own.contains(bytes), "\(String(decoding: bytes, as: UTF8.self))") }
        if let sent = remote.sent {
            let whole = events.filter { remote.kinds.contains($0.kind) && $0.attribute("redacted") == nil }
            for bytes in bench.own(whole) { #expect(sent.contains(bytes), "\(String(decoding: bytes, as: UTF8.self))") }
        }
        await remote.stop()
    }

    /// A log that ends anywhere is what `kill -9` leaves: a batch may be cut at any event.
    @Test(arguments: ContractSource.allCases)
    func killedAfterAnyEventItLosesAndDoublesNothing(_ source: ContractSource) async throws {
        let remote = try await source.start()
        let bench = ContractBench(remote)
        let whole = try await bench.whole()
        for count in Self.points(upTo: whole.items.count) {
            let log = try TemporaryLog()
            try whole.append(to: log, count: count)
            try await bench.run(log.store)
            try bench.expectWhole(log, "killed after \(count) events")
            if remote.isExact { #expect(try bench.own(log.events()) == whole.own, "killed after \(count) events") }
        }
        await remote.stop()
    }

    @Test(arguments: ContractSource.allCases)
    func whatIsSentAgainDoesNoHarm(_ source: ContractSource) async throws {
        let remote = try await source.start()
        let (bench, log) = (ContractBench(remote), try TemporaryLog())
        let whole = try await bench.whole()
        try whole.append(to: log)
        #expect(try whole.append(to: log).appended == 0)
        try remote.sendAgain()
        try await bench.run(log.store)
        try bench.expectWhole(log, "sent again")
        let after = try bench.own(log.events())
        #expect(after.starts(with: whole.own))
        #expect(remote.knowsRepeats ? after.count == whole.own.count : after.count > whole.own.count)
        await remote.stop()
    }

    /// Every reading of the clock is a moment of its own: before and after each frame, each wait, each step.
    @Test(arguments: ContractSource.allCases)
    func cancelledAtAnyMomentItEndsAndLosesNothing(_ source: ContractSource) async throws {
        let remote = try await source.start()
        let bench = ContractBench(remote)
        let whole = try await bench.whole()
        for readings in Self.points(upTo: 64).dropFirst() {
            let log = try TemporaryLog()
            let stop = StopSignal(readings: readings)
            try await bench.run(log.store, stop: stop)
            #expect(try log.store.verify().isIntact)
            try await expectTheRestComes(bench, log, whole, "cancelled at reading \(readings)")
            guard stop.hasFired else { break }
        }
        await remote.stop()
    }

    /// Cancelled when something has just reached the server, which answers, or never does.
    @Test(arguments: ContractSource.allCases, [false, true])
    func cancelledWhileTheServerIsBusyItEndsAndLosesNothing(_ source: ContractSource, isHeld: Bool) async throws {
        let remote = try await source.start()
        let bench = ContractBench(remote)
        let whole = try await bench.whole()
        for number in Self.points(upTo: remote.activity.count).dropFirst() {
            let log = try TemporaryLog()
            let gate = isHeld ? Gate() : nil
            let stop = StopSignal(gate: gate)
            remote.activity.step(in: number, gate: gate) { stop.fire() }
            try await bench.run(log.store, stop: stop)
            remote.activity.clearStep()
            #expect(try log.store.verify().isIntact)
            try await expectTheRestComes(bench, log, whole, "cancelled at request \(number)")
        }
        await remote.stop()
    }

    @Test(arguments: ContractSource.allCases)
    func cancelledWhileItFollowsItEnds(_ source: ContractSource) async throws {
        let remote = try await source.start()
        let (bench, log) = (ContractBench(remote), try TemporaryLog())
        let whole = try await bench.whole()
        let stop = StopSignal(events: whole.eventCount)
        try await bench.run(log.store, follows: true, stop: stop)
        try await expectTheRestComes(bench, log, whole, "cancelled while following")
        await remote.stop()
    }

    @Test(arguments: ContractSource.allCases)
    func aClockThatStepsBackDisordersNothing(_ source: ContractSource) async throws {
        let remote = try await source.start()
        let (bench, log) = (ContractBench(remote), try TemporaryLog())
        try await bench.run(log.store, stop: StopSignal(readings: 4, stepsBack: true))
        try bench.expectWhole(log, "the clock was set back")
        // Times follow the clock, so they may fall; a gap still ends no earlier than it begins.
        let gaps = try log.events().filter { $0.kind == "recorder.gap/1" }
        for gap in gaps {
            let tree = JSONValue(received: gap.payload)
            guard let from = tree?["from"]?.string, let to = tree?["to"]?.string else { continue }
            #expect(from <= to, "\(gap.text)")
        }
        await remote.stop()
    }

    @Test(arguments: ContractSource.allCases)
    func aRefusalTellsNoSecret(_ source: ContractSource) async throws {
        let remote = try await source.start()
        let (bench, log) = (ContractBench(remote), try TemporaryLog())
        remote.refuse()
        let stop = StopSignal(readings: 60)
        _ = try? await bench.run(log.store, stop: stop)
        bench.expectNoSecret(try log.events(), "refused")
        #expect(try log.store.verify().isIntact)
        await remote.stop()
    }
}

extension SourceContractTests {
    /// Runs once more, to the end.
    private func expectTheRestComes(
        _ bench: ContractBench,
        _ log: TemporaryLog,
        _ whole: ContractBench.Whole,
        _ context: Comment
    ) async throws {
        try await bench.run(log.store)
        try bench.expectWhole(log, context)
        if bench.remote.isExact { #expect(try bench.own(log.events()) == whole.own, context) }
    }

    /// Numbers from 0 that lie farther and farther apart, and the last; all of them in the long form.
    private static func points(upTo last: Int) -> [Int] {
        if ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil { return Array(0...last) }
        var points = [0]
        var (next, after) = (1, 2)
        while next < last {
            points.append(next)
            (next, after) = (after, next + after)
        }
        return last > 0 ? points + [last] : points
    }
}
#endif
