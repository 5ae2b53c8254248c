public import EventLog

/// An event that edited, deleted, moved or restored one thing, with its fields before and after.
public struct AuditEntry: Sendable {
    /// The kind of change.
    public enum Class: String, CaseIterable, Sendable {
        case edit, delete, move, restore
    }

    /// The thing.
    public let entity: EntityReference
    /// The event, as in the thing's history.
    public let entry: HistoryEntry
    /// The kind of change.
    public let `class`: Class
    /// The thing's fields before the event; of a deletion, the last known ones; `nil` if none were known.
    public let before: JSONObject?
    /// The thing's fields after the event; `nil` if it is gone.
    public let after: JSONObject?
    /// The event before this one that gave fields; `nil` if none did.
    public let knownSince: SequenceNumber?
}

extension Workspace {
    /// Lends every edit, deletion, move and restoration in the histories of things, in the order of events.
    ///
    /// The entries are those of `history(of:)`. Memory: the place of each entry; an entry's texts are read when it is lent.
    /// - Parameters:
    ///   - kinds: the kinds of things to search.
    ///   - isWanted: whether to search a thing.
    ///   - last: the number of entries to lend, counted from the end; all for `nil`.
    ///   - includes: whether to lend an entry.
    public func forEachChange(
        of kinds: [EntityReference.Kind],
        where isWanted: (EntityReference) -> Bool,
        last: Int? = nil,
        includes: (AuditEntry) throws -> Bool,
        _ body: (AuditEntry) throws -> Void
    ) rethrows {
        var places: [AuditPlace] = []
        for kind in kinds {
            try forEachPlace(of: kind) { place in
                guard isWanted(place.reference) else { return }
                let entries = entries(of: place.key, source: place.source)
                var reader = AuditReader(place.reference)
                for (index, entry) in entries.enumerated() {
                    guard let found = reader.read(entry), try includes(found) else { continue }
                    places.append(AuditPlace(entry.sequence, place.source, place.key, index, order: places.count))
                }
            }
        }
        places.sort()
        for place in places.suffix(last ?? places.count) {
            if let entry = auditEntry(at: place) { try body(entry) }
        }
    }

    /// The number of wanted messages that compactions have dropped with their histories. O(dropped messages).
    public func droppedMessageCount(where isWanted: (EntityReference) -> Bool) -> Int {
        sources.reduce(0) { count, source in
            count
                + source.parts.messages.compacted.count { key in
                    let parts = source.parts(of: EntityKey(.messages, key.channel, key.id))
                    return isWanted(EntityReference(kind: .message, parts: parts))
                }
        }
    }

    private func auditEntry(at place: AuditPlace) -> AuditEntry? {
        let source = sources[place.source]
        guard
            let reference = EntityReference.Kind(section: place.key.section).map({
                EntityReference(kind: $0, parts: source.parts(of: place.key))
            })
        else { return nil }
        // The previous entry nearly always has the fields before. Only if it has none is the whole history read.
        let end = place.entry + 1
        for start in [max(place.entry - 1, 0), 0] {
            var reader = AuditReader(reference)
            var last: AuditEntry?
            for entry in entries(of: place.key, source: place.source, in: start..<end) { last = reader.read(entry) }
            if start == 0 || last?.before != nil { return last }
        }
        return nil
    }

    private func entries(of key: EntityKey, source: Int, in range: Range<Int>? = nil) -> [HistoryEntry] {
        let state = sources[source]
        let context = state.rowContext(asOf: clock)
        guard let fold = state.fold(for: key.section) else { return [] }
        guard let range else { return fold.history(of: key, context: context) ?? [] }
        return Array(fold.history(of: key, in: range, context: context))
    }
}

/// The place of an entry in a state.
private struct AuditPlace: Comparable {
    let sequence: SequenceNumber
    let source: Int
    let key: EntityKey
    let entry: Int
    /// The number in which the entry was found; orders entries of one event.
    let order: Int

    init(_ sequence: SequenceNumber, _ source: Int, _ key: EntityKey, _ entry: Int, order: Int) {
        (self.sequence, self.source, self.key, self.entry, self.order) = (sequence, source, key, entry, order)
    }

    static func < (left: AuditPlace, right: AuditPlace) -> Bool {
        (left.sequence, left.order) < (right.sequence, right.order)
    }

    static func == (left: AuditPlace, right: AuditPlace) -> Bool { left.order == right.order }
}

/// Reads one history, oldest entry first, as changes with the fields before and after.
private struct AuditReader {
    private let entity: EntityReference
    private var known: JSONObject?
    private var knownSince: SequenceNumber?

    init(_ entity: EntityReference) {
        self.entity = entity
    }

    /// The change of an entry; `nil` if the entry is the thing's first appearance.
    mutating func read(_ entry: HistoryEntry) -> AuditEntry? {
        let isEnd = ["deleted", "removed", "ended"].contains(entry.change)
        let isMove = entry.change == "moved"
        var fields = entry.fields
        if isMove { (fields["from"], fields["to"]) = (nil, nil) }
        if isEnd, entity.kind == .message || entity.kind == .channel { fields["cause"] = nil }
        defer {
            if !fields.members.isEmpty { (known, knownSince) = (fields, entry.sequence) }
        }
        guard let kind = Self.class(of: entry, isKnown: known != nil) else { return nil }
        let last = isEnd && !fields.members.isEmpty ? fields : known
        return AuditEntry(
            entity: entity,
            entry: entry,
            class: kind,
            before: isMove ? entry.fields["from"]?.object?.merging(last ?? fields) : last,
            after: isEnd ? nil : isMove ? entry.fields["to"]?.object?.merging(fields) : fields,
            knownSince: knownSince
        )
    }

    private static func `class`(of entry: HistoryEntry, isKnown: Bool) -> AuditEntry.Class? {
        switch entry.change {
        case "added", "started": isKnown ? .restore : nil
        case "edited", "linked": .edit
        case "deleted", "removed", "ended": .delete
        case "moved": .move
        case "restored": .restore
        case "changed" where entry.kinds.contains("soft_deleted"): .delete
        case "changed" where entry.kinds.contains("restored"): .restore
        case "changed": .edit
        default: nil
        }
    }
}

extension JSONObject {
    fileprivate func merging(_ other: JSONObject) -> JSONObject {
        var result = self
        for member in other.members { result[member.name] = member.value }
        return result
    }
}
