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
    /// The thing's fields after the event; `nil` if it is gone. Of a move, with the new channel and id.
    public let after: JSONObject?
    /// The event before this one that gave fields; `nil` if none did.
    public let knownSince: SequenceNumber?
    /// The events of the entries before this one in the thing's history, the last ones, in its order, as many as were
    /// asked for.
    public internal(set) var earlier: [SequenceNumber] = []
}

extension LogState {
    /// Lends every edit, deletion, move and restoration in the histories of things, in the order of events.
    ///
    /// The entries are those of `history(of:)`. Memory: the place of each entry; an entry's texts are read when it is
    /// lent. Cost: reads all histories of the kinds once, and each lent entry once more.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of things to search.
    ///   - isWanted: whether to search a thing.
    ///   - last: the number of entries to lend, counted from the end; all for `nil`.
    ///   - earlier: of how many entries before each lent one the events are told.
    ///   - passedOver: gets each late version that altered nothing, which is no change; called in the order of things.
    ///   - includes: whether to lend an entry; called in the order of things, before `body`.
    public func forEachChange(
        of kinds: [EntityReference.Kind],
        where isWanted: (EntityReference) -> Bool,
        last: Int? = nil,
        earlier: Int = 0,
        passedOver: (HistoryEntry) -> Void = { _ in },
        includes: (AuditEntry) throws -> Bool,
        _ body: (AuditEntry) throws -> Void
    ) rethrows {
        var places: [AuditPlace] = []
        for kind in kinds {
            try forEachPlace(of: kind) { place in
                guard isWanted(place.reference) else { return }
                let entries = entries(of: place.key, source: place.source)
                var reader = AuditReader(place.reference)
                // The last entry that gave fields, which an entry after it changes.
                var basis: Int?
                for (index, entry) in entries.enumerated() {
                    let found = reader.read(entry)
                    if let late = entry.late, late.known == nil { passedOver(entry) }
                    if let found, try includes(found) {
                        places.append(
                            AuditPlace(entry, place.source, place.key, index, basis: basis, order: places.count)
                        )
                    }
                    if entry.knownFields(of: kind) != nil { basis = index }
                }
            }
        }
        places.sort()
        // Of a message or member with many entries all are made for one, so they are read once.
        var long: [LongHistory: [HistoryEntry]] = [:]
        for place in places.suffix(last ?? places.count) {
            guard var entry = auditEntry(at: place, &long) else { continue }
            if earlier > 0 {
                let before = max(0, place.entry - earlier)..<place.entry
                entry.earlier = entries(at: place, in: before, &long).map(\.sequence)
            }
            try body(entry)
        }
    }

    /// The number of wanted messages that compactions have dropped with their histories. O(dropped messages).
    public func droppedMessageCount(where isWanted: (EntityReference) -> Bool) -> Int {
        sources.reduce(0) { count, source in
            var count = count
            source.parts.messages.compacted.forEachSorted(source.context.names) { key in
                let parts = source.parts(of: EntityKey(.messages, key.channel, key.id))
                if isWanted(EntityReference(kind: .message, parts: parts)) { count += 1 }
            }
            return count
        }
    }

    /// Makes the entry at a place again; `nil` only if its section has no kind.
    private func auditEntry(at place: AuditPlace, _ long: inout [LongHistory: [HistoryEntry]]) -> AuditEntry? {
        let source = sources[place.source]
        guard
            let reference = EntityReference.Kind(section: place.key.section).map({
                EntityReference(kind: $0, parts: source.parts(of: place.key))
            })
        else { return nil }
        // Only the entry that has the fields before is read again, and the entry itself.
        var reader = AuditReader(reference)
        if let basis = place.basis {
            for entry in entries(at: place, in: basis..<basis + 1, &long) { _ = reader.read(entry) }
        }
        guard var entry = entries(at: place, in: place.entry..<place.entry + 1, &long).first else { return nil }
        if let late = entry.late {
            entry.late = LateVersion(number: place.late.number, of: place.late.count, known: late.known)
        }
        return reader.read(entry)
    }

    /// Some entries of the history that a place lies in. All entries of a message or member with many are kept in `long`,
    /// because each reading of one makes all of them.
    private func entries(
        at place: AuditPlace,
        in range: Range<Int>,
        _ long: inout [LongHistory: [HistoryEntry]]
    ) -> [HistoryEntry] {
        guard place.key.section.isOfMessages || place.key.section == .members, place.entry >= LongHistory.countMin
        else {
            return entries(of: place.key, source: place.source, in: range)
        }
        let thing = LongHistory(source: place.source, key: place.key)
        let all = long[thing] ?? entries(of: place.key, source: place.source)
        long[thing] = all
        return Array(all[range.clamped(to: all.indices)])
    }

