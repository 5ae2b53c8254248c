import EventLog
import Foundation
import TestSupport
import Testing

@testable import JSON
@testable import Projections

/// What decoder files say of rows, places, protocols that wrap payloads, and repeats.
@Suite struct DecoderLanguageTests {
    /// The state after payloads, each an event.
    private static func state(_ payloads: [String], _ rule: String, _ head: String = "") throws -> LogState {
        var state = LogState()
        var decoders = Decoders()
        decoders[try SourceName("app")] = try DecoderFile(DecoderFileTests.file(rule, head))
        state.use(decoders)
        for (place, payload) in payloads.enumerated() {
            let envelope = try DecoderFileTests.envelope(.none, at: UInt64(place + 1))
            Array(payload.utf8).withUnsafeBytes { state.apply(envelope, payload: $0) }
        }
        return state
    }

    // MARK: - Rows

    private static let rowRule = """
        when: {/op: make}
          make: row
          at: {table: /t, id: /k}
          columns: /r
        - when: {/op: patch}
          patch: row
          at: {table: /t, id: /k}
          columns: /r
          with: {version: {time: /v, as: ms}}
        - when: {/op: replace}
          replace: row
          at: {table: /t, id: /k}
          columns: /r
          with: {version: {time: /v, as: ms}, by: /u}
        - when: {/op: delete}
          delete: row
          at: {table: /t, id: /k}
        """

    /// The rows of a state as texts.
    private static func rows(_ payloads: [String]) throws -> [String] {
        var state = try state(payloads, rowRule)
        let document = state.document()
        #expect(document["issues"]?.array == [])
        return (document["rows"]?.array ?? []).map { row in
            "\(row["table"]?.string ?? "") \(row["id"]?.string ?? "") \(row["record"]?.canonicalText ?? "")"
        }
    }

    @Test func aRowIsMadeOnceAndPatched() throws {
        let rows = try Self.rows([
            #"{"op":"make","t":"tasks","k":7,"r":{"a":1,"b":{"c":null}}}"#,
            #"{"op":"make","t":"tasks","k":7,"r":{"a":2}}"#,
            #"{"op":"patch","t":"tasks","k":7,"r":{"b":"x"}}"#, #"{"op":"patch","t":"s.u","k":"n","r":{"z":1}}"#,
        ])
        #expect(rows == [#"s.u n {"z":1}"#, #"tasks 7 {"a":1,"b":"x"}"#])
    }

    @Test func areplacementHasTheWholeRow() throws {
        let rows = try Self.rows([
            #"{"op":"make","t":"t","k":"1","r":{"a":1,"b":2}}"#,
            #"{"op":"replace","t":"t","k":"1","u":"ada","r":{"a":3}}"#,
        ])
        #expect(rows == [#"t 1 {"a":3,"by":"ada"}"#])
    }

