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

    var elements: [JSONView]? { if case .view(let view) = self { view.elements } else { nil } }

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

    /// Whether both are the same value: texts by their bytes, numbers as written, members in any order.
    func isSame(as other: DecoderFound) -> Bool { value == other.value }
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
