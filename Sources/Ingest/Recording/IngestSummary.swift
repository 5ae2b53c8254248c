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
}
