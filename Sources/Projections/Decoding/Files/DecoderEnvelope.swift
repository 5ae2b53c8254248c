import EventLog
import Kinds

/// A protocol that many apps share, which wraps what an app says. A decoder file that `extends` one sees an object with the
/// members `event`, `topic`, `data` and others (`docs/decoders.md`).
///
/// What a name with its version means never changes, since acts of logs hold files that name it: another meaning is another
/// version.
enum DecoderEnvelope: String, CaseIterable, Sendable {
    case socketIO = "socket.io/1"
    case phoenix = "phoenix/1"
    case actionCable = "actioncable/1"
    case signalR = "signalr/1"

    /// Whether it wraps the payloads of an event: messages of WebSockets, and of Socket.IO also what was polled.
    func wraps(_ envelope: Envelope) -> Bool {
        if envelope.kind.is(.socketFrame) { return true }
        guard self == .socketIO, envelope.kind.is(.httpAnswer), let path = envelope.attributes["path"] else {
            return false
        }
        let query = path.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return query.split(separator: "&").contains("transport=polling")
    }

    /// What rules see of a payload, in its order: one object, of a poll of Socket.IO one for each packet, of SignalR one for each
    /// message; `nil` if it is of another form. Cost: O(bytes).
    func opened(_ payload: UnsafeRawBufferPointer) -> [JSONValue]? {
        switch self {
        case .socketIO:
            var packets: [JSONValue] = []
            for packet in Array(payload).split(separator: 0x1E, omittingEmptySubsequences: false) {
                guard let value = EngineIOPacket.opened(packet) else { return nil }
                packets.append(value)
            }
            return packets
        case .phoenix: return (try? JSONValue.parse(payload)).flatMap(Self.phoenix).map { [$0] }
        case .actionCable: return (try? JSONValue.parse(payload)).flatMap(Self.actionCable).map { [$0] }
        case .signalR: return Self.signalR(Array(payload))
        }
    }

    /// Messages, each of which ends with 0x1E; without one, a recorder has stripped that of a single message. The numbers of types
    /// are those of the SignalR Hub Protocol (dotnet/aspnetcore, `specs/HubProtocol.md`); a message without one is a handshake.
    private static func signalR(_ payload: [UInt8]) -> [JSONValue]? {
        let types = [
            1: "invocation", 2: "stream_item", 3: "completion", 4: "stream_invocation", 5: "cancel_invocation",
            6: "ping",
            7: "close", 8: "ack", 9: "sequence",
        ]
        var messages: [JSONValue] = []
        for message in payload.split(separator: 0x1E) {
            guard let value = try? JSONValue.parse(Array(message)), value.object != nil else { return nil }
            var type: String? = "handshake"
            if let number = value["type"] { type = number.number.flatMap { Int($0.text) }.flatMap { types[$0] } }
            guard let type else { return nil }
            var arguments = value["arguments"]?.array?[...] ?? []
            messages.append(
                .object([
                    "event": value["target"] ?? .string(type), "packet": .string(type),
                    "data": arguments.popFirst() ?? value["item"] ?? value["result"],
                    "more": arguments.isEmpty ? nil : .array(Array(arguments)), "id": value["invocationId"],
                    "reason": value["error"],
                ])
            )
        }
        return messages.isEmpty ? nil : messages
    }

    /// `[join_ref, ref, topic, event, payload]`, or an object with these members.
    private static func phoenix(_ value: JSONValue) -> JSONValue? {
        let parts: [JSONValue?]
        if let list = value.array {
            guard list.count == 5 else { return nil }
            parts = list
        } else {
            parts = ["join_ref", "ref", "topic", "event", "payload"].map { value[$0] }
        }
        guard let topic = parts[2], let event = parts[3], topic.string != nil, event.string != nil else { return nil }
        return .object([
            "event": event, "topic": topic, "data": parts[4], "ref": parts[1]?.unlessNull,
            "join_ref": parts[0]?.unlessNull,
        ])
    }

    /// `{"identifier", "message"}`, `{"type", …}` or `{"command", "identifier", "data"}`. The identifier is JSON in a text,
    /// and so is the data of a command.
    private static func actionCable(_ value: JSONValue) -> JSONValue? {
        guard value.object != nil else { return nil }
        let identifier = value["identifier"]?.string
        let params = identifier.flatMap { try? JSONValue.parse($0) }
        guard let event = value["type"] ?? value["command"] ?? value["message"].map({ _ in .string("message") }) else {
            return nil
        }
        let said = value["data"].map { data in data.string.flatMap { try? JSONValue.parse($0) } ?? data }
        return .object([
            "event": event, "topic": params?["channel"] ?? identifier.map { .string($0) }, "params": params,
            "data": value["message"] ?? said, "reason": value["reason"],
        ])
    }
}

/// One packet of Engine.IO, with the packet of Socket.IO that it holds.
private enum EngineIOPacket {
    private static let types = ["open", "close", "ping", "pong", "message", "upgrade", "noop"]
    private static let messageTypes = ["connect", "disconnect", "event", "ack", "connect_error", "event", "ack"]

    static func opened(_ packet: ArraySlice<UInt8>) -> JSONValue? {
        guard let first = packet.first, let type = digit(first), type < types.count else { return nil }
        let rest = packet.dropFirst()
        if types[type] == "message" { return message(rest) }
        return .object(["packet": .string(types[type]), "data": rest.isEmpty ? nil : parsed(rest) ?? text(rest)])
    }

    /// `TYPE[ATTACHMENTS-][/NAMESPACE,][ID][JSON]`.
    private static func message(_ packet: ArraySlice<UInt8>) -> JSONValue? {
        guard let first = packet.first, let type = digit(first), type < messageTypes.count else { return nil }
        var rest = packet.dropFirst()
        if type >= 5 {
            let digits = rest.prefix { digit($0) != nil }
            rest = rest.dropFirst(digits.count)
            guard !digits.isEmpty, rest.popFirst() == UInt8(ascii: "-") else { return nil }
        }
        var topic = "/"
        if rest.first == UInt8(ascii: "/") {
            let name = rest.prefix { $0 != UInt8(ascii: ",") }
            rest = rest.dropFirst(name.count + 1)
            // A query may stand behind the name.
            topic = String(decoding: name.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
        }
        let id = rest.prefix { digit($0) != nil }
        rest = rest.dropFirst(id.count)
        let said = rest.isEmpty ? nil : parsed(rest)
        if !rest.isEmpty, said == nil { return nil }
        var object: JSONObject = [
            "packet": .string(messageTypes[type]), "topic": .string(topic), "id": id.isEmpty ? nil : text(id),
        ]
        guard messageTypes[type] == "event" || messageTypes[type] == "ack" else {
            object["data"] = said
            return .object(object)
        }
        guard var arguments = said?.array?[...] else { return nil }
        if messageTypes[type] == "event" {
            guard let event = arguments.popFirst(), event.writtenText != nil else { return nil }
            object["event"] = event
        }
        object["data"] = arguments.popFirst()
        if !arguments.isEmpty { object["more"] = .array(Array(arguments)) }
        return .object(object)
    }

    private static func digit(_ byte: UInt8) -> Int? { (0x30...0x39).contains(byte) ? Int(byte) - 0x30 : nil }

    private static func text(_ bytes: ArraySlice<UInt8>) -> JSONValue {
        .string(String(decoding: bytes, as: UTF8.self))
    }

    private static func parsed(_ bytes: ArraySlice<UInt8>) -> JSONValue? { try? JSONValue.parse(Array(bytes)) }
}

extension JSONValue {
    fileprivate var unlessNull: JSONValue? { self == .null ? nil : self }
}
