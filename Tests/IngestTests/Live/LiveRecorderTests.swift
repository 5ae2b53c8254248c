#if Recorders
import EventLog
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite struct LiveRecorderTests {
    /// A source that a closure is.
    private struct Scripted: LiveSource {
        let name: SourceName
        let body: @Sendable (Recording) async throws -> Void
        func run(_ recording: Recording) async throws { try await body(recording) }
    }

    private func source(_ body: @escaping @Sendable (Recording) async throws -> Void) throws -> Scripted {
        Scripted(name: try SourceName("s"), body: body)
    }

    private static func draft(_ number: Int, bytes: Int = 8) -> SourceItem {
        let draft = DraftEvent(
            recordedAt: Timestamp(seconds: Int64(number)),
            source: SourceName(literal: "s"),
            kind: EventKind("test.event/1" as StaticString),
            key: try? EventKey("\(number)"),
            attributes: .none,
            payload: [UInt8](repeating: 0x61, count: bytes)
        )
        return .draft(draft, bookmark: Array("\(number)".utf8))
    }

    @Test func everythingThatWasTakenIsDurableAtTheEndInOrder() async throws {
        let bench = try LiveBench()
        let summary = try await bench.record(
            source { recording in
                for number in 1...3_000 { try await recording.append([Self.draft(number)]) }
            }
        )
        await bench.stop()
        #expect(summary.appended == 3_000)
        #expect(try bench.events().map(\.key) == (1...3_000).map(String.init))
        let bookmark = try bench.log.store.read { try $0.bookmark(of: SourceName("s")) }
        #expect(bookmark == Array("3000".utf8))
    }

    @Test func aRunThatIsCancelledKeepsWhatItTook() async throws {
        let bench = try LiveBench()
        let live = try source { recording in
            try await recording.append([Self.draft(1)])
            do { try await Task.sleep(for: .seconds(600)) } catch {
                try await recording.append([Self.draft(2)])
                throw error
            }
        }
        let summary = try await bench.record(live) { $0.count == 1 }
        await bench.stop()
        #expect(summary.appended == 2)
    }

    @Test func aSlowDiskSlowsTheSourceAndMemoryStaysBounded() async throws {
        let bench = try LiveBench()
        let taken = Counter()
        let live = try source { recording in
            for number in 1...64 {
                try await recording.append([Self.draft(number, bytes: 1 << 20)])
                taken.add()
            }
        }
        let lock = try HeldLock(bench.log.path)
        let task = Task { try await bench.record(live) }
        try await taken.waitUntilStill(from: 15)
        // 16 MiB on their way into the log, and the piece that waits.
        #expect((15..<40).contains(taken.count))
        lock.release()
        let summary = try await task.value
        await bench.stop()
        #expect(summary.appended == 64)
    }

    @Test func oneRecorderOfASourceAtATime() async throws {
        let bench = try LiveBench()
        let held = try bench.log.store.acquireSourceLock(SourceName("s"))
        let live = try source { _ in }
        await #expect(throws: EventLogError.self) { try await bench.record(live) }
        held.release()
        try await bench.record(live)
        await bench.stop()
    }

    @Test func anErrorOfTheSourceComesThroughAfterItsEventsAreStored() async throws {
        let bench = try LiveBench()
        let live = try source { recording in
            try await recording.append([Self.draft(1)])
            throw IngestError(.refused, operation: "x", object: "", reason: "y")
        }
        await #expect(throws: IngestError.self) { try await bench.record(live) }
        await bench.stop()
        #expect(try bench.events().count == 1)
    }

    @Test func theRecordedTimeFollowsTheClockAndItsStepsAreNoticedAndToldOnce() throws {
        // The wall clock and the steady one; the first look is at the start.
        let looks: [(wall: Int64, steady: Int64)] = [(10, 1), (11, 2), (7_213, 4), (7_214, 5), (16, 7), (17, 8)]
        let place = Mutex(0)
        var clock = LiveClock(
            now: { Timestamp(seconds: looks[place.withLock { $0 }].wall) },
            elapsed: { .zero },
            sleep: { _ in }
        )
        clock.steady = { .seconds(looks[place.withLock { $0 }].steady) }
        let told = Mutex<[Duration]>([])
        let noticing = clock.noticingSteps { step in told.withLock { $0.append(step) } }
        var found: [Int64] = []
        for next in 1..<looks.count {
            place.withLock { $0 = next }
            found.append(noticing.now().seconds)
            found.append(noticing.steps() / 1_000_000)
        }
        #expect(found == [11, 0, 7_213, 7_200, 7_214, 7_200, 16, 0, 17, 0])
        #expect(told.withLock { $0 } == [.seconds(7_200)])
    }

    @Test func waitsDoubleToALimitWithUpToATenthOnTop() {
        var backoff = Backoff(max: .seconds(60), random: { 0.5 })
        let waits = (1...8).map { _ in backoff.next() }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) * 1.05 })
        backoff.reset()
        #expect(backoff.next() == .seconds(1) * 1.05)
    }
}

extension SourceName {
    fileprivate init(literal: String) {
        // A literal of the test is a name.
        self = (try? SourceName(literal)) ?? .logtool
    }
}
#endif
