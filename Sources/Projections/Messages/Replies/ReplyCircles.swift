import EventLog

/// The events that closed a circle of replies, and the issue of each.
///
/// A compaction may drop messages of a circle. Then this table, not the messages, reports the issue when the closing
/// event is applied again. Contains sequences and texts but no handles, so facts can contain all of it.
struct ReplyCircles: Codable, Sendable {
    /// A circle may have thousands of members; an issue names this many.
    private static let namedMax = 8

    /// The reasons of all circles found, by the sequence of the closing event, in the order of their finding. An event
    /// can close several circles, one for each message that it writes.
    private var reasons: [UInt64: [String]] = [:]
    /// The issues from facts whose event has not been applied again yet. Empty without a compaction.
    private var awaited: [UInt64: [String]] = [:]
    /// The sequence of the last event seen.
    private var last: UInt64 = 0
    /// Up to this sequence only the facts report circles, as messages may be missing; 0 without facts.
    private var believed: UInt64 = 0

    /// Reports again the issues that facts have for the event being applied. Called for each change; an event's issues
    /// are reported once.
    mutating func repeatKnown(in context: inout FoldContext) {
        last = max(last, context.event.sequence.rawValue)
        guard !awaited.isEmpty, let known = awaited.removeValue(forKey: context.event.sequence.rawValue) else { return }
        for reason in known { context.issue(reason) }
    }

    /// Reports a circle, given as its members in the direction of the replies.
    mutating func report(_ circle: [MessageKey], in context: inout FoldContext) {
        let sequence = context.event.sequence.rawValue
        assert(!circle.isEmpty, "a circle has at least the message that answers itself")
        guard sequence > believed else { return }
        let reason = Self.reason(circle, context.names)
        guard reasons[sequence]?.contains(reason) != true else { return }
        reasons[sequence, default: []].append(reason)
        context.issue(reason)
    }

    /// The issue's text. It begins with the least id, so it does not depend on where the circle was entered. It names
    /// ids, never texts of messages.
    private static func reason(_ circle: [MessageKey], _ names: Names) -> String {
        guard let channel = circle.first?.channel else { return "replies form a circle" }
        let start = circle.indices.min { names.precedes(circle[$0].id, circle[$1].id) } ?? 0
        let ids = (circle[start...] + circle[..<start]).map { "\"\(names.text($0.id))\"" }
        let listed = ids.prefix(namedMax).joined(separator: ", ")
        let rest = ids.count > namedMax ? " and \(ids.count - namedMax) more" : ""
        return ids.count == 1
            ? "message \(listed) in \"\(names.text(channel))\" is a reply to itself"
            : "messages \(listed)\(rest) in \"\(names.text(channel))\" reply to one another in a circle"
    }

    /// All issues, by sequence.
    var normalForm: JSONValue {
        .array(
            reasons.sorted { $0.key < $1.key }
                .map { .array([.string(String($0.key)), .array($0.value.map { .string($0) })]) }
        )
    }

    /// All issues, and the last event seen.
    var facts: JSONValue {
        .object(["until": .int(last), "said": normalForm])
    }

    /// Takes over what `facts` gave, before any event. Absent facts change nothing.
    mutating func load(_ facts: JSONValue?) throws {
        believed = facts?["until"]?.number?.uint64 ?? 0
        last = believed
        let facts = facts?["said"]
        for fact in facts?.array ?? [] {
            guard let pair = fact.array, pair.count == 2, let sequence = pair[0].string.flatMap(UInt64.init) else {
                throw ProjectionError.facts("a circle of replies has no sequence")
            }
            let said = (pair[1].array ?? []).compactMap(\.string)
            reasons[sequence] = said
            awaited[sequence] = said
        }
    }
}
