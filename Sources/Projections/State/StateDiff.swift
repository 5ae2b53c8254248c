import EventLog

/// One thing that differs between two states.
public struct StateDifference: Hashable, Sendable {
    /// The kind of difference.
    public enum Change: String, Hashable, Sendable {
        case added, removed, changed
        /// `deleted`: a message that is live in the first state and deleted in the second. `restored`: the other way
        /// round.
        case deleted, restored
    }

    /// The two values of one member.
    public struct Field: Hashable, Sendable {
        /// The member's name.
        public let name: String
        /// The first state's value; `nil` if it has none.
        public let a: JSONValue?
        /// The second state's value; `nil` if it has none.
        public let b: JSONValue?
    }

    /// The thing that differs.
    public let entity: EntityReference
    /// `added` if the first state lacks the thing, `removed` if the second does.
    public let change: Change
    /// The members that differ, in the order of the state document. For `deleted` and `restored` only members of
    /// deleted messages, and first `content`, even if equal: a deletion shows the last text.
    public let fields: [Field]
}

/// Compares state documents row by row, by the ids of the things. `docs/semantics.md` describes the result.
public enum StateDiff {
    /// The differences between two state documents, by kind, then in the document's order; rows that only the second
    /// has follow.
    ///
    /// Empty exactly if the digests are equal (I12): effects of sequence numbers or passing time alone are no
    /// difference. A live and a deleted message with one key are the same thing. Documents with sections left out
    /// compare as if those were empty. O(rows).
    public static func differences(_ a: JSONValue, _ b: JSONValue) -> [StateDifference] {
        differences(a, b) {
            differences(of: .message, a, b) + orderDifferences(MessageOrders(a), MessageOrders(b))
        }
    }

    /// The differences between two documents, with those of messages, and of their order, from elsewhere.
    static func differences(_ a: JSONValue, _ b: JSONValue, messages: () -> [StateDifference]) -> [StateDifference] {
        var found: [StateDifference] = []
        for kind in EntityReference.Kind.allCases where kind != .typing && kind != .issue {
            found += kind == .message ? messages() : differences(of: kind, a, b)
        }
        return found + issueDifferences(a, b)
    }

    private static func differences(
        of kind: EntityReference.Kind,
        _ a: JSONValue,
        _ b: JSONValue
    ) -> [StateDifference] {
        let (left, right) = (Table(kind: kind, document: a), Table(kind: kind, document: b))
        let found = left.references.compactMap { left.difference(at: $0, from: right) }
        return found
            + right.references.filter { left.rows[$0] == nil }.compactMap { left.difference(at: $0, from: right) }
    }

    /// The channels whose common messages have another order. Messages that one side lacks are differences of their
    /// own.
    private static func orderDifferences(_ left: MessageOrders, _ right: MessageOrders) -> [StateDifference] {
        left.channels.compactMap { channel in
            let ids = left.ids[channel] ?? []
            let others = right.ids[channel] ?? []
            let common = Set(ids).intersection(others)
            let first = ids.filter(common.contains)
            let second = others.filter(common.contains)
            guard first != second else { return nil }
            let field = StateDifference.Field(
                name: "order",
                a: .array(first.map { .string($0.string) }),
                b: .array(second.map { .string($0.string) })
            )
            return StateDifference(entity: channel, change: .changed, fields: [field])
        }
    }

