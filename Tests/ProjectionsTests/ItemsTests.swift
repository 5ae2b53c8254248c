import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct ItemsTests {
    private func history(_ id: String, _ snapshots: [String]) throws -> [String]? {
        var source = SourceHarness()
        for (index, snapshot) in snapshots.enumerated() {
            source.apply(try .message(UInt64(index + 1), snapshot))
        }
        return source.history(.items, "app", id)
    }

    @Test(arguments: [
        (#"{"id":"a","title":"B"}"#, "retitled"), (#"{"id":"a","title":"A","status":"closed"}"#, "done"),
        (#"{"id":"a","title":"A","status":"blocked"}"#, "blocked"),
        (#"{"id":"a","title":"A","status":"in_progress"}"#, "started"),
        (#"{"id":"a","title":"A","status":"resolved"}"#, "resolved"),
        (#"{"id":"a","title":"A","status":"routed"}"#, "status"),
        (#"{"id":"a","title":"A","priority":0}"#, "reprioritised"),
        (#"{"id":"a","title":"A","description":"x"}"#, "described"),
        (#"{"id":"a","title":"A","modified":"2026-03-04T05:06:08Z"}"#, "touched"),
        (#"{"id":"a","title":"A","colour":"red"}"#, "updated"),
        (#"{"id":"a","title":"B","status":"closed","modified":"x"}"#, "retitled done"),
    ])
    func aChangeIsNamed(_ after: String, _ kinds: String) throws {
        #expect(try history("a", [#"[{"id":"a","title":"A"}]"#, "[\(after)]"]) == ["1 added", "2 changed \(kinds)"])
    }

    @Test func leavingBlockedAndClosedIsNamed() throws {
        let steps = ["blocked", "open", "closed", "open", "closed", "in_progress"]
        let found = try history("a", steps.map { #"[{"id":"a","status":"\#($0)"}]"# })
        #expect(
            found == [
                "1 added", "2 changed unblocked", "3 changed done", "4 changed reopened", "5 changed done",
                "6 changed reopened started",
            ]
        )
    }

    @Test func whatMovesUpPastAnotherIsBumped() throws {
        let before = #"[{"id":"a"},{"id":"b"},{"id":"c"}]"#
        let after = #"[{"id":"c","modified":"2026-03-04T05:06:08Z"},{"id":"a"},{"id":"b"}]"#
        #expect(try history("c", [before, after]) == ["1 added", "2 changed bumped"])
        #expect(try history("a", [before, after]) == ["1 added"])
        #expect(try history("b", [before, after]) == ["1 added"])
    }

    @Test func whatOnlyMakesRoomIsNotBumped() throws {
        let before = #"[{"id":"a"},{"id":"b"},{"id":"c"}]"#
        let after = #"[{"id":"b"},{"id":"c"},{"id":"a","status":"closed"}]"#
        #expect(try history("b", [before, after]) == ["1 added"])
        #expect(try history("a", [before, after]) == ["1 added", "2 changed done"])
        #expect(try history("b", [before, #"[{"id":"n"},{"id":"b"},{"id":"c"}]"#]) == ["1 added"])
    }

    @Test func theSameListAgainIsNoChange() throws {
        let list = #"[{"id":"a","tags":["x"],"n":1}]"#
        #expect(try history("a", [list, #"[{"n":1.0,"tags":["x"],"id":"a"}]"#, list]) == ["1 added"])
    }

    @Test func whatReturnsKeepsItsHistory() throws {
        #expect(try history("a", [#"[{"id":"a"}]"#, "[]", #"[{"id":"a"}]"#]) == ["1 added", "2 removed", "3 added"])
    }

    @Test func listsDoNotTouchEachOther() throws {
        var source = SourceHarness()
        source.apply(try .message(1, #"{"project":"b","items":[{"id":"1"}]}"#))
        source.apply(try .message(2, #"{"project":"a","items":[{"id":"1"}]}"#))
        source.apply(try .message(3, #"{"project":"b","items":[]}"#))
        #expect(source.rows(in: .items) == [#"{"done":false,"id":"1","list":"a","position":0}"#])
    }

    @Test func whatALostLineCarriedOverIsNotBumpedWhenItReturns() throws {
        let found = try history(
            "a",
            [#"[{"id":"a"},{"id":"b"}]"#, #"[{"id":"b"},7]"#, #"[{"id":"a"},{"id":"b"}]"#]
        )
        #expect(found == ["1 added"])
    }

    @Test(arguments: [11, 12, 13, 14] as [UInt64])
    func aCompactionChangesNoItemNowOrLater(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let events = try (1...60).map { try Self.randomEvent(UInt64($0), &random) }
        var source = SourceHarness()
        source.apply(Array(events.prefix(40)))
        var again = try source.compacted(Array(events.prefix(40)))
        #expect(again.normalForm() == source.normalForm())
        again.apply(Array(events.suffix(20)))
        source.apply(Array(events.suffix(20)))
        #expect(again.normalForm() == source.normalForm())
        #expect(again.rows(in: .items) == source.rows(in: .items))
    }

    @Test(arguments: [21, 22] as [UInt64])
    func everyRowThatChangesIsTouched(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var source = SourceHarness()
        for sequence in 1...80 {
            let before = source.allRows()
            source.touched = []
            source.apply(try Self.randomEvent(UInt64(sequence), &random))
            let after = source.allRows()
            for key in Set(before.keys).union(after.keys) where before[key] != after[key] {
                #expect(source.touched.contains(key))
            }
        }
    }

    private static func randomEvent(_ sequence: UInt64, _ random: inout SeededGenerator) throws -> TestEvent {
        var ids = ["a", "b", "c", "d"].shuffled(using: &random)
        ids.removeLast(Int.random(in: 0...2, using: &random))
        var lines = ids.map { id in
            let status = ["open", "closed", "blocked"].randomElement(using: &random) ?? ""
            let title = Int.random(in: 0...1, using: &random)
            return #"{"id":"\#(id)","title":"\#(title)","status":"\#(status)"}"#
        }
        switch Int.random(in: 0...5, using: &random) {
        case 0: lines.append("{\"id\":")
        case 1:
            return try .message(
                sequence,
                #"{"project":"p\#(sequence % 2)","items":[\#(lines.joined(separator: ","))]}"#
            )
        case 2: return try .sse(sequence, "retry: 3000\n\n")
        default: break
        }
        return try .sse(sequence, "id: 1\n" + lines.map { "data: \($0)\n" }.joined() + "\n")
    }
}
