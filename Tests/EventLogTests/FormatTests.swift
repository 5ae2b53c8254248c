import EventLog
import Foundation
import TestSupport
import Testing

/// What `docs/format.md` says about bytes.
@Suite struct FormatTests {
    @Test func theExampleOfTheFormatsDescriptionHolds() throws {
        let log = try TemporaryLog()
        let draft = DraftEvent(
            recordedAt: Timestamp(seconds: 1),
            source: try SourceName("test"),
            kind: try EventKind("k/1"),
            key: try EventKey("a"),
            payload: Array("hi".utf8)
        )
        _ = try log.store.append([draft])
        let event = try #require(try log.events().first)
        let page = try String(contentsOf: Self.root.appendingPathComponent("docs/format.md"), encoding: .utf8)
        #expect(event.commitment.hex == "2468a95108624605f1152dbcb2e657785158f21f9484017f8cb07f35ef5e3f10")
        #expect(event.leafHash.hex == "f2585adc5440b8f942ccc58a755588646e28241058cca9bb4f63f90fa4b8598e")
        #expect(page.contains(event.commitment.hex) && page.contains(event.leafHash.hex))
        #expect(try log.store.read { try $0.root(size: 1) } == event.leafHash)
    }

    @Test func theFileFormatSaysVersionIdentityAndReader() throws {
        let log = try TemporaryLog()
        let text = try String(contentsOfFile: log.path + "/FORMAT", encoding: .utf8)
        let identity = log.store.identity.map { String(format: "%02x", $0) }.joined()
        #expect(text == "eventlog 1\nidentity \(identity)\nreader 0.1.0\n")
    }

    @Test func theLeafHashCoversEveryFieldOfTheEnvelope() throws {
        let base = try DraftEvent.sample(1, key: "a")
        var drafts = [base]
        for change in [
            { $0.recordedAt = Timestamp(seconds: 2) },
            { $0.source = try SourceName("tesu") },
            { $0.kind = try EventKind("gateway.frame/2") },
            { $0.key = try EventKey("b") },
            { $0.key = nil },
            { $0.attributes = try Attributes([.init(name: "dir", value: "in")]) },
            { $0.attributes = try Attributes([.init(name: "dir", value: "out")]) },
            { $0.payload.append(0) },
        ] as [(inout DraftEvent) throws -> Void] {
            var draft = base
            try change(&draft)
            drafts.append(draft)
        }
        let hashes = try drafts.map { try TemporaryLog([$0]).events().map(\.leafHash) }
        #expect(Set(hashes).count == drafts.count)
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
