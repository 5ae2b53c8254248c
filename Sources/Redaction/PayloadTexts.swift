import EventLog
import JSON
import Kinds

/// Replaces texts of a payload and leaves every other byte as it was.
///
/// A text is a string of JSON that is no member's name, also in JSON that lies within a string, as it is or in base64; a number of
/// JSON that is a person's id; the value of a line of an event stream; or a payload that is no JSON. Texts are counted from 0 in order, and the count stays the
/// same as long as only what `search` finds is replaced.
struct PayloadTexts {
    /// Replaces the text with this number; `nil` leaves it.
    typealias Replacement = (_ number: Int, _ text: String) -> String?

    /// The texts to replace. A string that contains one unescaped counts as one text, even if it is itself JSON.
    private let substitutes: TextSubstitutes
    /// Finds these texts in every form. A string is decoded from base64 only if the result contains one.
    private let search: TokenSearch
    private let body: Replacement
    private var count = 0

    /// JSON within JSON is entered no deeper than this.
    private static let depthMax = 8

    /// The payload with its texts replaced.
    static func replaced(
        in payload: [UInt8],
        kind: EventKind,
        _ substitutes: TextSubstitutes,
        _ search: TokenSearch,
        _ body: Replacement
    ) -> [UInt8] {
        withoutActuallyEscaping(body) { body in
            var texts = PayloadTexts(substitutes: substitutes, search: search, body: body)
            if KnownKind(kind)?.row.shrink == .stream { return texts.lines(payload) }
            return texts.replaced(payload, depth: 0) ?? payload
        }
    }

    private init(substitutes: TextSubstitutes, search: TokenSearch, body: @escaping Replacement) {
        (self.substitutes, self.search, self.body) = (substitutes, search, body)
    }

    /// An event of a stream: of each line what stands behind the colon and its spaces (HTML standard, section 9.2.6).
    private mutating func lines(_ payload: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var start = 0
        while start < payload.count {
            let end = payload[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? payload.count
            let line = payload[start..<end]
            let colon = line.firstIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? start
            let value = line[colon...].firstIndex { $0 != 0x20 } ?? end
            result += payload[start..<value]
            result += replaced(Array(payload[value..<end]), depth: 0) ?? Array(payload[value..<end])
            if end < payload.count { result.append(payload[end]) }
            start = end + 1
        }
        return result
    }

    /// Bytes that are JSON or a text; `nil` if nothing changes.
    private mutating func replaced(_ bytes: [UInt8], depth: Int) -> [UInt8]? {
        let before = count
        do throws(JSONError) {
            return try json(bytes, depth: depth)
        } catch {
            count = before
        }
        guard !bytes.isEmpty, !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        return plain(text).map { Array($0.utf8) }
    }

    /// A JSON text; `nil` if nothing changes.
    private mutating func json(_ bytes: [UInt8], depth: Int) throws(JSONError) -> [UInt8]? {
        var result: [UInt8] = []
        var copied = 0
        for token in try texts(of: bytes) {
            if token.kind == .number {
                guard let other = plain(String(decoding: bytes[token.range], as: UTF8.self)) else { continue }
                result += bytes[copied..<token.range.lowerBound]
                result += other.utf8
                copied = token.range.upperBound
                continue
            }
            let text = bytes.withUnsafeBytes {
                JSONText(bytes: UnsafeRawBufferPointer(rebasing: $0[token.range]), hasEscapes: token.hasEscapes).string
            }
            guard let other = replaced(text: text, depth: depth) else { continue }
            var writer = JSONWriter()
            writer.string(other)
            result += bytes[copied..<token.range.lowerBound]
            result += writer.bytes.dropFirst().dropLast()
            copied = token.range.upperBound
        }
        guard copied > 0 else { return nil }
        return result + bytes[copied...]
    }

    /// The strings of a JSON text without the names of members, and the numbers that are ids.
    private func texts(of bytes: [UInt8]) throws(JSONError) -> [JSONToken] {
        let numbers = substitutes.numbers
        // `withUnsafeBufferPointer` passes no typed errors, so the result carries them out.
        let result = bytes.withUnsafeBufferPointer { buffer in
            Result { () throws(JSONError) in
                var tokens = JSONTokens(buffer)
                var strings: [JSONToken] = []
                while let token = try tokens.next() {
                    let isNumber =
                        token.kind == .number && !numbers.isEmpty
                        && numbers.contains(String(decoding: buffer[token.range], as: UTF8.self))
                    if token.kind == .string || isNumber { strings.append(token) }
                }
                return strings
            }
        }
        return try result.get()
    }

    /// A string of JSON; `nil` if nothing changes.
    private mutating func replaced(text: String, depth: Int) -> String? {
        if isOneText(text) { return plain(text) }
        let first = text.utf8.first { $0 != 0x20 && $0 != 0x0A }
        if depth < Self.depthMax, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            let before = count
            do throws(JSONError) {
                return try json(Array(text.utf8), depth: depth + 1).map { String(decoding: $0, as: UTF8.self) }
            } catch {
                count = before
            }
        }
        if depth < Self.depthMax, text.utf8.count >= 8, let bytes = Base64.decode(text), isText(bytes),
            bytes.withUnsafeBytes({ search.occurs(in: $0) })
        {
            return replaced(bytes, depth: depth + 1).map { Base64.encode($0) }
        }
        return plain(text)
    }

    /// Whether a string counts as one text, though it may be JSON. One that only holds an id or a name does not: short ones
    /// are found as whole strings alone.
    private func isOneText(_ text: String) -> Bool {
        let matches = substitutes.matches(in: Array(text.utf8))
        return substitutes.hasPeople ? matches.contains(where: \.isWhole) : !matches.isEmpty
    }

    private func isText(_ bytes: [UInt8]) -> Bool {
        !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
    }

    private mutating func plain(_ text: String) -> String? {
        defer { count += 1 }
        return body(count, text)
    }
}
