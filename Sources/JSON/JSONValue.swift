/// A JSON text as a value. Numbers keep their text, so that 64-bit ids survive; objects keep the order of their
/// members.
///
/// `==` compares strings by their bytes and numbers as written; the order of members does not count. `isSameJSON` also
/// treats `1.0` and `1` as the same.
public enum JSONValue: Codable, Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue: Hashable {
    /// Whether two values are equal; strings are compared by their bytes.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): ExactText(left) == ExactText(right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Feeds the value to a hasher.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let truth): hasher.combine(truth)
        case .number(let number): hasher.combine(number)
        case .string(let text): hasher.combine(ExactText(text))
        case .array(let elements): hasher.combine(elements)
        case .object(let object): hasher.combine(object)
        }
    }
}

/// A number as it was written.
public struct JSONNumber: Codable, Hashable, Sendable {
    /// The text, which follows the grammar of RFC 8259.
    public let text: String

    /// - Parameter text: follows the grammar of RFC 8259, which is not checked.
    package init(unchecked text: String) {
        self.text = text
    }

    /// Makes a whole number.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// The number, if it was written without fraction and exponent and fits; never rounded through floating point.
    public var int64: Int64? { Int64(text) }

    /// The number, if it was written without fraction and exponent and fits; never rounded through floating point.
    public var uint64: UInt64? { UInt64(text) }
}

extension JSONValue {
    /// The text, if it is a string.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The truth value, if it is one.
    public var bool: Bool? { if case .bool(let truth) = self { truth } else { nil } }
    /// The number, if it is one.
    public var number: JSONNumber? { if case .number(let number) = self { number } else { nil } }
    /// The elements, if it is an array.
    public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    /// The members, if it is an object.
    public var object: JSONObject? { if case .object(let object) = self { object } else { nil } }
    /// Whether it is `null`.
    public var isNull: Bool { self == .null }
    /// The value of a member, if it is an object that has it.
    public subscript(name: String) -> JSONValue? { object?[name] }
    /// An element, if it is an array that has it.
    package subscript(index: Int) -> JSONValue? { array.flatMap { $0.indices.contains(index) ? $0[index] : nil } }
    /// The text of an id: a string, or a number as it is written.
    package var identifier: String? { string ?? number?.text }

    /// A string value, or `nil` for `nil`, for members that are left out when absent.
    public static func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }
    /// A whole number.
    public static func int(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(value)) }
}
