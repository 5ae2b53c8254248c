import EventLog
import TestSupport
import Testing

@testable import Clients
@testable import Projections

/// A state that is saved again and again as what came since is there again after any of the savings.
@Suite struct SavingTests {
    @Test(arguments: [Profile.canonical, .retrocastWeb, .retrocastIOS], [401, 402, 403, 404] as [UInt64])
    func savingsThatFollowOneAnotherMakeTheState(_ profile: Profile, _ seed: UInt64) throws {
        var traffic = PlainTraffic(seed: seed)
        var random = SeededGenerator(seed: seed)
        var scene = try Scene(rules: profile.rules)
        var savings: [[SavedPiece]] = []
        for _ in 0..<40 {
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                try scene.receive(traffic.frame(), over: traffic.connection())
            }
            savings.append(try scene.save())
            let loaded = try SavedState(savings).logState(rules: profile.rules)
            #expect(loaded.normalFormHash == scene.state.normalFormHash, "after \(scene.sequence) events")
            if Bool.random(using: &random) { scene.state = loaded }
        }
    }

    /// A struct with members of any integer type.
    @Test func everyIntegerTypeIsSaved() throws {
        struct Integers: Codable, Equatable {
            var word = Int.min
            var byte = Int8.min
            var half = Int16.min
            var int = Int32.min
            var long = Int64.min
            var unsignedWord = UInt.max
            var unsignedByte = UInt8.max
            var unsignedHalf = UInt16.max
            var unsignedInt = UInt32.max
            var unsignedLong = UInt64.max
        }
        let integers = Integers()
        let bytes = try StateEncoder.bytes(of: integers)
        #expect(bytes.count == 2 * (8 + 1 + 2 + 4 + 8))
        #expect(try StateDecoder.value(Integers.self, from: bytes) == integers)
    }

    /// Reactions are saved beside the messages, whose cells they leave as they are.
    @Test func reactionsThatChangeAreSavedAgain() throws {
        var scene = try Scene()
        var savings: [[SavedPiece]] = []
        let reactions = [
            ("CREATE", ""), ("REACTION_ADD", "A"), ("REACTION_ADD", "B"), ("REACTION_REMOVE", "A"), ("UPDATE", ""),
            ("REACTION_ADD", "A"), ("REACTION_REMOVE", "C"),
        ]
        for (number, (name, emoji)) in reactions.enumerated() {
            let reaction = #""message_id":"40","user_id":"5","emoji":"\#(emoji)""#
            let message = #""id":"40","author_id":"6","content":"\#(number)","created_at":"2026-03-01T12:00:00Z""#
            let edited = name == "UPDATE" ? #","edited_at":"2026-03-01T13:00:00Z""# : ""
            let data = #"{"channel_id":"11",\#(emoji.isEmpty ? message + edited : reaction)}"#
            try scene.receive(#"{"op":0,"d":\#(data),"s":\#(number + 1),"t":"MESSAGE_\#(name)"}"#, over: nil)
            savings.append(try scene.save())
            let loaded = try SavedState(savings).logState()
            #expect(loaded.normalFormHash == scene.state.normalFormHash, "after \(name) \(emoji)")
            #expect(loaded.sources[0].parts.messages.store.cells[0].form == .packed)
            #expect(loaded.sources[0].parts.messages.store.reactions.count == [0, 1, 2, 2, 2, 2, 3][number])
        }
    }

    /// Kept states are read from a disk that may be damaged: reactions to messages, or with emojis, that are not there are refused.
    @Test(arguments: [(message: 0, emoji: 0, isWhole: true), (1, 0, false), (0, 1, false), (.max, 0, false)])
    func reactionsToWhatIsNotThereAreRefused(message: UInt32, emoji: UInt32, isWhole: Bool) throws {
        var store = MessageStore()
        _ = store.add(MessageKey(channel: .none, id: .none))
        var loader = MessageStoreLoader()
        try store.forEachPiece(whole: true) { kind, piece in
            if kind != .end { try piece.bytes.withUnsafeBytes { try loader.take(kind, $0) } }
        }
        let encoder = StateEncoder()
        encoder.writeText("👍")
        try encoder.takeBytes().withUnsafeBytes { try loader.take(.emojis, $0) }
        for number in [message, emoji] { encoder.writeNumber(number) }
        for number in [0, 9] as [UInt64] { encoder.writeNumber(number) }
        encoder.writeTruth(true)
        let bytes = encoder.takeBytes()
        if isWhole {
            try bytes.withUnsafeBytes { try loader.take(.reactions, $0) }
        } else {
            #expect(throws: (any Error).self) { try bytes.withUnsafeBytes { try loader.take(.reactions, $0) } }
        }
    }

    /// A value with counts that are known only afterwards, of elements, of bytes, and within one another.
    private struct Nested: Codable {
        var numbers = Pages<UInt64>()
        var texts: [[String: Int]]
        var rows: [Row]

        struct Row: Codable {
            var id: UInt8
            var inner: [Int?]
        }
    }

    /// Where a chunk ends changes no byte, and a chunk is not much longer than asked for.
    @Test(arguments: [1, 7, 64, 1000, 40_000]) func chunksAreTheWholeInParts(byteCount: Int) throws {
        var value = Nested(texts: [], rows: [])
        for number in 0..<5000 { value.numbers.append(UInt64(number) * 0x0101_0101) }
        for number in 0..<50 {
            value.texts.append(["number": number])
            value.rows.append(Nested.Row(id: UInt8(number), inner: (0..<number).map { $0 % 3 == 0 ? nil : $0 }))
        }
        let whole = try StateEncoder.bytes(of: value)
        let chunks = try StateEncoder.chunks(of: value, of: byteCount, head: [1, 2], byteCountMax: .max)
        #expect(chunks.allSatisfy { $0.starts(with: [1, 2]) })
        #expect(chunks.flatMap { $0.dropFirst(2) } == whole)
        // A page of numbers is the longest part that is written at once.
        #expect(chunks.allSatisfy { $0.count <= byteCount + 8192 + 16 })
        #expect(byteCount > 1000 || chunks.count > whole.count / (byteCount + 8192 + 16))
        #expect(throws: StateEncoder.LimitExceeded.self) {
            try StateEncoder.chunks(of: value, of: byteCount, head: [], byteCountMax: whole.count / 2)
        }
    }

    /// What was not said to be saved is saved again.
    @Test func aSavingThatCameToNothingIsMadeUpFor() throws {
        var traffic = PlainTraffic(seed: 410)
        var scene = try Scene()
        var savings: [[SavedPiece]] = []
        for round in 0..<21 {
            for _ in 0..<10 { try scene.receive(traffic.frame(), over: nil) }
            if round % 3 == 1 {
                _ = try scene.state.pieces(whole: false)
            } else {
                savings.append(try scene.save())
            }
        }
        #expect(try SavedState(savings).logState().normalFormHash == scene.state.normalFormHash)
    }

    @Test func savingsThatDoNotFollowOneAnotherAreRefused() throws {
        var traffic = PlainTraffic(seed: 411)
        var scene = try Scene()
        var savings: [[SavedPiece]] = []
        for _ in 0..<4 {
            for _ in 0..<40 { try scene.receive(traffic.frame(), over: nil) }
            savings.append(try scene.save())
        }
        #expect(throws: (any Error).self) { try SavedState([savings[0], savings[2]]).logState() }
        #expect(throws: (any Error).self) { try SavedState([savings[1]]).logState() }
        #expect(throws: (any Error).self) { try SavedState([savings[0], savings[0]]).logState() }
        for index in savings[3].indices {
            var short = savings[3]
            short.removeSubrange(index...)
            #expect(throws: (any Error).self) { try SavedState(savings[..<3] + [short]).logState() }
        }
    }
}

private struct Scene {
    var state: LogState
    private(set) var sequence: UInt64 = 0
    private let source: SourceName
    private let kind: EventKind

    init(rules: ReadingRules = .canonical) throws {
        state = LogState(rules: rules)
        source = try SourceName("guild")
        kind = try EventKind("gateway.frame/1")
    }

    mutating func receive(_ text: String, over connection: String?) throws {
        sequence += 1
        var pairs = [Attributes.Pair(name: "dir", value: "in")]
        if let connection { pairs.append(Attributes.Pair(name: "connection", value: connection)) }
        let envelope = Envelope(
            sequence: SequenceNumber(sequence),
            recordedAt: Timestamp(microseconds: Int64(sequence) * 1_500_003),
            source: source,
            kind: kind,
            attributes: try Attributes(pairs)
        )
        Array(text.utf8).withUnsafeBytes { state.apply(envelope, payload: $0) }
    }

    mutating func save() throws -> [SavedPiece] {
        let pieces = try state.pieces(whole: false)
        state.noteSaved()
        return pieces
    }
}
