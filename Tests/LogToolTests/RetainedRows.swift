import EventLog
import Foundation
import Projections
import TestSupport

/// What a compaction must leave of a state's rows, by `docs/semantics.md` ("Compaction") and the document alone.
struct RetainedRows {
    /// A message's source, channel and id.
    typealias Name = [String]

    /// What orders the messages of a source.
    enum Order: String {
        case id, creation
        /// A place that the rows of deleted messages do not tell.
        case place
    }

    private let order: Order
    /// The deleted messages of each channel of which so many stay, where no row tells which.
    private var untold: [[String]: (names: Set<Name>, count: Int)] = [:]
    private var expected: [Name: JSONValue] = [:]
    /// The messages that a move binds together, each with all of them.
    private var bound: [Name: Set<Name>] = [:]
    private var kept: Set<Name> = []
    private let document: JSONValue
    private let policy: RetentionPolicy

    /// - Parameter clock: When the last event came.
    init(_ state: LogState, by policy: RetentionPolicy, clock: Timestamp, order: Order) throws {
        self.order = order
        var state = state
        document = state.document()
        self.policy = policy
        let live = Self.rows("messages", of: document)
        let deleted = Self.rows("deletedMessages", of: document)
        for row in live + deleted { expected[Self.name(of: row)] = row }
        for (channel, rows) in Dictionary(grouping: live, by: { Array(Self.name(of: $0).prefix(2)) }) {
            keep(live: rows, of: channel, clock)
        }
        for (channel, rows) in Dictionary(grouping: deleted, by: { Array(Self.name(of: $0).prefix(2)) }) {
            let (rule, isPinned) = rule(of: channel)
            let newest = rows.sorted { Self.isOlder($0, $1, order) }.map { Self.name(of: $0) }
            let count = rule.deleted ?? rule.keep ?? 500
            if order == .place, !isPinned, count < newest.count {
                untold[channel] = (Set(newest), count)
            } else {
                kept.formUnion(isPinned ? newest : newest.suffix(count))
            }
        }
        for pin in policy.pins where pin.kind == .message && expected[pin.parts] != nil { kept.insert(pin.parts) }
        if policy.keepsParents { keepParents() }
        try bindMoves(in: state)
        kept = kept.reduce(into: kept) { $0.formUnion(bound[$1] ?? []) }
    }

