import EventLog
import Foundation
import Projections
import Redaction
import TestSupport
import Testing

/// What a log says at one time, for comparing it with the same log after a person was forgotten.
///
/// The renaming here is written anew, from what `docs/decisions/0042-forgetting-renames-a-person.md` says: ids where people are named,
/// names, mentions, and the texts of the person's messages. Nothing else may differ.
struct ForgetSnapshot {
    let size: UInt64
    let roots: [Hash256]
    let events: [RecordedEvent]
    let document: JSONValue
    /// The state in the middle of the log.
    let middle: JSONValue

    /// - Parameter before: the log as it was, whose middle is looked at.
    init(of store: EventStore, after before: ForgetSnapshot? = nil) throws {
        events = try store.allEvents()
        document = try RedactionTests.document(of: store)
        let size = try store.read { $0.head.rawValue }
        self.size = size
        roots = try store.read { session in try (1...max(size, 1)).map { try session.root(size: min($0, size)) } }
        middle = try Self.middle(of: store, (before?.size ?? size) / 2)
    }

    private static func middle(of store: EventStore, _ point: UInt64) throws -> JSONValue {
        var state = try store.read { try Replay.logState(of: $0, through: SequenceNumber(point)) }
        return state.document()
    }

    /// Compares with the log after a person was forgotten.
    func check(_ after: ForgetSnapshot, _ result: ForgettingResult, _ person: String) throws {
        #expect(after.size == size + UInt64(result.redaction.acts.count))
        #expect(Array(after.roots.prefix(Int(size))) == Array(roots.prefix(Int(size))))
        let redacted = Set(result.redaction.events.map(\.sequence))
        for (old, new) in zip(events, after.events) {
            #expect(old.envelope.key == new.envelope.key && old.envelope.attributes == new.envelope.attributes)
            #expect((new.envelope.holding == .redacted) == redacted.contains(new.envelope.sequence))
            if !redacted.contains(new.envelope.sequence) { #expect(old.payload == new.payload) }
        }
        let act = try #require(after.events.last)
        #expect(act.envelope.kind.rawValue == "logtool.redact/1")
        let told = try JSONValue.parse(act.payload)
        #expect(told["entities"]?.array == [] && told["by"]?.string == "the keeper" && told["why"] == nil)
        let pseudonym = try #require(result.pseudonyms.first)
        compare(document, after.document, person, pseudonym)
        compare(middle, after.middle, person, pseudonym)
    }

    private func compare(_ left: JSONValue, _ right: JSONValue, _ person: String, _ pseudonym: String) {
        let sections = [
            "channels", "messages", "deletedMessages", "guilds", "members", "roles", "bans", "presences", "typing",
            "voiceStates", "readStates", "items", "sessions", "prompts", "rows", "issues",
        ]
        let names = Self.names(of: person, in: left)
        for section in sections {
            let old = (left[section]?.array ?? []).map { Self.renamed($0, section, person, pseudonym) }
            let new = right[section]?.array ?? []
            #expect(old.count == new.count, "\(section)")
            // The order of messages is part of the state; other rows are sorted by their ids.
            let isOrdered = section == "messages"
            let pairs = zip(isOrdered ? old : Self.sorted(old), isOrdered ? new : Self.sorted(new))
            for (old, new) in pairs where old != new {
                let isOwn = section.lowercased().contains("messages") && Self.author(of: new) == pseudonym
                #expect(
                    Self.isSame(old, new, isOwn: isOwn, names: names, person, pseudonym),
                    "\(section), \(person): \(old.text) became \(new.text)"
                )
            }
        }
    }

    private static func author(of message: JSONValue) -> String? {
        message["author"]?.string ?? message["authorName"]?.string
    }

    /// All that the state calls a person.
    private static func names(of person: String, in document: JSONValue) -> Set<String> {
        let messages = ["messages", "deletedMessages"].flatMap { document[$0]?.array ?? [] }
        let names = messages.filter { author(of: $0) == person }.compactMap { $0["authorName"]?.string }
        let members = (document["members"]?.array ?? []).filter { $0["user"]?.string == person }
        return Set(names + members.compactMap { $0["nickname"]?.string })
    }

    /// A row with the id replaced in the members that name people.
    private static func renamed(_ row: JSONValue, _ section: String, _ person: String, _ pseudonym: String) -> JSONValue
    {
        func renamed(_ value: JSONValue) -> JSONValue {
            switch value {
            case .string(let text): .string(text == person ? pseudonym : text)
            case .array(let elements): .array(elements.map(renamed).sorted { $0.text < $1.text })
            default: value
            }
        }
        guard var object = row.object else { return row }
        for name in ["author", "user", "owner", "deletedBy", "recipients"] {
            if let value = object[name] { object[name] = renamed(value) }
        }
        if let name = object["authorName"], object["author"] == nil { object["authorName"] = renamed(name) }
        if section == "rows", object["id"]?.string == person, person.utf8.count >= 8 {
            object["id"] = .string(pseudonym)
        }
        if let reactions = object["reactions"]?.array {
            object["reactions"] = .array(
                reactions.map { reaction in
                    guard var object = reaction.object, let users = object["users"] else { return reaction }
                    object["users"] = renamed(users)
                    return .object(object)
                }
            )
        }
        return .object(object)
    }

    private static func sorted(_ rows: [JSONValue]) -> [JSONValue] {
        rows.sorted { left, right in
            func key(_ row: JSONValue) -> String {
                ["source", "channel", "guild", "list", "table", "user", "id", "file", "sequence", "reason"]
                    .map { row[$0]?.text ?? "" }.joined(separator: "\u{1}")
            }
            return key(left) < key(right)
        }
    }

    /// Whether a value is the same but for texts of the person's, names and mentions.
    private static func isSame(
        _ old: JSONValue,
        _ new: JSONValue,
        isOwn: Bool,
        names: Set<String>,
        _ person: String,
        _ pseudonym: String
    ) -> Bool {
        switch (old, new) {
        case (.string(let old), .string(let new)):
            if old == new { return true }
            if isOwn { return new.contains("(redacted") || new.contains("forgotten-") || new.contains(pseudonym) }
            if names.contains(old) || old == person { return new.contains("forgotten-") || new == pseudonym }
            // What an answer quotes, or a mention within another text.
            if new.contains("(redacted") { return true }
            let all = [person: [pseudonym]].merging(names.map { ($0, ["forgotten-1"]) }) { $0 + $1 }
            return all.contains { name, others in
                others.contains { old.replacing("@\(name)", with: "@\($0)") == new }
                    || old.contains("@\(name)") && new.contains("@forgotten-")
            }
        case (.array(let old), .array(let new)):
            return old.count == new.count
                && zip(old, new).allSatisfy { isSame($0, $1, isOwn: isOwn, names: names, person, pseudonym) }
        case (.object(let old), .object(let new)):
            return old.members.map(\.name) == new.members.map(\.name)
                && old.members.allSatisfy { member in
                    guard let other = new[member.name] else { return false }
                    let fixed = ["id", "channel", "createdAt", "editedAt", "replyTo", "kind", "state"].contains(
                        member.name
                    )
                    if fixed { return member.value == other }
                    let isSet = member.name == "users" || member.name == "recipients"
                    let right = isSet ? .array((other.array ?? []).sorted { $0.text < $1.text }) : other
                    return isSame(member.value, right, isOwn: isOwn, names: names, person, pseudonym)
                }
        case (.number, .number): return old == new || old.text == person && new.text == pseudonym
        default: return old == new
        }
    }
}
