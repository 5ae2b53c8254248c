import EventLog
import Foundation
import TestSupport
import Testing

@Suite struct VerifyTests {
    @Test(arguments: [0, 1, 255, 256, 600])
    func anUntouchedLogIsIntact(count: Int) throws {
        let log = try TemporaryLog(try (0..<count).map { try .sample($0, key: "key \($0)") })
        let report = try log.store.verify()
        #expect(report.isIntact && report.whole == UInt64(count) && report.head.rawValue == UInt64(count))
        #expect(try log.store.read { try $0.root(size: UInt64(count)) } == report.root)
    }

    @Test func statisticsCountWhatIsThere() throws {
        let log = try TemporaryLog(try (0..<100).map { try .sample($0, source: $0 % 2 == 0 ? "a" : "b") })
        try log.store.read { session in
            _ = try log.store.append([.sample(1)])
            let statistics = try log.store.statistics()
            #expect(statistics.held == 101 && statistics.dropped == 0 && statistics.lanes == 3)
            #expect(statistics.bytesUsed <= statistics.bytesOnDisk && statistics.bytesUsed > 0)
            #expect(statistics.readers >= 1 && statistics.oldestReaderLag >= 1)
            _ = session.head
        }
    }

    /// Every changed byte of a payload, key, salt or envelope is found, and named by its sequence.
    @Test func aChangedByteOfARecordIsFound() throws {
        let source = try TemporaryLog(try (1...40).map { try .sample($0, key: "key \($0)", payload: "MARK\($0)END") })
        let bytes = try Data(contentsOf: URL(fileURLWithPath: source.path + "/gen-000001/data.mdb"))
        let mark = try #require(bytes.range(of: Data("key 17MARK17END".utf8)))
        for offset in (mark.lowerBound - 63)..<mark.upperBound {
            let copy = try TemporaryDirectory()
            try FileManager.default.copyItem(atPath: source.path, toPath: copy.path("L"))
            var changed = bytes
            changed[offset] ^= 0x10
            try changed.write(to: URL(fileURLWithPath: copy.path("L/gen-000001/data.mdb")))
            let report = try EventStore.open(at: copy.path("L")).verify()
            #expect(report.damage?.sequence == SequenceNumber(17), "offset \(offset - mark.lowerBound)")
        }
    }

    /// Events are hashed while pages are still to be looked at; all the same the page is told, and nothing through LMDB.
    @Test func aDamagedPageIsToldBeforeADamagedEvent() throws {
        let source = try TemporaryLog(try (1...200).map { try .sample($0, key: "key \($0)", payload: "MARK\($0)END") })
        let file = "gen-000001/data.mdb"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: "\(source.path)/\(file)"))
        let early = try #require(bytes.range(of: Data("MARK3END".utf8))).lowerBound
        let late = try #require(bytes.range(of: Data("MARK199END".utf8))).lowerBound
        try #require(early / 4096 != late / 4096)
        bytes[early] ^= 1
        bytes[late / 4096 * 4096] ^= 1
        let copy = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: source.path, toPath: copy.path("L"))
        try bytes.write(to: URL(fileURLWithPath: "\(copy.path("L"))/\(file)"))
        let damage = try EventStore.verify(at: copy.path("L")).damage
        #expect(damage?.sequence == nil)
        #expect(damage?.reason == "page \(late / 4096) of the data file: it is not the page that belongs there")
    }
}
