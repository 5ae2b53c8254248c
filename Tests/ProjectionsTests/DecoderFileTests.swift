import EventLog
import Foundation
import Kinds
import TestSupport
import Testing

@testable import JSON
@testable import Projections

/// Decoder files: what is refused, what values and tests mean, and that no file and no payload does harm.
@Suite struct DecoderFileTests {
    static let shipped = ["slack", "matrix", "mastodon", "discord", "todoist"]

    private static func text(_ name: String) throws -> String {
        try String(
            contentsOf: PackageRoot.url.appending(path: "Fixtures/decoders/\(name).decoder.yaml"),
            encoding: .utf8
        )
    }

    /// A file with one rule.
    static func file(_ rule: String, _ head: String = "") -> String {
        """
        decoder: test/1
        \(head)
        rules:
        - \(rule)
        samples:
        - payload: '{}'
          gives: '[]'
        """
    }

    /// The changes and issues that a payload gives.
    static func read(_ payload: String, by text: String, attributes: Attributes = .none) throws -> DecodedEvent {
        var trial = DecoderTrial(try DecoderFile(text), source: try SourceName("app"))
        return try Self.read(payload, &trial, attributes, at: 1)
    }

    static func envelope(_ attributes: Attributes, at sequence: UInt64) throws -> Envelope {
        Envelope(
            sequence: SequenceNumber(sequence),
            recordedAt: Timestamp(seconds: 1_767_225_600),
            source: try SourceName("app"),
            kind: EventKind(.socketFrame),
            key: nil,
            attributes: attributes,
            holding: .whole
        )
    }

    static func read(
        _ payload: String,
        _ trial: inout DecoderTrial,
        _ attributes: Attributes = .none,
        at sequence: UInt64
    ) throws -> DecodedEvent {
        let envelope = try envelope(attributes, at: sequence)
        return Array(payload.utf8).withUnsafeBytes { trial.read(envelope, payload: $0).decoded }
    }

    static func changes(_ payload: String, _ rule: String, _ head: String = "") throws -> String {
        let read = try read(payload, by: file(rule, head))
        return JSONValue.array(read.changes.map(\.json)).canonicalText + (read.issues.isEmpty ? "" : " \(read.issues)")
    }

    @Test(arguments: shipped) func theSamplesOfAShippedFileAreRight(name: String) throws {
        let file = try DecoderFile(Self.text(name))
        #expect(file.name.hasPrefix("\(name)/"))
        #expect(file.sampleFaults() == [])
    }

    @Test(arguments: [
        ("decoder: x", 1, "a name and a version"),
        ("decoder: x/1\nrules: []", 2, "at least one rule"),
        ("decoder: x/1\nrulez:\n- make: message", 2, "no member \"rulez\""),
        ("decoder: x/1\nrules:\n- make: post", 3, "message, channel"),
        ("decoder: x/1\nrules:\n- add: message", 3, "not add"),
        ("decoder: x/1\nrules:\n- make: message", 3, "has no channel"),
        ("decoder: x/1\nrules:\n- make: message\n  delete: message", 3, "has one of"),
        (
            "decoder: x/1\nrules:\n- edit: message\n  at: {channel: /c, id: /i}\n  own: /o\n  with: {content: /t}", 3,
            "an edit has a version"
        ),
        ("decoder: x/1\nrules:\n- make: message\n  at: {channel: /c, id: name}", 4, "is no place"),
        (
            "decoder: x/1\nrules:\n- make: message\n  at: {channel: /c, id: /i}\n  with: {text: /t}", 5,
            "no member \"text\""
        ),
        ("decoder: x/1\nrules:\n- when: {/a: {is: 1}}\n  make: message", 3, "not, same, starts"),
        ("decoder: x/1\nrules:\n- when: {op: 1}\n  make: message", 3, "is no test"),
        ("decoder: x/1\nrules:\n- make: message\n  at: {channel: {first: []}, id: /i}", 4, "list of values"),
        ("decoder: x/1\nrules:\n- make: message\n  at: {channel: {tims: /a}, id: /i}", 4, "is no value"),
        ("decoder: x/1\nrules:\n- do: later\nsteps:\n  later: []", 5, "steps holds lists"),
        ("decoder: x/1\nsteps:\n  a:\n  - do: a\nrules:\n- do: a", 4, "earlier list"),
        (
            "decoder: x/1\nrules:\n- make: channel\n  at: {id: {kept: n}}\nsamples: []", 4,
            "no step keeps"
        ),
        ("decoder: x/1\nrules:\n- keep: {n: /a}\n  make: channel", 3, "has one of"),
        ("decoder: x/1\nextends: phoenix\nrules: []", 2, "socket.io/1, phoenix/1, actioncable/1, signalr/1"),
        ("decoder: x/1\norder: age\nrules: []", 2, "id, creation, place"),
        ("decoder: x/1\ndedupe: {key: /k, keep: 0}\nrules: []", 2, "from 1 to"),
        ("decoder: x/1\nrules:\n- make: row\n  at: {id: /i}", 3, "has no table"),
        ("decoder: x/1\nrules:\n- make: row\n  at: {table: /t, id: /i}\n  deleted: for-ever", 5, "comes back"),
        ("decoder: x/1\nrules:\n- make: channel\n  at: {id: /i}\n  columns: .", 5, "goes with a row"),
        ("decoder: x/1\nrules:\n- make: place\n  at: {channel: /c, id: /i}", 3, "add, not make"),
    ])
    func aFaultNamesItsLine(text: String, line: Int, reason: String) throws {
        let error = #expect(throws: DecoderFileError.self) { try DecoderFile(text) }
        #expect(error?.line == line)
        #expect(error?.reason.contains(reason) ?? false, "\(error?.reason ?? "")")
    }

