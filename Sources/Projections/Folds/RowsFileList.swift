import EventLog

/// The server's list of files and jobs, from which sideBar's web client learns of new ones. Only profiles use it.
///
/// Frames change and remove listed files. New files come only with the list, which the client fetches half a second
/// after a frame about something new. The list is folded from all frames so far. A running fetch counts as answered
/// already: until it ends, the whole list follows each frame.
///
/// `Rows.registers` has what the client shows, this type what the server knows.
struct RowsFileList: Codable, Sendable {
    /// The server's rows, files and jobs.
    private var registers: [EntityKey: RowRegister] = [:]
    /// The jobs of each file, deleted ones included.
    private var jobs: [EntityID: Set<EntityID>] = [:]
    /// The files that frames named since `takeNamed` was last called.
    private var named: Set<EntityID> = []
    /// When the running or last fetch ends; `nil` before the first. In the log's time: fetches end without an event.
    private var fetchedAt: Timestamp?

    /// The time from a fetch's cause to its end: half a second, in nanoseconds.
    private static let delay: UInt32 = 500_000_000

    /// Applies a frame's change and returns the file that it concerns; `nil` for a job whose file is unknown.
    mutating func take(_ change: RowChange, of table: ClientTable, in context: inout FoldContext) -> EntityID? {
        let key = EntityKey(.rows, change.table, change.id)
        var register = registers.removeValue(forKey: key) ?? RowRegister()
        let before = KnownRow(register)?["file_id"]?.string
        _ = register.apply(change, at: context.event.sequence.rawValue, &context.relations)
        // A deletion leaves no record: the job's file is the one that it had before.
        let file = KnownRow(register)?["file_id"]?.string ?? before
        registers[key] = register
        guard table == .jobs else { return note(change.id) }
        guard let file = file.map({ context.names.id($0) }) else { return nil }
        jobs[file, default: []].insert(change.id)
        return note(file)
    }

    private mutating func note(_ file: EntityID) -> EntityID {
        named.insert(file)
        return file
    }

    /// Whether a fetch is running at `now`.
    func isFetching(at now: Timestamp) -> Bool { fetchedAt.map { now < $0 } ?? false }

    /// Starts a fetch, which ends half a second later. A fetch that was running is replaced.
    mutating func fetch(at now: Timestamp) {
        let carries = now.nanoseconds >= Self.delay
        fetchedAt = Timestamp(
            seconds: now.seconds.addingReportingOverflow(carries ? 1 : 0).partialValue,
            nanoseconds: carries ? now.nanoseconds - Self.delay : now.nanoseconds + Self.delay
        )
    }

    /// Returns the files named since the last call, in the order of their ids, and forgets them.
    mutating func takeNamed(_ names: Names) -> [EntityID] {
        defer { named.removeAll() }
        return names.sorted(named)
    }

    /// The row of a file; `nil` if the server does not list it: unknown, deleted, softly deleted, or the server's own.
    func listed(_ file: EntityID, in table: EntityID) -> SettledRow? {
        let row = registers[EntityKey(.rows, table, file)]?.settled
        return row.flatMap { $0.isSoftDeleted || $0.isInternalFile ? nil : $0 }
    }

    /// The job that the server lists with a file: the last created; of equal ones the last written.
    func job(of file: EntityID, in table: EntityID, _ names: Names) -> SettledRow? {
        let rows = names.sorted(jobs[file] ?? []).compactMap { registers[EntityKey(.rows, table, $0)]?.settled }
        // Of jobs with equal times, the one whose id sorts first: `max` keeps the first of equal elements.
        return rows.max { $0.age < $1.age }
    }
}

