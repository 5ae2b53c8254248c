import EventLog
import Ingest
import Projections

/// Imports events as JSON lines without a log's header, as `events --jsonl --payload` prints them. They get new
/// sequences and salts, so no proof of the old log holds for them.
struct ExportedEvents {
    /// The command and the file's name, for messages: `import "events.ndjson"`.
    let place: String
    /// The source that all events get; `nil` to keep theirs.
    let source: SourceName?

    /// The most events in one transaction.
    private static let batchCount = 1_000

    /// True if a file's first line is such an event; false for standard input, which cannot be read twice.
    static func begin(file: String) -> Bool {
        guard file != "-", let first = try? LineReader(file).next() else { return false }
        return ExportReader.isEvent(first)
    }

    /// Appends all events, after all lines were read: a file with a faulty line appends nothing.
    ///
    /// An event with a key that the log already holds counts as a duplicate (I4). Acts belong to their own log and are
    /// skipped.
    ///
    /// Cost: all events are in memory at once.
    ///
    /// - Parameters:
    ///   - first: The first line, if it was read already.
    ///   - open: Opens the log; called only once all lines are known to be right.
    /// - Throws: `Failure` that names the line.
    func record(_ lines: LineReader, first: [UInt8]? = nil, into open: () throws -> EventStore) throws -> IngestSummary
    {
        var summary = IngestSummary()
        var drafts: [DraftEvent] = []
        var next = try first ?? lines.next()
        while let line = next {
            if let draft = try draft(line, lines) {
                drafts.append(draft)
            } else {
                summary.skipped += 1
                let reason = "it is an act of the log that it was listed from"
                if summary.skipped <= IngestSummary.issueCountMax {
                    summary.issues.append(IngestIssue(place: "line \(lines.number)", reason: reason))
                }
            }
            next = try lines.next()
        }
        try checkNames(of: drafts)
        return try append(drafts, to: open(), summary)
    }

    /// Appends in transactions of `batchCount` events. Each source is locked, because only one recorder may append for
    /// it (I6).
    ///
    /// - Throws: `EventLogError` with code `locked` if another process records one of the sources.
    private func append(_ drafts: [DraftEvent], to store: EventStore, _ before: IngestSummary) throws -> IngestSummary {
        var summary = before
        let locks = try Set(drafts.map(\.source)).sorted().map { try store.acquireSourceLock($0) }
        defer { for lock in locks { lock.release() } }
        var results: [AppendResult] = []
        for start in stride(from: 0, to: drafts.count, by: Self.batchCount) {
            results.append(try store.append(Array(drafts[start..<min(start + Self.batchCount, drafts.count)])))
        }
        results.append(try store.flush())
        for result in results {
            summary.appended += result.appended
            summary.duplicates += result.duplicates
            summary.first = summary.first ?? result.first
            summary.last = result.last ?? summary.last
        }
        return summary
    }

    /// The event of a line; `nil` for an act.
    private func draft(_ line: [UInt8], _ lines: LineReader) throws -> DraftEvent? {
        do {
            var draft = try ExportReader.draft(line)
            if draft.source == .logtool { return nil }
            draft.source = source ?? draft.source
            return draft
        } catch let error as ExportFault {
            throw fault(lines, error.description)
        } catch let error as EventLogError {
            throw fault(lines, error.reason)
        }
    }

    /// Refuses keys that occur twice if all events get one source: events of several sources may have the same keys.
    private func checkNames(of drafts: [DraftEvent]) throws {
        guard source != nil else { return }
        var keys: Set<EventKey> = []
        guard let twice = drafts.compactMap(\.key).first(where: { !keys.insert($0).inserted }) else { return }
        throw Failure(
            "\(place): the key \"\(twice)\" comes twice under one name; leave out --as to keep the sources apart"
        )
    }

    private func fault(_ lines: LineReader, _ reason: String) -> Failure {
        Failure("\(place), line \(lines.number): \(reason); nothing was appended")
    }
}
