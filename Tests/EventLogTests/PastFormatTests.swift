import EventLog
import Foundation
import TestSupport
import Testing

/// Logs of every format that ever was, kept as text in `Fixtures/formats`: each program opens, verifies and goes on with
/// all of them.
@Suite struct PastFormatTests {
    @Test(arguments: ["v1"])
    func aLogOfAPastFormatIsWhatItWas(format: String) throws {
        let folder = PackageRoot.url.appending(path: "Fixtures/formats/\(format)")
        let directory = try TemporaryDirectory()
        try PastLog.restore(folder.appending(path: "log.hex"), to: directory.path("old.eventlog"))
        let store = try EventStore.open(at: directory.path("old.eventlog"))
        let report = try store.verify()
        let lines = try store.read { session in
            var lines = ["root \(session.head) \(try session.root(size: session.head.rawValue).hex)"]
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                let copy = event.copied()
                let text = String(decoding: copy.payload.prefix(40), as: UTF8.self)
                let leaf = copy.leafHash.hex.prefix(16)
                lines.append("\(copy.envelope.sequence) \(copy.envelope.source) \(leaf) \(text)")
                return true
            }
            return lines
        }
        let golden = folder.appending(path: "expected.txt")
        let difference = Golden.difference(lines.joined(separator: "\n") + "\n", from: golden)
        #expect(difference == nil)
        #expect(report.damage == nil)
        #expect(!report.provesRemains, "acts of this version name nothing beside the events")
        let result = try store.append([.sample(1, key: "key/2"), .sample(5_000, key: "new")])
        #expect(result.appended == 1 && result.duplicates == 1, "keys are remembered")
        #expect(try store.verify().damage == nil)
    }
}
