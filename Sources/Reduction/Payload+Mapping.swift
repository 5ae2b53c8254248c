import EventLog
import Kinds
import Projections

extension Payload {
    /// The payload with every text put through `body`, names of members too. Numbers of eight digits and more count as
    /// texts, because ids can be numbers. Bytes that are no text become bytes that say nothing.
    ///
    /// - Parameter isOfAnyApp: Whether no member's name tells what its value is, as no format of the apps applies.
    func mapping(isOfAnyApp: Bool, _ body: (String, TextPlace) -> String) -> Payload {
        let body = isOfAnyApp ? { text, place in body(text, place == .name ? .name : .text) } : body
        var payload = self
        for index in segments.indices {
            let segment = segments[index]
            if let value = segment.value, value.holdsAll(of: segment.raw) {
                payload.segments[index].raw = Array(mapped(value, body).text.utf8)
            } else if let text = Self.text(of: segment.raw) {
                payload.segments[index].raw = Array(mapped(text, body).utf8)
            } else {
                payload.segments[index].raw = [UInt8](repeating: 0xFF, count: segment.raw.count)
            }
        }
        return payload
    }

    /// The text that bytes are; `nil` for other bytes, those of UTF-16 among them.
    private static func text(of bytes: [UInt8]) -> String? {
        bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    /// Maps a text that is no JSON: a line of an event stream, or a payload that was cut off.
    private func mapped(_ text: String, _ body: (String, TextPlace) -> String) -> String {
        guard reader == .stream else { return body(text, .text) }
        let field = text.prefix { $0 != ":" }
        let isKnown = ["data", "event", "id", "retry"].contains(field)
        guard isKnown, field.endIndex < text.endIndex else { return body(text, .text) }
        let rest = text[field.endIndex...].dropFirst()
        let space = rest.prefix { $0 == " " }
        let value = body(String(rest.dropFirst(space.count)), field == "event" ? .constant : .text)
        return body(String(field), .name) + ":" + space + value
    }

    /// Maps a value. A Phoenix frame in list form begins with references, topic and event.
    private func mapped(_ value: JSONValue, _ body: (String, TextPlace) -> String) -> JSONValue {
        guard reader == .frame, let frame = value.array, frame.count == 5, frame[3].string != nil else {
            return value.mapping(at: .text, isCommit: reader == .commit, body)
        }
        let places: [TextPlace] = [.constant, .constant, .topic, .constant, .text]
        return .array(zip(frame, places).map { $0.mapping(at: $1, isCommit: false, body) })
    }
}

extension JSONValue {
    /// Whether the value has all that its text has: none of a name that stands twice is lost, and no half of a surrogate
    /// pair.
    fileprivate func holdsAll(of raw: [UInt8]) -> Bool {
        var count = 0
        LooseJSON.visit(String(decoding: raw, as: UTF8.self)) { piece, place in
            if piece == "\"", place == .verbatim { count += 1 }
        }
        return count == 2 * textCount && (!holdsReplacement || raw.firstRange(of: Array("\u{FFFD}".utf8)) != nil)
    }

    /// How many strings there are, names of members among them.
    private var textCount: Int {
        switch self {
        case .string: 1
        case .array(let elements): elements.reduce(0) { $0 + $1.textCount }
        case .object(let object): object.members.reduce(0) { $0 + 1 + $1.value.textCount }
        default: 0
        }
    }

    private var holdsReplacement: Bool {
        switch self {
        case .string(let text): text.unicodeScalars.contains("\u{FFFD}")
        case .array(let elements): elements.contains(where: \.holdsReplacement)
        case .object(let object):
            object.members.contains { $0.name.unicodeScalars.contains("\u{FFFD}") || $0.value.holdsReplacement }
        default: false
        }
    }

    /// A number stays if its mapped text is no number.
    fileprivate func mapping(
        at place: TextPlace,
        isCommit: Bool,
        isColumn: Bool = false,
        _ body: (String, TextPlace) -> String
    ) -> JSONValue {
        switch self {
        case .string(let text): return .string(body(text, place))
        case .number(let number):
            guard place != .verbatim, number.text.utf8.count >= 8,
                number.text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let mapped = UInt64(body(number.text, place))
            else { return self }
            return .int(mapped)
        case .array(let elements):
            return .array(
                elements.map { $0.mapping(at: place, isCommit: isCommit, isColumn: isColumn, body) }
            )
        case .object(let object):
            var result = JSONObject()
            for member in object.members {
                var inner = TextPlace(ofMember: member.name, within: place)
                // What is called `text` in a commit is a file, and what is called `name` among columns one of them.
                if isCommit, member.name == "text" { inner = .file }
                if isCommit, member.name == "subject" || member.name == "message" { inner = .subject }
                if isColumn, member.name == "name" { inner = .name }
                result[body(member.name, .name)] = member.value.mapping(
                    at: inner,
                    isCommit: isCommit,
                    isColumn: member.name == "columns",
                    body
                )
            }
            return .object(result)
        default: return self
        }
    }
}
