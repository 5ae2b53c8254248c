public import EventLog

/// A state in figures: the number of its rows, and its digest.
public struct StateSummary: Hashable, Sendable {
    /// The number of rows in each section of the document, in the order of `Section.allCases`.
    public let rowCounts: [Int]
    /// The state's digest.
    public let digest: Hash256

    init(_ state: inout LogState) {
        rowCounts = Section.allCases.map { state.rowCount(in: $0) }
        digest = state.digest()
    }

    fileprivate init(rowCounts: [Int], digest: Hash256) {
        (self.rowCounts, self.digest) = (rowCounts, digest)
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
        var state = try logState(of: session, options: options, progress: progress)
        let summary = StateSummary(&state)
        if let keeping { try? KeptSummary.keep(summary, in: session, keeping) }
        return summary
    }
}

extension ReplayOptions {
    /// Whether the replay reads all events, and each as the remote meant it.
    fileprivate var keepsSummaries: Bool { rules.isEmpty && sources == nil && without.isEmpty && !checks }
}

/// The `summary` table of the derived data: the summary of the last state that `summary` has made, with the sequence of
/// its last event and the hash of all events up to there. One value, replaced each time (I17).
struct KeptSummary {
    static let name = "summary"
    private static let key = Array("s".utf8)

    /// The stored form.
    private struct Stored: Codable {
        var sequence: UInt64
        var prefixHash: Hash256
        var rowCounts: [Int]
        var digest: Hash256
    }

    /// The last event of the summary's state.
    let sequence: SequenceNumber
    let summary: StateSummary

    /// Reads what a build of the program has kept; `nil` if it has kept nothing, or nothing of this log.
    init?(_ session: borrowing ReadSession, build: String) {
        guard let derived = try? session.existingDerivedStore(),
            let table = try? derived.table(Self.name, version: KeptStateOptions.tableVersion(build)),
            let bytes = try? table.value(at: Self.key),
            let stored = try? StateDecoder.value(Stored.self, from: bytes),
            stored.rowCounts.count == Section.allCases.count, stored.sequence <= session.head.rawValue,
            (try? session.prefixHash(through: SequenceNumber(stored.sequence))) == stored.prefixHash
        else { return nil }
        sequence = SequenceNumber(stored.sequence)
        summary = StateSummary(rowCounts: stored.rowCounts, digest: stored.digest)
    }

    /// Keeps the summary of the state at the head, if the log is long enough for that to pay.
    static func keep(
        _ summary: StateSummary,
        in session: borrowing ReadSession,
        _ options: KeptStateOptions
    ) throws {
        guard session.head.rawValue >= UInt64(options.eventsMin) else { return }
        let stored = Stored(
            sequence: session.head.rawValue,
            prefixHash: try session.prefixHash(through: session.head),
            rowCounts: summary.rowCounts,
            digest: summary.digest
        )
        let version = KeptStateOptions.tableVersion(options.build)
        let table = try session.derivedStore().table(name, version: version)
        try table.put([(key, try StateEncoder.bytes(of: stored))])
    }
}
