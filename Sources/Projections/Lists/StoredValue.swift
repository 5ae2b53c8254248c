/// A value as a database column stores it.
package enum StoredValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
}

extension JSONValue {
    /// The value for a column: texts as text, truth values as 0 or 1, whole numbers of 64 bits as integers, other
    /// numbers as text (never rounded), lists and objects as JSON text with members in their own order.
    package var stored: StoredValue {
        switch self {
        case .null: .null
        case .bool(let truth): .integer(truth ? 1 : 0)
        case .number(let number): number.int64.map { .integer($0) } ?? .text(number.text)
        case .string(let text): .text(text)
        case .array, .object: .text(text)
        }
    }
}
