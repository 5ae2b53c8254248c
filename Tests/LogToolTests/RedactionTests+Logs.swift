import EventLog
import Foundation
import Projections
import Redaction
import TestSupport

extension RedactionTests {
    static func frame(_ content: String, _ number: Int, edited: Int? = nil) throws -> DraftEvent {
        var message: [String: Any] = [
            "id": "\(number)", "channel_id": "200", "author_id": "7", "content": content,
            "created_at": "2026-01-01T00:00:00Z", "author_username": "nell", "attachments": [String](),
        ]
        if let edited { message["edited_timestamp"] = "2026-01-01T00:00:0\(edited)Z" }
        let name = edited == nil ? "MESSAGE_CREATE" : "MESSAGE_UPDATE"
        let frame: [String: Any] = ["op": 0, "s": number * 10 + (edited ?? 0), "t": name, "d": message]
        return try self.frame(
            payload: Array((try? JSONSerialization.data(withJSONObject: frame, options: [.sortedKeys])) ?? Data()),
            number * 10 + (edited ?? 0)
        )
    }

    static func frame(payload: [UInt8], _ number: Int) throws -> DraftEvent {
        try DraftEvent(
            recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
            source: SourceName("chat"),
            kind: EventKind("gateway.frame/1"),
            key: nil,
            attributes: ["dir": "in", "connection": "c"],
            payload: payload
        )
    }

    static func log(
        of events: [RecordedEvent],
        in directory: TemporaryDirectory,
        _ name: String = "L",
        isSealed: Bool = false
    ) throws -> EventStore {
        let store = try EventStore.openOrCreate(at: directory.path(name))
        _ = try store.append(events.map { DraftEvent(again: $0) })
        if isSealed { _ = try store.seal(.all, now: Timestamp(seconds: 1_770_000_000), mustShrink: false) }
        return store
    }

    static func state(of store: EventStore) throws -> LogState {
        try store.read { try Replay.logState(of: $0) }
    }

    static func document(of store: EventStore) throws -> JSONValue {
        var state = try state(of: store)
        return state.document()
    }

    /// Some things of each kind that has texts, the first and the last.
    static func things(in store: EventStore, each count: Int = 2) throws -> [EntityReference] {
        let document = try document(of: store)
        let kinds: [(section: String, kind: EntityReference.Kind, parts: [String])] = [
            ("messages", .message, ["source", "channel", "id"]),
            ("deletedMessages", .message, ["source", "channel", "id"]),
            ("items", .item, ["source", "list", "id"]), ("sessions", .session, ["source", "file"]),
            ("prompts", .prompt, ["source", "id"]), ("rows", .row, ["source", "table", "id"]),
        ]
        return kinds.flatMap { section, kind, parts in
            let rows = document[section]?.array ?? []
            return (rows.prefix(1) + rows.dropFirst().suffix(count - 1)).compactMap { row in
                let found = parts.compactMap { row[$0]?.string }
                return found.count == parts.count ? EntityReference(kind: kind, parts: found) : nil
            }
        }
    }

    /// `nil` for a thing without a text.
    static func redaction(of thing: EntityReference, in store: EventStore) throws -> LogRedaction? {
        var columns: [String] = []
        if thing.kind == .row {
            let entries = try state(of: store).history(of: thing)
            let names = entries.compactMap { $0.fields["record"]?.object }.flatMap(\.members)
            let texts = names.filter { $0.value.string?.isEmpty == false && $0.name != "id" }.map(\.name)
            columns = Array(Set(texts).intersection(["title", "content", "name", "text", "a"]).sorted())
            if columns.isEmpty { return nil }
        }
        do {
            return try LogRedaction(of: store, .init(entities: [thing], columns: columns, by: "ada"))
        } catch let error as EngineError where error.code == .no {
            return nil
        }
    }
}
