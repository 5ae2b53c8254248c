public import EventLog

/// A state in figures: the number of its rows. Hashes none of them: a digest costs about as much as the replay.
public struct StateSummary: Hashable, Sendable {
    /// The number of rows in each section of the document, in the order of `Section.allCases`.
    public let rowCounts: [Int]

    init(_ state: LogState) {
        rowCounts = Section.allCases.map { state.rowCount(in: $0) }
    }

    fileprivate init(rowCounts: [Int]) {
        self.rowCounts = rowCounts
    }

    /// The number of rows in one section.
    public subscript(section: Section) -> Int {
        Section.allCases.firstIndex(of: section).map { rowCounts[$0] } ?? 0
    }
}

extension Replay {
    /// The summary of the canonical state at the head, or of the reading that the options give.
    ///
    /// If the options allow kept states, the summary is kept beside the log too, so that a log that has not grown needs
    /// no replay.
    /// - Throws: as `logState`.
    public static func summary(
        of session: borrowing ReadSession,
        options: ReplayOptions = ReplayOptions(),
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> StateSummary {
        let keeping = options.keepsSummaries ? options.keeping : nil
        if let kept = keeping.flatMap({ KeptSummary(session, build: $0.build) }), kept.sequence == session.head {
            return kept.summary
        }
        let summary = StateSummary(try logState(of: session, options: options, progress: progress))
        if let keeping { try? KeptSummary.keep(summary, in: session, keeping) }
        return summary
    }

    /// Keeps the digest of a state beside the log, if the state is that at the head and the options, those of its
    /// replay, allow kept states. A later replay to the same event then hashes no rows. O(rows) where the digest was not
    /// read before.
    public static func keepDigest(
        of state: inout LogState,
        in session: borrowing ReadSession,
        options: ReplayOptions
    ) throws {
        guard options.keepsSummaries, let keeping = options.keeping, state.sequence == session.head,
            session.head.rawValue >= UInt64(keeping.eventsMin),
            KeptDigest(session, build: keeping.build)?.sequence != session.head
        else { return }
        try KeptDigest.keep(state.digest(), in: session, keeping)
    }

    /// The kept digest of the canonical state at the head; `nil` if none was kept.
    static func keptDigest(of session: borrowing ReadSession, _ keeping: KeptStateOptions?) -> Hash256? {
        var options = ReplayOptions()
        options.keeping = keeping
        return keptDigest(through: session.head, in: session, options: options)
    }

    /// The kept digest of the state after an event; `nil` if none was kept, or the options allow none.
    static func keptDigest(
        through last: SequenceNumber,
        in session: borrowing ReadSession,
        options: ReplayOptions
    ) -> Hash256? {
        guard options.keepsSummaries, let keeping = options.keeping,
            let kept = KeptDigest(session, build: keeping.build), kept.sequence == last
        else { return nil }
        return kept.digest
    }
}

extension ReplayOptions {
    /// Whether the replay reads all events, and each as the remote meant it.
    var keepsSummaries: Bool {
        rules.isEmpty && sources == nil && without.isEmpty && !checks
    }
}

/// The `summary` table of the derived data: what is known of one state each, with the sequence of its last event and the
/// hash of all events up to there. Values are replaced, and those of another build or log are passed over (I17).
enum SummaryTable {
    static let name = "summary"

    /// A stored value with the events that it was made from.
    private struct Stored<Value: Codable>: Codable {
        var prefix: LogPrefix
        var value: Value
    }

    /// The value that a build of the program has kept under a key, and the last event of its state; `nil` if it has kept
    /// none, or none of this log.
    static func value<Value: Codable>(
        at key: String,
        _ session: borrowing ReadSession,
        build: String
    ) -> (sequence: SequenceNumber, value: Value)? {
        guard let table = (try? session.keptTable(name, build: build, makes: false)) ?? nil,
            let bytes = try? table.value(at: Array(key.utf8)),
            let stored = try? StateDecoder.value(Stored<Value>.self, from: bytes),
            session.begins(with: stored.prefix),
            let changedAt = try? Decoders.changedAt(in: session), changedAt.rawValue <= stored.prefix.sequence
        else { return nil }
        return (SequenceNumber(stored.prefix.sequence), stored.value)
    }

    /// The keys under which a build of the program has kept something, in order. Errors count as nothing kept.
    static func keys(_ session: borrowing ReadSession, build: String) -> [String] {
        var keys: [String] = []
        try? session.keptTable(name, build: build, makes: false)?.forEach { key, _ in
            keys.append(String(decoding: key, as: UTF8.self))
            return true
        }
        return keys
    }

    /// Keeps a value of the state at the head, if the log is long enough for that to pay.
    static func keep(
        _ value: some Codable,
        at key: String,
        in session: borrowing ReadSession,
        _ options: KeptStateOptions
    ) throws {
        guard session.head.rawValue >= UInt64(options.eventsMin) else { return }
        let stored = Stored(prefix: try session.prefix(through: session.head), value: value)
        try session.keptTable(name, build: options.build, makes: true)?.put([
            (Array(key.utf8), try StateEncoder.bytes(of: stored))
        ])
    }
}

/// The summary of the last state that `summary` has made.
struct KeptSummary {
    private static let key = "s"

    /// The last event of the summary's state.
    let sequence: SequenceNumber
    let summary: StateSummary

    /// Reads what a build of the program has kept; `nil` if it has kept nothing, or nothing of this log.
    init?(_ session: borrowing ReadSession, build: String) {
        guard let kept: (SequenceNumber, [Int]) = SummaryTable.value(at: Self.key, session, build: build),
            kept.1.count == Section.allCases.count
        else { return nil }
        sequence = kept.0
        summary = StateSummary(rowCounts: kept.1)
    }

    /// Keeps the summary of the state at the head, if the log is long enough for that to pay.
    static func keep(
        _ summary: StateSummary,
        in session: borrowing ReadSession,
        _ options: KeptStateOptions
    ) throws {
        try SummaryTable.keep(summary.rowCounts, at: key, in: session, options)
    }
}

/// The digest of the last state at the head whose digest was made, so that it is made once while a log does not grow.
struct KeptDigest {
    private static let key = "d"

    /// The last event of the digest's state.
    let sequence: SequenceNumber
    let digest: Hash256

    /// Reads what a build of the program has kept; `nil` if it has kept nothing, or nothing of this log.
    init?(_ session: borrowing ReadSession, build: String) {
        guard let kept: (SequenceNumber, Hash256) = SummaryTable.value(at: Self.key, session, build: build) else {
            return nil
        }
        (sequence, digest) = kept
    }

    /// Keeps the digest of the state at the head, if the log is long enough for that to pay.
    static func keep(_ digest: Hash256, in session: borrowing ReadSession, _ options: KeptStateOptions) throws {
        try SummaryTable.keep(digest, at: key, in: session, options)
    }
}
