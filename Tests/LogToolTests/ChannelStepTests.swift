import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// The step of one event that is folded from its channel alone, and the rows that a page shows of the channel before it, are those
/// of the whole state.
@Suite struct ChannelStepTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let rounds: UInt64 = isLong ? 100 : 1
    private static let size = StateWindow.Size(rows: 60, tail: 16, reach: 8)

    /// Frames of a gateway, some of them with altered bytes, in two sources.
    @Test(arguments: 1...rounds)
    func itIsThatOfTheWholeState(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        var count = 0
        try EventStream.log(
            of: "retrocast",
            parts: 2,
            in: directory,
            seed: seed,
            source: { "app\($0 % 2)" },
            mutatingBytes: { $0 == 1 }
        ) { store, _ in count += try expectSame(store, seed: seed) }
        #expect(count > 20, "the index serves; seed \(seed)")
    }

    /// Returns for how many events the index served.
    private func expectSame(_ store: EventStore, seed: UInt64) throws -> Int {
        var options = ReplayOptions()
        var keeping = KeptStateOptions(build: "steps")
        keeping.channelEventsMin = 1
        options.keeping = keeping
        return try store.read { session in
            var walk = StepWalk(from: try Replay.logState(of: session, through: .zero))
            var count = 0
            while walk.sequence < session.head {
                let sequence = walk.sequence.next
                let found = try Replay.channelStep(at: sequence, Self.size, of: session, options: options)
                let place = found.flatMap { $0.step.differences.first.flatMap { PlaceName(of: $0.entity) } }
                let whole = try walk.stretch(through: sequence, over: session, options: ReplayOptions()) {
                    state,
                    touched in
                    state.window(around: touched, in: place.map { [$0] } ?? [], Self.size)
                }
                guard let found, let place else { continue }
                count += 1
                let comment: Comment = "event \(sequence), seed \(seed)"
                let step = try #require(whole.steps.first, comment)
                #expect(whole.steps.count == 1 && step.event == found.step.event, comment)
                #expect(step.differences == found.step.differences && step.orders == found.step.orders, comment)
                let window = whole.before.only(place)
                #expect(window.rows == found.before.rows && window.orders == found.before.orders, comment)
                #expect(window.hidden == found.before.hidden, comment)
                let counts = [window, found.before].map { $0.places.map { [$0.count, $0.hidden ?? -1] } }
                #expect(counts[0] == counts[1], comment)
            }
            return count
        }
    }
}
