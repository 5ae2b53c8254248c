public import EventLog

/// Events as JSON lines without a log's header, as `logtool events --jsonl --payload` prints them, to be appended to
/// another log. They get new sequences and salts, so no proof of the old log holds for them.
///
/// Nothing is appended before all lines were taken, so a file with a faulty line appends nothing. Cost: all events are in
/// memory at once.
public struct ExportedEvents {
    /// The operation, for errors: `import`.
    public let operation: String
    /// The input's name, for errors.
    public let object: String
    /// The source that all events get; `nil` to keep theirs.
    private let source: SourceName?
    private let change: (DraftEvent) throws -> DraftEvent
    private var reader = ExportReader()
    private var drafts: [DraftEvent] = []
    private var summary = IngestSummary()

    /// The most events in one transaction.
    private static let batchCount = 1_000

    /// Begins without events.
    ///
    /// - Parameters:
    ///   - source: the source that all events get; `nil` to keep theirs.
    ///   - change: changes each event before it is appended.
    public init(
        operation: String,
        object: String,
        source: SourceName? = nil,
        change: @escaping (DraftEvent) throws -> DraftEvent = { $0 }
    ) {
        (self.operation, self.object, self.source, self.change) = (operation, object, source, change)
    }

    /// Takes the next line. An act belongs to its own log and is passed over.
    ///
    /// - Throws: as `ExportReader.draft`.
    public mutating func add(_ line: [UInt8], number: Int) throws {
        var draft = try reader.draft(line)
        guard draft.source != .logtool else {
            let reason = "it is an act of the log that it was listed from"
            return summary.skip(IngestIssue(place: "line \(number)", reason: reason))
        }
        draft.source = source ?? draft.source
        drafts.append(try change(draft))
    }

    /// Appends all events that were taken. One whose key the log already holds counts as a duplicate (I4). Each source is
    /// locked, because only one recorder may append for it (I6).
    ///
    /// - Parameter open: opens the log; called only once the events are known to fit together.
    /// - Throws: `IngestError` with code `invalidArgument` if a key comes twice under one name, `EventLogError` with code
    ///   `locked` if another process records one of the sources.
    public func record(into open: () throws -> EventStore) throws -> IngestSummary {
        try checkKeys()
        let store = try open()
        var summary = summary
        let locks = try Set(drafts.map(\.source)).sorted().map { try store.acquireSourceLock($0) }
        defer { for lock in locks { lock.release() } }
        do {
            for start in stride(from: 0, to: drafts.count, by: Self.batchCount) {
                summary.add(try store.append(Array(drafts[start..<min(start + Self.batchCount, drafts.count)])))
            }
            summary.add(try store.flush())
            return summary
        } catch {
            throw summary.counting(error, store)
        }
    }

    /// Refuses keys that occur twice if all events get one source: events of several sources may have the same keys.
    private func checkKeys() throws {
        guard source != nil else { return }
        var keys: Set<EventKey> = []
        guard let twice = drafts.compactMap(\.key).first(where: { !keys.insert($0).inserted }) else { return }
        throw IngestError(
            .invalidArgument,
            operation: operation,
            object: object,
            reason: "the key \"\(twice)\" comes twice under one name",
            advice: "leave out --as to keep the sources apart"
        )
    }
}