    @Test func anAliasIsRefused() throws {
        #expect(throws: DecoderFileError.self) { try DecoderFile("decoder: x/1\nrules: &r\n- do: *r\n") }
    }

    @Test(arguments: [
        ("/a~1b/~0", #"{"a/b":{"~":"x"}}"#, "x"), ("/l/1", #"{"l":["a","x"]}"#, "x"), ("$/a", #"{"a":"x"}"#, "x"),
        ("{first: [/n, /e, /a]}", #"{"n":null,"e":"","a":"x"}"#, "x"), ("{text: x}", "{}", "x"),
        ("{join: [/a, /b], by: \":\"}", #"{"a":"x","b":7}"#, "x:7"),
        ("{join: [/l], by: \",\"}", #"{"l":["x",7]}"#, "x,7"),
        ("{split: /a, by: \"/\", part: 1}", #"{"a":"b/x/c"}"#, "x"),
        ("{strip: /a, prefix: \"<\", suffix: \">\"}", #"{"a":"<x>"}"#, "x"),
        ("{json: /a, at: /b}", #"{"a":"{\"b\":\"x\"}"}"#, "x"),
        ("/a", #"{"a":18446744073709551616}"#, "18446744073709551616"),
        ("{value: /a, when: {/b: 1}}", #"{"a":"x","b":1}"#, "x"),
        ("{first: [{value: /a, unless: {/b: 1}}, /c]}", #"{"a":"y","b":1,"c":"x"}"#, "x"),
    ])
    func aValueIsFound(value: String, payload: String, found: String) throws {
        let rule = "replace: message\n  at: {channel: {text: c}, id: \(value)}\n  with: {content: {text: t}}"
        let expected = #"[{"message":{"channel":"c","content":"t","id":"\#(found)"}}]"#
        #expect(try Self.changes(payload, rule) == expected)
    }

    @Test(arguments: [
        ("{/a: 1}", #"{"a":1}"#, true), ("{/a: 1}", #"{"a":"1"}"#, true), ("{/a: \"1\"}", #"{"a":1}"#, false),
        ("{/a: true}", #"{"a":true}"#, true), ("{/a: missing}", "{}", true), ("{/a: missing}", #"{"a":null}"#, false),
        ("{/a: null}", #"{"a":null}"#, true), ("{/a: present}", #"{"a":0}"#, true),
        ("{/a: [x, y]}", #"{"a":"y"}"#, true),
        ("{/a: {not: x}}", #"{"a":"x"}"#, false), ("{/a: {same: /b}}", #"{"a":[1],"b":[1]}"#, true),
        ("{/a: {starts: x}}", #"{"a":"xy"}"#, true), ("{/a: {contains: x}}", #"{"a":"ax"}"#, true),
        ("{/a: {type: list}}", #"{"a":[]}"#, true), ("[{/a: 1}, {/b: 1}]", #"{"b":1}"#, true),
        ("{dir: out}", "{}", false),
    ])
    func aTestFits(tests: String, payload: String, fits: Bool) throws {
        let rule = "when: \(tests)\n  delete: message\n  at: {channel: {text: c}, id: {text: i}}"
        #expect(try Self.changes(payload, rule) == (fits ? #"[{"messageDeleted":{"channel":"c","id":"i"}}]"# : "[]"))
    }

    @Test(arguments: [
        ("seconds-text", #""1355517523.000005""#, "2012-12-14T20:38:43.000005Z"),
        ("ms", "1767225600123", "2026-01-01T00:00:00.123000Z"),
        ("seconds", #""1767225600""#, "2026-01-01T00:00:00.000000Z"),
        ("rfc3339", #""2026-01-01T02:00:00.5+02:00""#, "2026-01-01T00:00:00.500000Z"),
    ])
    func aTimeIsExact(form: String, value: String, time: String) throws {
        let rule =
            "replace: message\n  at: {channel: {text: c}, id: {text: i}}\n"
            + "  with: {content: {text: t}, createdAt: {time: /t, as: \(form)}}"
        let changes = try Self.changes(#"{"t":\#(value)}"#, rule)
        #expect(changes == #"[{"message":{"channel":"c","content":"t","createdAt":"\#(time)","id":"i"}}]"#)
    }

    /// A rule that lacks what it needs says so; the other elements count.
    @Test func aBadElementIsPassedOver() throws {
        let rule = "each: .\n  make: message\n  at: {channel: {text: c}, id: /id}\n  with: {content: /t}"
        let changes = try Self.changes(#"[{"id":"1","t":"a"},{"t":"b"},{"id":"3"},{"id":"4","t":"d"}]"#, rule)
        #expect(changes.contains(#""id":"1""#) && changes.contains(#""id":"4""#))
        #expect(changes.contains("the message has no id") && changes.contains("the message has no content"))
    }

    @Test func anEventThatWasSeenChangesNothing() throws {
        let rule = "make: message\n  at: {channel: {text: c}, id: /id}\n  with: {content: {text: t}}"
        var trial = DecoderTrial(
            try DecoderFile(Self.file(rule, "dedupe: {key: /k}")),
            source: try SourceName("app")
        )
        let payloads = [#"{"k":"a","id":"1"}"#, #"{"k":"a","id":"2"}"#, #"{"k":"b","id":"3"}"#, #"{"id":"4"}"#]
        let counts = try payloads.enumerated().map { try Self.read($1, &trial, at: UInt64($0 + 1)).changes.count }
        #expect(counts == [1, 0, 1, 1])
    }

    /// What a snapshot names stays, also where it cannot be read or is older than what is known.
    @Test func aSnapshotLeavesOutOnlyWhatItDoesNotName() throws {
        let rule = """
            do:
              - each: /ms
                replace: message
                at: {channel: {text: c}, id: /id}
                with: {content: /t}
                set: ms
              - each: /is
                replace: item
                at: {list: {text: l}, id: /id}
                with: {text: /t, version: {time: /v, as: ms}}
                set: is
              - {snapshot: ms}
              - {snapshot: is}
            """
        var state = LogState()
        var decoders = Decoders()
        decoders[try SourceName("app")] = try DecoderFile(Self.file(rule))
        state.use(decoders)
        let payloads = [
            #"{"ms":[{"id":"a","t":"x"},{"id":"b","t":"x"},{"id":"d","t":"x"}],"is":[{"id":"a","v":5},{"id":"b","v":5},{"id":"d"}]}"#,
            #"{"ms":[{"id":"a","t":{}},{"id":"b","t":"y"},{"id":"c"}],"is":[{"id":"a","v":{}},{"id":"b","v":4}]}"#,
        ]
        for (place, payload) in payloads.enumerated() {
            let envelope = try Self.envelope(.none, at: UInt64(place + 1))
            Array(payload.utf8).withUnsafeBytes { state.apply(envelope, payload: $0) }
        }
        let document = state.document()
        func ids(_ section: String) -> [String] { (document[section]?.array ?? []).compactMap { $0["id"]?.string } }
        #expect(ids("messages") == ["a", "b"] && ids("deletedMessages") == ["d"])
        #expect(ids("items").sorted() == ["a", "b"])
    }

    #if DEBUG
    /// What is read from outside of a loop is small, so that no payload costs its square.
    @Test func theCostIsLinear() throws {
        let rule =
            "each: /l\n  make: message\n  at: {channel: $/c, id: .}\n  with: {content: {join: [$/x, $/l], by: \",\"}}\n"
            + "  needs: []"
        let file = Self.file(rule)
        let costs = try [1, 2, 4].map { factor -> Int in
            let count = 2_000 * factor
            let list = (0..<count).map { "\"\($0)\"" }.joined(separator: ",")
            let payload = #"{"c":"c","x":"\#(String(repeating: "x", count: 40 * count))","l":[\#(list)]}"#
            let counter = Steps.Counter()
            try Steps.$counter.withValue(counter) { _ = try Self.read(payload, by: file) }
            return counter.count
        }
        #expect(costs[1] < costs[0] * 5 / 2 && costs[2] < costs[1] * 5 / 2, "\(costs)")
    }

    /// An event costs what it says, however often it says it of one thing.
    @Test(arguments: [
        (
            "reactions to one message",
            "each: /a\n  add: reaction\n  at: {channel: {text: c}, id: {text: m}, user: ., emoji: {text: x}}"
        ),
        (
            "reactions that wait and are taken back",
            "do:\n  - each: /a\n    add: reaction\n    at: {channel: {text: c}, id: {text: none}, user: ., emoji: {text: x}}\n    own: .\n"
                + "  - each: /a\n    retract: event\n    at: {id: .}"
        ),
        (
            "snapshots in a loop",
            "each: /a\n  do:\n  - {replace: channel, at: {id: .}, set: s}\n  - {snapshot: s}"
        ),
        (
            "JSON in a text outside of the loop",
            "each: /a\n  from: {json: $/t}\n  replace: channel\n  at: {id: /a}\n  with: {name: /b}"
        ),
    ])
    func anEventCostsWhatItSays(name: String, rule: String) throws {
        let make =
            "when: {/m: present}\n  make: message\n  at: {channel: {text: c}, id: /m}\n  with: {content: {text: t}}\n  own: /m\n- "
            + rule
        let file = try DecoderFile(Self.file(make))
        var byteCount = 0
        let costs = try [1, 2, 4].map { factor -> Int in
            var state = LogState()
            var decoders = Decoders()
            decoders[try SourceName("app")] = file
            state.use(decoders)
            let list = (0..<1_000 * factor).map { "\"u\($0)\"" }.joined(separator: ",")
            let text = #"{\"a\":\"x\",\"b\":\"\#(String(repeating: "y", count: 2_000))\"}"#
            let counter = Steps.Counter()
            Steps.$counter.withValue(counter) {
                for (place, payload) in [#"{"m":"m"}"#, #"{"t":"\#(text)","a":[\#(list)]}"#].enumerated() {
                    byteCount = payload.utf8.count
                    guard let envelope = try? Self.envelope(.none, at: UInt64(place + 1)) else { return }
                    Array(payload.utf8).withUnsafeBytes { state.apply(envelope, payload: $0) }
                }
            }
            return counter.count
        }
        #expect(costs[1] < costs[0] * 5 / 2 && costs[2] < costs[1] * 5 / 2, "\(costs)")
        #expect(costs[2] < 60 * byteCount, "\(costs), \(byteCount)")
    }
    #endif

    /// Files with pieces taken out, doubled or replaced, read payloads with the same done to them: no crash, and each
    /// ends.
    @Test(arguments: 0..<8) func noFileAndNoPayloadDoesHarm(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let files = try Self.shipped.map { Array(try Self.text($0).utf8) }
        let payloads = files.flatMap { file in
            String(decoding: file, as: UTF8.self).split(separator: "payload: '").dropFirst().map {
                Array($0.prefix { $0 != "'" }.utf8)
            }
        }
        var readable = 0
        for _ in 0..<250 {
            let text = Self.mutated(files.randomElement(using: &random) ?? [], &random)
            guard let file = try? DecoderFile(String(decoding: text, as: UTF8.self)) else { continue }
            readable += 1
            _ = file.sampleFaults()
            var trial = DecoderTrial(file, source: try SourceName("app"))
            for sequence in 1...4 {
                let payload = Self.mutated(payloads.randomElement(using: &random) ?? [], &random)
                _ = try Self.read(
                    String(decoding: payload, as: UTF8.self),
                    &trial,
                    ["path": "/api/v1/sync", "status": "200"],
                    at: UInt64(sequence)
                )
            }
        }
        #expect(readable > 10)
    }

    private static func mutated(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let start = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, start + Int.random(in: 0...12, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.removeSubrange(start..<end)
            case 1: bytes.insert(contentsOf: bytes[start..<end], at: start)
            case 2: bytes[start] = UInt8.random(in: 32...126, using: &random)
            default:
                let other = Int.random(in: 0..<bytes.count, using: &random)
                bytes.insert(contentsOf: bytes[start..<end], at: other)
            }
        }
        return bytes
    }
}
