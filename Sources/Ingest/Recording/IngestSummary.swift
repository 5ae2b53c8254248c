public import EventLog

/// Input that a recorder passed over, and why.
public struct IngestIssue: Hashable, Sendable, CustomStringConvertible {
    /// The place in the input, such as `capture.ndjson:17`.
    public let place: String
    /// What is wrong with it.
    public let reason: String
    /// The number of pieces of input that the issue covers.
    public let count: Int

    /// Makes an issue.
    public init(place: String, reason: String, count: Int = 1) {
        self.place = place
        self.reason = reason
        self.count = count
    }

    /// The text that people and scripts read.
    public var description: String { "\(place): \(reason)" }
}

/// The counts of one run of a recorder.
public struct IngestSummary: Hashable, Sendable {
    /// Events that were new.
    public var appended = 0
    /// Events that the log already held (I4).
    public var duplicates = 0
    /// Pieces of input that were passed over; `issues` says why.
    public var skipped = 0
    /// The first sequence appended; `nil` if nothing was.
    public var first: SequenceNumber?
    /// The last sequence appended; `nil` if nothing was.
    public var last: SequenceNumber?
    /// Why pieces of input were passed over, in input order; at most `issueCountMax` of them.
    public var issues: [IngestIssue] = []

    /// The most issues that a summary lists, so that a large broken input does not fill memory.
    public static let issueCountMax = 1_000

    /// Makes the summary of a run that did nothing.
    public init() {}

    /// Counts a piece that was passed over; lists it while there is room.
    mutating func skip(_ issue: IngestIssue) {
        skipped += issue.count
        if issues.count < Self.issueCountMax { issues.append(issue) }
    }

    /// Adds the result of one append; results must come in the order of the log.
    mutating func add(_ result: AppendResult) {
        appended += result.appended
        duplicates += result.duplicates
        first = first ?? result.first
        last = result.last ?? last
    }

    /// The error with what the run has left in the log, if the log could not be written: earlier batches stay (I5).
    mutating func counting(_ error: any Error, _ store: EventStore) -> any Error {
        guard let error = error as? EventLogError, error.code == .io else { return error }
        // Under `fast` durability batches are counted by a flush, and one may have failed after others were durable.
        add(store.committedSinceFlush())
        let place = last.map { ", the last of them at \($0)" } ?? ""
        let count = appended == 1 ? "1 event of this run is" : "\(appended) events of this run are"
        let known = duplicates == 0 ? "" : ", for \(duplicates) of its events were in the log before"
        let done = appended == 0 ? "this run has appended nothing\(known)" : "\(count) in the log\(place)"
        let advice = error.advice.isEmpty ? "run it again" : error.advice
        return EventLogError(
            .io,
            operation: error.operation,
            object: error.object,
            reason: "\(error.reason); \(done)",
            advice: appended == 0 ? advice : "\(advice): the next run goes on from there",
            sequence: error.sequence
        )
    }
}
