import EventLog

/// Which events closed a circle of replies, and what was said of it.
///
/// Kept because a compaction may drop messages of the circle: the event that closed it is then said to have done so by
/// this table and not by the messages.
struct ReplyCircles: Codable, Sendable {
    private static let namedMax = 8

    private var reasons: [UInt64: [String]] = [:]
    /// What facts gave and no event has repeated yet.
    private var awaited: [UInt64: [String]] = [:]
    /// The last event seen. Up to the one that facts were made at, only they are believed.
    private var last: UInt64 = 0
    private var believed: UInt64 = 0

    /// Says at an event what is known to have been said there.
    mutating func repeatKnown(in context: inout FoldContext) {
        last = max(last, context.event.sequence.rawValue)
        guard !awaited.isEmpty, let known = awaited.removeValue(forKey: context.event.sequence.rawValue) else { return }
        for reason in known { context.issue(reason) }
    }

    /// Reports a circle, given as its members in the direction of the replies.
    mutating func report(_ circle: [MessageKey], in context: inout FoldContext) {
        let sequence = context.event.sequence.rawValue
        guard sequence > believed else { return }
        let reason = Self.reason(circle, context.names)
        guard reasons[sequence]?.contains(reason) != true else { return }
        reasons[sequence, default: []].append(reason)
        context.issue(reason)
    }

    /// The circle in words that do not depend on where it was entered.
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

    /// All that was said, by sequence.
    var snapshot: JSONValue {
        .array(
            reasons.sorted { $0.key < $1.key }
                .map { .array([.string(String($0.key)), .array($0.value.map { .string($0) })]) }
        )
    }

    /// All that was said, and up to which event.
    var facts: JSONValue {
        .object(["until": .int(last), "said": snapshot])
    }

    /// Takes over what `facts` gave.
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
