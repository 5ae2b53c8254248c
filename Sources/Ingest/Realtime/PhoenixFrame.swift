/// The outer members of a Phoenix frame, of serializer 1.0.0 (an object) or 2.0.0 (an array).
struct PhoenixFrame {
    /// How frames are written.
    enum Version: String, Sendable {
        case one = "1.0.0"
        case two = "2.0.0"
    }

    private(set) var joinRef: String?
    private(set) var ref: String?
    private(set) var topic = ""
    private(set) var event = ""
    /// The place of the payload in the frame.
    private(set) var payload: Range<Int>?

    /// Reads a text frame of either version; `nil` for anything else. Cost: one pass, no copy of the payload.
    init?(_ bytes: [UInt8]) {
        let isRead = bytes.withUnsafeBufferPointer { buffer -> Bool in
            do throws(JSONFault) {
                return try read(buffer)
            } catch {
                return false
            }
        }
        guard isRead, !topic.isEmpty, !event.isEmpty else { return nil }
    }

    /// The payload.
    func payloadTree(in bytes: [UInt8]) -> JSONTree? {
        payload.flatMap { JSONTree(parsing: Array(bytes[$0])) }
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONFault) -> Bool {
        var scanner = JSONScanner(bytes)
        let names = ["join_ref", "ref", "topic", "event", "payload"]
        guard let first = try scanner.next(), first.kind == .beginObject || first.kind == .beginArray else {
            return false
        }
        var count = 0
        while var token = try scanner.next(), scanner.depth > 0 {
            var name = first.kind == .beginArray && count < names.count ? names[count] : ""
            count += 1
            if token.kind == .name {
                name = String(decoding: bytes[token.range], as: UTF8.self)
                guard let value = try scanner.next() else { return false }
                token = value
            }
            let start = token.kind == .string ? token.range.lowerBound - 1 : token.range.lowerBound
            while scanner.depth > 1 { _ = try scanner.next() }
            take(name, token, start..<scanner.position, bytes)
        }
        return try scanner.next() == nil
    }

    private mutating func take(
        _ name: String,
        _ token: JSONScanner.Token,
        _ range: Range<Int>,
        _ bytes: UnsafeBufferPointer<UInt8>
    ) {
        let text = token.kind == .string ? String(decoding: bytes[token.range], as: UTF8.self) : nil
        switch name {
        case "join_ref": joinRef = text
        case "ref": ref = text
        case "topic": topic = text ?? ""
        case "event": event = text ?? ""
        case "payload": payload = range
        default: break
        }
    }
}

/// Writes frames of a version.
struct PhoenixWriter {
    let version: PhoenixFrame.Version

    /// One frame; `payload` writes the value of the payload.
    func frame(
        topic: String,
        event: String,
        ref: UInt64,
        joinRef: UInt64?,
        payload: @escaping (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        let isObject = version == .one
        writer.begin(isObject ? "{" : "[")
        let parts: [(StaticString, (inout JSONWriter) -> Void)] = [
            ("join_ref", { Self.write(joinRef, to: &$0) }), ("ref", { Self.write(ref, to: &$0) }),
            ("topic", { $0.string(topic) }), ("event", { $0.string(event) }), ("payload", payload),
        ]
        for (name, write) in parts {
            if isObject { writer.name(name) }
            write(&writer)
        }
        writer.end(isObject ? "}" : "]")
        return writer.bytes
    }

    private static func write(_ ref: UInt64?, to writer: inout JSONWriter) {
        if let ref { writer.string(String(ref)) } else { writer.null() }
    }
}
