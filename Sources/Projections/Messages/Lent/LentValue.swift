package import EventLog
package import JSON

/// One value of a message's row or of an entry of its history, as the state has it. Borrowed texts are valid only
/// during the call that lends the value.
package enum LentValue {
    /// The row has no such member.
    case none
    /// A text that the store keeps as it was written.
    case text(JSONText)
    case string(String)
    /// The decimal digits of a number, as a text.
    case number(UInt64)
    /// An instant of the years 0 to 9999, as the text that `Timestamp.description` gives.
    case time(Timestamp)
    case count(Int)
    case value(JSONValue)

    /// - Parameter text: `nil` for no member.
    package init(text: String?) {
        self = text.map { .string($0) } ?? .none
    }

    init(_ text: String?) {
        self.init(text: text)
    }

    init(_ value: JSONValue?) {
        self = value.map { .value($0) } ?? .none
    }

    /// - Parameter time: `nil` for no member.
    init(_ time: Timestamp?) {
        guard let time else {
            self = .none
            return
        }
        self = Self.plainSeconds.contains(time.seconds) ? .time(time) : .string(time.description)
    }

    /// The seconds of the years 0 to 9999 since 1970.
    private static let plainSeconds: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// An id as its text; a number without making a `String`.
    @inline(__always)
    init(_ id: EntityID, _ names: Names) {
        self = id.number.map { .number($0) } ?? .string(names.text(id))
    }

    /// The value as the state document has it; `nil` for no member.
    package var json: JSONValue? {
        switch self {
        case .none: nil
        case .text(let text): .string(text.string)
        case .string(let text): .string(text)
        case .number(let number): .string(String(number))
        case .time(let time): .string(time.description)
        case .count(let count): .int(count)
        case .value(let value): value
        }
    }

    /// Whether the row has the member.
    package var exists: Bool { if case .none = self { false } else { true } }
}
