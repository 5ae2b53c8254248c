import EventLog
import TestSupport
import Testing

@Suite struct EnvelopeLimitTests {
    @Test(arguments: [1, 255])
    func theLongestNamesAreStored(count: Int) throws {
        let text = String(repeating: "n", count: count)
        let attributes = try Attributes(
            (0..<16).map { .init(name: "a\($0)", value: String(repeating: "v", count: 250)) }
        )
        let draft = try DraftEvent.sample(
            1,
            source: text,
            kind: String(repeating: "k", count: min(count, 64)),
            key: text,
            attributes: attributes
        )
        let log = try TemporaryLog([draft])
        #expect(try log.events().first?.envelope.attributes == attributes)
        #expect(try log.store.append([draft]).duplicates == 1)
        #expect(try log.store.verify().isIntact)
    }

    @Test(arguments: [0, 256])
    func otherLengthsAreRefused(count: Int) {
        let text = String(repeating: "n", count: count)
        #expect(throws: EventLogError.self) { try SourceName(text) }
        #expect(throws: EventLogError.self) { try EventKey(text) }
        #expect(throws: EventLogError.self) { try EventKind(String(repeating: "k", count: count == 0 ? 0 : 65)) }
    }

    @Test func attributesHaveTheirLimits() {
        #expect(throws: EventLogError.self) {
            try Attributes((0..<17).map { .init(name: "a\($0)", value: "") })
        }
        #expect(throws: EventLogError.self) {
            try Attributes([.init(name: "a", value: String(repeating: "v", count: 4096))])
        }
        #expect(throws: EventLogError.self) {
            try Attributes([.init(name: "a", value: "1"), .init(name: "a", value: "2")])
        }
    }
}
