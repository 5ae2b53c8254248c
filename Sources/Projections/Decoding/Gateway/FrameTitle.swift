package import EventLog
import Kinds

/// A frame's own name in a few words: `MESSAGE_DELETE`, `INSERT notes`, the subject of a commit.
///
/// For lists that people read; no decision depends on it.
package enum FrameTitle {
    /// 1 MiB. Larger payloads get no title: to find one costs a read of the whole payload.
    private static let payloadBytesMax = 1 << 20

    /// The title of an event; `nil` if its kind has no titles, or if the payload is malformed or larger than 1 MiB.
    ///
    /// Contains text of the remote as it came: the caller must make control characters harmless before printing it.
    package static func title(of kind: EventKind, payload: UnsafeRawBufferPointer) -> String? {
        guard payload.count <= payloadBytesMax else { return nil }
        switch KnownKind(kind)?.row.title {
        case .streamEvent: return fieldOfStream(payload)
        case .gatewayFrame: return parsed(payload).flatMap(gateway)
        case .realtimeFrame: return parsed(payload).flatMap(realtime)
        case .member(let name): return parsed(payload)?[name]?.string
        case .count(let noun, let list):
            return parsed(payload).flatMap { elements(of: $0, in: list) }.map { count($0.count, noun) }
        case nil: return nil
        }
    }

    private static func parsed(_ payload: UnsafeRawBufferPointer) -> JSONValue? {
        try? JSONValue.parse(payload)
    }

    /// The name of a dispatch, else of the opcode (Discord's gateway, "Opcodes and Status Codes").
    private static func gateway(_ frame: JSONValue) -> String? {
        if let name = frame["t"]?.string { return name }
        switch frame["op"]?.number?.int64 {
        case 1: return "HEARTBEAT"
        case 2: return "IDENTIFY"
        case 3: return "PRESENCE_UPDATE"
        case 4: return "VOICE_STATE_UPDATE"
        case 6: return "RESUME"
        case 7: return "RECONNECT"
        case 8: return "REQUEST_GUILD_MEMBERS"
        case 9: return "INVALID_SESSION"
        case 10: return "HELLO"
        case 11: return "HEARTBEAT_ACK"
        default: return nil
        }
    }

    /// The change and its table, else the event's name. A frame is an object or, since Phoenix 1.3, an array of five.
    private static func realtime(_ frame: JSONValue) -> String? {
        let array = frame.array.flatMap { $0.count == 5 ? $0 : nil }
        let name = (array?[3] ?? frame["event"])?.string
        let payload = array?[4] ?? frame["payload"]
        // Changes of tables lie one level deeper than the other messages of a channel.
        let data = payload?["data"] ?? payload
        guard let change = data?["type"]?.string, let table = data?["table"]?.string else { return name }
        return "\(change) \(table)"
    }

    private static func elements(of value: JSONValue, in list: KnownKind.List) -> [JSONValue]? {
        switch list {
        case .payload: value.array
        case .member(let name): value[name]?.array
        case .payloadOrMember(let name): value.array ?? value[name]?.array
        }
    }

    /// The last `event` field of a Server-Sent Event; without one it is a `message` (HTML, "Server-sent events").
    private static func fieldOfStream(_ payload: UnsafeRawBufferPointer) -> String? {
        let lines = payload.split { $0 == 0x0A || $0 == 0x0D }
        let field = lines.last { $0.starts(with: "event:".utf8) }
        guard let field else { return lines.contains { $0.starts(with: "data".utf8) } ? "message" : nil }
        let value = String(decoding: field.dropFirst("event:".utf8.count), as: UTF8.self)
        return value.hasPrefix(" ") ? String(value.dropFirst()) : value
    }

    private static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
