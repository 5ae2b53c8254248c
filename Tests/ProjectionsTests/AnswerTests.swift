import EventLog
import TestSupport
import Testing

@testable import Projections

/// What recorders store beside frames: REST answers, rows that were read, records, gaps.
@Suite struct AnswerTests {
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func keptEventsAndFactsGiveTheRetainedState(seed: UInt64) throws {
        var traffic = AnswerTraffic(seed: seed)
        let events = traffic.events(240)
        var logState = LogState()
        for event in events.prefix(180) { Self.apply(event, to: &logState) }
        var retained = logState.retained(by: RetentionPolicy(messagesPerChannel: 2))
        let needed = retained.neededSequences
        let held = SequenceSet(events.prefix(180).map(\.envelope.sequence.rawValue).filter { needed.contains($0) })
        var refolded = try LogState(facts: retained.facts(keeping: held))
        for event in events.prefix(180) where held.contains(event.envelope.sequence.rawValue) {
            Self.apply(event, to: &refolded)
        }
        refolded.sequence = retained.sequence
        refolded.clock = retained.clock
        try #require(Self.difference(retained, refolded) == nil, "seed \(seed)")
        for event in events.suffix(60) {
            Self.apply(event, to: &retained)
            Self.apply(event, to: &refolded)
        }
        #expect(Self.difference(retained, refolded) == nil, "seed \(seed), after more events")
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func noBytesAtAllStopADecoder(seed: UInt64) {
        var traffic = AnswerTraffic(seed: seed)
        var random = SeededGenerator(seed: seed)
        var logState = LogState()
        for event in traffic.events(300) {
            var payload = event.payload
            for _ in 0..<Int.random(in: 0...3, using: &random) where !payload.isEmpty {
                let index = Int.random(in: 0..<payload.count, using: &random)
                if Bool.random(using: &random) { payload[index] = UInt8.random(in: 0...255, using: &random) }
                if Int.random(in: 0...3, using: &random) == 0 { payload.removeSubrange(index...) }
            }
            payload.withUnsafeBytes { logState.apply(event.envelope, payload: $0) }
        }
        #expect(!logState.issues.isEmpty)
    }

    private static func apply(_ event: RecordedGateway.Event, to logState: inout LogState) {
        event.payload.withUnsafeBytes { logState.apply(event.envelope, payload: $0) }
    }

    private static func difference(_ left: LogState, _ right: LogState) -> String? {
        firstDifference(left.normalFormLines, right.normalFormLines)
    }
}
