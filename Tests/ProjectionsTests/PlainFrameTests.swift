import EventLog
import TestSupport
import Testing

@testable import Clients
@testable import Projections

@Suite struct PlainFrameTests {
    @Test(arguments: [301, 302, 303, 304, 305, 306] as [UInt64])
    func theShortWayAndTheLongWayGiveTheSameState(_ seed: UInt64) throws {
        print("seed \(seed)")
        var traffic = PlainTraffic(seed: seed)
        var scene = try TwoWays()
        for _ in 0..<600 {
            try scene.receive(traffic.frame(), over: traffic.connection())
            #expect(scene.hasSameTouches)
        }
        #expect(scene.plainCount > 100)
        scene.expectSameStates()
    }

    @Test(arguments: [311, 312, 313, 314] as [UInt64])
    func mutatedFramesGoTheSameWayOrTheLongOne(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var traffic = PlainTraffic(seed: seed)
        var scene = try TwoWays()
        for _ in 0..<3000 {
            let whole =
                Bool.random(using: &random) ? traffic.frame() : GatewayShapes.frames.randomElement(using: &random)
            try scene.receive(PlainTraffic.mutated(Array((whole ?? "").utf8), &random), over: nil)
        }
        #expect(scene.plainCount > 100)
        scene.expectSameStates()
    }

    /// Clients that keep messages in the order of arrival, with all that only they do: copies, lists, no tombstones.
    @Test(arguments: [Profile.retrocastWeb, .retrocastIOS], [341, 342, 343, 344] as [UInt64])
    func aClientsReadingIsTheSameByBothWays(_ profile: Profile, _ seed: UInt64) throws {
        print("seed \(seed)")
        var traffic = PlainTraffic(seed: seed)
        var scene = try TwoWays(rules: profile.rules)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<600 {
            let isMutated = Int.random(in: 0...9, using: &random) == 0
            let frame = Array(traffic.frame().utf8)
            try scene.receive(isMutated ? PlainTraffic.mutated(frame, &random) : frame, over: traffic.connection())
            #expect(scene.hasSameTouches)
        }
        #expect(scene.plainCount > 100)
        scene.expectSameStates()
    }

