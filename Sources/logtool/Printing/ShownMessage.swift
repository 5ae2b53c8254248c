import JSON
import Projections

/// A message as people see it: a row of a document, or one that a state lends.
///
/// Valid only within the call that lends it, because `lent` borrows from the state's store.
enum ShownMessage {
    case row(JSONValue)
    case lent(LentMessage)

    /// The value of a member of its row. Texts of rows become `.string`, so that both forms give texts alike.
    subscript(member: LentMessage.Member) -> LentValue {
        switch self {
        case .row(let row): row[member.rawValue].map { $0.string.map { .string($0) } ?? .value($0) } ?? .none
        case .lent(let message): message[member]
        }
    }

    /// A member's text; `nil` if there is none or it is no text.
    func text(_ member: LentMessage.Member) -> String? { self[member].json?.string }

    /// The id of the answered message; `nil` if the message answers none.
    var parentID: String? {
        switch self {
        case .row(let row): row["replyTo"]?["id"]?.string
        case .lent(let message): message.parent?.id.json?.string
        }
    }

    /// What became of the answered message. `live`, `deleted`, `unknown` or `compacted`; `nil` without a parent.
    var parentState: String? {
        switch self {
        case .row(let row): row["replyTo"]?["state"]?.string
        case .lent(let message): message.parent?.state
        }
    }

    /// The author's name, else the id.
    var author: LentValue {
        let name = if case .lent(let message) = self { message.authorName } else { self[.authorName] }
        return name.isText ? name : self[.author]
    }
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