extension Rows {
    /// The changes of listed files and their jobs that follow for a client from one change of a file or job.
    mutating func seenOfFiles(_ change: RowChange, in context: inout FoldContext) -> [RowChange] {
        guard let table = ClientTable(rawValue: context.names.text(change.table)) else { return [] }
        let file = fileList.take(change, of: table, in: &context)
        let isNews = isNews(change, of: table, file: file, context.names)
        if isNews { fileList.fetch(at: context.event.recordedAt) }
        if fileList.isFetching(at: context.event.recordedAt) {
            // Files that frames named before the fetch began are in its answer too.
            return fileList.takeNamed(context.names).flatMap { fetched($0, change, in: &context) }
        }
        guard let file, isListed(file, context.names) else { return [] }
        return [merged(change, of: table, file: file, context: context)]
    }

    /// Whether a change makes the client fetch the list: a row is read, a file is made, a job is deleted, or the client does
    /// not list the job's file.
    private func isNews(_ change: RowChange, of table: ClientTable, file: EntityID?, _ names: Names) -> Bool {
        if change.isReading { return true }
        if table == .files { return change.operation == .insert }
        return change.operation == .delete || !(file.map { isListed($0, names) } ?? false)
    }

    /// Whether the client shows a file.
    private func isListed(_ file: EntityID, _ names: Names) -> Bool {
        guard let table = names.find(ClientTable.files.rawValue) else { return false }
        return self[EntityKey(.rows, table, file)].flatMap { KnownRow($0.register) }.map { !$0.isSoftDeleted } ?? false
    }

    /// The change of a listed file or its job, as the client merges it. A job's row has the id of its file.
    private func merged(
        _ change: RowChange,
        of table: ClientTable,
        file: EntityID,
        context: FoldContext
    ) -> RowChange {
        var seen = change
        seen.id = file
        seen.isPlacedByArrival = true
        let known = self[EntityKey(.rows, change.table, file)].flatMap { KnownRow($0.register) }
        if table == .files, change.operation == .update { seen.readUpdateOfFile(known, context.rules) }
        return seen
    }

    /// The changes that a fetched list brings for one file and its job.
    private func fetched(_ file: EntityID, _ cause: RowChange, in context: inout FoldContext) -> [RowChange] {
        let files = context.names.id(ClientTable.files.rawValue)
        let jobs = context.names.id(ClientTable.jobs.rawValue)
        let row = fileList.listed(file, in: files)
        let job = row == nil ? nil : fileList.job(of: file, in: jobs, context.names)
        return [(files, row), (jobs, job)].compactMap { table, row in
            replacement(of: EntityKey(.rows, table, file), by: row, cause)
        }
    }

    /// The change that replaces a known row by `row`, or deletes it for `nil`; `nil` if nothing differs.
    private func replacement(of key: EntityKey, by row: SettledRow?, _ cause: RowChange) -> RowChange? {
        let known = self[key]?.register.settled
        if let row, let known, JSONValue.object(row.record).isSameJSON(as: .object(known.record)) { return nil }
        if row == nil, known?.isSoftDeleted ?? true { return nil }
        var change = cause
        (change.table, change.id) = (key.first, key.second)
        change.operation = row == nil ? .delete : .insert
        change.record = RowRecord(row?.record ?? JSONObject())
        change.columns = RowShape(row.map { $0.record.members.map(\.name) + $0.unknownColumns } ?? [])
        change.isPartial = false
        change.isReading = false
        change.isPlacedByArrival = true
        return change
    }
}

extension SettledRow {
    /// Whether the server made the file for itself and leaves it out of its list.
    fileprivate var isInternalFile: Bool {
        record["source_metadata"]?["website_transcript"]?.bool == true
            || record["path"]?.string?.lowercased().hasSuffix("/ai/ai.md") ?? false
    }

    /// When a job was created and last written; `Int64.min` seconds for unknown times.
    fileprivate var age: (Timestamp, Timestamp) {
        let times = ["created_at", "updated_at"].map { record[$0]?.string.flatMap(RemoteTime.postgres) }
        return (times[0] ?? .init(seconds: .min), times[1] ?? .init(seconds: .min))
    }
}