    /// A message of a client's list stays packed through edits and a deletion, and is a record once it comes back.
    @Test func aListedMessageStaysPackedUntilItComesBack() throws {
        var scene = try TwoWays(rules: Profile.retrocastWeb.rules)
        func frame(_ name: String, _ text: String, edited: Int? = nil) -> String {
            let edit = edited.map { #","edited_at":"2026-03-01T12:00:0\#($0)Z""# } ?? ""
            let said = #","author_id":"6","content":"\#(text)","created_at":"2026-03-01T11:00:00Z"\#(edit)"#
            return #"{"op":0,"t":"MESSAGE_\#(name)","d":{"id":"40","channel_id":"11"\#(name == "DELETE" ? "" : said)}}"#
        }
        let frames = [
            frame("CREATE", "a"), frame("UPDATE", "b", edited: 5), frame("UPDATE", "c", edited: 3), frame("DELETE", ""),
        ]
        for text in frames {
            try scene.receive(text, over: nil)
            #expect(scene.forms == [.listed])
        }
        scene.expectSameStates()
        try scene.receive(frame("CREATE", "d"), over: nil)
        #expect(scene.forms == [.record])
        scene.expectSameStates()
    }

    @Test(arguments: [321, 322, 323] as [UInt64])
    func aPackedStateIsRetainedAndRefoldedAsTheOtherOne(_ seed: UInt64) throws {
        var traffic = PlainTraffic(seed: seed)
        var scene = try TwoWays()
        for _ in 0..<400 { try scene.receive(traffic.frame(), over: nil) }
        scene.retain(RetentionPolicy(messagesPerChannel: 3))
        scene.expectSameStates()
        for _ in 0..<200 { try scene.receive(traffic.frame(), over: nil) }
        scene.expectSameStates()
    }

    /// A long history whose edits come late and repeat leaves the short way, which would walk it for each of them.
    @Test(arguments: [331, 332] as [UInt64])
    func aMessageWithManyLateEditsIsTheSameByBothWays(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var scene = try TwoWays()
        for number in 0..<700 {
            let second = Bool.random(using: &random) ? number : Int.random(in: 0...number, using: &random)
            let edited = "2026-03-01T\(10 + second / 600):\(10 + second / 60 % 10):\(10 + second % 50)Z"
            let kind = Int.random(in: 0..<200, using: &random) == 0 ? "MESSAGE_DELETE" : "MESSAGE_UPDATE"
            try scene.receive(
                #"{"op":0,"d":{"id":"1","channel_id":"2","author_id":"3","content":"text \#(second)","#
                    + #""created_at":"2026-03-01T10:00:00Z","edited_at":"\#(edited)"},"t":"\#(kind)"}"#,
                over: nil
            )
            #expect(scene.hasSameTouches)
        }
        #expect(scene.recordCount == 1)
        scene.expectSameStates()
    }

    @Test(arguments: [
        #"{"op":0,"d":{"id":"1","channel_id":"2"},"s":4,"t":"MESSAGE_DELETE"}"#,
        #" { "op" : 0 , "s" : null, "t" : "MESSAGE_DELETE" , "d" : { "channel_id" : 2 , "id" : 1 } } "#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","author_id":"3","content":"","created_at":"2026-03-01T12:00:00Z"},"t":"MESSAGE_UPDATE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","author_id":"3","content":"é\ud83d\ude00","created_at":"2026-03-01T12:00:00.123456789Z","edited_at":null,"attachments":[],"message_reference":{"message_id":"9","channel_id":"2","type":{}}},"s":1,"t":"MESSAGE_CREATE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","new":1},"s":4,"t":"MESSAGE_DELETE","_trace":["a",{"b":-0.5e+3}]}"#,
        #"{"op":0,"d":{"type":0,"id":"1","channel_id":"2","nonce":"a","author_id":"3","content":"","flags" : {"a":[]} , "created_at":"2026-03-01T12:00:00Z","attachments":[{"id":"7"}]},"t":"MESSAGE_UPDATE"}"#,
    ])
    func whatTheServerWritesIsPlain(_ text: String) {
        #expect(Self.isPlain(text))
    }

    @Test(arguments: [
        #"{"op":0,"op":0,"d":{"id":"1","channel_id":"2"},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":00,"d":{"id":"1","channel_id":"2"},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0.0,"d":{"id":"1","channel_id":"2"},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"01","channel_id":"2"},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"","channel_id":"2"},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"9223372036854775808","channel_id":"2"},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"123456789012345678901234","channel_id":"2"},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2"},"s":4,"t":"MESSAGE_DELETE"}x"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2"},"s":4,"t":"MESSAGE_DELETE""#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","author_id":"3","content":"a","created_at":"2026-02-30T12:00:00Z"},"t":"MESSAGE_UPDATE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","author_id":"3","content":"a","created_at":"1600-02-01T12:00:00Z"},"t":"MESSAGE_UPDATE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","author_id":"3","content":"a","created_at":"2026-02-01T12:00:60Z"},"t":"MESSAGE_UPDATE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","author_id":"3","content":"\ux","created_at":"2026-02-01T12:00:00Z"},"t":"MESSAGE_UPDATE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","author_id":"3","content":"a","created_at":"2026-02-01T12:00:00Z","attachments":{}},"t":"MESSAGE_UPDATE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","n\u0065w":1},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","author_id":null},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","new":[1,]},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","new":01},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","new":{"a":1]},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","new":"\x"},"s":4,"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d"xs":5,"d":{"id":"1","channel_id":"2"},"t":"MESSAGE_DELETE"}"#,
        #"{"op":0,"d":{"id":"1","channel_id":"2","author_id":"3","content":"a","created_at":"2026-02-01T12:00:00Z","message_reference":{"message_id" "x":1}},"t":"MESSAGE_UPDATE"}"#,
        "",
    ])
    func whatIsUnusualGoesTheLongWay(_ text: String) {
        #expect(!Self.isPlain(text))
    }

    /// Members that no decoder knows stand in up to five places; in more, the frame goes the long way.
    @Test(arguments: [(5, true), (6, false)])
    func whatIsUnknownStandsInFewPlaces(_ count: Int, _ isPlain: Bool) {
        let known = [
            #""id":"1""#, #""channel_id":"2""#, #""author_id":"3""#, #""content":"""#, #""guild_id":"5""#,
            #""edited_at":null"#,
        ]
        let members = known.enumerated().flatMap { [$0 < count ? #""new\#($0)":\#($0)"# : nil, $1].compactMap { $0 } }
        let data = members.joined(separator: ",") + #","created_at":"2026-03-01T12:00:00Z""#
        #expect(Self.isPlain(#"{"op":0,"d":{\#(data)},"s":1,"t":"MESSAGE_CREATE"}"#) == isPlain)
    }

    /// As deep as the general way reads, less a level, which nobody writes.
    @Test(arguments: [(509, true), (510, false), (600, false)])
    func whatIsNestedDeeplyGoesTheLongWay(_ depth: Int, _ isPlain: Bool) throws {
        let value = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let frame =
            ##"{"op":0,"d":{"id":"1","channel_id":"2","author_id":"3","content":"","##
            + ##""created_at":"2026-03-01T12:00:00Z","new":\##(value)},"s":1,"t":"MESSAGE_CREATE"}"##
        #expect(Self.isPlain(frame) == isPlain)
        var scene = try TwoWays()
        try scene.receive(frame, over: nil)
        scene.expectSameStates()
    }

    private static func isPlain(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { PlainFrameScanner.frame($0) != nil }
    }
}

/// One source folded on the short way wherever that is open, and on the long way.
private struct TwoWays {
    private var short: SourceState
    private var long: SourceState
    private var sequence: UInt64 = 0
    private(set) var plainCount = 0
    /// How many messages of the short way have left it.
    var recordCount: Int { short.parts.messages.store.records.count }

    /// The forms of the short way's messages.
    var forms: [MessageCell.Form] {
        let store = short.parts.messages.store
        return (0..<store.count).map { store.cells[$0].form }
    }

    init(rules: ReadingRules = .canonical) throws {
        short = SourceState(name: try SourceName("guild"), rules: rules)
        long = SourceState(name: try SourceName("guild"), rules: rules)
    }

    mutating func receive(_ text: String, over connection: String?) throws {
        try receive(Array(text.utf8), over: connection)
    }

    mutating func receive(_ payload: [UInt8], over connection: String?) throws {
        sequence += 1
        var pairs = [Attributes.Pair(name: "dir", value: "in")]
        if let connection { pairs.append(Attributes.Pair(name: "connection", value: connection)) }
        let envelope = Envelope(
            sequence: SequenceNumber(sequence),
            recordedAt: Timestamp(microseconds: Int64(sequence) * 1_500_003),
            source: short.name,
            kind: try EventKind("gateway.frame/1"),
            attributes: try Attributes(pairs)
        )
        payload.withUnsafeBytes { bytes in
            long.apply(envelope, payload: bytes)
            guard let frame = PlainFrame(envelope, payload: bytes) else {
                return short.apply(envelope, payload: bytes)
            }
            plainCount += 1
            let event = EventReference(sequence: envelope.sequence, recordedAt: envelope.recordedAt)
            short.applyPlain(frame, event, connection: connection)
        }
    }

    mutating func retain(_ policy: RetentionPolicy) {
        short.retainMessages(policy, CompactionDecision(head: .zero, clock: nil))
        short.retainOthers(policy)
        long.retainMessages(policy, CompactionDecision(head: .zero, clock: nil))
        long.retainOthers(policy)
    }

    var hasSameTouches: Bool {
        short.context.touched == long.context.touched && short.context.reasons == long.context.reasons
    }

    /// A packed message has the hash of its record.
    private func expectRecordsHashAlike() {
        let store = short.parts.messages.store
        var writer = MessageNormalFormWriter(short.context.names)
        for place in 0..<store.count {
            let (hash, expected) = (
                writer.hash(ofMessageAt: place, in: store), writer.hash(ofRecordAt: place, in: store)
            )
            #expect(hash == expected, "message \(place)")
        }
    }

    func expectSameStates() {
        var lines: (short: [String], long: [String]) = ([], [])
        short.normalForm { lines.short.append($0.canonicalText) }
        long.normalForm { lines.long.append($0.canonicalText) }
        lines.short += short.parts.messages.messageLines(short.context.names)
        lines.long += long.parts.messages.messageLines(long.context.names)
        #expect(lines.short == lines.long)
        expectRecordsHashAlike()
        #expect(short.remoteClock == long.remoteClock)
        #expect(short.clock == long.clock)
        for section in Section.allCases {
            let asOf = long.clock ?? Timestamp(seconds: 0)
            #expect(short.rows(in: section, asOf: asOf) == long.rows(in: section, asOf: asOf))
            for key in long.fold(for: section)?.keys(in: section, names: long.context.names) ?? [] {
                #expect(short.digestRow(of: key) == long.digestRow(of: key))
            }
        }
        var needed: (SequenceSet, SequenceSet) = ([], [])
        for (_, part) in short.parts.all { part.collectNeeded(into: &needed.0) }
        for (_, part) in long.parts.all { part.collectNeeded(into: &needed.1) }
        #expect(needed.0 == needed.1)
        let facts = (
            JSONValue.written { short.writeFacts(keeping: needed.0, to: &$0) },
            JSONValue.written { long.writeFacts(keeping: needed.1, to: &$0) }
        )
        #expect(facts.0.canonicalText == facts.1.canonicalText)
    }
}
