#if Recorders
import EventLog
import Projections

/// A frame of a Phoenix socket, in serializer 1.0.0 (an object) or 2.0.0 (an array), as Supabase Realtime speaks it.
struct PhoenixText {
    /// `join_ref`: the reference of the join that opened the channel on this connection.
    var joinReference: String?
    /// `ref`: a request's number, which its reply repeats; `nil` for pushes of the server.
    var reference: String?
    var topic: String
    let event: String
    let payload: JSONValue
    var isArray: Bool

    /// Reads a text frame; `nil` for anything else.
    init?(_ bytes: [UInt8]) {
        guard let value = try? JSONValue.parse(bytes) else { return nil }
        if let parts = value.array {
            // Serializer 2.0.0: `[join_ref, ref, topic, event, payload]`.
            guard parts.count == 5, let topic = parts[2].string, let event = parts[3].string else { return nil }
            (joinReference, reference) = (Self.reference(parts[0]), Self.reference(parts[1]))
            (self.topic, self.event, payload, isArray) = (topic, event, parts[4], true)
        } else {
            guard let topic = value["topic"]?.string, let event = value["event"]?.string else { return nil }
            (joinReference, reference) = (Self.reference(value["join_ref"]), Self.reference(value["ref"]))
            (self.topic, self.event, payload, isArray) = (
                topic, event, value["payload"] ?? .object(JSONObject()), false
            )
        }
    }

    /// A reply with status `ok`.
    init(reply reference: String?, to joinReference: String?, topic: String, response: JSONValue, isArray: Bool) {
        (self.joinReference, self.reference, self.topic, self.isArray) = (joinReference, reference, topic, isArray)
        event = "phx_reply"
        payload = .object(["status": .string("ok"), "response": response])
    }

    /// The `system` frame with which Realtime confirms a channel's subscription to tables.
    init(system topic: String, joinReference: String?, isArray: Bool) {
        (self.joinReference, reference, self.topic, self.isArray) = (joinReference, nil, topic, isArray)
        event = "system"
        payload = .object([
            "channel": .string(String(topic.split(separator: ":", maxSplits: 1).last ?? "")),
            "extension": .string("postgres_changes"), "message": .string("Subscribed to PostgreSQL"),
            "status": .string("ok"),
        ])
    }

    /// A reference as text; some clients send numbers.
    private static func reference(_ value: JSONValue?) -> String? {
        value?.string ?? value?.number?.text
    }

    /// The tables that a join subscribes to, as `SCHEMA.TABLE`; `*` stands for all tables. Empty for other frames.
    var tables: Set<String> {
        let bindings = payload["config"]?["postgres_changes"]?.array ?? []
        return Set(bindings.map { "\($0["schema"]?.string ?? "public").\($0["table"]?.string ?? "*")" })
    }

    /// The frame in its serializer. Not the bytes that were read, if those were written in another way.
    var bytes: [UInt8] {
        let join: JSONValue = joinReference.map { .string($0) } ?? .null
        let own: JSONValue = reference.map { .string($0) } ?? .null
        if isArray { return Array(JSONValue.array([join, own, .string(topic), .string(event), payload]).text.utf8) }
        let frame: JSONObject = [
            "join_ref": joinReference == nil ? nil : join, "ref": own, "topic": .string(topic),
            "event": .string(event), "payload": payload,
        ]
        return Array(JSONValue.object(frame).text.utf8)
    }
}
#endif
