import TestSupport
import Testing

@testable import EventLog

/// A line of an export is read as the piece that was written.
@Suite struct ExportLineTests {
    private static func event(_ payload: [UInt8], key: String? = "k\n\"é", isRedacted: Bool = false) throws -> LogPiece
    {
        let salt = isRedacted ? nil : [UInt8](0..<16)
        let event = RecordedEvent(
            envelope: Envelope(
                sequence: SequenceNumber(1 << 60),
                recordedAt: Timestamp(microseconds: 1_767_225_600_000_001),
                source: try SourceName("app"),
                kind: try EventKind("gateway.frame/1"),
                key: try key.map { try EventKey($0) },
                attributes: ["dir": "in", "\u{1}": "\\"],
                holding: isRedacted ? .redacted : .whole
            ),
            payload: payload,
            salt: salt,
            commitment: salt.map { RecordedEvent.commitment(salt: $0, payload: payload) } ?? hash(7),
            leafHash: hash(0)
        )
        return .event(event)
    }

    private static func hash(_ byte: UInt8) -> Hash256 {
        Hash256([UInt8](repeating: byte, count: 32)) ?? .zero
    }

    private static func pieces() throws -> [LogPiece] {
        [
            try event(Array("text \"with\" \u{7} 🍰".utf8)), try event([0xFF, 0x00, 0x41]), try event([], key: nil),
            try event(Array("{}".utf8), isRedacted: true),
            .dropped(DroppedRun(first: SequenceNumber(3), leafHashes: [hash(1), hash(2)], rewrite: 4, clock: nil)),
            .dropped(
                DroppedRun(
                    first: SequenceNumber(256),
                    leafHashes: [hash(3)],
                    rewrite: .max,
                    clock: Timestamp(microseconds: 5),
                    clockAtNode: Timestamp(microseconds: 6)
                )
            ),
            .missing(MissingRun(first: SequenceNumber(257), level: 8, hash: hash(9))), .keys([1, 2, 3]),
        ]
    }

    @Test func eachPieceIsReadAsItWasWritten() throws {
        var (writer, reader) = (ExportWriter(), ExportReader())
        for piece in try Self.pieces() {
            let line = writer.line(piece)
            #expect(line.last == UInt8(ascii: "\n") && !line.dropLast().contains(UInt8(ascii: "\n")))
            let read = try reader.piece(line)
            switch (piece, read) {
            case (.event(let written), .event(let read)):
                #expect(read.envelope == written.envelope && read.payload == written.payload)
                #expect(read.salt == written.salt && read.commitment == written.commitment)
            case (.dropped(let written), .dropped(let read)): #expect(read == written)
            case (.missing(let written), .missing(let read)): #expect(read == written)
            case (.keys(let written), .keys(let read)): #expect(read == written)
            default: Issue.record("\(piece) was read as \(read)")
            }
        }
    }

    @Test func theHeaderIsReadAsItWasWritten() throws {
        var header = LogHeader(
            identity: [UInt8](0..<16),
            size: .max,
            root: Self.hash(1),
            decidedAt: SequenceNumber(9),
            acts: [SequenceNumber(2), SequenceNumber(3)],
            facts: ["b": [1], "a\"": []],
            bookmarks: ["app": [0xFF]]
        )
        var (writer, reader) = (ExportWriter(), ExportReader())
        #expect(try reader.header(writer.line(header)) == header)
        header.what = .part
        #expect(try reader.header(writer.line(header, chosen: "--from 3")) == header)
    }

    /// Members that are read as absent would make another event of the line.
    @Test(arguments: [
        #""key":7"#, #""salt":null"#, #""payload":"\ud800""#, #""attributes":{"a":1}"#,
        #""attributes":{"a":"","a":""}"#,
        #""redacted":true"#, #""sequence":7"#, #""recordedAt":"now""#, #""kind":"""#, #""level":9"#,
        #""leafHashes":{}"#,
    ])
    func aMemberThatDoesNotFitIsRefused(member: String) throws {
        var (writer, reader) = (ExportWriter(), ExportReader())
        let line = String(decoding: writer.line(try Self.event(Array("x".utf8))), as: UTF8.self)
        // The last of several members with one name counts.
        let altered = line.replacing("\"}\n", with: "\",\(member)}")
        #expect(altered != line)
        #expect(throws: (any Error).self) { try reader.piece(Array(altered.utf8)) }
    }

    @Test func eachCutOfALineIsRefused() throws {
        var (writer, reader) = (ExportWriter(), ExportReader())
        for piece in try Self.pieces() {
            let line = writer.line(piece).dropLast()
            for count in 0..<line.count {
                #expect(throws: ExportFault.self) { try reader.piece(Array(line.prefix(count))) }
            }
        }
    }

    /// A reader remembers the source, kind and attributes of recent lines by their bytes.
    @Test func linesOfManySourcesAreReadAsTheyWereWritten() throws {
        var random = SeededGenerator(seed: 8)
        var (writer, reader) = (ExportWriter(), ExportReader())
        for number in 1...2_000 {
            let source = ["app", "ap", "b\"c", "\u{E9}"].randomElement(using: &random) ?? ""
            let direction = Int.random(in: 0..<5, using: &random)
            let attributes: Attributes = direction == 0 ? .none : ["dir": "\(direction)"]
            var draft = try DraftEvent.sample(number)
            draft.source = try SourceName(source)
            draft.attributes = attributes
            let salt = [UInt8](repeating: UInt8(number % 251), count: 16)
            let commitment = RecordedEvent.commitment(salt: salt, payload: draft.payload)
            let envelope = Envelope(
                sequence: SequenceNumber(UInt64(number)),
                recordedAt: draft.recordedAt,
                source: draft.source,
                kind: draft.kind,
                key: draft.key,
                attributes: attributes,
                holding: .whole
            )
            func event(_ leafHash: Hash256) -> RecordedEvent {
                RecordedEvent(
                    envelope: envelope,
                    payload: draft.payload,
                    salt: salt,
                    commitment: commitment,
                    leafHash: leafHash
                )
            }
            let written = event(MerkleTree.leafHash(event(commitment).leaf))
            guard case .event(let read) = try reader.piece(writer.line(.event(written))) else {
                Issue.record("line \(number) is no event")
                return
            }
            #expect(read == written)
        }
    }
}
