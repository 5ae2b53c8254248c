import Foundation
import TestSupport
import Testing

@testable import EventLog

/// A log that grows by small commits keeps zeros behind its last page; nothing else may care for them.
@Suite struct FileReserveTests {
    private func freeBytes(_ log: TemporaryLog) throws -> Int {
        let file = try DataFile(in: Folder(at: log.path + "/gen-000001"))
        let size = try file.byteCount()
        let pageBytes = try #require(file.metaPages().compactMap { $0 }.first).pageSize
        let used = try log.store.core.current.environment.information().lastPage + 1
        return Int(size) - Int(used * pageBytes)
    }

    @Test func smallCommitsGetAReserveAndLargeOnesNone() throws {
        let small = try TemporaryLog()
        var most = 0
        for number in 1...400 {
            _ = try small.store.append([
                .sample(number, key: "key \(number)", payload: String(repeating: "x", count: 900))
            ])
            if number == 20 { #expect(try freeBytes(small) <= 0, "a few commits need none") }
            most = max(most, try freeBytes(small))
        }
        #expect(most > 64 << 10 && most <= 512 << 10)
        #expect(try small.store.verify().isIntact)

        let large = try TemporaryLog()
        for number in 0..<40 {
            let drafts = try (0..<200).map {
                try DraftEvent.sample(number * 200 + $0, payload: String(repeating: "x", count: 900))
            }
            _ = try large.store.append(drafts)
        }
        #expect(try freeBytes(large) <= 0)
    }

    /// Nothing is read there, and the next commit writes over it.
    @Test func whatStandsInTheReserveDoesNotMatter() throws {
        let source = try TemporaryLog()
        for number in 1...300 {
            _ = try source.store.append([
                .sample(number, key: "key \(number)", payload: String(repeating: "x", count: 900))
            ])
        }
        let reserve = try freeBytes(source)
        try #require(reserve > 16 << 10)
        let copy = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: source.path, toPath: copy.path("L"))
        let file = try FileHandle(forWritingTo: URL(filePath: copy.path("L/gen-000001/data.mdb")))
        let end = try file.seekToEnd()
        try file.seek(toOffset: end - UInt64(reserve))
        try file.write(contentsOf: Data((0..<reserve).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
        try file.close()
        let store = try EventStore.open(at: copy.path("L"))
        #expect(try store.verify().isIntact)
        let salvaged = try EventStore.salvage(copy.path("L"), to: copy.path("S"), now: Timestamp(seconds: 1))
        #expect(salvaged.lost.isEmpty && salvaged.held == 300 && salvaged.keepsIdentity)
        _ = try store.append([.sample(301)])
        #expect(try store.verify().whole == 301)
    }
}
