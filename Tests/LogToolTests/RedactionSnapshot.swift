import EventLog
import Projections
import Redaction
import TestSupport
import Testing

/// What a log says at one time.
struct RedactionSnapshot {
    let root: Hash256
    let size: UInt64
    let events: [RecordedEvent]
    let document: JSONValue
    /// The state in the middle of the log.
    let middle: JSONValue
    let history: [HistoryEntry]

    var payloads: [[UInt8]] { events.map(\.payload) }

    /// - Parameter before: the log as it was, whose root over as many events and whose middle are looked at.
    init(of store: EventStore, _ thing: EntityReference, after before: RedactionSnapshot? = nil) throws {
        var state = try store.read { try Replay.logState(of: $0) }
        document = state.document()
        history = try state.history(of: thing)
        events = try store.allEvents()
        let all = before?.size ?? UInt64(events.count)
        size = UInt64(events.count)
        root = try store.read { try $0.root(size: all) }
        var half = try store.read { try Replay.logState(of: $0, through: SequenceNumber(all / 2)) }
        middle = half.document()
    }

    /// Compares with the log after a redaction: the same events and the same root; in the payloads nothing but strings differs;
    /// nothing but texts in the state, now and in the middle of the log; and the thing's past is as long as it was, by the same people at the same times.
    func check(_ after: RedactionSnapshot, _ result: RedactionResult, _ thing: EntityReference) throws {
        #expect(root == after.root)
        #expect(after.size == size + 1 && after.events.last?.envelope.kind.rawValue == "logtool.redact/1")
        let redacted = Set(result.events.map(\.sequence))
        for (old, new) in zip(events, after.events) {
            #expect(old.envelope.key == new.envelope.key && old.envelope.attributes == new.envelope.attributes)
            #expect((new.envelope.holding == .redacted) == redacted.contains(new.envelope.sequence))
            if !redacted.contains(new.envelope.sequence) { #expect(old.payload == new.payload) }
            if let (left, right) = try? (JSONValue.parse(old.payload), JSONValue.parse(new.payload)) {
                #expect(Self.shape(left) == Self.shape(right))
            }
        }
        #expect(history.count == after.history.count, "\(thing)")
        for (old, new) in zip(history, after.history) {
            #expect(old.change == new.change && old.by == new.by && old.sequence == new.sequence)
            #expect(old.remoteTime == new.remoteTime && old.kinds == new.kinds)
        }
        try Self.compare(document, after.document, thing)
        try Self.compare(middle, after.middle, thing)
        guard thing.kind == .message else { return }
        for entry in after.history {
            if let text = entry.fields["content"]?.string, !text.isEmpty { #expect(text.hasPrefix("(redacted")) }
        }
    }

    /// Compares two states: only texts of the thing differ, and what answers quote of it beside their own text.
    private static func compare(_ left: JSONValue, _ right: JSONValue, _ thing: EntityReference) throws {
        let sections = ["messages", "deletedMessages", "items", "sessions", "prompts", "rows", "channels", "issues"]
        for section in sections {
            let (left, right) = (left[section]?.array ?? [], right[section]?.array ?? [])
            #expect(left.count == right.count, "\(section)")
            for (old, new) in zip(left, right) where old != new {
                // In the middle of the log a message may have been in another channel.
                let isOwn = [old["id"], old["file"]].contains { $0?.string == thing.parts.last }
                let isAnswer = old["replyTo"]?.string == thing.parts.last && old["content"] == new["content"]
                #expect(isOwn || isAnswer, "\(thing): \(old.text) became \(new.text)")
                #expect(isOnlyRedacted(old, new), "\(thing): \(old.text) became \(new.text)")
                for name in [
                    "source", "author", "authorName", "createdAt", "editedAt", "replyTo", "status", "reactions",
                ] {
                    #expect(old[name] == new[name], "\(thing): \(name)")
                }
            }
        }
    }

    /// Whether each string is the same or has a text replaced, and all else is the same.
    private static func isOnlyRedacted(_ old: JSONValue, _ new: JSONValue) -> Bool {
        switch (old, new) {
        case (.string(let old), .string(let new)): old == new || new.contains("(redacted")
        case (.array(let old), .array(let new)): old.count == new.count && zip(old, new).allSatisfy(isOnlyRedacted)
        case (.object(let old), .object(let new)):
            old.members.map(\.name) == new.members.map(\.name)
                && zip(old.members, new.members).allSatisfy { isOnlyRedacted($0.value, $1.value) }
        default: old == new
        }
    }

    /// A value with its strings left out; JSON within strings counts as a string.
    private static func shape(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string: return .string("")
        case .array(let elements): return .array(elements.map(shape))
        case .object(let object):
            var result = JSONObject()
            for member in object.members { result[member.name] = shape(member.value) }
            return .object(result)
        default: return value
        }
    }
}
