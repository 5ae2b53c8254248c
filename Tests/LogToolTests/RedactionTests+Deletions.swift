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
        let payloads = [(kind, "the first words"), ("no-\(kind)", "words of the deletion alone")].map {
            operation,
            text in
            #"{"op":"\#(operation)","m":{"c":"c","id":"1","u":"ada-lovelace-7","n":"Ada L.","t":"\#(text)"}}"#
        }
        return try log(Self.deletions, payloads, at: name)
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

    private func log(_ file: String, _ payloads: [String], at name: String) throws -> EventStore {
        let store = try EventStore.openOrCreate(at: folder.path(name))
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
        try Decoders.set(DecoderFile(file), for: SourceName("app"), in: store, at: Self.now)
        return store
    }

    /// A deletion may name who deleted the message where others name the author: the text stays whose it was.
    @Test func whoDeletesAMessageDidNotWriteIt() throws {
        let store = try log(
            """
            decoder: echo/1
            shapes:
              message: {channel: /c, id: /id, author: /by, content: /t, version: {time: /v, as: ms}}
            rules:
            - {when: {/op: put}, replace: message}
            - {when: {/op: away}, delete: message, deleted: until-stated}
            samples:
            - {payload: '{"op":"no"}', gives: '[]'}
            """,
            [
                #"{"op":"put","c":"c","id":"1","by":"ada-lovelace","t":"the words of ada","v":10}"#,
                #"{"op":"away","c":"c","id":"1","by":"moderator-7","t":"the words of ada","v":20}"#,
                #"{"op":"put","c":"c","id":"1","by":"ada-lovelace","t":"more words of ada","v":30}"#,
            ],
            at: "moderated"
        )
        let before = try Self.document(of: store)
        let result = try LogForgetting(of: store, .init(people: ["moderator-7"], by: "the keeper")).run(now: Self.now)
        #expect(result.messageCount == 0)
        #expect(try Self.document(of: store)["messages"] == before["messages"])
        let left = try store.read { session in
            String(decoding: try #require(try session.event(at: SequenceNumber(2))).payload, as: UTF8.self)
        }
        #expect(!left.contains("moderator-7") && left.contains("the words of ada"), "\(left)")
    }

    /// A text that the file joins stands in no payload: its parts go, where the payload has them.
    @Test func thePartsOfAJoinedTextGo() throws {
        let store = try log(Self.joined("{join: [/a, /b], by: \" \"}"), Self.parts, at: "joined")
        let message = EntityReference(kind: .message, parts: ["app", "c", "1"])
        let result = try LogRedaction(of: store, .init(entities: [message], by: "ada")).run(now: Self.now)
        #expect(result.events.map(\.sequence.rawValue) == [1, 2])
        #expect(!(try Self.payloads(of: store)).contains("part"))
        let text = try Self.document(of: store)["messages"]?.array?.first?["content"]?.string ?? ""
        #expect(text.split(separator: ") ").count == 2, "\(text)")
        // Another message has the same word, and keeps it.
        #expect(try Self.document(of: store)["messages"]?.array?.last?["content"]?.string == "the second part")
    }

    /// What of a text no payload has in one piece stays: the redaction says so, and does nothing.
    @Test func aTextInPiecesThatStayIsTold() throws {
        let form = "{strip: {join: [/a, /b], by: \" \"}, prefix: the}"
        let store = try log(Self.joined(form), Self.parts, at: "stripped")
        let message = EntityReference(kind: .message, parts: ["app", "c", "1"])
        let head = try store.read { $0.head }
        let error = #expect(throws: EngineError.self) {
            try LogRedaction(of: store, .init(entities: [message], by: "ada")).run(now: Self.now)
        }
        #expect(error.map { "\($0)" }?.contains("joins from several texts") == true, "\(String(describing: error))")
        #expect(try store.read { $0.head } == head)
    }

    private static func joined(_ content: String) -> String {
        """
        decoder: joined/1
        rules:
        - {when: {/op: put}, replace: message, at: {channel: /c, id: /id}, with: {content: \(content)}}
        samples:
        - {payload: '{"op":"no"}', gives: '[]'}
        """
    }

    private static let parts = [
        #"{"op":"put","c":"c","id":"1","a":"the one part alone"}"#,
        #"{"op":"put","c":"c","id":"1","a":"the first part","b":"the second part"}"#,
        #"{"op":"put","c":"c","id":"2","a":"the second part"}"#,
    ]
}
