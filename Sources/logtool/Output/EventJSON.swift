import EventLog
import JSON
import Projections

/// The members that an event has in every JSON output (`docs/cli-json.md`).
///
/// `events`, `replay --step`, `bisect`, `diff --first` and `check` begin with these members, so a script reads an event
/// in one way.
enum EventJSON {
    /// Everything but the payload. Sequences are texts, because many readers round large numbers.
    static func object(for envelope: Envelope) -> JSONObject {
        var attributes = JSONObject()
        for pair in envelope.attributes.pairs { attributes[pair.name] = .string(pair.value) }
        return [
            "sequence": .string(envelope.sequence.description),
            "recordedAt": .string(envelope.recordedAt.description),
            "source": .string(envelope.source.rawValue),
            "kind": .string(envelope.kind.rawValue),
            "key": .text(envelope.key?.rawValue),
            "attributes": .object(attributes),
            "redacted": envelope.holding == .redacted ? .bool(true) : nil,
        ]
    }

    /// Adds `payload`, or `payloadBase64` if the bytes are not UTF-8. Only valid UTF-8 becomes a text: repairing it
    /// would hide what came.
    static func add(_ payload: UnsafeRawBufferPointer, to object: inout JSONObject) {
        if let text = String(validating: payload, as: UTF8.self) {
            object["payload"] = .string(text)
        } else {
            object["payloadBase64"] = .string(Base64.encode(payload))
        }
    }
}
