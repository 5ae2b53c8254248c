import EventLog
import JSON
import Projections

/// The places of one payload in which texts stand that may have to go, and the marks that are put there to see where a decoder puts
/// them.
struct PlaceMarks {
    /// Where a text stands: the number of the payload's text that holds it, and the number of the place in that.
    struct Place: Hashable {
        let text: Int
        let number: Int
    }

    /// The text in a place.
    struct Found {
        let match: TextForms.Match
        /// The text of the payload that holds it.
        let whole: String
        /// As it is written.
        let original: String
    }

    /// In the order of the payload.
    private(set) var places: [Place] = []
    /// Numbers of texts that were found anywhere, whatever their roles say.
    let loose: Set<Int>
    private var found: [Place: Found] = [:]
    /// Whether some marks are digits.
    private var hasNumbers = false

    init(
        in payload: [UInt8],
        _ kind: EventKind,
        _ substitutes: TextSubstitutes,
        _ search: TokenSearch,
        loose: Set<Int>
    ) {
        self.loose = loose
        var (places, found): ([Place], [Place: Found]) = ([], [:])
        _ = PayloadTexts.replaced(in: payload, kind: kind, substitutes, search) { number, text in
            let bytes = Array(text.utf8)
            for (index, match) in substitutes.matches(in: bytes, loose: loose).enumerated() {
                let place = Place(text: number, number: index)
                places.append(place)
                found[place] = Found(
                    match: match,
                    whole: text,
                    original: String(decoding: bytes[match.range], as: UTF8.self)
                )
            }
            return nil
        }
        (self.places, self.found) = (places, found)
        hasNumbers = found.values.contains { $0.match.role.isNumber }
    }

    subscript(place: Place) -> Found? { found[place] }

    // MARK: - Marks

    private static let opening = Array("redactedplace".utf8)
    /// Marks of ids that are digits have so many: they must be read as numbers.
    private static let digitCount = 14

    /// The mark for a place. It has digits alone if the text there is an id of digits.
    func mark(_ place: Place) -> String {
        guard found[place]?.match.role.isNumber == true else { return "redactedplace\(place.text)x\(place.number)end" }
        return "81" + Self.digits(place.text) + Self.digits(place.number)
    }

    private static func digits(_ number: Int) -> String {
        let text = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - text.utf8.count) + text
    }

    /// The places whose marks stand in a text.
    func places(in text: String) -> [Place] { ranges(in: Array(text.utf8)).map(\.place) }

    private func ranges(in bytes: [UInt8]) -> [(place: Place, range: Range<Int>)] {
        var result: [(Place, Range<Int>)] = []
        var start = 0
        while start < bytes.count {
            if let place = place(in: bytes, at: start) {
                result.append(place)
                start = place.range.upperBound
            } else {
                start += 1
            }
        }
        return result
    }

    private func place(in bytes: [UInt8], at start: Int) -> (place: Place, range: Range<Int>)? {
        if bytes[start] == UInt8(ascii: "r"), bytes[start...].starts(with: Self.opening) {
            var end = start + Self.opening.count
            guard let text = Self.number(bytes, &end), Self.pass("x", bytes, &end),
                let number = Self.number(bytes, &end),
                Self.pass("end", bytes, &end)
            else { return nil }
            return (Place(text: text, number: number), start..<end)
        }
        guard hasNumbers, bytes[start] == UInt8(ascii: "8"), start + Self.digitCount <= bytes.count else { return nil }
        let digits = bytes[start..<start + Self.digitCount]
        guard digits.starts(with: [0x38, 0x31]), let number = UInt64(String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        let rest = Int(number - 81_000_000_000_000)
        let place = Place(text: rest / 1_000_000, number: rest % 1_000_000)
        return found[place]?.match.role.isNumber == true ? (place, start..<start + Self.digitCount) : nil
    }

    private static func number(_ bytes: [UInt8], _ place: inout Int) -> Int? {
        let digits = bytes[place...].prefix { (0x30...0x39).contains($0) }
        place += digits.count
        return Int(String(decoding: digits, as: UTF8.self))
    }

    private static func pass(_ text: StaticString, _ bytes: [UInt8], _ place: inout Int) -> Bool {
        let isThere = text.withUTF8Buffer { bytes[place...].starts(with: $0) }
        place += text.utf8CodeUnitCount
        return isThere
    }

    // MARK: - What was there before

    /// A text with its marks replaced by what was in their places.
    func unmarked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let ranges = ranges(in: bytes)
        if ranges.isEmpty { return text }
        var (result, copied): ([UInt8], Int) = ([], 0)
        for (place, range) in ranges {
            result += bytes[copied..<range.lowerBound]
            result += (found[place]?.original ?? "").utf8
            copied = range.upperBound
        }
        return String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// A statement with the marks replaced where it names people or a row; in fields as well.
    func unmarked(_ statement: Statement) -> Statement {
        var thing = statement.thing
        if let row = thing, row.kind == .row { thing = EntityReference(kind: .row, parts: row.parts.map(unmarked)) }
        return Statement(
            thing: thing,
            answered: statement.answered,
            fields: statement.fields.map { Statement.Field(name: $0.name, value: unmarked($0.value)) },
            people: statement.people.map(unmarked),
            rest: statement.rest
        )
    }

    private func unmarked(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): return .string(unmarked(text))
        case .array(let elements): return .array(elements.map(unmarked))
        case .object(let object):
            var result = JSONObject()
            for member in object.members { result[member.name] = unmarked(member.value) }
            return .object(result)
        case .number:
            guard hasNumbers, case .number(let number) = value else { return value }
            let text = unmarked(number.text)
            return text == number.text ? value : .number(JSONNumber(unchecked: text))
        case .null, .bool: return value
        }
    }
}
