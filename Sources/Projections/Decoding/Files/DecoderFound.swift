import EventLog
import JSON

/// A value that a decoder file found: one that stands in the payload, or a text that was made.
enum DecoderFound {
    case view(JSONView)
    case text(String)

    /// The value, as one that outlives the event. Cost: O(its bytes).
    var value: JSONValue {
        switch self {
        case .view(let view): view.value
        case .text(let text): .string(text)
        }
    }

    var isNull: Bool { if case .view(let view) = self { view.isNull } else { false } }

    /// A text, a number in its own digits, or a truth value; `nil` for anything else.
    var writtenText: String? {
        switch self {
        case .view(let view): view.written?.string
        case .text(let text): text
        }
    }

    /// The text, if it is one.
    var string: String? {
        switch self {
        case .view(let view): view.text?.string
        case .text(let text): text
        }
    }

    /// The bytes of a text, a number or a truth value; `nil` for anything else.
    func withWritten<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        switch self {
        case .view(let view): return view.written?.withUTF8(body)
        case .text(var text): return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        }
    }

    /// The length of `writtenText` in bytes.
    var writtenCount: Int? { withWritten(\.count) }

    /// Whether it is a text of these bytes.
    func isText(_ text: String) -> Bool {
        switch self {
        case .view(let view): view.text?.hasBytes(of: text) ?? false
        case .text(let own): ExactText.areSame(own, text)
        }
    }

    /// Whether it is a text, a number or a truth value that is written so.
    func isWritten(_ text: String) -> Bool {
        switch self {
        case .view(let view): view.written?.hasBytes(of: text) ?? false
        case .text(let own): ExactText.areSame(own, text)
        }
    }

    /// The digits of a number; `nil` if it is none.
    var digits: String? {
        guard case .view(let view) = self else { return nil }
        return view.digits.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether it is the number 0, written with one digit.
    var isZero: Bool {
        guard case .view(let view) = self, let digits = view.digits else { return false }
        return digits.elementsEqual([UInt8(ascii: "0")])
    }

    /// The whole number that is written, as a number or as a text; `nil` for anything else, and beyond 64 bits.
    var int64: Int64? {
        guard case .view(let view) = self, let digits = view.digits else { return writtenText.flatMap { Int64($0) } }
        let isWhole = digits.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
        return JSONDigits(bytes: digits, isWhole: isWhole).int64
    }

    var elements: [JSONView]? { if case .view(let view) = self { view.elements } else { nil } }

    /// A list or an object, to be walked over; `nil` for anything else.
    var list: JSONView? {
        guard case .view(let view) = self, view.elements != nil || view.members != nil else { return nil }
        return view
    }

    /// The users that it names: the texts of a list, the names of an object's members but those that are false or null, or a
    /// single text; numbers as they are written. `nil` for anything else.
    var users: [String]? {
        if let elements {
            let users = elements.compactMap { $0.written?.string }
            return users.count == elements.count ? users : nil
        }
        if case .view(let view) = self, let members = view.members {
            return members.filter { !$0.value.isNull && DecoderFound.view($0.value).writtenText != "false" }.map(\.name)
        }
        return writtenText.map { [$0] }
    }

    /// The handle of an id; `nil` if it is no text, number or truth value, or empty.
    func id(_ names: inout Names) -> EntityID? {
        switch self {
        case .view(let view):
            guard let written = view.written, !written.bytes.isEmpty else { return nil }
            return names.id(written)
        case .text(let text): return text.isEmpty ? nil : names.id(text)
        }
    }

    /// One of the types of JSON, as tests name it.
    var typeName: String { if case .view(let view) = self { view.typeName } else { "text" } }

    /// Whether both are the same value: texts, numbers and truth values as they are written, so that a number is the same as the text
    /// that was kept of it; lists and objects with members in any order.
    func isSame(as other: DecoderFound) -> Bool {
        guard let text = writtenText, let otherText = other.writtenText else { return value == other.value }
        return ExactText.areSame(text, otherText)
    }
}

extension JSONText {
    /// Whether it says a text.
    fileprivate func hasBytes(of text: String) -> Bool {
        if hasEscapes { return ExactText.areSame(string, text) }
        return text.hasBytes(bytes.assumingMemoryBound(to: UInt8.self))
    }
}

extension JSONValue {
    /// A text, a number in its own digits, or a truth value; `nil` for anything else.
    var writtenText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let truth): truth ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
