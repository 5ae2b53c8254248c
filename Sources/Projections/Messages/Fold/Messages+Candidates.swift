import EventLog
import JSON

/// Searching the histories of messages by what the store keeps of them, without making entries.
extension Messages {
    func candidates(in section: Section, context: RowContext, _ filter: HistoryFilter) -> [HistoryCandidate] {
        guard section.isOfMessages else { return [] }
        // In the order of memory: the channels' order reads the same cells in many times the time.
        var fits = [Bool](repeating: false, count: store.count)
        var isAny = false
        for place in 0..<store.count where (state(at: place) == .live) == (section == .messages) {
            guard mayFit(place, filter, tip: context.tip) else { continue }
            (fits[place], isAny) = (true, true)
        }
        if !isAny { return [] }
        return knownPlaces(in: section, names: context.names) { fits[$0] }.map { key, place in
            HistoryCandidate(key: key, newest: context.tip == nil ? newestSequence(at: place) : nil)
        }
    }

    /// Whether the history of the message at a place may be one that a filter wants. With a `tip`, a history can end with an
    /// entry that is made from the branch alone.
    private func mayFit(_ place: Int, _ filter: HistoryFilter, tip: EventReference?) -> Bool {
        let cell = store.cells[place]
        // Behind a drop, the first version that is known is a change of one that is not.
        let isWhole = !filter.needsChange || drop(at: place) == nil
        switch cell.form {
        case .packed, .listed:
            if filter.needsEnd, store.newestEntry(of: cell, where: { !$0.happening.isWrite }) == nil { return false }
            if filter.needsChange, isWhole, cell.last == 0, cell.first?.happening.isFirstVersion != false {
                return false
            }
            guard let text = filter.text else { return true }
            return store.newestEntry(of: cell) { store.texts.mayHold(text, in: $0.version.text) } != nil
        case .written:
            if tip == nil, cell.standing == .live {
                if filter.needsEnd || filter.needsChange && isWhole && cell.first?.happening.isFirstVersion != false {
                    return false
                }
            }
            guard let text = filter.text, let first = cell.first else { return true }
            // All texts of a packed content stand in it as they are, or in the text of an object.
            return store.texts.withPacked(first.version.text) { text.occursUnescaped(in: $0) }
        case .record:
            let record = store.records[Int(cell.last)]
            if filter.needsEnd, tip == nil, record.entries.allSatisfy(\.isWrite) { return false }
            guard let text = filter.text else { return true }
            return record.current?.saying.mayHold(text) == true || record.entries.contains { $0.mayHold(text) }
        }
    }

    /// The sequence of the newest entry of the message at a place; `nil` if it has none, or a late version. Not for messages
    /// of a branch.
    private func newestSequence(at place: Int) -> UInt64? {
        let cell = store.cells[place]
        switch cell.form {
        case .packed, .listed:
            var (newest, hasWrite, hasLate) = (UInt64?.none, false, false)
            store.forEachEntry(of: cell) { entry in
                let happening = entry.happening
                if newest == nil { newest = happening.sequence }
                // A version behind a deletion is late, too.
                if happening.isWrite ? !happening.counts : hasWrite { hasLate = true }
                hasWrite = hasWrite || happening.isWrite
            }
            return hasLate ? nil : newest
        case .written: return store.end(ofWritten: cell)?.end.since.sequence.rawValue ?? cell.first?.happening.sequence
        case .record:
            let entries = store.records[Int(cell.last)].entries
            return entries.contains { $0.arrival != .inTime } ? nil : entries.last?.event.sequence.rawValue
        }
    }
}

extension MessageStore {
    /// Whether the content of the current version of the message at a place may contain a text.
    func contentMayHold(_ search: TextSearch, at place: Int) -> Bool {
        let cell = cells[place]
        switch cell.form {
        case .packed, .listed: return version(of: cell).map { texts.mayHold(search, in: $0.text) } ?? false
        case .written: return cell.first.map { texts.withPacked($0.version.text, search.occurs(in:)) } ?? true
        case .record: return records[Int(cell.last)].current.map { search.occurs(in: $0.saying.text.string) } ?? false
        }
    }
}

extension PackedHappening {
    /// Whether the entry tells that the message appeared, and no more.
    fileprivate var isFirstVersion: Bool { word == .created && counts }
}

extension TextPool {
    /// Whether a text or the strings of the object behind it may contain a text.
    fileprivate func mayHold(_ search: TextSearch, in text: PooledText) -> Bool {
        withText(text) { text, object in
            (text.hasEscapes ? search.occursUnescaped(in: text.bytes) : search.occurs(in: text.bytes))
                || !object.isEmpty && search.occursUnescaped(in: object)
        }
    }
}

extension MessageRecord.Entry {
    /// Whether the fields before or after the entry may contain a text. A move tells of channels, too.
    fileprivate func mayHold(_ search: TextSearch) -> Bool {
        if case .moved = happening { return true }
        return revision?.saying.mayHold(search) == true
    }
}

extension MessageSaying {
    /// Whether the texts of the content may contain a text. Authors are none of them.
    fileprivate func mayHold(_ search: TextSearch) -> Bool {
        search.occurs(in: text.string)
            || [tags, files, images].contains { $0?.contains { search.occurs(in: $0) } == true }
            || attachments?.contains { $0.mayHold(search) } == true
            || extra.members.contains { $0.value.mayHold(search) }
    }
}

extension JSONValue {
    /// Whether a text within the value may contain a text.
    fileprivate func mayHold(_ search: TextSearch) -> Bool {
        switch self {
        case .string(let text): search.occurs(in: text)
        case .array(let elements): elements.contains { $0.mayHold(search) }
        case .object(let object): object.members.contains { $0.value.mayHold(search) }
        case .null, .bool, .number: false
        }
    }
}
