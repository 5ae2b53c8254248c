import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Redaction

extension RedactionTests {
    private static let deletions = """
        decoder: echo/1
        shapes:
          message: {channel: /c, id: /id, author: /u, authorName: /n, content: /t}
          item: {list: /c, id: /id, text: /t}
        rules:
        - {when: {/op: message}, replace: message, from: /m}
        - {when: {/op: no-message}, delete: message, from: /m}
        - {when: {/op: item}, replace: item, from: /m}
        - {when: {/op: no-item}, delete: item, from: /m}
        - {when: {/op: row}, replace: row, at: {table: /m/c, id: /m/id}, with: {body: /m/t}}
        - {when: {/op: no-row}, delete: row, at: {table: /m/c, id: /m/id}, with: {body: /m/t}}
        samples:
        - {payload: '{"op":"no"}', gives: '[]'}
        """

    /// A log in which a thing is stated and deleted by an event that has another text of it.
    private func logOfDeletion(of kind: String, at name: String) throws -> EventStore {
        let store = try EventStore.openOrCreate(at: folder.path(name))
        let payloads = [(kind, "the first words"), ("no-\(kind)", "words of the deletion alone")].map {
            operation,
            text in
            #"{"op":"\#(operation)","m":{"c":"c","id":"1","u":"ada-lovelace-7","n":"Ada L.","t":"\#(text)"}}"#
        }
        _ = try store.append(
            payloads.enumerated().map { number, payload in
                try DraftEvent(
                    recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
                    source: SourceName("app"),
                    kind: EventKind("json.record/1"),
                    key: nil,
                    attributes: [:],
                    payload: Array(payload.utf8)
                )
            }
        )
        try Decoders.set(DecoderFile(Self.deletions), for: SourceName("app"), in: store, at: Self.now)
        return store
    }

    private static func payloads(of store: EventStore) throws -> String {
        try store.read { session in
            try (1...2).map { number in
                String(decoding: try #require(try session.event(at: SequenceNumber(number))).payload, as: UTF8.self)
            }.joined(separator: "\n")
        }
    }

    /// The text that a deletion's event has goes with the texts of the thing that it deletes.
    @Test(arguments: ["message", "item", "row"])
    func theTextOfADeletionGoesWithTheThing(kind: String) throws {
        let store = try logOfDeletion(of: kind, at: kind)
        let thing = EntityReference(kind: try #require(EntityReference.Kind(rawValue: kind)), parts: ["app", "c", "1"])
        var request = LogRedaction.Request(entities: [thing], by: "ada")
        if kind == "row" { request.columns = ["body"] }
        let result = try LogRedaction(of: store, request).run(now: Self.now)
        #expect(result.events.map(\.sequence.rawValue) == [1, 2])
        #expect(!(try Self.payloads(of: store)).contains("words"))
    }

    /// So does what a deletion tells of the author, who wrote nothing that the log has otherwise.
    @Test func theAuthorOfADeletedMessageGoes() throws {
        let store = try logOfDeletion(of: "message", at: "forgotten")
        _ = try LogForgetting(of: store, .init(people: ["ada-lovelace-7"], by: "the keeper")).run(now: Self.now)
        let left = try Self.payloads(of: store)
        for text in ["words", "lovelace", "Ada L."] { #expect(!left.contains(text), "\(left)") }
    }
}
