import EventLog

/// What clients make of the changes of rows.
extension Rows {
    /// A change as a client sees it; `nil` where it sees none. Canonically the change itself.
    func seen(_ change: RowChange, in context: inout FoldContext) -> RowChange? {
        if context.rules.isEmpty { return change }
        var seen = change
        seen.isPlacedByArrival = context.rules.contains(.rowsAreTakenAsTheyArrive)
        let table = ClientTable(rawValue: context.names.text(change.table))
        if table == .jobs {
            guard let place = jobPlace(of: change, in: &context) else { return nil }
            seen.id = place
        }
        let known = registers[EntityKey(.rows, seen.table, seen.id)]?.settled
        guard let table, change.operation != .delete else { return seen }
        let isSeen = change.operation == .insert || seen.readUpdate(of: known, in: table, rules: context.rules)
        if table == .notes, context.rules.contains(.noteIsMadeWhenUpdated) {
            seen.record["created_at"] = seen.record["updated_at"] ?? seen.record["created_at"]
        }
        return isSeen ? seen : nil
    }

    /// The id of the row that a change of a job is about: that of its file, to clients.
    private func jobPlace(of change: RowChange, in context: inout FoldContext) -> EntityID? {
        guard context.rules.contains(.jobsAreKnownByTheirFile) else { return change.id }
        if change.operation != .delete {
            return change.record["file_id"]?.string.map { context.names.id($0) } ?? change.id
        }
        if context.rules.contains(.jobDeletionIsNotRead) { return nil }
        let id = context.names.text(change.id)
        let holders = registers.filter { key, register in
            key.first == change.table && register.settled?.record["id"]?.string == id
        }
        let names = context.names
        return holders.keys.map(\.second).min { names.precedes($0, $1) }
    }
}

/// The tables that clients treat in their own ways.
enum ClientTable: String {
    case notes
    case websites
    case files = "ingested_files"
    case jobs = "file_processing_jobs"
}

extension RowChange {
    /// Turns an update into what a client makes of it, which knows the row so far; false where that is nothing.
    fileprivate mutating func readUpdate(of known: SettledRow?, in table: ClientTable, rules: ReadingRules) -> Bool {
        switch table {
        case .notes: return readNote(known, rules)
        case .websites: return readWebsite(known, rules)
        case .files:
            if rules.contains(.fileTimeIsKept), let known { record["updated_at"] = known.record["updated_at"] }
            if rules.contains(.filesAndJobsAreReplaced) { operation = .insert }
        case .jobs:
            if rules.contains(.filesAndJobsAreReplaced) { operation = .insert }
        }
        return true
    }

    private mutating func readNote(_ known: SettledRow?, _ rules: ReadingRules) -> Bool {
        if known == nil, rules.contains(.unknownNoteIsNotUpdated) { return false }
        if rules.contains(.missingContentIsEmpty), record["content"] == nil { record["content"] = .string("") }
        if rules.contains(.noteTitleIsKept), let title = known?.record["title"] { record["title"] = title }
        if rules.contains(.moveToTheRootIsNotSeen), let folder = known?.record["metadata"]?["folder"],
            var metadata = record["metadata"]?.object, metadata["folder"]?.string?.isEmpty ?? true
        {
            metadata["folder"] = folder
            record["metadata"] = .object(metadata)
        }
        return true
    }

    private mutating func readWebsite(_ known: SettledRow?, _ rules: ReadingRules) -> Bool {
        if rules.contains(.olderWebsiteUpdateIsIgnored), let old = known?.updatedAt, let new = Self.time(record),
            new < old
        {
            return false
        }
        if rules.contains(.transcriptsAreLost), var metadata = (record["metadata"] ?? known?.record["metadata"])?.object
        {
            metadata["youtube_transcripts"] = nil
            record["metadata"] = .object(metadata)
        }
        return true
    }

    fileprivate static func time(_ record: JSONObject) -> Timestamp? {
        record["updated_at"]?.string.flatMap(RemoteTime.postgres)
    }
}

extension SettledRow {
    fileprivate var updatedAt: Timestamp? { RowChange.time(record) }

    /// Whether a client shows the row at all.
    func isShown(in table: EntityID, _ context: RowContext) -> Bool {
        guard context.rules.contains(.internalFilesAreHidden),
            ClientTable(rawValue: context.names.text(table)) == .files
        else { return true }
        let isTranscript = record["source_metadata"]?["website_transcript"]?.bool == true
        return !isTranscript && !(record["path"]?.string?.hasSuffix("/ai/ai.md") ?? false)
    }

    /// Whether a client goes on listing the row though it is deleted.
    func staysListed(in table: EntityID, _ context: RowContext) -> Bool {
        guard context.rules.contains(.softDeletedStaysListed) else { return false }
        let table = ClientTable(rawValue: context.names.text(table))
        return table == .websites || table == .files
    }
}
