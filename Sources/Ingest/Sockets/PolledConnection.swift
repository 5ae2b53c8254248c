#if Recorders
import EventLog
import Logging

/// A connection to a remote that is asked by HTTP: a run of answers. It opens with the first answer that can be used, and
/// closes with a failure; until the next one opens, a gap goes on (I29). Used by one task.
///
/// The session decides what an answer is worth, when to ask again, and which means close its gaps.
final class PolledConnection {
    var journal: ConnectionJournal
    /// The waits after failures in a row.
    var backoff: Backoff
    /// The means that would close a gap that opens now, as `RecordedGap.closes`.
    var closes: String
    /// True from the first answer until a failure, as the log shows it.
    private(set) var isOpen = false

    /// The most failures in a row before a run that does not follow gives up.
    static let failuresMax = 5

    private let recording: Recording
    private let keepsBookmark: Bool
    private var complaints: Complaints
    /// The status recorded last; the same one again is not recorded. `nil` after a good answer.
    private var lastTrouble: Int?

    /// - Parameter keepsBookmark: whether the journal's bookmark is that of the source; else it is dropped.
    init(
        _ recording: Recording,
        journal: ConnectionJournal,
        closes: String,
        waitMax: Duration,
        keepsBookmark: Bool = true
    ) {
        self.recording = recording
        self.journal = journal
        self.closes = closes
        self.keepsBookmark = keepsBookmark
        backoff = Backoff(max: waitMax, random: recording.random)
        complaints = Complaints(recording)
    }

    /// Appends the events that the journal made.
    func append() async throws {
        var pieces = journal.take()
        if !keepsBookmark { pieces.removeMarks() }
        try await recording.append(pieces)
    }

    /// Notes that an answer was good, so that the next trouble is recorded whatever its status.
    func forgetTrouble() { lastTrouble = nil }

    /// Records that a connection was opened, unless one is.
    func open() async throws {
        guard !isOpen else { return }
        isOpen = true
        complaints.succeeded("connected")
        try journal.open(at: recording.clock.now())
        try await append()
    }

    /// Records the end of the connection, if one is open.
    ///
    /// - Parameter reason: a few fixed words, never remote text.
    func close(_ reason: String, at time: Timestamp? = nil) throws {
        guard isOpen else { return }
        isOpen = false
        // Code 0: it is no WebSocket.
        try journal.close(WebSocketClosure(code: 0, reason: reason), at: time ?? recording.clock.now())
    }

    /// Records an answer that cannot be used, without its body, unless the last one recorded had the same status.
    ///
    /// - Parameters:
    ///   - path: without the query, which may hold a token (I14).
    ///   - fault: what is wrong with an answer with status 200.
    func record(
        _ status: Int,
        path: String,
        headers: HTTPAccess.Headers,
        fault: String? = nil,
        at time: Timestamp? = nil
    ) throws {
        guard lastTrouble != status else { return }
        lastTrouble = status
        let time = time ?? recording.clock.now()
        try journal.http(status, path: path, headers: headers, fault: fault, at: time)
    }

    /// Tells people of a failure.
    func complain(_ message: Logger.Message, _ reason: String) { complaints.failed(message, reason) }

    /// Records that no answer came that can be used: closes the connection and opens a gap.
    func failed(_ reason: String, opensGap: Bool = true) async throws {
        complain("no answer", reason)
        try close(reason)
        if opensGap { try openGap(GapReason.unreachable.rawValue) }
        try await append()
    }

    /// Opens a gap, unless one goes on: one covers all attempts until the next connection.
    ///
    /// - Parameter from: when it begins; `nil` for the last sign of the remote.
    func openGap(_ reason: String, from: Timestamp? = nil, at time: Timestamp? = nil) throws {
        guard !journal.openGaps.contains(where: { $0.to == nil }) else { return }
        let time = time ?? recording.clock.now()
        try journal.openGap(reason, from: from ?? journal.lastInbound ?? time, closes: closes, at: time)
    }

    /// Opens the gap since the last run, if there was one.
    func beginRun() throws {
        try journal.beginRun(topics: [nil], asksForPast: false, closes: closes, at: recording.clock.now())
    }

    /// Records that the recorder stops, and opens the gap that the next run closes.
    ///
    /// - Parameter error: why it gives up; `nil` if it was told to stop or is done.
    func stop(_ error: (any Error)?, at time: Timestamp? = nil) async throws {
        try close(WebSocketClosure.ended(by: error).reason, at: time)
        try journal.endRun(topics: [nil], closes: closes, at: time ?? recording.clock.now())
        try await append()
    }
}
#endif
