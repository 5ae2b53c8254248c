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
    /// lent. Cost: reads once all histories of the kinds that `filter` does not rule out, and each lent entry once more. With
    /// `last`, of messages only the histories that can have so new an entry.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of things to search.
    ///   - filter: may leave out things whose histories it rules out.
    ///   - isWanted: whether to search a thing.
    ///   - last: the number of entries to lend, counted from the end; all for `nil`.
    ///   - earlier: of how many entries before each lent one the events are told.
    ///   - passedOver: gets each late version that altered nothing, which is no change; called in any order. With `last`, not
    ///     those of histories that are not read.
    ///   - includes: whether to lend an entry; called in any order, before `body`.
    public func forEachChange(
        of kinds: [EntityReference.Kind],
        filter: HistoryFilter = HistoryFilter(),
        where isWanted: (EntityReference) -> Bool,
        last: Int? = nil,
        earlier: Int = 0,
        passedOver: (HistoryEntry) -> Void = { _ in },
        includes: (AuditEntry) throws -> Bool,
        _ body: (AuditEntry) throws -> Void
    ) rethrows {
        var places = LastPlaces(last)
        var read: HistorySection?
        for thing in auditCandidates(of: kinds, filter, newestFirst: last != nil) {
            // All that follow have older entries.
            if let newest = thing.candidate.newest, places.isFull(before: newest) { break }
            let (source, key) = (thing.source, thing.candidate.key)
            if read?.source != source || read?.section != key.section {
                read = HistorySection(source: source, section: key.section, of: self)
            }
            guard let read else { continue }
            let reference = EntityReference(kind: thing.kind, parts: read.parts(of: key))
            guard isWanted(reference) else { continue }
            let entries = read.fold.history(of: key, context: read.context) ?? []
            var reader = AuditReader(reference)
            // The last entry that gave fields, which an entry after it changes.
            var basis: Int?
            for (index, entry) in entries.enumerated() {
                let found = reader.read(entry)
                if let late = entry.late, late.known == nil { passedOver(entry) }
                if let found, try includes(found) {
                    places.add(AuditPlace(entry, source, key, index, basis: basis, order: thing.order))
                }
                if entry.knownFields(of: thing.kind) != nil { basis = index }
            }
        }
        // Of a message or member with many entries all are made for one, so they are read once.
        var long: [LongHistory: [HistoryEntry]] = [:]
        for place in places.sorted {
            guard var entry = auditEntry(at: place, &long) else { continue }
            if earlier > 0 {
                let before = max(0, place.entry - earlier)..<place.entry
                // The mark of a compaction is no event of the thing.
                let told = entries(at: place, in: before, &long).filter { $0.change != HistoryEntry.compacted }
                entry.earlier = told.map(\.sequence)
            }
            try body(entry)
        }
    }

    /// The events that changed some messages, as `forEachChange` classes them; in any order. A message that moved is known by
    /// its new name alone. Cost: the histories of the messages.
    package func changes(ofMessages things: Set<EntityReference>) -> [(
        sequence: SequenceNumber, class: AuditEntry.Class
    )] {
        things.flatMap { thing in
            var reader = AuditReader(thing)
            return entries(ofMessage: thing).compactMap { entry in
                reader.read(entry).map { ($0.entry.sequence, $0.class) }
            }
        }
    }

    private func entries(ofMessage thing: EntityReference) -> [HistoryEntry] {
        guard thing.kind == .message, thing.parts.count == 3, let source = try? SourceName(thing.parts[0]),
            let index = indexes[source]
        else { return [] }
        let names = sources[index].context.names
        guard let channel = names.find(thing.parts[1]), let id = names.find(thing.parts[2]) else { return [] }
        for section in EntityReference.Kind.message.sections {
            let found = entries(of: EntityKey(section, channel, id), source: index)
            if !found.isEmpty { return found }
        }
        return []
    }

    /// A thing to search; `order` is its number in the order of kinds, sources and rows.
    private typealias AuditCandidate = (
        kind: EntityReference.Kind, source: Int, candidate: HistoryCandidate, order: Int
    )

    /// The things whose histories a filter does not rule out, in the order of kinds, sources and rows, or first those of which
    /// nothing tells the newest entry, then those with the newest entries.
    private func auditCandidates(
        of kinds: [EntityReference.Kind],
        _ filter: HistoryFilter,
        newestFirst: Bool
    ) -> [AuditCandidate] {
        var things: [AuditCandidate] = []
        for kind in kinds {
            forEachCandidate(of: kind, filter) { things.append((kind, $0, $1, things.count)) }
        }
        if newestFirst {
            things.sort { left, right in
                let (one, other) = (left.candidate.newest ?? .max, right.candidate.newest ?? .max)
                return one != other ? one > other : left.order < right.order
            }
        }
        return things
    }

    /// The number of wanted messages that compactions have dropped with their histories, those that are live again among them. O(dropped messages).
    public func droppedMessageCount(where isWanted: (EntityReference) -> Bool) -> Int {
        sources.reduce(0) { count, source in
            var count = count
            source.parts.messages.compacted.forEachSorted(source.context.names) { key, _ in
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

/// What the histories of one section of a source are read with. Made once for many, because making it copies the source's state.
private struct HistorySection {
    let source: Int
    let section: Section
    let fold: any Fold
    let context: RowContext
    private let name: String

    /// `nil` for a section without a fold.
    init?(source: Int, section: Section, of state: borrowing LogState) {
        guard let fold = state.sources[source].fold(for: section) else { return nil }
        (self.source, self.section, self.fold) = (source, section, fold)
        (context, name) = (state.sources[source].rowContext(asOf: state.clock), state.sources[source].name.rawValue)
    }

    /// As `SourceState.parts(of:)`.
    func parts(of key: EntityKey) -> [String] {
        let second = key.second == .none ? [] : [context.names.text(key.second)]
        return [name, context.names.text(key.first)] + second
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
    /// The number of the thing in the order of things; orders the entries of one event, before `entry`.
    let order: Int

    init(_ found: HistoryEntry, _ source: Int, _ key: EntityKey, _ entry: Int, basis: Int?, order: Int) {
        (sequence, self.source, self.key, self.entry) = (found.sequence, source, key, entry)
        (self.basis, self.order) = (basis, order)
        late = (found.late?.number ?? 0, found.late?.count ?? 0)
    }

    static func < (left: AuditPlace, right: AuditPlace) -> Bool {
        (left.sequence, left.order, left.entry) < (right.sequence, right.order, right.entry)
    }

    static func == (left: AuditPlace, right: AuditPlace) -> Bool {
        left.order == right.order && left.entry == right.entry
    }
}

/// The places found, or the last of them.
private struct LastPlaces {
    private let count: Int?
    private var places: [AuditPlace] = []
    /// How many places must be found before those too many are removed again.
    private var sortedCount: Int
    /// The wanted places are at this sequence or later; `nil` before there are so many.
    private var oldest: UInt64?

    /// - Parameter count: how many are wanted; `nil` for all.
    init(_ count: Int?) {
        self.count = count
        sortedCount = count ?? .max
    }

    mutating func add(_ place: AuditPlace) { places.append(place) }

    /// The wanted places in order.
    var sorted: [AuditPlace] { places.sorted().suffix(count ?? places.count) }

    /// Whether an entry at a sequence or before it is none of the wanted ones.
    mutating func isFull(before newest: UInt64) -> Bool {
        guard let count else { return false }
        if places.count >= sortedCount {
            places = sorted
            oldest = places.first?.sequence.rawValue ?? .max
            sortedCount = count + count / 4 + 1
        }
        return oldest.map { $0 > newest } ?? false
    }
}

/// Reads one history, oldest entry first, as changes with the fields before and after. Entries may be left out at the
/// beginning; the fields before are then known from the first entry with fields on.
struct AuditReader {
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
