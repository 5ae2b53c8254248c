import EventLog
import Foundation
import TestSupport
import Testing

@Suite struct BackupTests {
    /// The copy is a prefix, whatever is appended and dropped while it is made.
    @Test func aCopyMadeWhileOthersWriteIsAPrefix() async throws {
        let log = try TemporaryLog((1...300).map { try .sample($0, key: "key \($0)") })
        let store = log.store
        let writer = Task {
            for batch in 0..<20 {
                _ = try store.append((1...20).map { try .sample($0, key: "batch \(batch) \($0)") })
                if batch == 10 {
                    _ = try store.rewrite(.dropping((1...200).map { $0 }, decidedAt: SequenceNumber(300)))
                }
            }
        }
        for number in 1...5 {
            let path = log.directory.path("copy-\(number)")
            let report = try store.backup(to: path)
            #expect(report.isIntact)
            let copy = try EventStore.open(at: path)
            #expect(copy.identity == store.identity)
            let root = try store.read { try $0.root(size: report.head.rawValue) }
            #expect(report.root == root)
        }
        try await writer.value
    }
}
