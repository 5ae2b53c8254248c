/// A value as a column of a database holds it.
package enum StoredValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
}

extension JSONValue {
    /// Texts as text, numbers and truth values as numbers, lists and objects as JSON.
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
