/// One element or line of a snapshot.
enum Ticket {
    case item(ItemFields)
    /// A line about something else (the agent's state), which is no ticket and no fault.
    case notATicket
    case fault(String)

    /// Reads a line; `nil` is one that is no JSON text.
    init(_ value: JSONValue?, names: inout Names) {
        guard let value else { self = .fault("not one JSON text"); return }
        guard let object = value.object else { self = .fault("no object"); return }
        switch object["type"]?.string {
        case "agent":
            self = .notATicket
        case "ticket" where object["ticket"] != nil:
            self = object["ticket"]?.object.map { Self.read($0, names: &names) } ?? .fault("ticket is no object")
        default:
            self = Self.read(object, names: &names)
        }
    }

    private static func read(_ object: JSONObject, names: inout Names) -> Ticket {
        guard let id = idText(object["id"]) else { return .fault("id is missing or no text") }
        for name in ["text", "title", "status", "created"] {
            if let value = object[name], !value.isNull, value.string == nil { return .fault("\(name) is no text") }
        }
        if let value = object["done"], !value.isNull, value.bool == nil { return .fault("done is no truth value") }
        let status = object["status"]?.string
        let textName = object["text"]?.string == nil ? "title" : "text"
        var extra = JSONObject()
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

    private static let memberNames: Set<String> = ["id", "done", "status", "created"]

    /// Ids are texts; a whole number is taken as its digits.
    private static func idText(_ value: JSONValue?) -> String? {
        if let text = value?.string { return text }
        guard let number = value?.number, number.int64 != nil || number.uint64 != nil else { return nil }
        return number.text
    }
}
