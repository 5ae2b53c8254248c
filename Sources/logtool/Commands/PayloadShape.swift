import EventLog
import JSON
import Kinds

/// The shape of a payload, by which those that no rule takes are grouped: names of members without values, and the values
/// that name what a message is.
enum PayloadShape {
    /// The members whose short texts name the kind of a message.
    private static let naming: Set<String> = ["type", "event", "op", "t", "action", "kind", "subtype", "method"]

    static func text(_ envelope: Envelope, _ payload: UnsafeRawBufferPointer) -> String {
        var parts: [String] = []
        if let path = envelope.attributes["path"] { parts.append(String(path.prefix { $0 != "?" })) }
        if let status = envelope.attributes["status"] { parts.append(status) }
        if let value = try? JSONValue.parse(payload) {
            parts.append(shape(value, depth: 0))
        } else {
            parts.append(envelope.kind.is(.serverSentEvent) ? "an event of a stream" : "not JSON")
        }
        return parts.joined(separator: " ")
    }

    private static func shape(_ value: JSONValue, depth: Int) -> String {
        switch value {
        case .array(let elements): return elements.first.map { "[\(shape($0, depth: depth + 1))]" } ?? "[]"
        case .object(let object):
            if depth > 2 { return "{…}" }
            let members = object.members.prefix(12).map { member -> String in
                if naming.contains(member.name), let text = member.value.string ?? member.value.number?.text {
                    return "\(member.name)=\(text.prefix(40))"
                }
                switch member.value {
                case .object: return "\(member.name):\(shape(member.value, depth: depth + 1))"
                default: return member.name
                }
            }
            return "{\(members.joined(separator: " "))\(object.members.count > 12 ? " …" : "")}"
        case .string, .number, .bool, .null: return "a single value"
        }
    }
}
