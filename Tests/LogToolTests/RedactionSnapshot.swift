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
    let history: [HistoryEntry]

    var payloads: [[UInt8]] { events.map(\.payload) }

    init(of store: EventStore, _ thing: EntityReference) throws {
        var state = try store.read { try Replay.logState(of: $0) }
        document = state.document()
        history = try state.history(of: thing)
        events = try store.allEvents()
        let all = UInt64(events.count)
        self.size = all
        root = try store.read { try $0.root(size: all) }
    }

    /// Compares with the log after a redaction: the same events and the same root; in the payloads nothing but strings differs;
    /// nothing else in the state; and the thing's past is as long as it was, by the same people at the same times.
    func check(_ after: RedactionSnapshot, _ result: RedactionResult, _ thing: EntityReference) throws {
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
        for section in [
            "messages", "deletedMessages", "items", "sessions", "prompts", "rows", "channels", "issues",
        ] {
            let (left, right) = (document[section]?.array ?? [], after.document[section]?.array ?? [])
            #expect(left.count == right.count, "\(section)")
            for (old, new) in zip(left, right) where old != new {
                let isOwn = Self.isOwn(old, thing)
                let isAnswer = old["replyTo"]?.string == thing.parts.last && old["content"] == new["content"]
                #expect(isOwn || isAnswer, "\(thing): \(old.text) became \(new.text)")
            }
        }
        guard thing.kind == .message else { return }
        for entry in after.history {
            if let text = entry.fields["content"]?.string, !text.isEmpty { #expect(text.hasPrefix("(redacted")) }
        }
    }

    private static func isOwn(_ row: JSONValue, _ thing: EntityReference) -> Bool {
        let names = ["source", "channel", "list", "table", "file", "id"]
        return names.compactMap { row[$0]?.string }.elementsEqual(thing.parts)
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
