public import EventLog

/// An event that edited, deleted, moved or restored one thing, with what was known before and after.
public struct AuditEntry: Sendable {
    /// What a change did to a thing that was there.
    public enum Class: String, CaseIterable, Sendable {
        case edit, delete, move, restore
    }

    /// The thing.
    public let entity: EntityReference
    /// The event, as the thing's history has it.
    public let entry: HistoryEntry
    /// What it did.
    public let `class`: Class
    /// What was known of the thing before; of a delete what was known last; `nil` where nothing was.
    public let before: JSONObject?
    /// What is known of it afterwards; `nil` where it is gone.
    public let after: JSONObject?
    /// The event that `before` was known from, where it is another one.
    public let knownSince: SequenceNumber?
}

extension Workspace {
    /// Lends every edit, delete, move and restore that the histories of things hold, in the order of events.
    ///
    /// The entries are those of `history(of:)`. All that is kept on the way is where each of them lies: its texts are read out
    /// of the state once it is lent.
    /// - Parameters:
    ///   - kinds: What kinds of things are looked at.
    ///   - isWanted: Which things are.
    ///   - last: How many are lent at most, the last ones; all for `nil`.
    ///   - includes: Which entries are lent.
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

    /// How many messages compactions have dropped, with all that happened to them.
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
        // Nearly always the entry before says what was known before; where it says nothing, all of them are asked.
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

/// Where an entry lies in a state.
private struct AuditPlace: Comparable {
    let sequence: SequenceNumber
    let source: Int
    let key: EntityKey
    let entry: Int
    /// The place among those of one event.
    let order: Int

    init(_ sequence: SequenceNumber, _ source: Int, _ key: EntityKey, _ entry: Int, order: Int) {
        (self.sequence, self.source, self.key, self.entry, self.order) = (sequence, source, key, entry, order)
    }

    static func < (left: AuditPlace, right: AuditPlace) -> Bool {
        (left.sequence, left.order) < (right.sequence, right.order)
    }

    static func == (left: AuditPlace, right: AuditPlace) -> Bool { left.order == right.order }
}

/// Reads one history, oldest entry first, as changes from what was known to what is known.
private struct AuditReader {
    private let entity: EntityReference
    private var known: JSONObject?
    private var knownSince: SequenceNumber?

    init(_ entity: EntityReference) {
        self.entity = entity
    }

    /// `nil` where the entry is the thing's first appearance.
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