    /// The (source, reason) pairs whose counts differ, sorted by source, then reason.
    private static func issueDifferences(_ a: JSONValue, _ b: JSONValue) -> [StateDifference] {
        let left = issueCounts(a)
        let right = issueCounts(b)
        return Set(left.keys).union(right.keys)
            .sorted { $0.parts.lexicographicallyPrecedes($1.parts) { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
            .compactMap { issue in
                let counts = (left[issue, default: 0], right[issue, default: 0])
                guard counts.0 != counts.1 else { return nil }
                return StateDifference(
                    entity: issue,
                    change: counts.0 == 0 ? .added : counts.1 == 0 ? .removed : .changed,
                    fields: [.init(name: "count", a: .int(counts.0), b: .int(counts.1))]
                )
            }
    }

    /// How often each (source, reason) occurs; a row with a `count` occurs that many times. Sums stop at `Int.max`,
    /// because a document may come from outside.
    private static func issueCounts(_ document: JSONValue) -> [EntityReference: Int] {
        var counts: [EntityReference: Int] = [:]
        for row in document["issues"]?.array ?? [] {
            let parts = Section.issues.keyMembers.map { row[$0]?.string ?? "" }
            let count = row["count"]?.number?.int64.map { Int(clamping: $0) } ?? 1
            let before = counts[EntityReference(kind: .issue, parts: parts), default: 0]
            let (sum, isTooMuch) = before.addingReportingOverflow(count)
            counts[EntityReference(kind: .issue, parts: parts)] = isTooMuch ? .max : sum
        }
        return counts
    }
}

/// The order of the live messages of each channel in a document. Texts compare byte for byte, as ids do.
private struct MessageOrders {
    /// In the document's order.
    private(set) var channels: [EntityReference] = []
    private(set) var ids: [EntityReference: [ExactText]] = [:]

    init(_ document: JSONValue) {
        for row in document["messages"]?.array ?? [] {
            let parts = ["source", "channel"].map { row[$0]?.string ?? "" }
            let channel = EntityReference(kind: .channel, parts: parts)
            if ids[channel] == nil { channels.append(channel) }
            ids[channel, default: []].append(ExactText(row["id"]?.string ?? ""))
        }
    }
}

/// The rows of one kind of thing in one document. Of two rows for one thing, the later one counts.
private struct Table {
    struct Row {
        let isLive: Bool
        let members: JSONObject
    }

    /// The things in the document's order, each once; a message's place is that of its first row.
    let references: [EntityReference]
    /// The rows without the members that identify them, and without those outside the digest.
    let rows: [EntityReference: Row]

    init(kind: EntityReference.Kind, document: JSONValue) {
        var references: [EntityReference] = []
        var rows: [EntityReference: Row] = [:]
        for section in kind.sections {
            for value in document[section.rawValue]?.array ?? [] {
                guard var members = value.object else { continue }
                let parts = section.keyMembers.map { members[$0]?.string ?? "" }
                for name in section.keyMembers + section.membersOutsideDigest { members[name] = nil }
                let reference = EntityReference(kind: kind, parts: parts)
                if rows[reference] == nil { references.append(reference) }
                rows[reference] = Row(isLive: section != .deletedMessages, members: members)
            }
        }
        self.references = references
        self.rows = rows
    }

    /// The difference of one thing; this table's is the first state. `nil` if the rows agree. At least one table must
    /// have the thing, or the result is `added` without fields.
    func difference(at reference: EntityReference, from other: Table) -> StateDifference? {
        let (left, right) = (rows[reference], other.rows[reference])
        switch (left?.isLive, right?.isLive) {
        case (true, false): return StateDifference(entity: reference, change: .deleted, fields: ending(left, right))
        case (false, true): return StateDifference(entity: reference, change: .restored, fields: ending(left, right))
        case (nil, _): return StateDifference(entity: reference, change: .added, fields: fields(left, right))
        case (_, nil): return StateDifference(entity: reference, change: .removed, fields: fields(left, right))
        default:
            let fields = fields(left, right)
            return fields.isEmpty ? nil : StateDifference(entity: reference, change: .changed, fields: fields)
        }
    }

    /// The members that differ by canonical bytes, so that `1.0` and `1` are equal.
    private func fields(_ a: Row?, _ b: Row?) -> [StateDifference.Field] {
        names(a, b).compactMap { name in
            let field = StateDifference.Field(name: name, a: a?.members[name], b: b?.members[name])
            if let left = field.a, let right = field.b, left.canonicalBytes == right.canonicalBytes { return nil }
            return field
        }
    }

    /// The fields of a deletion or restoration. Rows of deleted messages have fewer members, so others are not
    /// compared.
    private func ending(_ a: Row?, _ b: Row?) -> [StateDifference.Field] {
        let deleted = a?.isLive == false ? a : b
        var fields = fields(a, b).filter { $0.name != "content" && deleted?.members[$0.name] != nil }
        let (left, right) = (a?.members["content"], b?.members["content"])
        if left != nil || right != nil { fields.insert(.init(name: "content", a: left, b: right), at: 0) }
        return fields
    }

    /// The first row's members in order, then those that only the second has.
    private func names(_ a: Row?, _ b: Row?) -> [String] {
        let first = a?.members.members.map(\.name) ?? []
        return first + (b?.members.members.map(\.name) ?? []).filter { a?.members[$0] == nil }
    }
}

extension Section {
    /// The members of a row that identify its thing, in the order of the parts of an `EntityReference`.
    var keyMembers: [String] {
        switch self {
        case .channels, .guilds, .sessions, .prompts: ["source", "id"]
        case .messages, .deletedMessages: ["source", "channel", "id"]
        case .members, .bans, .voiceStates: ["source", "guild", "user"]
        case .roles: ["source", "guild", "id"]
        case .presences: ["source", "user"]
        case .typing: ["source", "channel", "user"]
        case .readStates: ["source", "channel"]
        case .items: ["source", "list", "id"]
        case .rows: ["source", "table", "id"]
        case .sessionAggregates: ["source"]
        case .issues: ["source", "reason"]
        }
    }
}
