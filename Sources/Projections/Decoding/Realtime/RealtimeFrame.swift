import EventLog

/// One frame of a Phoenix channel: an object (version 1.0.0) or `[join_ref, ref, topic, event, payload]` (2.0.0).
enum RealtimeFrame {
    case message(topic: String, event: String, payload: JSONValue)
    /// A binary frame; its first byte is its kind, 0 … 4. Row changes never come in one.
    case binary
    case malformed(String)

    /// The protocol's own events; any other is an issue.
    static let knownEvents: Set<String> = [
        "phx_join", "phx_leave", "phx_reply", "phx_error", "phx_close", "heartbeat", "access_token", "system",
        "presence", "presence_state", "presence_diff", "broadcast", "postgres_changes",
    ]

    init(_ bytes: UnsafeRawBufferPointer) {
        if let first = bytes.first, first <= 4, bytes.count > 4 { self = .binary; return }
        guard let value = try? JSONValue.parse(bytes) else { self = .malformed("not one JSON text"); return }
        let parts = value.array
        if let parts, parts.count != 5 { self = .malformed("an array of another length than 5"); return }
        guard let topic = (parts?[2] ?? value["topic"])?.string else { self = .malformed("topic is no text"); return }
        guard let event = (parts?[3] ?? value["event"])?.string else { self = .malformed("event is no text"); return }
        self = .message(topic: topic, event: event, payload: parts?[4] ?? value["payload"] ?? .null)
    }
}

extension RowChange {
    /// Why a change is unreadable.
    struct Fault: Error {
        let reason: String
    }

    /// Reads the `data` of a change. The name of a table outside the schema `public` includes its schema.
    static func read(_ data: JSONObject, names: inout Names) -> Result<RowChange, Fault> {
        guard let table = data["table"]?.string else { return .failure(Fault(reason: "table is no text")) }
        guard let operation = data["type"]?.string.flatMap(Operation.init) else {
            return .failure(Fault(reason: "type is none of INSERT, UPDATE, DELETE"))
        }
        guard let committedAt = data["commit_timestamp"]?.string.flatMap(RemoteTime.postgres) else {
            return .failure(Fault(reason: "commit_timestamp is missing or no time"))
        }
        let record = data["record"]?.object
        guard let id = idText(record?["id"]) ?? idText(data["old_record"]?["id"]) else {
            return .failure(Fault(reason: "id is missing in record and old_record"))
        }
        if operation != .delete, record == nil { return .failure(Fault(reason: "record is no object")) }
        let schema = data["schema"]?.string ?? "public"
        return .success(
            RowChange(
                table: names.id(schema == "public" ? table : "\(schema).\(table)"),
                id: names.id(id),
                operation: operation,
                committedAt: committedAt,
                identity: identity(of: data),
                columns: (data["columns"]?.array ?? []).compactMap { $0["name"]?.string },
                record: operation == .delete ? JSONObject() : record ?? JSONObject(),
                isPartial: (data["errors"]?.array ?? []).contains { isTooLarge($0) }
            )
        )
    }

    private static func identity(of data: JSONObject) -> Hash256 {
        var data = data
        data["columns"] = nil
        return Hasher256.hash(JSONValue.object(data).canonicalBytes)
    }

    private static func isTooLarge(_ error: JSONValue) -> Bool {
        error.string?.utf8.starts(with: "Error 413".utf8) ?? false
    }

    static func idText(_ value: JSONValue?) -> String? {
        if let text = value?.string { return text }
        guard let number = value?.number, number.int64 != nil || number.uint64 != nil else { return nil }
        return number.text
    }
}
