import EventLog
import JSON

/// One frame of a Phoenix channel: an object (version 1.0.0) or `[join_ref, ref, topic, event, payload]` (2.0.0).
/// Borrows the frame's bytes.
///
/// Builds no value of the whole frame. Of a change of a row it keeps only `data`, as a slice, and the names in
/// `columns`.
enum RealtimeFrame {
    case message(topic: String, event: String, payload: RealtimePayload)
    /// A binary frame; its first byte is its kind, 0 … 4. Row changes never come in one.
    case binary
    case malformed(String)

    /// The protocol's own events (Phoenix channels; Supabase, "Realtime Protocol"); any other is an issue.
    static let knownEvents: Set<String> = [
        "phx_join", "phx_leave", "phx_reply", "phx_error", "phx_close", "heartbeat", "access_token", "system",
        "presence", "presence_state", "presence_diff", "broadcast", "postgres_changes",
    ]

    init(_ bytes: UnsafeRawBufferPointer) {
        // No JSON text begins with such a byte.
        if let first = bytes.first, first <= 4, bytes.count > 4 { self = .binary; return }
        var reader = JSONReader(bytes)
        guard let parts = try? Parts(&reader) else { self = .malformed("not one JSON text"); return }
        guard parts.isWhole else { self = .malformed("an array of another length than 5"); return }
        guard let topic = parts.topic else { self = .malformed("topic is no text"); return }
        guard let event = parts.event else { self = .malformed("event is no text"); return }
        self = .message(topic: topic, event: event, payload: parts.payload)
    }
}

extension RealtimeFrame {
    private struct Parts {
        /// False for an array of another length than 5.
        var isWhole = true
        var topic: String?
        var event: String?
        var payload = RealtimePayload()

        /// Reads a whole text. Of a repeated member, the last counts.
        init(_ reader: inout JSONReader) throws(JSONError) {
            switch try reader.kind() {
            case .object: try readMembers(&reader)
            case .array: try readElements(&reader)
            default: try reader.skip()
            }
            try reader.finish()
        }

        /// Reads the form of version 1.0.0.
        private mutating func readMembers(_ reader: inout JSONReader) throws(JSONError) {
            try reader.enterObject()
            while let name = try reader.nextMember() {
                if name == "topic" {
                    topic = try reader.text()
                } else if name == "event" {
                    event = try reader.text()
                } else if name == "payload" {
                    payload = try RealtimePayload(&reader)
                } else {
                    try reader.skip()
                }
            }
        }

        /// Reads the form of version 2.0.0. The first two elements, `join_ref` and `ref`, match replies to requests.
        private mutating func readElements(_ reader: inout JSONReader) throws(JSONError) {
            var count = 0
            try reader.enterArray()
            while try reader.nextElement() {
                switch count {
                case 2: topic = try reader.text()
                case 3: event = try reader.text()
                case 4: payload = try RealtimePayload(&reader)
                default: try reader.skip()
                }
                count += 1
            }
            isWhole = count == 5
        }
    }
}

/// The members of a frame's payload that are read. Borrows the frame's bytes, which are known to be well-formed.
struct RealtimePayload {
    /// The extension that a `system` message is about, such as `postgres_changes`; `nil` in other payloads.
    private(set) var `extension`: String?
    /// `ok` or `error`, of a `system` message or a reply; `nil` in other payloads.
    private(set) var status: String?
    /// The `data` of a change of a row.
    private var data: UnsafeRawBufferPointer?

    init() {}

    fileprivate init(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.kind() == .object else {
            try reader.skip()
            return
        }
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if name == "data" {
                data = try reader.slice()
            } else if name == "extension" {
                `extension` = try reader.text()
            } else if name == "status" {
                status = try reader.text()
            } else {
                try reader.skip()
            }
        }
    }

    /// The change of a row; `nil` if `data` is no object.
    var change: RealtimeRow? {
        data.flatMap { try? RealtimeRow($0) }
    }
}

/// The `data` of a change of a row. Owns its values, unlike the frame that it was read from.
struct RealtimeRow {
    /// All members but `columns`.
    let members: JSONObject
    /// The names in `columns`, in order.
    let columns: [String]

    /// - Throws: `JSONError` for bytes that are no object.
    fileprivate init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var reader = JSONReader(bytes)
        var members: [JSONObject.Member] = []
        var columns: [String] = []
        try reader.forEachMember { name, reader throws(JSONError) in
            if name == "columns" {
                columns = try reader.columnNames()
            } else {
                members.append(JSONObject.Member(name: name.string, value: try reader.value()))
            }
        }
        self.members = JSONObject(members: members)
        self.columns = columns
    }
}

extension JSONReader {
    /// Reads a value; `nil` if it is no text.
    fileprivate mutating func text() throws(JSONError) -> String? {
        if try kind() == .string { return try string().string }
        try skip()
        return nil
    }

    /// Calls `body` with the name of each member of an object; it reads or skips the value.
    fileprivate mutating func forEachMember(
        _ body: (JSONText, inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        try enterObject()
        while let name = try nextMember() { try body(name, &self) }
    }

    /// The names in an array of objects; elements without a name are passed over, and any other value.
    fileprivate mutating func columnNames() throws(JSONError) -> [String] {
        var names: [String] = []
        guard try kind() == .array else { try skip(); return names }
        try enterArray()
        while try nextElement() {
            guard try kind() == .object else { try skip(); continue }
            var name: String?
            try forEachMember { member, reader throws(JSONError) in
                if member == "name" { name = try reader.text() } else { try reader.skip() }
            }
            if let name { names.append(name) }
        }
        return names
    }
}

extension RowChange {
    /// Why a change is unreadable.
    struct Fault: Error {
        let reason: String
    }

    /// Reads the `data` of a change. The name of a table outside the schema `public` includes its schema.
    ///
    /// A deletion has its id in `old_record`, and its record counts as empty: what a deleted row contained does not
    /// matter.
    static func read(_ row: RealtimeRow, names: inout Names) -> Result<RowChange, Fault> {
        let data = row.members
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
                // `commit_timestamp` is part of it, so equal changes of two commits are two changes.
                identity: JSONValue.object(data).canonicalHash,
                columns: row.columns,
                record: operation == .delete ? JSONObject() : record ?? JSONObject(),
                isPartial: (data["errors"]?.array ?? []).contains { isTooLarge($0) }
            )
        )
    }

    /// Supabase leaves large values out of a record and reports `Error 413: Payload Too Large`.
    private static func isTooLarge(_ error: JSONValue) -> Bool {
        error.string?.utf8.starts(with: "Error 413".utf8) ?? false
    }

    /// The text of an id: a text itself or the digits of a whole number; `nil` for anything else. The number 1 and the
    /// text `1` are one id.
    static func idText(_ value: JSONValue?) -> String? {
        if let text = value?.string { return text }
        guard let number = value?.number, number.int64 != nil || number.uint64 != nil else { return nil }
        return number.text
    }
}
