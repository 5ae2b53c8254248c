import EventLog
import Foundation
import JSON
import TestSupport
import Testing

@testable import Projections
@testable import logtool

/// Whatever is altered in an exported log is refused, or changes no answer.
@Suite struct ForgedExportTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let count = isLong ? 5_000 : 200

    /// What somebody may ask of a log.
    private struct Answers: Equatable {
        var document: String
        var histories: [String]
        var clocks: [Timestamp?]
        var decidedAt: SequenceNumber
        var root: Hash256
        var held: [SequenceNumber]
        var appended: Int
        var next: SequenceNumber?

        init(_ store: EventStore, again drafts: [DraftEvent]) throws {
            var state = try store.read { try Replay.logState(of: $0) }
            document = state.document(DocumentOptions()).text
            histories = try [1001, 1290, 1295, 1325, 1331, 1400].map { id in
                let reference = try EntityArgument.parse("message:guild/10/\(id)")
                let entries = (try? state.history(of: reference)) ?? []
                return entries.map { "\($0)" }.joined(separator: "\n")
            }
            (clocks, decidedAt, root) = try store.read { session in
                var clocks: [Timestamp?] = []
                for sequence in 1...session.head.rawValue {
                    clocks.append(try session.clock(at: SequenceNumber(sequence)))
                }
                return (clocks, session.decidedAt, try session.root(size: session.head.rawValue))
            }
            let result = try store.append(drafts)
            (held, appended, next) = (result.sequences, result.appended, result.first)
        }
    }

    /// Compacted twice over a tree node, with facts, keys of dropped events, edits and deletes.
    private func log(in folder: TemporaryDirectory) throws -> (store: EventStore, drafts: [DraftEvent]) {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        var frames = [#"{"op":0,"s":1,"t":"CHANNEL_CREATE","d":{"id":"10","type":0,"name":"general","guild_id":"1"}}"#]
        frames += (1...300).map { SampleCaptures.message($0) }
        frames.append(#"{"op":0,"s":302,"t":"MESSAGE_DELETE","d":{"id":"1295","channel_id":"10"}}"#)
        func drafts(_ frames: some Sequence<String>, from number: Int) throws -> [DraftEvent] {
            try frames.enumerated().map { place, frame in
                DraftEvent(
                    recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number + place)),
                    source: try SourceName("guild"),
                    kind: try EventKind("gateway.frame/1"),
                    key: try EventKey("c/\(number + place)"),
                    attributes: ["dir": "in", "connection": "c"],
                    payload: Array(frame.utf8)
                )
            }
        }
        let first = try drafts(frames, from: 1)
        _ = try store.append(first, bookmark: Bookmark(source: SourceName("guild"), bytes: [1]))
        _ = try Compaction.run(
            store,
            policy: RetentionPolicy(messagesPerChannel: 20),
            now: Timestamp(seconds: 1_770_001_000)
        )
        let second = try drafts((301...330).map { SampleCaptures.message($0 + 1) }, from: 1000)
        _ = try store.append(second)
        _ = try Compaction.run(
            store,
            policy: RetentionPolicy(messagesPerChannel: 10),
            now: Timestamp(seconds: 1_770_002_000)
        )
        _ = try store.append(try drafts([SampleCaptures.message(400)], from: 2000))
        // Again what came before, and one that never came.
        let again = [first[0], first[7], first[250], second[3], second[29]] + (try drafts(["{}"], from: 3000))
        return (store, again)
    }

    private func lines(of store: EventStore) throws -> [JSONValue] {
        try store.read { session in
            var writer = ExportWriter()
            var lines = [try JSONValue.parse(writer.line(try session.header()))]
            try session.forEachPiece { lines.append(try JSONValue.parse(writer.line($0))) }
            return lines
        }
    }

    private func load(_ lines: [JSONValue], into path: String) throws -> EventStore {
        var reader = ExportReader()
        var header = try reader.header(Self.bytes(of: lines[0]))
        header.bookmarks = [:]
        _ = try EventStore.importLog(at: path, header: header) { log in
            for line in lines.dropFirst() { try log.add(reader.piece(Self.bytes(of: line))) }
        }
        return try EventStore.open(at: path)
    }

    @Test func nothingThatChangesAnAnswerIsTaken() throws {
        let folder = try TemporaryDirectory()
        let (store, drafts) = try log(in: folder)
        let lines = try lines(of: store)
        let truth = try Answers(load(lines, into: folder.path("true")), again: drafts)
        #expect(truth.appended == 1)
        let seed: UInt64 = 16_004
        var random = SeededGenerator(seed: seed)
        var (taken, refused) = (0, 0)
        for round in 0..<Self.count {
            let path = folder.path("forged-\(round)")
            let forged = Self.forged(lines, using: &random)
            guard let copy = try? load(forged.lines, into: path) else {
                refused += 1
                #expect(!FileManager.default.fileExists(atPath: path))
                continue
            }
            taken += 1
            #expect(try Answers(copy, again: drafts) == truth, "seed \(seed), round \(round): \(forged.what)")
            try FileManager.default.removeItem(atPath: path)
        }
        print("forged exports: \(Self.count) of seed \(seed), \(refused) refused, \(taken) taken")
        #expect(refused > 0)
    }

    private static func forged(
        _ lines: [JSONValue],
        using random: inout SeededGenerator
    ) -> (lines: [JSONValue], what: String) {
        var lines = lines
        // Half of all in the header, the runs and the keys: what is in the events is covered by hashes.
        let special = lines.indices.filter {
            $0 == 0 || lines[$0]["leafHashes"] != nil || lines[$0]["droppedKeys"] != nil
        }
        let all = Bool.random(using: &random) ? special : Array(lines.indices)
        let place = all.randomElement(using: &random) ?? 0
        guard place > 0 else {
            let (line, what) = altered(lines[0], using: &random)
            lines[0] = line
            return (lines, "header: \(what)")
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: lines.remove(at: place)
        case 1: lines.insert(lines[place], at: place)
        case 2: lines.swapAt(place, Int.random(in: 1..<lines.count, using: &random))
        default:
            let (line, what) = altered(lines[place], using: &random)
            lines[place] = line
            return (lines, "line \(place + 1): \(what)")
        }
        return (lines, "line \(place + 1) moved, doubled or taken away")
    }

    private static func altered(_ line: JSONValue, using random: inout SeededGenerator) -> (JSONValue, String) {
        guard var object = line.object, let name = object.members.randomElement(using: &random)?.name,
            let value = object[name]
        else { return (line, "nothing") }
        if Int.random(in: 0..<6, using: &random) == 0 {
            object[name] = nil
        } else {
            object[name] = altered(value, using: &random)
        }
        return (
            .object(object), "\(name) from \(value.text.prefix(80)) to \(object[name]?.text.prefix(80) ?? "nothing")"
        )
    }

    private static func altered(_ value: JSONValue, using random: inout SeededGenerator) -> JSONValue {
        if let inner = value.object, let name = inner.members.randomElement(using: &random)?.name {
            var inner = inner
            inner[name] = Bool.random(using: &random) ? nil : inner[name].map { altered($0, using: &random) }
            return .object(inner)
        }
        if var array = value.array, !array.isEmpty {
            let place = Int.random(in: 0..<array.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: array.remove(at: place)
            case 1: array.swapAt(place, 0)
            default: array[place] = altered(array[place], using: &random)
            }
            return .array(array)
        }
        if let number = value.number?.int64 { return .int(Int(number) + Int.random(in: 1...3, using: &random)) }
        guard let text = value.string else { return .string("x") }
        if let number = UInt64(text) { return .string(String(number &+ UInt64.random(in: 1...400, using: &random))) }
        if let time = Timestamp(rfc3339: text) {
            let step = Int64.random(in: -100_000_000_000...100_000_000_000, using: &random)
            return .string(Timestamp(microseconds: time.microseconds + step).description)
        }
        guard var bytes = Base64.decode(text), !bytes.isEmpty else { return .string(text + "x") }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes.removeLast(min(bytes.count, 24))
        case 1: bytes += bytes.suffix(24)
        default: bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        return .string(Base64.encode(bytes))
    }

    @Test func bookmarksOfAFileAreTakenOnlyWhenThatIsSaid() throws {
        let folder = try TemporaryDirectory()
        let (store, _) = try log(in: folder)
        _ = try store.append([], bookmark: Bookmark(source: SourceName("guild"), bytes: Array("there".utf8)))
        #expect(try ToolRun.run(["export", "L", "-o", "x.ndjson"], in: folder).exitCode == 0)
        #expect(try ToolRun.run(["import", "M", "x.ndjson"], in: folder).exitCode == 0)
        #expect(try ToolRun.run(["import", "N", "x.ndjson", "--bookmarks"], in: folder).exitCode == 0)
        let source = try SourceName("guild")
        #expect(try EventStore.open(at: folder.path("M")).read { try $0.bookmark(of: source) } == nil)
        #expect(try EventStore.open(at: folder.path("N")).read { try $0.bookmark(of: source) } == Array("there".utf8))
    }

    private static func bytes(of value: JSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        value.append(to: &bytes, members: .own)
        return bytes
    }
}
