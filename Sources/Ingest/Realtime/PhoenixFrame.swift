import JSON

#if Recorders
/// The outer members of a Phoenix frame, of serializer 1.0.0 (an object) or 2.0.0 (an array: `join_ref`, `ref`,
/// `topic`, `event`, `payload`).
struct PhoenixFrame {
    /// The serializer's version.
    enum Version: String, Sendable {
        case one = "1.0.0"
        case two = "2.0.0"
    }

    private let bytes: ArraySlice<UInt8>
    // The ranges of the values; they count from the frame's first byte.
    private var joinRefPlace: Range<Int>?
    private var refPlace: Range<Int>?
    private var topicPlace: Range<Int>?
    private var eventPlace: Range<Int>?
    private var payloadPlace: Range<Int>?

    /// Reads a text frame of either version; `nil` for anything else. The payload is not checked. Cost: one pass, no
    /// copy.
    init?(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        let isRead = bytes.withUnsafeBufferPointer { buffer -> Bool in
            do throws(JSONError) {
                return try read(buffer)
            } catch {
                return false
            }
        }
        guard isRead, hasText(topicPlace), hasText(eventPlace) else { return nil }
    }

    /// The ref of the join that the frame belongs to; `nil` if the frame names none.
    var joinRef: String? { text(joinRefPlace) }
    /// The ref of the message that the frame answers; `nil` if it answers none.
    var ref: String? { text(refPlace) }
    /// Not empty; escapes stay as they are.
    var topic: String { text(topicPlace) ?? "" }
    var event: String { text(eventPlace) ?? "" }

    /// True if the event is called `name`.
    func isEvent(_ name: StaticString) -> Bool {
        guard let place = eventPlace else { return false }
        return bytes.withUnsafeBufferPointer { $0.holds(name, at: place.dropFirst().dropLast()) }
    }

    /// The payload, parsed; `nil` if it is missing or not JSON. Cost: a copy and a parse at each call.
    var payloadValue: JSONValue? {
        payloadPlace.flatMap { JSONValue(received: Array(bytes.part($0))) }
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) -> Bool {
        var members = JSONMembers(bytes)
        guard let isObject = members.isObject else { return false }
        var count = 0
        while let member = try members.next() {
            if isObject {
                take(member, bytes)
            } else {
                take(member.value, number: count)
            }
            count += 1
        }
        return true
    }

    /// Takes a member of an object; unknown ones are passed over. Names are compared as they are written.
    private mutating func take(_ member: JSONMembers.Member, _ bytes: UnsafeBufferPointer<UInt8>) {
        if bytes.holds("payload", at: member.name) {
            payloadPlace = member.value
        } else if bytes.holds("event", at: member.name) {
            eventPlace = member.value
        } else if bytes.holds("topic", at: member.name) {
            topicPlace = member.value
        } else if bytes.holds("ref", at: member.name) {
            refPlace = member.value
        } else if bytes.holds("join_ref", at: member.name) {
            joinRefPlace = member.value
        }
    }

    /// Takes the element of an array at index `number`.
    private mutating func take(_ place: Range<Int>, number: Int) {
        switch number {
        case 0: joinRefPlace = place
        case 1: refPlace = place
        case 2: topicPlace = place
        case 3: eventPlace = place
        case 4: payloadPlace = place
        default: break
        }
    }

    /// True if a value is a string that is not empty.
    private func hasText(_ place: Range<Int>?) -> Bool {
        place.map { $0.count > 2 && bytes.part($0).first == 0x22 } ?? false
    }

    /// The bytes between a string's quotes, with escapes as they are; `nil` for other values.
    private func text(_ place: Range<Int>?) -> String? {
        guard let place, bytes.part(place).first == 0x22 else { return nil }
        return String(decoding: bytes.part(place).dropFirst().dropLast(), as: UTF8.self)
    }
}

/// Writes frames for one version of the serializer.
struct PhoenixWriter {
    let version: PhoenixFrame.Version

    /// The bytes of one frame; `payload` must write one value.
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

    /// Writes a ref, which Phoenix takes as a text; `null` for none.
    private static func write(_ ref: UInt64?, to writer: inout JSONWriter) {
        if let ref { writer.string(String(ref)) } else { writer.null() }
    }
}
#endif
