import EventLog
import Testing

@testable import Projections

@Suite struct GatewayCompactionTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func factsAndKeptEventsGiveTheSameStateForAnyTail(seed: UInt64) throws {
        var random = GatewayTraffic(seed: seed)
        let frames = random.frames(260)
        var scene = RecordedGateway()
        for frame in frames.prefix(200) { frame.play(in: &scene) }
        var retained = scene.retained(keep: 3)
        var refolded = try retained.refolded()
        try #require(firstDifference(retained.normalForm, refolded.normalForm) == nil, "seed \(seed)")
        #expect(retained.allRowTexts == refolded.allRowTexts, "seed \(seed)")
        #expect(retained.needed == refolded.needed, "seed \(seed)")
        let twice = try refolded.retained(keep: 3).refolded()
        #expect(firstDifference(twice.normalForm, refolded.normalForm) == nil, "seed \(seed)")
        for event in scene.tail(frames.suffix(60)) {
            retained.apply(event)
            refolded.apply(event)
            guard event.sequence % 10 == 0 else { continue }
            try #require(
                firstDifference(retained.normalForm, refolded.normalForm) == nil,
                "seed \(seed), sequence \(event.sequence)"
            )
        }
        let again = refolded.retained(keep: 3)
        let once = try again.refolded()
        #expect(
            firstDifference(once.normalForm, again.normalForm) == nil,
            "seed \(seed), compacted again after the tail"
        )
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func everyRowThatChangesIsTouched(seed: UInt64) {
        var random = GatewayTraffic(seed: seed)
        var scene = RecordedGateway()
        for frame in random.frames(150) {
            let before = scene.allRows
            frame.play(in: &scene)
            let after = scene.allRows
            let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] && $0.section != .typing }
            #expect(changed.isSubset(of: Set(scene.touched)), "seed \(seed), event \(scene.events.count)")
        }
    }
}

extension RecordedGateway {
    /// All rows as texts, which need no handles.
    fileprivate var allRowTexts: [String] {
        Section.allCases.flatMap { section in rows(section, asOf: Timestamp(seconds: 100)) }
    }

    /// The events that further frames make, at the sequences after this state's last.
    fileprivate func tail(_ frames: ArraySlice<GatewayTraffic.Frame>) -> [Event] {
        var scene = self
        for frame in frames { frame.play(in: &scene) }
        return Array(scene.events.dropFirst(events.count))
    }
}
