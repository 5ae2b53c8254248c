package import EventLog

/// How many things of each kind a reading shows otherwise than the canonical one, kept for the last state at the head for which
/// that was counted.
struct KeptCounts {
    private static let keyStart = "c"

    private struct Stored: Codable {
        /// In the order of `EntityReference.Kind.allCases`.
        var kinds: [String]
        var counts: [Int]
    }

    /// The last event of both states.
    let sequence: SequenceNumber
    let counts: [EntityReference.Kind: Int]

    /// Reads what a build of the program has kept; `nil` if it has kept nothing of these rules, or nothing of this log.
    init?(_ session: borrowing ReadSession, of rules: ReadingRules, build: String) {
        let key = Self.keyStart + rules.shortName
        guard let kept: (SequenceNumber, Stored) = SummaryTable.value(at: key, session, build: build),
            kept.1.kinds.count == kept.1.counts.count
        else { return nil }
        var counts: [EntityReference.Kind: Int] = [:]
        for (name, count) in zip(kept.1.kinds, kept.1.counts) {
            guard let kind = EntityReference.Kind(rawValue: name) else { return nil }
            counts[kind] = count
        }
        (sequence, self.counts) = (kept.0, counts)
    }

    /// Keeps the counts of the states at the head, if the log is long enough for that to pay.
    static func keep(
        _ counts: [EntityReference.Kind: Int],
        of rules: ReadingRules,
        in session: borrowing ReadSession,
        _ options: KeptStateOptions
    ) throws {
        let kinds = EntityReference.Kind.allCases.filter { counts[$0] != nil }
        let stored = Stored(kinds: kinds.map(\.rawValue), counts: kinds.map { counts[$0] ?? 0 })
        try SummaryTable.keep(stored, at: keyStart + rules.shortName, in: session, options)
    }

    /// The sets of reading rules for which counts are kept. Errors count as none.
    static func rules(
        in session: borrowing ReadSession,
        build: String,
        of client: (any Client.Type)?
    ) -> [ReadingRules] {
        SummaryTable.keys(session, build: build).filter { $0.hasPrefix(keyStart) }.compactMap {
            ReadingRules(shortName: String($0.dropFirst(keyStart.count)), of: client)
        }
    }
}

extension Replay {
    /// How many things of each kind a reading shows otherwise than the canonical one after an event.
    ///
    /// If the options allow kept states and the event is the head, the counts are kept beside the log, too, so that a log that has
    /// not grown needs no replay.
    /// - Parameters:
    ///   - rules: the rules of the reading that can apply to the log.
    ///   - options: those of the canonical replay.
    ///   - states: gives the canonical state and that of the reading after the event. Not called if the counts are kept.
    /// - Throws: what `states` throws.
    package static func differenceCounts(
        of rules: ReadingRules,
        through last: SequenceNumber,
        in session: borrowing ReadSession,
        options: ReplayOptions,
        states: () throws -> (canonical: LogState, reading: LogState)
    ) rethrows -> [EntityReference.Kind: Int] {
        let keeping = options.keepsSummaries && last == session.head ? options.keeping : nil
        if let keeping, let kept = KeptCounts(session, of: rules, build: keeping.build), kept.sequence == last {
            return kept.counts
        }
        let (canonical, reading) = try states()
        let counts = StateDiff.counts(canonical, reading)
        if let keeping { try? KeptCounts.keep(counts, of: rules, in: session, keeping) }
        return counts
    }
}
