/// A JSON text as a value. Numbers keep their text, so that 64-bit ids survive; objects keep the order of their members.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

/// A number as it was written.
public struct JSONNumber: Hashable, Sendable {
    /// The text, which follows the grammar of RFC 8259.
    public let text: String

    init(unchecked text: String) {
        self.text = text
    }

    /// Makes a whole number.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// The number, if it was written without fraction and exponent and fits.
    public var int64: Int64? { Int64(text) }

    /// The number, if it was written without fraction and exponent and fits.
    public var uint64: UInt64? { UInt64(text) }
}

/// The members of an object, in order. A name stands once: of repeated names the last value counts, at the first's place.
public struct JSONObject: Hashable, Sendable {
    /// One member.
    public struct Member: Hashable, Sendable {
        /// The name.
        public let name: String
        /// The value.
        public var value: JSONValue
    }

    /// The members in order.
    public private(set) var members: [Member] = []

    /// Makes an empty object.
    public init() {}

    /// The value of a member. Setting `nil` takes the member away; setting a new name adds it at the end.
    public subscript(name: String) -> JSONValue? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Makes an object with the members of a literal whose value is not `nil`.
    public init(dictionaryLiteral elements: (String, JSONValue?)...) {
        for (name, value) in elements where value != nil { self[name] = value }
    }
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

    /// A string value, or `nil` for `nil`: for members that are left out when absent.
    public static func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }
    /// A whole number.
    public static func int(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(value)) }
}