    /// The greatest version counts, in whatever order they come; what has none comes behind all that are known.
    @Test func versionsOrderTheChangesOfARow() throws {
        let new = #"{"op":"replace","t":"t","k":"1","v":9,"r":{"a":"new"}}"#
        let old = #"{"op":"replace","t":"t","k":"1","v":5,"r":{"a":"old"}}"#
        #expect(try Self.rows([new, old]) == Self.rows([old, new]))
        #expect(try Self.rows([old, new]) == [#"t 1 {"a":"new"}"#])
        let delete = #"{"op":"delete","t":"t","k":"1"}"#
        #expect(try Self.rows([new, delete]) == [])
        #expect(try Self.rows([new, delete, old, #"{"op":"make","t":"t","k":"1","r":{}}"#]) == [])
        let later = #"{"op":"patch","t":"t","k":"1","v":10,"r":{"b":1}}"#
        #expect(try Self.rows([new, delete, later]) == [#"t 1 {"b":1}"#])
        // The same statement twice, without a version, is two changes.
        let patches = ["x", "y", "x"].map { #"{"op":"patch","t":"t","k":"1","r":{"c":"\#($0)"}}"# }
        #expect(try Self.rows([new] + patches) == [#"t 1 {"a":"new","c":"x"}"#])
    }

    @Test func aRowThatCannotBeReadIsAnIssue() throws {
        let changes = try DecoderFileTests.changes(#"{"op":"make","t":"t","k":"1","r":[1]}"#, Self.rowRule)
        #expect(changes.hasPrefix("[] ") && changes.contains("columns are no object"))
        let large = try DecoderFileTests.changes(
            #"{"x":"\#(String(repeating: "y", count: 3 << 20))"}"#,
            "make: row\n  at: {table: {text: t}, id: {text: i}}\n  with: {a: /x, b: /x, c: /x}"
        )
        #expect(large.hasPrefix("[] ") && large.contains("more than"))
    }

    @Test func aSnapshotLeavesRowsOut() throws {
        let rule = """
            do:
              - {each: /l, replace: row, at: {table: {text: t}, id: /id}, columns: ., set: all}
              - {snapshot: all}
            """
        let payloads = [#"{"l":[{"id":1},{"id":2}]}"#, #"{"l":[{"id":2},{"id":3}]}"#]
        var state = try Self.state(payloads, rule)
        #expect((state.document()["rows"]?.array ?? []).compactMap { $0["id"]?.string } == ["2", "3"])
    }

    // MARK: - Places

    /// A page lies in front of what its token stands for, each of its messages in front of the one before.
    @Test func aPageLiesInFrontOfItsToken() throws {
        let rule = """
            when: {/page: present}
              do:
              - {each: /page, add: place, at: {channel: {text: c}, id: /id, before: $/start, mark: $/end}}
              - {each: /page, make: message, at: {channel: {text: c}, id: /id}, with: {content: {text: t}}}
            - when: {/new: present}
              do:
              - {each: /new, add: place, at: {channel: {text: c}, id: /id, mark: $/start}}
              - {each: /new, make: message, at: {channel: {text: c}, id: /id}, with: {content: {text: t}}}
            - make: message
              at: {channel: {text: c}, id: /id}
              with: {content: {text: t}}
            """
        func ids(_ texts: [String]) -> String { texts.map { #"{"id":"\#($0)"}"# }.joined(separator: ",") }
        func new(_ start: String, _ texts: String...) -> String { #"{"start":"\#(start)","new":[\#(ids(texts))]}"# }
        func page(_ start: String, _ end: String, _ texts: String...) -> String {
            #"{"start":"\#(start)","end":"\#(end)","page":[\#(ids(texts))]}"#
        }
        let payloads = [
            new("t1", "9", "8"), new("t2", "5", "4"), page("t2", "p1", "7", "6"), page("p1", "p2", "1", "8"),
            page("t2", "p1", "7", "6"), #"{"id":"0"}"#, page("none", "p3", "3", "2"), new("t2", "9"),
        ]
        var state = try Self.state(payloads, rule, "order: place")
        let order = (state.document()["messages"]?.array ?? []).compactMap { $0["id"]?.string }
        #expect(order == ["2", "3", "9", "8", "1", "6", "7", "5", "4", "0"])
    }

    /// However many lie between two, the order stays; where there is no more room, ids order.
    @Test func thePlacesBetweenTwoDoNotRunOut() {
        var places = DecoderPlaces()
        var names = Names()
        let channel = names.id("c")
        let ids = (0..<20_000).map { names.id("m\($0)") }
        _ = places.place(ids[0], in: channel, before: nil)
        _ = places.place(ids[1], in: channel, before: nil)
        var numbers: [Int] = []
        for place in 2..<ids.count {
            numbers.append(places.place(ids[place], in: channel, before: ids[place == 2 ? 1 : place - 1]))
        }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 < $0 })
        #expect(numbers.last.map { $0 > 0 } ?? false)
    }

    // MARK: - Protocols

    @Test(arguments: [
        (
            "socket.io/1", #"42["chat message",{"id":"1","text":"hi"}]"#,
            #"{"data":{"id":"1","text":"hi"},"event":"chat message","packet":"event","topic":"/"}"#
        ),
        (
            "socket.io/1", #"42/admin,17["say","a",{"b":1}]"#,
            #"{"data":"a","event":"say","id":"17","more":[{"b":1}],"packet":"event","topic":"/admin"}"#
        ),
        (
            "socket.io/1", #"43/admin,17[{"ok":true}]"#,
            #"{"data":{"ok":true},"id":"17","packet":"ack","topic":"/admin"}"#
        ),
        (
            "socket.io/1", #"40{"sid":"oSO0OpakMV_3jnilAAAA"}"#,
            #"{"data":{"sid":"oSO0OpakMV_3jnilAAAA"},"packet":"connect","topic":"/"}"#
        ),
        (
            "socket.io/1", #"0{"sid":"lv_VI97HAXpY6yYWAAAC","upgrades":["websocket"],"pingInterval":25000}"#,
            #"{"data":{"pingInterval":25000,"sid":"lv_VI97HAXpY6yYWAAAC","upgrades":["websocket"]},"packet":"open"}"#
        ),
        (
            "socket.io/1", #"451-["file",{"_placeholder":true,"num":0}]"#,
            #"{"data":{"_placeholder":true,"num":0},"event":"file","packet":"event","topic":"/"}"#
        ),
        ("socket.io/1", "2probe", #"{"data":"probe","packet":"ping"}"#), ("socket.io/1", "3", #"{"packet":"pong"}"#),
        ("socket.io/1", "41/admin,", #"{"packet":"disconnect","topic":"/admin"}"#),
        (
            "phoenix/1", #"["1","3","room:lobby","new_msg",{"body":"hi"}]"#,
            #"{"data":{"body":"hi"},"event":"new_msg","join_ref":"1","ref":"3","topic":"room:lobby"}"#
        ),
        (
            "phoenix/1", #"["1","3","room:lobby","phx_reply",{"status":"ok","response":{}}]"#,
            #"{"data":{"response":{},"status":"ok"},"event":"phx_reply","join_ref":"1","ref":"3","topic":"room:lobby"}"#
        ),
        (
            "phoenix/1", #"{"topic":"room:lobby","event":"new_msg","payload":{"body":"hi"},"ref":null}"#,
            #"{"data":{"body":"hi"},"event":"new_msg","topic":"room:lobby"}"#
        ),
        (
            "actioncable/1", #"{"identifier":"{\"channel\":\"ChatChannel\",\"room\":\"1\"}","message":{"body":"hi"}}"#,
            #"{"data":{"body":"hi"},"event":"message","params":{"channel":"ChatChannel","room":"1"},"topic":"ChatChannel"}"#
        ),
        ("actioncable/1", #"{"type":"ping","message":1700000000}"#, #"{"data":1700000000,"event":"ping"}"#),
        ("actioncable/1", #"{"type":"welcome"}"#, #"{"event":"welcome"}"#),
        (
            "actioncable/1",
            #"{"command":"message","identifier":"{\"channel\":\"ChatChannel\"}","data":"{\"action\":\"speak\"}"}"#,
            #"{"data":{"action":"speak"},"event":"message","params":{"channel":"ChatChannel"},"topic":"ChatChannel"}"#
        ),
        (
            "signalr/1", #"{"type":1,"target":"Edited","arguments":["r0",2,"more"],"invocationId":"7"}"# + "\u{1E}",
            #"{"data":"r0","event":"Edited","id":"7","more":[2,"more"],"packet":"invocation"}"#
        ),
        ("signalr/1", #"{"type":6}"#, #"{"event":"ping","packet":"ping"}"#),
        ("signalr/1", "{}\u{1E}", #"{"event":"handshake","packet":"handshake"}"#),
        (
            "signalr/1", #"{"type":3,"invocationId":"7","error":"no"}"# + "\u{1E}",
            #"{"event":"completion","id":"7","packet":"completion","reason":"no"}"#
        ),
    ])
    func aProtocolIsOpened(name: String, text: String, opened: String) throws {
        let envelope = try #require(DecoderEnvelope(rawValue: name))
        let values = Array(text.utf8).withUnsafeBytes { envelope.opened($0) }
        #expect(values?.map(\.canonicalText) == [opened])
    }

    @Test(arguments: [
        ("socket.io/1", "9"), ("socket.io/1", ""), ("socket.io/1", "42{}"), ("socket.io/1", "42[]"),
        ("socket.io/1", "45[1]"),
        ("socket.io/1", "42[\"a\""), ("phoenix/1", "[1,2,3]"), ("phoenix/1", #"{"topic":1,"event":"a"}"#),
        ("phoenix/1", "7"),
        ("actioncable/1", "[]"), ("actioncable/1", "{}"), ("actioncable/1", "{"),
        ("signalr/1", "\u{1E}"), ("signalr/1", "[1]\u{1E}"), ("signalr/1", #"{"type":77}"#),
        ("signalr/1", "{\"type\":6}\u{1E}{\u{1E}"),
        // One level more than a text may have, once it is opened.
        (
            "actioncable/1",
            "{\"command\":\"m\",\"data\":\"\(String(repeating: "[", count: 512))\(String(repeating: "]", count: 512))\"}"
        ),
    ])
    func whatIsNoMessageOfAProtocolIsAnIssue(name: String, text: String) throws {
        let read = try DecoderFileTests.read(
            text,
            by: DecoderFileTests.file("when: {event: x}\n  delete: channel\n  at: {id: /data}", "extends: \(name)")
        )
        #expect(read.changes.isEmpty && read.issues == ["decoder test/1: no message of \(name)"])
    }

    /// The file's rules see events by their names, wherever the protocol puts them.
    @Test func rulesSeeEventsByName() throws {
        let rule = """
            when: {event: new_msg, topic: {starts: "room:"}}
              make: message
              at: {channel: {split: /topic, by: ":", part: 1}}
              from: /data
            """
        let head = "extends: phoenix/1\nshapes: {message: {id: /id, content: /body}}"
        let changes = try DecoderFileTests.changes(
            #"["1",null,"room:42","new_msg",{"id":7,"body":"hi"}]"#,
            rule,
            head
        )
        #expect(changes == #"[{"message":{"channel":"42","content":"hi","id":"7"}}]"#)
        #expect(try DecoderFileTests.changes(#"["1",null,"user:42","new_msg",{"id":7}]"#, rule, head) == "[]")
    }

    /// A poll has several packets, each of which the rules take; other answers are read as they are.
    @Test func aPollHasSeveralPackets() throws {
        let rule = """
            when: {event: say}
              make: message
              at: {channel: {text: c}, id: /data/id}
              with: {content: /data/t}
            - when: {/plain: present}
              delete: channel
              at: {id: /plain}
            """
        var trial = DecoderTrial(
            try DecoderFile(DecoderFileTests.file(rule, "extends: socket.io/1")),
            source: try SourceName("app")
        )
        func read(_ payload: String, path: String, at sequence: UInt64) throws -> DecodedEvent {
            let envelope = Envelope(
                sequence: SequenceNumber(sequence),
                recordedAt: Timestamp(seconds: 1),
                source: try SourceName("app"),
                kind: try EventKind("http.answer/1"),
                key: nil,
                attributes: ["path": path, "status": "200"],
                holding: .whole
            )
            return Array(payload.utf8).withUnsafeBytes { trial.read(envelope, payload: $0).decoded }
        }
        let packets = ["1", "2"].map { #"42["say",{"id":"\#($0)","t":"x"}]"# }.joined(separator: "\u{1E}")
        let poll = try read(packets + "\u{1E}6", path: "/socket.io/?EIO=4&transport=polling&sid=a", at: 1)
        #expect(poll.changes.count == 2 && poll.issues.isEmpty)
        #expect(try read(#"{"plain":"c"}"#, path: "/api/x", at: 2).changes.count == 1)
    }

    // MARK: - Kept values

    /// A value is kept for one connection, until it is forgotten.
    @Test func aValueIsKeptForTheConnection() throws {
        let rule = """
            when: {/op: hello}
              keep: {room: /room}
            - when: {/op: say, kept.room: present}
              make: message
              at: {channel: {kept: room}, id: /id}
              with: {content: {text: t}}
            - when: {/op: all}
              each: /ids
              make: message
              at: {channel: {kept: room}, id: .}
              with: {content: {text: t}}
            """
        var trial = DecoderTrial(try DecoderFile(DecoderFileTests.file(rule)), source: try SourceName("app"))
        var sequence = UInt64(0)
        func read(_ payload: String, on connection: String) throws -> DecodedEvent {
            sequence += 1
            return try DecoderFileTests.read(payload, &trial, ["connection": connection], at: sequence)
        }
        func channel(_ payload: String, on connection: String) throws -> String? {
            try read(payload, on: connection).changes.first?.json["message"]?["channel"]?.string
        }
        _ = try read(#"{"op":"hello","room":"a"}"#, on: "1")
        _ = try read(#"{"op":"hello","room":"b"}"#, on: "2")
        #expect(try channel(#"{"op":"say","id":"1"}"#, on: "1") == "a")
        #expect(try channel(#"{"op":"say","id":"1"}"#, on: "2") == "b")
        #expect(try channel(#"{"op":"say","id":"1"}"#, on: "3") == nil)
        _ = try read(#"{"op":"hello"}"#, on: "1")
        #expect(try read(#"{"op":"all","ids":["2","3"]}"#, on: "1").changes.count == 2)
        _ = try read(#"{"op":"hello","room":null}"#, on: "1")
        #expect(try channel(#"{"op":"say","id":"2"}"#, on: "1") == nil)
        let long = String(repeating: "x", count: 4097)
        #expect(try read(#"{"op":"hello","room":"\#(long)"}"#, on: "1").issues.count == 1)
        for number in 3...1_010 { _ = try read(#"{"op":"hello","room":"c"}"#, on: "\(number)") }
        #expect(try channel(#"{"op":"say","id":"3"}"#, on: "2") == nil)
        #expect(try channel(#"{"op":"say","id":"3"}"#, on: "1010") == "c")
    }

    /// The samples of the files in the page are right.
    @Test func theFilesOfThePageAreRight() throws {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "docs/decoders.md"), encoding: .utf8)
        let files = page.components(separatedBy: "```yaml\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(files.count >= 2)
        for file in files { #expect(try DecoderFile(file).sampleFaults() == []) }
    }

    // MARK: - JSON Patch

    private static let patchRule = """
        each: /delta
          do:
          - when: {/op: [add, replace], /path: {pointer: "/rooms/{room}/messages/{id}"}}
            replace: message
            at: {channel: {path: room}, id: {path: id}}
            with: {content: /value/text}
          - when: {/op: replace, /path: [{pointer: "/rooms/{room}/messages/{id}/text"}, {pointer: "/all/*/{id}"}]}
            patch: message
            at: {channel: {first: [{path: room}, {text: main}]}, id: {path: id}}
            with: {content: /value}
          - when: {/op: remove, /path: {pointer: "/rooms/{room}/messages/{id}"}}
            delete: message
            at: {channel: {path: room}, id: {path: id}}
        """

    /// A list of operations of RFC 6902 is read by patterns of their pointers, whose escapes are decoded.
    @Test func operationsOfAJSONPatchAreRead() throws {
        func delta(_ operations: String...) -> String { #"{"delta":[\#(operations.joined(separator: ","))]}"# }
        var state = try Self.state(
            [
                delta(
                    #"{"op":"add","path":"/rooms/a~1b/messages/1","value":{"text":"one"}}"#,
                    #"{"op":"add","path":"/rooms/a~1b/messages/2","value":{"text":"two"}}"#,
                    #"{"op":"add","path":"/rooms/a~1b/messages","value":{"text":"no pattern"}}"#,
                    #"{"op":"test","path":"/rooms/x/messages/9","value":{"text":"no test"}}"#
                ),
                delta(
                    #"{"op":"replace","path":"/rooms/a~1b/messages/1/text","value":"1!"}"#,
                    #"{"op":"replace","path":"/all/any/m~0","value":"elsewhere"}"#,
                    #"{"op":"remove","path":"/rooms/a~1b/messages/2"}"#,
                    #"{"op":"remove","path":7}"#
                ),
            ],
            Self.patchRule
        )
        let document = state.document()
        let shown = (document["messages"]?.array ?? []).map { message in
            ["channel", "id", "content"].map { message[$0]?.string ?? "" }.joined(separator: " ")
        }
        #expect(Set(shown) == ["a/b 1 1!", "main m~ elsewhere"])
        #expect(document["deletedMessages"]?.array?.map { $0["id"]?.string } == ["2"])
        #expect(document["issues"]?.array == [])
        #expect(throws: DecoderFileError.self) {
            try DecoderFile(
                DecoderFileTests.file("when: {/a: {pointer: x}}\n  make: message\n  at: {channel: /c, id: /i}", "")
            )
        }
    }

    /// A part of a path is read by the elements of a loop within the limits of what lies outside of it.
    @Test func aLongPathIsNotReadByEachElement() throws {
        let rule = """
            when: {path: "/c/{channel}"}
              each: /ids
              make: message
              at: {channel: {path: channel}, id: .}
              with: {content: .}
            """
        let ids = (0..<5_000).map { "\"\($0)\"" }.joined(separator: ",")
        let path = "/c/" + String(repeating: "x", count: 4_000)
        let read = try DecoderFileTests.read(
            #"{"ids":[\#(ids)]}"#,
            by: DecoderFileTests.file(rule),
            attributes: Attributes([.init(name: "path", value: path)])
        )
        #expect(read.changes.count == (16 << 20) / 4_000)
    }

    // MARK: - Repeats

    /// Of very many keys the last ones count.
    @Test func aFileKeepsSoManyKeys() throws {
        let rule = "replace: row\n  at: {table: {text: t}, id: /k}\n  columns: ."
        let payloads = ["a", "b", "a", "c", "a"].map { #"{"k":"\#($0)"}"# }
        for (count, expected) in [(1, [1, 1, 1, 1, 1]), (2, [1, 1, 0, 1, 1]), (3, [1, 1, 0, 1, 0])] {
            var trial = DecoderTrial(
                try DecoderFile(DecoderFileTests.file(rule, "dedupe: {key: /k, keep: \(count)}")),
                source: try SourceName("app")
            )
            let counts = try payloads.enumerated().map { place, payload in
                let envelope = try DecoderFileTests.envelope(.none, at: UInt64(place + 1))
                return Array(payload.utf8).withUnsafeBytes { trial.read(envelope, payload: $0).decoded.changes.count }
            }
            #expect(counts == expected, "\(count)")
        }
    }
}
