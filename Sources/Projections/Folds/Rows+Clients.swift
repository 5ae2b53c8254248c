import EventLog

/// How clients read the changes of rows.
extension Rows {
    /// The changes as which a client reads one change; empty if it ignores the change. Called only under a profile's
    /// rules.
    mutating func seen(_ change: RowChange, in context: inout FoldContext) -> [RowChange] {
        var seen = change
        seen.isPlacedByArrival = context.rules.contains(.rowsAreTakenAsTheyArrive)
        let table = ClientTable(rawValue: context.names.text(change.table))
        if context.rules.contains(.filesAreThoseOfTheList), table == .files || table == .jobs {
            return seenOfFiles(change, in: &context)
        }
        if table == .jobs {
            guard let place = jobPlace(of: change, in: &context) else { return [] }
            seen.id = place
        }
        guard let table, change.operation != .delete else { return [seen] }
        // The row as the client shows it, because this fold's registers follow the client too.
        let known = self[EntityKey(.rows, seen.table, seen.id)].flatMap { KnownRow($0.register) }
        return seen.read(known, in: table, rules: context.rules) ? [seen] : []
    }

    /// The id of the row that a job's change applies to: to clients, the id of the job's file. `nil` if they ignore it.
    ///
    /// A deletion names the job alone, so it goes to the row that now shows this job; a job that another one of its
    /// file has replaced is shown nowhere. Cost of a deletion: O(rows).
    func jobPlace(of change: RowChange, in context: inout FoldContext) -> EntityID? {
        guard context.rules.contains(.jobsAreKnownByTheirFile) else { return change.id }
        if change.operation != .delete {
            return change.record["file_id"]?.string.map { context.names.id($0) } ?? change.id
        }
        if context.rules.contains(.jobDeletionIsNotRead) { return nil }
        let id = context.names.text(change.id)
        let holders = keys { key, row in
            key.first == change.table && KnownRow(row.register)?["id"]?.string == id
        }
        let names = context.names
        return holders.map(\.second).min { names.precedes($0, $1) }
    }
}

/// The tables that clients read by rules of their own.
enum ClientTable: String {
    case notes
    case websites
    case files = "ingested_files"
    case jobs = "file_processing_jobs"
}

extension RowChange {
    /// The title of the note that sideBar keeps as its scratchpad. In escapes, because the second scalar, a variation
    /// selector, is invisible.
    private static let scratchpadTitle = "\u{270F}\u{FE0F} Scratchpad"
    /// The columns of a website that the web client reads. It loses those that a record lacks.
    private static let websiteColumns = [
        "title", "url", "domain", "metadata", "saved_at", "published_at", "reading_time", "updated_at",
        "last_opened_at",
    ]
    /// The columns of a file that the web client reads. It loses those that a record lacks.
    private static let fileColumns = [
        "filename_original", "path", "mime_original", "sha256", "source_url", "source_metadata", "pinned",
        "pinned_order",
    ]

    /// Rewrites an INSERT or UPDATE as a client reads it that knows the row as `known`; false if it ignores the change.
    fileprivate mutating func read(_ known: KnownRow?, in table: ClientTable, rules: ReadingRules) -> Bool {
        switch table {
        case .notes: return readNote(known, rules)
        case .websites: return readWebsite(known, rules)
        case .files, .jobs:
            if operation == .update { readUpdateOfFile(known, rules) }
            return true
        }
    }

    /// Reads an INSERT or UPDATE of a note; false if the client ignores it.
    private mutating func readNote(_ known: KnownRow?, _ rules: ReadingRules) -> Bool {
        if rules.contains(.scratchpadIsNoNote), record["title"]?.string == Self.scratchpadTitle { return false }
        // After the other rules, whichever path the function takes below.
        defer {
            if rules.contains(.noteIsMadeWhenUpdated) {
                record["created_at"] = record["updated_at"] ?? record["created_at"]
            }
        }
        // A row that was read is taken whole, as an inserted one is.
        return operation == .insert || isReading || readUpdateOfNote(known, rules)
    }

