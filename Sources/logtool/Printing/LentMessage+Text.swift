import JSON
import Projections

extension LentMessage {
    /// A member's text; `nil` if there is none or it is no text.
    func text(_ member: Member) -> String? { self[member].json?.string }

    /// The id of the answered message; `nil` if the message answers none.
    var parentID: String? { parent?.id.json?.string }

    /// The author's name, else the id.
    var speaker: LentValue { authorName.isText ? authorName : self[.author] }
}

extension LentValue {
    /// Whether the value is a text. Numbers and times count, because a state keeps ids and instants unformatted.
    var isText: Bool {
        switch self {
        case .text, .string, .number, .time: true
        case .none, .count, .value: false
        }
    }

    /// Lends the text's UTF-8 bytes; none for other values. Only a text that the store keeps needs no copy.
    func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if case .text(let text) = self { return text.withUTF8(body) }
        var text = json?.string ?? ""
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
