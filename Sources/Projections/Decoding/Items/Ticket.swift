/// One element or line of a snapshot.
///
/// The stream wraps a ticket as `{"type":"ticket","ticket":{…}}`; an array contains the ticket itself. Either form is
/// read in both places.
enum Ticket {
    case item(ItemFields)
    /// A line about the agent's state: no ticket, and no fault.
    case notATicket
    /// Why the part cannot be read, in lower case and without its text.
    case fault(String)

    /// Reads a line; `nil` means that the line is no JSON text.
    init(_ value: JSONValue?, rules: ReadingRules, names: inout Names) {
        guard let value else { self = .fault("not one JSON text"); return }
        guard let object = value.object else { self = .fault("no object"); return }
        switch object["type"]?.string {
        case "agent":
            self = .notATicket
        case "ticket" where object["ticket"] != nil:
            self =
                object["ticket"]?.object.map { Self.read($0, rules: rules, names: &names) }
                ?? .fault("ticket is no object")
        default:
            self = Self.read(object, rules: rules, names: &names)
        }
    }

    /// Reads a ticket. The text is `text`, else `title`; `done` is stated, else it follows from the status `closed`. A
    /// known member of a wrong type is a fault, null counts as absent, and unknown members are kept.
    private static func read(_ object: JSONObject, rules: ReadingRules, names: inout Names) -> Ticket {
        guard let id = idText(object["id"]) else { return .fault("id is missing or no text") }
        for name in ["text", "title", "status", "created"] {
            if let value = object[name], !value.isNull, value.string == nil { return .fault("\(name) is no text") }
        }
        if let value = object["done"], !value.isNull, value.bool == nil { return .fault("done is no truth value") }
        if let reason = clientFault(in: object, rules: rules) { return .fault(reason) }
        let status = object["status"]?.string
        let textName = object["text"]?.string == nil ? "title" : "text"
        var extra = JSONObject()
        // If the ticket has both `text` and `title`, the other one stays as an unknown member.
        for member in object.members where !member.value.isNull && member.name != textName {
            if !memberNames.contains(member.name) { extra[member.name] = member.value }
        }
        let done = object["done"]?.bool ?? (status == "closed")
        let created = object["created"]?.string
        return .item(
            ItemFields(
                id: names.id(id),
                text: object[textName]?.string,
                done: done,
                status: status,
                created: created,
                extra: extra
            )
        )
    }

    /// Why a client refuses an item that is valid canonically; `nil` if it accepts it.
    private static func clientFault(in object: JSONObject, rules: ReadingRules) -> String? {
        if rules.contains(.itemNeedsTitleAndCreated) {
            let hasText = object["title"]?.string != nil || object["text"]?.string != nil
            guard hasText, object["created"]?.string != nil else { return "title or created is missing" }
        }
        if rules.contains(.itemNeedsReadableQuestions), let questions = object["plan-questions"], !questions.isNull {
            guard questions.array?.allSatisfy(isReadable) == true else { return "a question lacks a member" }
        }
        return nil
    }

    /// Whether a question has every member that the app's decoder requires, in lower case.
    private static func isReadable(_ question: JSONValue) -> Bool {
        question["id"]?.string != nil && question["question"]?.string != nil
            && question["options"]?.array?.allSatisfy { $0["label"]?.string != nil && $0["value"]?.string != nil }
                == true
    }

    private static let memberNames: Set<String> = ["id", "done", "status", "created"]

    /// The text of an id; a whole number is the text of its digits.
    private static func idText(_ value: JSONValue?) -> String? {
        if let text = value?.string { return text }
        guard let number = value?.number, number.int64 != nil || number.uint64 != nil else { return nil }
        return number.text
    }
}
