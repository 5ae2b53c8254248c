import EventLog
import TestSupport
import Testing

@testable import Projections

/// The hash by which a compaction and `verify --deep` compare states.
@Suite struct NormalFormHashTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func statesHaveOneHashExactlyIfAllTheirLinesAreTheSame(_ seed: UInt64) {
        print("seed \(seed)")
        var traffic = GatewayTraffic(seed: seed)
        var scene = RecordedGateway()
        for frame in traffic.frames(60) { frame.play(in: &scene) }
        var state = LogState()
        var known: [Hash256: [String]] = [:]
        for event in scene.events {
            event.payload.withUnsafeBytes { state.apply(event.envelope, payload: $0) }
            let lines = [state.clock?.description ?? ""] + state.normalFormLines
            let hash = state.normalFormHash
            if let before = known[hash] {
                #expect(firstDifference(before, lines) == nil)
            } else {
                #expect(!known.values.contains(lines))
                known[hash] = lines
            }
        }
        #expect(known.count > 30)
    }
}
