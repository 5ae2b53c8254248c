import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct StateDiffTests {
    @Test func aRowIsAddedChangedOrRemovedFieldByField() throws {
        let a = ["items": [item("1", #""text":"old","n":1"#), item("2")]]
        let b = ["items": [item("3"), item("1", #""text":"new","m":[]"#)]]
        #expect(
            try differences(a, b) == [
                #"changed item:s/l/1 text "old" "new", n 1 -, m - []"#, "removed item:s/l/2", "added item:s/l/3",
            ]
        )
        #expect(try differences(a, a) == [])
    }

    @Test func spellingAndOrderOfMembersAreNoDifference() throws {
        let a = [#"{"source":"s","table":"t","id":"1","record":{"x":1.0,"y":"é"}}"#]
        let b = [#"{"id":"1","record":{"y":"\u00e9","x":1},"table":"t","source":"s"}"#]
        #expect(try differences(["rows": a], ["rows": b]) == [])
    }

    @Test func whatOnlySequencesAndTimeMakeIsNoDifference() throws {
        let a = [
            "deletedMessages": [message("c", "1", #""sequence":"4""#)],
            "sessions": [#"{"source":"s","id":"f","state":"live","stale":false}"#],
            "typing": [#"{"source":"s","channel":"c","user":"1","until":"x"}"#],
            "sessionAggregates": [#"{"source":"s","status":"idle"}"#],
            "issues": [#"{"sequence":"1","source":"s","reason":"r"}"#],
        ]
        let b = [
            "deletedMessages": [message("c", "1", #""sequence":"8""#)],
            "sessions": [#"{"source":"s","id":"f","state":"expired","stale":true}"#],
            "issues": [#"{"sequence":"7","source":"s","reason":"r"}"#],
        ]
        #expect(try differences(a, b) == [])
    }

    @Test func aMessageIsOneThingLiveOrDeleted() throws {
        let live = ["messages": [message("c", "1", #""content":"x","revisions":1"#)]]
        let dead = ["deletedMessages": [message("c", "1", #""content":"x","cause":"deleted""#)]]
        let gone = ["deletedMessages": [message("c", "1", #""content":"x","cause":"channel_deleted""#)]]
        #expect(try differences(live, dead) == [#"deleted message:s/c/1 content "x" "x", cause - "deleted""#])
        #expect(try differences(dead, live) == [#"restored message:s/c/1 content "x" "x", cause "deleted" -"#])
        #expect(try differences([:], dead) == [#"added message:s/c/1 content - "x", cause - "deleted""#])
        #expect(try differences(dead, [:]) == [#"removed message:s/c/1 content "x" -, cause "deleted" -"#])
        #expect(try differences(dead, gone) == [#"changed message:s/c/1 cause "deleted" "channel_deleted""#])
    }

    @Test func issuesAreCounted() throws {
        let a = ["issues": [issue("s", "b/c"), issue("s", "a")]]
        let b = ["issues": [issue("s", "a"), issue("s", "a"), issue("r", "z")]]
        #expect(
            try differences(a, b) == [
                "added issue:r/z count 0 1", "changed issue:s/a count 1 2", "removed issue:s/b%2Fc count 1 0",
            ]
        )
    }

    @Test func anotherOrderOfMessagesIsADifference() throws {
        let a = ["messages": [message("c", "1"), message("c", "2")]]
        let b = ["messages": [message("c", "2"), message("c", "1")]]
        #expect(try differences(a, b) == [#"changed channel:s/c order ["1","2"] ["2","1"]"#])
    }

    @Test func oddDocumentsAreCompared() throws {
        let a = ["messages": [message("c", "1"), message("d", "1"), "5", message("c", "2")], "rows": ["null"]]
        let b = ["messages": [message("c", "1"), message("c", "1"), "{}"]]
        #expect(
            try differences(a, b) == [
                "removed message:s/d/1", "removed message:s/c/2", "added message://",
                #"changed channel:s/c order ["1"] ["1","1"]"#,
            ]
        )
        #expect(StateDiff.differences(.null, .array([])).isEmpty)
    }

    @Test func idsWithSlashesOrOtherAccentsStayApart() throws {
        let a = ["messages": [message("a/b", "c")], "items": [item("\u{E9}")]]
        let b = ["messages": [message("a", "b/c")], "items": [item("e\u{301}")]]
        let found = try differences(a, b)
        let expected = [
            "removed message:s/a%2Fb/c", "added message:s/a/b%2Fc", "removed item:s/l/\u{E9}",
            "added item:s/l/e\u{301}",
        ]
        #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }

    @Test func sameDigestMeansNoDifferenceAndTheOtherWayRound() throws {
        var states = try [["m1", "m2", "m3"], ["m1", "m3", "m2"], ["m1"], []].map { try logState($0) }
        states += try [["m1", "m2", "m3"], ["m1", "m3", "m2"]].map { try logState($0, startingWith: ["m2", "m1"]) }
        var known = states.map { state in
            var state = state
            return (digest: state.digest(), document: state.document())
        }
        known.append(known[0])
        for (here, left) in known.enumerated() {
            for (there, right) in known.enumerated() {
                let found = StateDiff.differences(left.document, right.document)
                #expect(found.isEmpty == (left.digest == right.digest), "states \(here) and \(there): \(found)")
            }
        }
    }

    @Test func theOrderOfAListIsInTheDigestAlsoStepByStep() throws {
        var walked = try logState(["m1", "m2", "m3"])
        let first = walked.digest()
        try apply(["m3", "m1", "m2"], seconds: 5, to: &walked)
        #expect(walked.digest() != first)
        try apply(["m1", "m2", "m3"], seconds: 6, to: &walked)
        #expect(walked.digest() == first)
    }

    /// Differences in short: change, entity, and each field with both sides.
    private func differences(_ a: [String: [String]], _ b: [String: [String]]) throws -> [String] {
        StateDiff.differences(try document(a), try document(b)).map { difference in
            let fields = difference.fields.map { field in
                "\(field.name) \(field.a?.canonicalText ?? "-") \(field.b?.canonicalText ?? "-")"
            }
            return ["\(difference.change) \(difference.entity)", fields.joined(separator: ", ")]
                .filter { !$0.isEmpty }.joined(separator: " ")
        }
    }

    private func document(_ sections: [String: [String]]) throws -> JSONValue {
        var document = JSONObject()
        for (name, rows) in sections { document[name] = .array(try rows.map { try JSONValue.parse($0) }) }
        return .object(document)
    }

    private func message(_ channel: String, _ id: String, _ members: String = "") -> String {
        let comma = members.isEmpty ? "" : ","
        return #"{"source":"s","channel":"\#(channel)","id":"\#(id)"\#(comma)\#(members)}"#
    }

    private func item(_ id: String, _ members: String = "") -> String {
        let comma = members.isEmpty ? "" : ","
        return #"{"source":"s","list":"l","id":"\#(id)"\#(comma)\#(members)}"#
    }

    private func issue(_ source: String, _ reason: String) -> String {
        #"{"sequence":"1","source":"\#(source)","reason":"\#(reason)"}"#
    }

    private func logState(_ ids: [String], startingWith start: [String]? = nil) throws -> LogState {
        var logState = LogState()
        if let start {
            try apply(start, seconds: 1, to: &logState)
            _ = logState.digest()
        }
        try apply(ids, seconds: 2, to: &logState)
        return logState
    }

    /// One conversation's row, with these messages in this order.
    private func apply(_ ids: [String], seconds: Int, to logState: inout LogState) throws {
        let messages = ids.map { #"{"id":"\#($0)","role":"user","content":"\#($0)"}"# }.joined(separator: ",")
        let frame = RealtimeFrames.change(
            "UPDATE",
            table: "conversations",
            seconds: seconds,
            columns: ["id", "messages"],
            record: #"{"id":"c","messages":[\#(messages)]}"#
        )
        let event = try TestEvent.frame(UInt64(seconds), frame)
        event.payload.withUnsafeBytes { logState.apply(event.envelope, payload: $0) }
    }
}
