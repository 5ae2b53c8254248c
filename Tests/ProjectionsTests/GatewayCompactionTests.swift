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

    /// A state reads the frames of its facts without values of them, whatever their form.
    @Test(arguments: [
        #"[1,"ab","7"]"#, #"[-5,"ffffffffffffffffffffffffffffffff","18446744073709551615"]"#, #"[0,"0","0"]"#,
        #"[ 3 ,"AB", "09" ]"#, #"[-0,"+f","1"]"#, #"[9223372036854775807,"a","+1"]"#,
        #"[-9223372036854775808,"a","1"]"#,
        #"[1,"ab"]"#, #"[1,"ab","7",8]"#, #"[1,"","7"]"#, #"[1.5,"ab","7"]"#, #"["1","ab","7"]"#, #"[1,7,"7"]"#,
        #"[1,"100000000000000000000000000000000","7"]"#, #"[1,"ab","18446744073709551616"]"#, "7", "{}", "null",
    ])
    func framesOfFactsAreReadAsTheirValuesAre(frame: String) throws {
        let connections = """
            {"settled":"0","connections":[1,{"name":"a","frames":7},{"name":"b","frames":[\(frame),[9,"c","12"]]}]}
            """
        let facts = #"{"format":"eventlog.facts/1","sources":[{"source":"s","gateway":\#(connections)}]}"#
        func normalForm(_ connections: GatewayConnections) -> [JSONValue] {
            var lines: [JSONValue] = []
            connections.normalForm { lines.append($0) }
            return lines
        }
        let expected = try? GatewayConnections(facts: .parse(Array(connections.utf8)))
        let found = try? LogState(facts: Array(facts.utf8)).sources[0].parts.gateway.connections
        #expect(found.map(normalForm) == expected.map(normalForm))
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