    /// Reads an UPDATE of a note, which the client merges into the note that it knows.
    private mutating func readUpdateOfNote(_ known: KnownRow?, _ rules: ReadingRules) -> Bool {
        if known?.isSoftDeleted ?? true, rules.contains(.unknownNoteIsNotUpdated) { return false }
        if rules.contains(.missingContentIsEmpty), record["content"] == nil { record["content"] = .string("") }
        if rules.contains(.noteTitleIsKept), let title = known?["title"] { record["title"] = title }
        if rules.contains(.missingColumnsAreLost), record["metadata"] == nil { record["metadata"] = .object([:]) }
        if rules.contains(.moveToTheRootIsNotSeen), let folder = known?["metadata"]?["folder"],
            var metadata = record["metadata"]?.object, metadata["folder"]?.string?.isEmpty ?? true
        {
            metadata["folder"] = folder
            record["metadata"] = .object(metadata)
        }
        return true
    }

    /// Reads an INSERT or UPDATE of a website; false if the client ignores it.
    private mutating func readWebsite(_ known: KnownRow?, _ rules: ReadingRules) -> Bool {
        if rules.contains(.olderWebsiteUpdateIsIgnored), !isSoftDeletion, let known, !known.isSoftDeleted,
            let old = known.updatedAt, let new = Self.time(record["updated_at"]), new < old
        {
            return false
        }
        // A website that is read again loses its transcripts as an updated one does.
        guard operation == .update, !isReading || known?.isSoftDeleted == false else { return true }
        if !isReading, rules.contains(.missingColumnsAreLost) { lose(Self.websiteColumns, of: known) }
        if rules.contains(.transcriptsAreLost), var metadata = (record["metadata"] ?? known?["metadata"])?.object {
            metadata["youtube_transcripts"] = nil
            record["metadata"] = .object(metadata)
        }
        return true
    }

    /// An update of a listed file, or of a job, as a client merges it.
    mutating func readUpdateOfFile(_ known: KnownRow?, _ rules: ReadingRules) {
        if rules.contains(.fileTimeIsKept), let known { record["updated_at"] = known["updated_at"] }
        if rules.contains(.missingColumnsAreLost) { lose(Self.fileColumns, of: known) }
        if rules.contains(.fileIsMadeWhenUpdated) {
            record["created_at"] = record["updated_at"] ?? record["created_at"]
        }
        if rules.contains(.filesAndJobsAreReplaced) { operation = .insert }
    }

    /// Sets the known columns that the record lacks to null. Without that, an update leaves a column that it lacks
    /// unchanged.
    private mutating func lose(_ columns: [String], of known: KnownRow?) {
        for name in columns where record[name] == nil && known?[name] != nil { record[name] = .null }
    }

    /// Whether the record sets `deleted_at`.
    var isSoftDeletion: Bool { record["deleted_at"].map { !$0.isNull } ?? false }

    fileprivate static func time(_ updatedAt: JSONValue?) -> Timestamp? {
        updatedAt?.string.flatMap(RemoteTime.postgres)
    }
}

/// A row as a client knows it, of which single columns are read: an update of a wide row costs no more than of a small one.
struct KnownRow {
    private let register: RowRegister

    /// `nil` if the row does not exist.
    init?(_ register: RowRegister) {
        guard register.isPresent else { return nil }
        self.register = register
    }

    subscript(name: String) -> JSONValue? { register.text(of: name)?.value }

    var isSoftDeleted: Bool { register.isSoftDeleted }

    fileprivate var updatedAt: Timestamp? { RowChange.time(self["updated_at"]) }
}

extension Rows {
    /// Whether a client still lists a row of the table although it is soft-deleted.
    func staysListed(in table: EntityID, _ context: RowContext) -> Bool {
        guard context.rules.contains(.softDeletedStaysListed) else { return false }
        let table = ClientTable(rawValue: context.names.text(table))
        return table == .websites || table == .files
    }
}