    /// Where the rows of a compacted log part from these; `nil` if they are as they must be.
    func difference(from found: JSONValue) -> String? {
        var rows: [Name: JSONValue] = [:]
        for section in ["messages", "deletedMessages"] {
            for row in Self.rows(section, of: found) { rows[Self.name(of: row)] = row }
        }
        for (name, row) in expected.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard kept.contains(name) else {
                if untold[Array(name.prefix(2))]?.names.contains(name) ?? false { continue }
                if rows[name] != nil { return "\(name) is there, and nothing keeps it" }
                continue
            }
            guard let found = rows[name] else { return "\(name) is gone" }
            let (left, right) = (Self.withoutParent(row), Self.withoutParent(found))
            if left != right { return "\(name): \(right.canonicalText), not \(left.canonicalText)" }
            if let difference = parentDifference(row, found) { return "\(name): \(difference)" }
        }
        if let name = rows.keys.first(where: { expected[$0] == nil }) { return "\(name) was not there" }
        for (channel, deleted) in untold {
            let found = deleted.names.filter { rows[$0] != nil }
            let most = deleted.count + deleted.names.filter { kept.contains($0) }.count
            if !(deleted.count...most).contains(found.count) { return "\(channel) has \(found.count) deleted messages" }
        }
        return nil
    }

    private mutating func keep(live rows: [JSONValue], of channel: [String], _ clock: Timestamp) {
        let (rule, isPinned) = rule(of: channel)
        kept.formUnion(rows.suffix(isPinned ? rows.count : rule.keep ?? 500).map { Self.name(of: $0) })
        guard let age = rule.keepWithin, age > .zero else { return }
        for row in rows {
            guard let text = row["createdAt"]?.string, let created = Timestamp(rfc3339: text) else { continue }
            if clock.microseconds - created.microseconds <= age.components.seconds * 1_000_000 {
                kept.insert(Self.name(of: row))
            }
        }
    }

    /// The narrowest rule that says something counts, for each of its three numbers.
    private func rule(of channel: [String]) -> (RetentionPolicy.Rule, isPinned: Bool) {
        let rules = policy.rules.sorted { $0.key < $1.key }.filter { place, _ in
            place.source.rawValue == channel[0] && (place.channel == nil || place.channel == channel[1])
        }
        let all = [policy.rule] + rules.map(\.value)
        let rule = RetentionPolicy.Rule(
            keep: all.compactMap(\.keep).last,
            keepWithin: all.compactMap(\.keepWithin).last,
            deleted: all.compactMap(\.deleted).last
        )
        return (rule, policy.pins.contains(EntityReference(kind: .channel, parts: channel)))
    }

    /// A kept live message keeps the live one that it answers, not that one's own.
    private mutating func keepParents() {
        let live = Set(Self.rows("messages", of: document).map { Self.name(of: $0) })
        for name in kept where live.contains(name) {
            guard let parent = expected[name]?["replyTo"]?["id"]?.string else { continue }
            let parentName = [name[0], name[1], parent]
            if live.contains(parentName) { kept.insert(parentName) }
        }
    }

    /// Messages belong together whose histories have one event that moved one of them.
    private mutating func bindMoves(in state: LogState) throws {
        var moved: [String: Set<Name>] = [:]
        for name in expected.keys {
            let entries = try state.history(of: EntityReference(kind: .message, parts: name))
            for entry in entries where entry.change == "moved" {
                moved["\(name[0]) \(entry.sequence)", default: []].insert(name)
            }
        }
        for names in moved.values { for name in names { bound[name, default: []].formUnion(names) } }
    }

    /// A reply shows a dropped message as compacted, one that was deleted for good as deleted.
    private func parentDifference(_ row: JSONValue, _ found: JSONValue) -> String? {
        guard let parent = row["replyTo"], let id = parent["id"]?.string else { return nil }
        let name = Array(Self.name(of: row).prefix(2)) + [id]
        let state = found["replyTo"]?["state"]?.string
        let isSame = found["replyTo"] == parent
        if untold[Array(name.prefix(2))]?.names.contains(name) ?? false { return nil }
        guard expected[name] != nil, !kept.contains(name) else { return isSame ? nil : "another parent" }
        return isSame && parent["state"]?.string == "deleted" || state == "compacted"
            ? nil : "the parent is \(state ?? "gone")"
    }

    private static func rows(_ section: String, of document: JSONValue) -> [JSONValue] {
        document[section]?.array ?? []
    }

    private static func name(of row: JSONValue) -> Name {
        ["source", "channel", "id"].map { row[$0]?.string ?? "" }
    }

    private static func withoutParent(_ row: JSONValue) -> JSONValue {
        guard var object = row.object else { return row }
        object["replyTo"] = nil
        return .object(object)
    }

    /// By the time of creation where that orders messages, none first; then by id: numbers by value, before other texts.
    private static func isOlder(_ left: JSONValue, _ right: JSONValue, _ order: Order) -> Bool {
        let (first, second) = (left["createdAt"]?.string, right["createdAt"]?.string)
        if order == .creation, first != second {
            return (first.flatMap { Timestamp(rfc3339: $0) } ?? Timestamp(microseconds: .min))
                < (second.flatMap { Timestamp(rfc3339: $0) } ?? Timestamp(microseconds: .min))
        }
        let (left, right) = (left["id"]?.string ?? "", right["id"]?.string ?? "")
        func key(_ text: String) -> (Int, Int, String) {
            let isNumber = !text.isEmpty && text.utf8.allSatisfy { 48...57 ~= $0 }
            return isNumber ? (0, text.utf8.count, text) : (1, 0, text)
        }
        return key(left) < key(right)
    }
}
