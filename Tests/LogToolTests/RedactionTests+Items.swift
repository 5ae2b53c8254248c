import EventLog
import Projections
import TestSupport
import Testing

@testable import Redaction

extension RedactionTests {
    /// An item of a decoder file is one thing in whatever list it is, so its texts go under each name that it had.
    @Test(arguments: ["a", "b"], ["patch", "replace"])
    func aMovedItemGoesUnderEachOfItsLists(list: String, operation: String) throws {
        let file = try DecoderFile(
            """
            decoder: todo/1
            rules:
            - {when: {/op: replace}, replace: item, at: {list: /l, id: /id}, with: {text: /text}}
            - {when: {/op: patch}, patch: item, at: {list: /l, id: /id}, with: {text: /text}}
            samples:
            - payload: '{"op":"replace","l":"a","id":"1","text":"x"}'
              gives: '[{"item":{"list":"a","id":"1","text":"x"}}]'
            """
        )
        let text = operation == "patch" ? "" : #","text":"buy more milk""#
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        let payloads = [
            #"{"op":"replace","l":"a","id":"1","text":"buy milk"}"#, #"{"op":"patch","id":"1","text":"buy more milk"}"#,
            #"{"op":"\#(operation)","l":"b","id":"1"\#(text)}"#, #"{"op":"patch","id":"1","text":"buy bread"}"#,
            #"{"op":"replace","l":"a","id":"2","text":"buy salt"}"#,
        ]
        _ = try store.append(
            payloads.enumerated().map { number, payload in
                try DraftEvent(
                    recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
                    source: SourceName("todo"),
                    kind: EventKind("json.record/1"),
                    key: nil,
                    attributes: [:],
                    payload: Array(payload.utf8)
                )
            }
        )
        try Decoders.set(file, for: SourceName("todo"), in: store, at: Self.now)
        let item = EntityReference(kind: .item, parts: ["todo", list, "1"])
        let result = try LogRedaction(of: store, .init(entities: [item], by: "ada")).run(now: Self.now)
        #expect(result.events.map(\.sequence.rawValue) == (operation == "patch" ? [1, 2, 4] : [1, 2, 3, 4]))
        let items = try Self.document(of: store)["items"]?.array ?? []
        #expect(items.map { $0["text"]?.string } == ["buy salt", "(redacted 3)"])
    }
}