    private func entries(of key: EntityKey, source: Int, in range: Range<Int>? = nil) -> [HistoryEntry] {
        let state = sources[source]
        let context = state.rowContext(asOf: clock)
        guard let fold = state.fold(for: key.section) else { return [] }
        guard let range else { return fold.history(of: key, context: context) ?? [] }
        return Array(fold.history(of: key, in: range, context: context))
    }
}

/// A message or member with many entries.
private struct LongHistory: Hashable {
    static let countMin = 16

    let source: Int
    let key: EntityKey
}

/// The place of an entry in a state: source, row key, and the entry's index in that row's history.
private struct AuditPlace: Comparable {
    let sequence: SequenceNumber
    let source: Int
    let key: EntityKey
    let entry: Int
    /// The index of the entry that gave the fields before; `nil` if none did.
    let basis: Int?
    /// The place of a late version, which an entry that is read alone lacks; 0 for any other.
    let late: LateVersion.Place
    /// The number of entries found before this one, unique; orders the entries of one event.
    let order: Int

    init(_ found: HistoryEntry, _ source: Int, _ key: EntityKey, _ entry: Int, basis: Int?, order: Int) {
        (sequence, self.source, self.key, self.entry) = (found.sequence, source, key, entry)
        (self.basis, self.order) = (basis, order)
        late = (found.late?.number ?? 0, found.late?.count ?? 0)
    }

    static func < (left: AuditPlace, right: AuditPlace) -> Bool {
        (left.sequence, left.order) < (right.sequence, right.order)
    }

    static func == (left: AuditPlace, right: AuditPlace) -> Bool { left.order == right.order }
}

/// Reads one history, oldest entry first, as changes with the fields before and after. Entries may be left out at the
/// beginning; the fields before are then known from the first entry with fields on.
private struct AuditReader {
    private var walk: HistoryWalk

    init(_ entity: EntityReference) {
        walk = HistoryWalk(entity)
    }

    /// The change of an entry; `nil` if the entry is the thing's first appearance, or no change that an audit lists.
    mutating func read(_ entry: HistoryEntry) -> AuditEntry? {
        let (entity, knownSince) = (walk.entity, walk.knownSince)
        defer { walk.take(entry) }
        let isEnd = entry.isEnd(of: entity.kind)
        guard let kind = Self.class(of: entry, isEnd: isEnd, isKnown: knownSince != nil) else { return nil }
        // Walking tells the fields before a partial entry only at the row's whole width, so such an entry has them.
        let before = entry.before ?? walk.known
        let stated = entry.knownFields(of: entity.kind)
        // A deletion's own fields are the last known ones. A branch's tip may have another one than was known.
        let last = isEnd && entry.bringsVersion ? stated ?? before : before
        let after = stated ?? before ?? JSONObject()
        return AuditEntry(
            entity: entity,
            entry: entry,
            class: kind,
            before: entry.isMove ? entry.fields["from"]?.object?.merging(last ?? after) : last,
            after: isEnd ? nil : entry.isMove ? entry.fields["to"]?.object?.merging(after) : after,
            knownSince: knownSince
        )
    }

    /// The table of `docs/semantics.md`, section Audit. A thing that appears again was there before, which makes it a
    /// restoration.
    private static func `class`(of entry: HistoryEntry, isEnd: Bool, isKnown: Bool) -> AuditEntry.Class? {
        // A late version is no change, unless it changed what is known.
        if let late = entry.late { return late.known != nil && isKnown ? .edit : nil }
        if isEnd { return .delete }
        return switch entry.change {
        case "added", "started": isKnown ? .restore : nil
        case "edited", "linked": .edit
        case "moved": .move
        case "restored", "selected": .restore
        case "changed" where entry.kinds.contains("soft_deleted"): .delete
        case "changed" where entry.kinds.contains("restored"): .restore
        case "changed": .edit
        default: nil
        }
    }
}

extension JSONObject {
    /// This object with the members of another one, which replace members of the same name.
    fileprivate func merging(_ other: JSONObject) -> JSONObject {
        var result = self
        for member in other.members { result[member.name] = member.value }
        return result
    }
}
