package import EventLog

/// The known fields of one thing, entry by entry of its history (I33). Histories, audits and searches are read by it.
///
/// Walked over all entries up to a point, it has what the state at that point shows of the thing.
package struct HistoryWalk {
    /// The thing.
    package let entity: EntityReference
    /// The known fields; of a thing that is gone, the last known ones; `nil` before an entry gave some.
    ///
    /// Cost: O(1), but O(fields) for each partial entry since the last call.
    package var known: JSONObject? {
        mutating get {
            for (after, before) in changes { told = fields(told ?? JSONObject(), changedTo: after, from: before) }
            changes = []
            return told
        }
    }

    /// The fields before `changes`.
    private var told: JSONObject?
    /// What partial entries changed, oldest first.
    private var changes: [(after: JSONObject, before: JSONObject?)] = []
    /// The event that gave them.
    package private(set) var knownSince: SequenceNumber?
    /// Whether the thing exists. A message exists under the key that it moved to.
    package private(set) var isPresent = false

    /// Begins before the first entry of the thing's history.
    package init(_ entity: EntityReference) {
        self.entity = entity
    }

    /// Takes the next entry.
    package mutating func take(_ entry: HistoryEntry) {
        if let fields = entry.knownFields(of: entity.kind) {
            if fields["partial"]?.bool == true {
                changes.append((fields, entry.before))
            } else {
                (told, changes) = (fields, [])
            }
            knownSince = entry.sequence
        }
        if entry.late == nil {
            let isThere = !entry.isEnd(of: entity.kind) && entry.change != HistoryEntry.compacted
            isPresent = entry.isMove ? isHere(entry.fields["to"]?.object) : isThere
        }
    }

    /// The fields after an entry that tells only what it changed.
    private func fields(_ fields: JSONObject, changedTo after: JSONObject, from before: JSONObject?) -> JSONObject {
        switch entity.kind {
        case .row: Self.row(fields, changedTo: after, from: before)
        case .item: Self.item(fields, changedTo: after)
        default: Self.member(fields, without: after["lostRoles"]?.array ?? [])
        }
    }

    private static func item(_ item: JSONObject, changedTo after: JSONObject) -> JSONObject {
        var item = item
        for member in after.members where member.name != "extra" && member.name != "partial" {
            item[member.name] = member.value.isNull ? nil : member.value
        }
        var extra = item["extra"]?.object ?? JSONObject()
        for member in after["extra"]?.object?.members ?? [] {
            extra[member.name] = member.value.isNull ? nil : member.value
        }
        item["extra"] = extra.members.isEmpty ? nil : .object(extra)
        return item
    }

    private static func member(_ member: JSONObject, without lost: [JSONValue]) -> JSONObject {
        var member = member
        let lost = Set(lost.compactMap(\.string))
        member["roles"] = .array((member["roles"]?.array ?? []).filter { !lost.contains($0.string ?? "") })
        return member
    }

    private static func row(_ row: JSONObject, changedTo after: JSONObject, from before: JSONObject?) -> JSONObject {
        var row = row
        if let state = after["state"] { row["state"] = state }
        var record = row["record"]?.object ?? JSONObject()
        for member in before?["record"]?.object?.members ?? [] { record[member.name] = nil }
        for member in after["record"]?.object?.members ?? [] { record[member.name] = member.value }
        row["record"] = .object(record)
        for marks in ["unknownColumns", "staleColumns"] {
            let gone = before?[marks]?.array ?? []
            let names = (row[marks]?.array ?? []).filter { !gone.contains($0) } + (after[marks]?.array ?? [])
            row[marks] = names.isEmpty ? nil : .array(names.sorted { $0.canonicalText < $1.canonicalText })
        }
        return row
    }

    private func isHere(_ key: JSONObject?) -> Bool {
        ["channel", "id"].map { key?[$0]?.string } == entity.parts.suffix(2).map { Optional($0) }
    }
}

extension HistoryEntry {
    /// The change of an entry that tells that a compaction dropped what was before. The thing is not known there.
    package static let compacted = "compacted"

    /// True if a thing of a kind is gone after the entry, whose fields are then the last known ones. A late version ends
    /// nothing, and a prompt that nobody can read is still there.
    package func isEnd(of kind: EntityReference.Kind) -> Bool {
        late == nil && (Self.ends.contains(change) || kind == .message && change == "unreadable")
    }

    /// True if the thing has another name after the entry.
    package var isMove: Bool { late == nil && change == "moved" }

    /// False for an entry that only tells which of the known versions a branch's tip has.
    package var bringsVersion: Bool { change != "selected" && change != "unselected" }

    /// Whether the entry tells what is known of the thing after it.
    package var givesFields: Bool { late.map { $0.known != nil } ?? !fields.members.isEmpty }

    private static let ends: Set<String> = ["deleted", "removed", "ended", "unselected"]

    /// The known fields of a thing of a kind after the entry, without the members that describe the change; `nil` if the entry
    /// leaves that as it was.
    package func knownFields(of kind: EntityReference.Kind) -> JSONObject? {
        if let late { return late.known }
        var known = fields
        if isMove { (known["from"], known["to"]) = (nil, nil) }
        if isEnd(of: kind), kind == .message || kind == .channel { known["cause"] = nil }
        return known.members.isEmpty ? nil : known
    }
}
