import EventLog
import Foundation
import TestSupport
import Testing

/// Archives and what they bring back, for random logs that were rewritten several times.
@Suite struct RestorationTests {
    /// A log, what it exported before each compaction, and the archives of these, the oldest first.
    private struct Worn {
        let log: TemporaryLog
        var exports: [[String]] = []
        var archives: [[String]] = []
    }

    private static let actKind = EventKind("test.restore/1" as StaticString)

    /// Lines of the events and gaps of an export, without the header.
    private static func lines(_ store: EventStore, through last: UInt64 = .max) throws -> [String] {
        var writer = ExportWriter()
        return try store.read { session in
            var lines: [String] = []
            try session.forEachPiece { piece in
                if case .event(let event) = piece, event.envelope.sequence.rawValue > last { return }
                lines.append(String(decoding: writer.line(piece), as: UTF8.self))
            }
            return lines
        }
    }

    /// Lines of an archive, decompressed.
    static func lines(ofArchive path: String) throws -> [String] {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        let reader = try ZstandardReader(first: bytes) { _ in 0 }
        var (text, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1000))
        while true {
            let count = try reader.next(&piece)
            if count == 0 { return text.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) } }
            text += piece[..<count]
        }
    }

    private static func archive(_ lines: [String], named name: String = "A") throws -> Archive {
        var reader = ExportReader()
        var rest = lines[...]
        let header = try reader.header(Array(rest.removeFirst().utf8))
        return Archive(name: name, header: header) { try rest.popFirst().map { try reader.piece(Array($0.utf8)) } }
    }

    @discardableResult
    private static func restore(_ archives: [[String]], into store: EventStore) throws -> RestorationResult {
        try store.restore(archives.map { try archive($0) }, barredBy: [EventKind("test.redact/1")]) {
            undone,
            restored in
            DraftEvent(
                recordedAt: Timestamp(seconds: 9_000),
                source: .logtool,
                kind: actKind,
                payload: Array("{\"undone\":\(undone.count),\"restored\":\(restored)}".utf8)
            )
        }
    }

    /// Makes a log that was compacted a number of times, at random, with appends between and a redacted event.
    private static func worn(_ seed: UInt64, compactions: Int = 3) throws -> Worn {
        var random = SeededGenerator(seed: seed)
        let log = try TemporaryLog(
            (1...Int.random(in: 40...600, using: &random)).map {
                try .sample($0, source: "s\($0 % 3)", key: $0 % 4 == 0 ? nil : "k\($0)")
            }
        )
        var worn = Worn(log: log)
        try redact(2, in: log.store, kind: "test.mend/1")
        for round in 1...compactions {
            let head = try log.store.read { $0.head }
            let held = try log.events().filter { !$0.envelope.isAct }.map(\.envelope.sequence)
            let share = Int.random(in: 1...9, using: &random)
            let dropped = held.filter { _ in Int.random(in: 0..<10, using: &random) < share }
            worn.exports.append(try lines(log.store))
            var plan = try RewritePlan.dropping(dropped.map(\.rawValue), decidedAt: head)
            plan.facts = ["state": Array("facts of round \(round)".utf8), "only \(round)": [UInt8(round)]]
            if round == compactions { plan.facts["only 1"] = [] }
            // Of two seeds of three, some lie in blocks; what is restored goes between them.
            var sealing = SeededGenerator(seed: seed &* 100 &+ UInt64(round))
            let through = UInt64.random(in: 0...head.rawValue, using: &sealing)
            plan.sealsThrough = seed.isMultiple(of: 3) ? .zero : SequenceNumber(through)
            var file: ArchiveFile?
            _ = try log.store.rewrite(plan) { _ in
                file = try log.store.read {
                    try $0.archive(dropped, decidedAt: head, leaving: plan.facts) {
                        ArchiveFile.path(beside: log.path, $0)
                    }
                }
            }
            let made = try #require(file)
            #expect(made.events == dropped.count && ArchiveFile.paths(beside: log.path).first == made.path)
            worn.archives.append(try lines(ofArchive: made.path))
            _ = try log.store.append(
                (0..<Int.random(in: 0...300, using: &random)).map {
                    try .sample(1000 * round + $0, key: "r\(round) \($0)")
                }
            )
        }
        return worn
    }

    private static func folder(_ name: String, in log: TemporaryLog) throws -> String {
        let path = log.directory.path(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    private static func redact(_ sequence: UInt64, in store: EventStore, kind: String) throws {
        let (place, text) = (SequenceNumber(sequence), Array("[gone]".utf8))
        var plan = try RewritePlan.dropping([], decidedAt: store.read { $0.head })
        plan.substitutes = [place: text]
        plan.act = DraftEvent(
            recordedAt: Timestamp(seconds: 5),
            source: .logtool,
            kind: try EventKind(kind),
            payload: Array("{\"redacted\":[{\(RewritePlan.name(ofSubstitute: text, for: place))}]}".utf8)
        )
        _ = try store.rewrite(plan)
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func archivesBringBackEveryLineOfTheExportBefore(seed: UInt64) throws {
        let worn = try Self.worn(seed)
        let store = worn.log.store
        for round in worn.archives.indices.reversed() {
            let before = worn.exports[round]
            let size = try Self.archive(worn.archives[round]).header.size
            let root = try store.read { try $0.root(size: $0.head.rawValue) }
            let head = try store.read { $0.head }
            let result = try Self.restore([worn.archives[round]], into: store)
            #expect(result.undone.count == 1 && result.act.rawValue == head.rawValue + 1)
            #expect(try store.read { try $0.root(size: head.rawValue) } == root)
            // The export before ended with the head of that time; its keys of dropped events follow the events.
            #expect(try Self.lines(store, through: size) == before, "seed \(seed), round \(round)")
            let report = try store.verify()
            #expect(report.isIntact && report.provesRemains, "\(String(describing: report.damage))")
            let facts = try store.read { (try $0.fact("state"), try $0.fact("only \(round + 1)")) }
            #expect(facts.0 == (round == 0 ? nil : Array("facts of round \(round)".utf8)) && facts.1 == nil)
        }
        #expect(try store.verify().dropped == 0)
        // What came back counts as held: its keys take no second event.
        let again = try store.append([.sample(1, source: "s1", key: "k1")])
        #expect(again.appended == 0 && again.sequences == [SequenceNumber(1)])
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func allArchivesAtOnceGiveTheSame(seed: UInt64) throws {
        let (worn, other) = (try Self.worn(seed), try Self.worn(seed))
        var random = SeededGenerator(seed: seed)
        for archive in other.archives.reversed() { try Self.restore([archive], into: other.log.store) }
        let head = try worn.log.store.read { $0.head.rawValue }
        let copy = try worn.log.store.restoredCopy(
            of: worn.archives.map { try Self.archive($0) },
            barredBy: [],
            in: Self.folder("copy", in: worn.log)
        )
        let result = try Self.restore(worn.archives.shuffled(using: &random), into: worn.log.store)
        #expect(result.undone.count == 3)
        let expected = try Self.lines(other.log.store, through: head)
        #expect(try Self.lines(worn.log.store, through: head) == expected)
        #expect(try Self.lines(copy) == expected)
        let (end, decidedAt, fact) = try copy.read { ($0.head.rawValue, $0.decidedAt, try $0.fact("state")) }
        #expect(end == head && decidedAt == .zero && fact == nil)
        #expect(try copy.read { try $0.root(size: head) } == worn.log.store.read { try $0.root(size: head) })
        #expect(try worn.log.store.verify().isIntact)
        // A log that is compacted again after a restoration goes on as any other.
        let held = try worn.log.events().filter { !$0.envelope.isAct }.prefix(9).map(\.envelope.sequence.rawValue)
        _ = try worn.log.store.rewrite(.dropping(Array(held), decidedAt: worn.log.store.read { $0.head }))
        #expect(try worn.log.store.verify().isIntact)
    }

    @Test func onlyTheNewestGoesBackFirst() throws {
        let worn = try Self.worn(3)
        let before = try Self.lines(worn.log.store)
        for wrong in [[worn.archives[0]], [worn.archives[1]], [worn.archives[2], worn.archives[0]], []] {
            let error = #expect(throws: EventLogError.self) { try Self.restore(wrong, into: worn.log.store) }
            #expect(error?.code == .invalidArgument, "\(String(describing: error))")
        }
        let other = try Self.worn(4)
        #expect(throws: EventLogError.self) { try Self.restore([other.archives[2]], into: worn.log.store) }
        #expect(try Self.lines(worn.log.store) == before)
        try Self.restore([worn.archives[2]], into: worn.log.store)
        #expect(try worn.log.store.holdsAll(of: Self.archive(worn.archives[2])))
        #expect(try !worn.log.store.holdsAll(of: Self.archive(worn.archives[1])))
        #expect(throws: EventLogError.self) { try Self.restore([worn.archives[2]], into: worn.log.store) }
    }

    /// A redaction may have taken the same texts out of the rest of the log.
    @Test func aRedactedLogTakesBackNothingFromBefore() throws {
        let worn = try Self.worn(5)
        let store = worn.log.store
        let held = try #require(try worn.log.events().first { !$0.envelope.isAct && $0.envelope.holding == .whole })
        try Self.redact(held.envelope.sequence.rawValue, in: store, kind: "test.redact/1")
        let before = try Self.lines(store)
        let error = #expect(throws: EventLogError.self) { try Self.restore([worn.archives[2]], into: store) }
        #expect(error?.reason.contains("redacted since") == true)
        #expect(try Self.lines(store) == before)
    }

    /// Without its log an archive is a part: its events are proved under the root.
    @Test func anArchiveAloneIsAPart() throws {
        let worn = try Self.worn(6)
        let archive = try Self.archive(worn.archives[1])
        let path = worn.log.directory.path("part")
        let result = try EventStore.importLog(at: path, header: archive.header.asPart) { log in
            while let piece = try archive.next() { try log.add(piece) }
        }
        let part = try EventStore.open(at: path)
        #expect(try part.verify().isIntact && part.verify().root == archive.header.root)
        #expect(result.appended > 0)
    }

    /// Lines that somebody changed, moved, doubled or left out bring back the very same events, or nothing at all.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func aForgedArchiveBringsBackTheSameOrNothing(seed: UInt64) throws {
        let worn = try Self.worn(seed + 20, compactions: 2)
        let store = worn.log.store
        let before = try Self.lines(store)
        let size = try Self.archive(worn.archives[1]).header.size
        var random = SeededGenerator(seed: seed)
        var (refused, taken) = (0, 0)
        for attempt in 0..<80 {
            var lines = worn.archives[1]
            let place = Int.random(in: 0..<lines.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: lines.remove(at: place)
            case 1: lines.insert(lines[place], at: place)
            case 2: lines.swapAt(place, Int.random(in: 0..<lines.count, using: &random))
            case 3: lines.removeSubrange(place...)
            default:
                var bytes = Array(lines[place].utf8)
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 32...126, using: &random)
                lines[place] = String(decoding: bytes, as: UTF8.self)
            }
            do {
                let archive = try Self.archive(lines)
                let folder = try Self.folder("copy-\(attempt)", in: worn.log)
                let copy = try store.restoredCopy(of: [archive], barredBy: [], in: folder)
                taken += 1
                #expect(try Self.lines(copy, through: size) == worn.exports[1])
            } catch {
                refused += 1
                #expect(error is EventLogError || error is ExportFault, "\(error)")
            }
        }
        #expect(refused > 0 && taken > 0)
        #expect(try Self.lines(store) == before)
        // The real way refuses what the copy refuses, and leaves the log as it was.
        #expect(throws: EventLogError.self) { try Self.restore([Array(worn.archives[1].dropLast(20))], into: store) }
        #expect(try Self.lines(store) == before && store.verify().isIntact)
    }

    /// Truncated and altered files are refused by the frame's own checksum.
    @Test func aDamagedFileIsRefused() throws {
        let worn = try Self.worn(8, compactions: 1)
        let path = try #require(ArchiveFile.paths(beside: worn.log.path).first)
        let bytes = try Data(contentsOf: URL(filePath: path))
        let broken = worn.log.directory.path("broken.zst")
        for cut in [0, 3, 4, 20, bytes.count / 2, bytes.count - 1] {
            try bytes.prefix(cut).write(to: URL(filePath: broken))
            #expect(throws: EventLogError.self, "\(cut) bytes") { try Self.lines(ofArchive: broken) }
        }
        for place in stride(from: 0, to: bytes.count, by: 37) {
            var other = bytes
            other[place] ^= 0x10
            try other.write(to: URL(filePath: broken))
            let lines = try? Self.lines(ofArchive: broken)
            #expect(lines == nil || lines == worn.archives[0], "byte \(place)")
        }
    }
}
