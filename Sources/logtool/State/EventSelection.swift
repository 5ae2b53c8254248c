import EventLog
import Projections

/// The events of a log that selectors choose. Made for one session: other events may have come in the next.
struct EventSelection {
    private let selectors: SelectorOptions
    /// The source and kind of `selectors`: to read an option takes longer than to search an event.
    private let source: SourceName?
    private let kind: String?
    /// The events that changed the requested thing or channel; `nil` if none was requested. A set of sequences, because
    /// events of one thing are few and far apart.
    private let touching: Set<SequenceNumber>?
    /// The requested sequences; `nil` if no event lies between `--from` and `--to`.
    private let range: ClosedRange<SequenceNumber>?

    /// Prepares the selection.
    ///
    /// Cost: with a channel, or an entity that the index of channels does not find, a replay of the whole log.
    ///
    /// - Parameter namesMayCome: Whether the log may still lack the requested source or kind.
    /// - Throws: `Failure` with exit code 1 if the log has no such source or kind, or nothing that fits a reference.
    init(
        _ selectors: SelectorOptions,
        in session: borrowing ReadSession,
        namesMayCome: Bool = false,
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws {
        self.selectors = selectors
        (source, kind) = (selectors.source, selectors.kind)
        if !namesMayCome { try KnownNames(session).check(source: source, kind: kind) }
        range = try selectors.range.range(in: session)
        touching = try Self.touching(selectors, session, progress)
    }

    /// The sequences to look at: the requested range, or with `-n` its part from the first of the last matches on;
    /// `nil` if it contains none.
    ///
    /// Cost: with `-n`, the log is read backwards in blocks of 4,096 events until enough have matched; of a thing's
    /// events no others are read.
    ///
    /// - Parameter isWanted: Which of the selected events count for `-n`.
    func range(
        in session: borrowing ReadSession,
        where isWanted: (borrowing EventView) -> Bool = { _ in true }
    ) throws -> ClosedRange<SequenceNumber>? {
        guard let range, let count = selectors.count else { return range }
        if let touching {
            return try last(count, of: touching.filter(range.contains).sorted(), in: session, where: isWanted)
        }
        var found: [SequenceNumber] = []
        var upper = range.upperBound
        while count > 0 {
            // Block by block from the end: the last matches of a long log are found without reading its start.
            let lower = max(range.lowerBound, SequenceNumber(upper.rawValue - min(upper.rawValue - 1, 4_095)))
            assert(lower <= upper, "a block holds at least one sequence")
            var matches: [SequenceNumber] = []
            try session.forEachEvent(in: lower...upper) { event in
                if includes(event), isWanted(event) { matches.append(event.sequence) }
                return true
            }
            // Blocks come last first, each ascending within.
            found = matches + found
            if found.count >= count { return found[found.count - count]...range.upperBound }
            if lower == range.lowerBound { return found.first.map { $0...range.upperBound } }
            upper = SequenceNumber(lower.rawValue - 1)
        }
        return nil
    }

    /// The range from the first of the last `count` events that match to the last of `sequences`; `nil` if none matches.
    private func last(
        _ count: Int,
        of sequences: [SequenceNumber],
        in session: borrowing ReadSession,
        where isWanted: (borrowing EventView) -> Bool
    ) throws -> ClosedRange<SequenceNumber>? {
        var (matches, first) = (0, SequenceNumber?.none)
        for sequence in sequences.reversed() where matches < count {
            try session.forEachEvent(in: sequence...sequence) { event in
                if includes(event), isWanted(event) { (matches, first) = (matches + 1, sequence) }
                return true
            }
        }
        guard let first, let end = sequences.last else { return nil }
        return first...end
    }

    /// Lends the events of a range that the selectors may choose, in order; the caller tests `includes`. Of a thing's
    /// events no others are read.
    func forEachEvent(
        in range: ClosedRange<SequenceNumber>,
        of session: borrowing ReadSession,
        _ body: (borrowing EventView) throws -> Bool
    ) throws {
        guard let touching else { return try session.forEachEvent(in: range, body) }
        for sequence in touching.filter(range.contains).sorted() {
            try session.forEachEvent(in: sequence...sequence, body)
        }
    }

    /// True if the selectors choose an event of the range. The range itself is not tested.
    func includes(_ envelope: Envelope) -> Bool {
        if let source, envelope.source != source { return false }
        if let kind, !envelope.kind.isNamed(kind) { return false }
        return touching?.contains(envelope.sequence) ?? true
    }

    /// As `includes` of the event's envelope, which is not made.
    func includes(_ event: borrowing EventView) -> Bool {
        if let source, event.source != source { return false }
        if let kind, !event.kind.isNamed(kind) { return false }
        return touching?.contains(event.sequence) ?? true
    }

    /// The error for an empty selection; `nil` if no selector was given, or none was wanted (`-n 0`).
    func nothingFits(_ command: String, in session: borrowing ReadSession) -> Failure? {
        guard !selectors.given.isEmpty, selectors.count != 0 else { return nil }
        let head = session.head
        if head > .zero, range == nil {
            return Failure(
                "\(command): no event lies between --from and --to; the log has sequences 1 to \(head)",
                exitCode: Outcome.no
            )
        }
        let names = selectors.given.filter { $0 != "-n" }.joined(separator: " and ")
        let has = head == .zero ? "the log is empty" : "the log has sequences 1 to \(head); see: logtool stats LOG"
        return Failure("\(command): no event fits \(names.isEmpty ? "-n" : names); \(has)", exitCode: Outcome.no)
    }

    /// The events that changed the requested thing or channel, or came since of a message that a compaction dropped; `nil` if none was
    /// requested.
    ///
    /// Cost: with the index of channels, one message's channel. Else a replay that notes the rows that each event
    /// touches.
    private static func touching(
        _ selectors: SelectorOptions,
        _ session: borrowing ReadSession,
        _ progress: ((SequenceNumber) -> Void)?
    ) throws -> Set<SequenceNumber>? {
        guard let wanted = selectors.entity ?? selectors.channel else { return nil }
        let isChannel = selectors.channel != nil
        var query = StateQuery()
        query.retained = true
        let options = query.replayOptions
        if let message = try Replay.indexedMessage(wanted, of: session, options: options, progress: progress) {
            return Set(message.touches)
        }
        var touched: [EntityReference: Set<SequenceNumber>] = [:]
        let state = try Replay.logState(
            of: session,
            options: options,
            observe: { envelope, state in
                for reference in state.touched(by: envelope) {
                    guard let place = isChannel ? reference.channel : reference, place.kind == wanted.kind else {
                        continue
                    }
                    touched[place, default: []].insert(envelope.sequence)
                }
                return true
            },
            progress: progress
        )
        if !isChannel, let dropped = try EntityArgument.dropped(wanted, in: state, of: session) {
            let changes = try Compaction.changesOfDropped(where: { $0 == dropped.entity }, in: state, session)
            if !changes.isEmpty { return Set(changes.map(\.sequence)) }
        }
        let thing =
            isChannel
            ? try ChannelArgument.only(wanted, of: selectors.source, in: state)
            : try EntityArgument.only(wanted, in: state, of: session)
        var found = touched[thing] ?? []
        if thing.kind == .message, session.decidedAt > .zero {
            // Of a message that is live again, also what came before.
            let changes = try Compaction.changesOfDropped(where: { $0 == thing }, in: state, session)
            found.formUnion(changes.map(\.sequence))
        }
        return found
    }
}

extension EventKind {
    /// True if a name is this kind, with or without its version: `git.commit` and `git.commit/1`.
    func isNamed(_ name: String) -> Bool {
        rawValue == name || rawValue.hasPrefix(name + "/")
    }
}

extension EntityReference {
    /// The channel that a thing is or belongs to; `nil` for other things.
    var channel: EntityReference? {
        switch kind {
        case .channel: self
        case .message, .typing, .read:
            parts.count > 2 ? EntityReference(kind: .channel, parts: Array(parts.prefix(2))) : nil
        default: nil
        }
    }
}
