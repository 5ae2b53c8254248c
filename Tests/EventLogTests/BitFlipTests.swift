import EventLog
import Foundation
import TestSupport
import Testing

/// Flips bits of a small log's data file, one at a time: each flip is reported, or nothing that can be read changes.
@Suite struct BitFlipTests {
    /// Everything that can be asked of a log.
    private struct Content: Equatable {
        var events: [RecordedEvent] = []
        var root = MerkleTree.emptyRoot
        var fact: [UInt8]?
        var bookmark: [UInt8]?
        var report: VerifyReport?
    }

    @Test func everyFlipIsReportedOrChangesNothing() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("L")
        try make(path)
        let file = path + "/gen-000002/data.mdb"
        let original = try content(path)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let flips = flips(count: bytes.count)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
        defer { try? handle.close() }
        var reported = 0
        for (offset, bit) in flips {
            try put(bytes[offset] ^ (1 << bit), at: offset, handle)
            if try isReported(path) {
                reported += 1
            } else {
                let now = try content(path)
                let isSame = now == original
                #expect(isSame, "offset \(offset) bit \(bit)")
            }
            try put(bytes[offset], at: offset, handle)
        }
        print("bit flips: \(flips.count) tried, \(reported) reported")
        #expect(reported > 0)
        #expect(try content(path) == original)
    }

    /// Every bit in the long run; else one here and there, and all of what the meta pages say of the newest state.
    private func flips(count: Int) -> [(offset: Int, bit: Int)] {
        if ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil {
            return (0..<count * 8).map { ($0 / 8, $0 % 8) }
        }
        let metas = [0, 4096].flatMap { page in (136..<152).map { page + $0 } }
        return stride(from: 0, to: count, by: 397).map { ($0, $0 % 8) }
            + metas.flatMap { offset in (0..<8).map { (offset, $0) } }
    }

    /// A log with events, a gap, keys, facts, bookmarks, a tree node, and a value with pages of its own.
    private func make(_ path: String) throws {
        var options = EventStore.Options()
        options.salt = .fixed(1)
        let store = try EventStore.openOrCreate(at: path, options: options)
        let source = try SourceName("test")
        let drafts = try (1...270).map { number in
            try DraftEvent.sample(
                number,
                key: "key \(number)",
                payload: number == 260 ? String(repeating: "long ", count: 1000) : nil
            )
        }
        _ = try store.append(drafts, bookmark: Bookmark(source: source, bytes: [1, 2, 3]))
        _ = try store.rewrite(
            .dropping((1...240).map { $0 }, decidedAt: SequenceNumber(270), facts: ["fact": [4, 5, 6]])
        )
        _ = try store.append([.sample(300, key: "after")])
    }

    private func isReported(_ path: String) throws -> Bool {
        do {
            return try !EventStore.verify(at: path).isIntact
        } catch let error as EventLogError {
            #expect(error.code == .damaged || error.code == .io, "\(error)")
            return true
        }
    }

    private func content(_ path: String) throws -> Content {
        let store = try EventStore.open(at: path)
        let source = try SourceName("test")
        var content = Content()
        content.report = try store.verify()
        try store.read { session in
            try session.forEachEvent(in: SequenceNumber(1)...session.head) {
                content.events.append($0.copied())
                return true
            }
            content.root = try session.root(size: session.head.rawValue)
            content.fact = try session.fact("fact")
            content.bookmark = try session.bookmark(of: source)
        }
        return content
    }

    private func put(_ byte: UInt8, at offset: Int, _ handle: FileHandle) throws {
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data([byte]))
    }
}
