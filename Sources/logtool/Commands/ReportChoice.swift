import ArgumentParser
import Clients
import EventLog
import Projections
import Viewer

/// The events of a page.
struct ReportChoice {
    /// `nil` for all.
    var sequences: Set<SequenceNumber>?
    let range: ClosedRange<SequenceNumber>
    let count: Int
    /// Whether the page shows only what these events change.
    let isNarrow: Bool

    /// The steps of a log that was compacted begin behind the decision, unless the selectors say where: earlier states are not
    /// known any more.
    ///
    /// - Parameter isRestored: Whether archives were read into the log. The page then holds a part of it: the whole would need what
    ///   its compactions left beside the events.
    /// - Throws: `Failure` with exit code 1 if nothing fits.
    init(
        _ selectors: SelectorOptions,
        in session: borrowing ReadSession,
        isRestored: Bool = false,
        _ progress: Progress
    ) throws {
        guard session.head > .zero else { throw Failure("report: the log has no events", exitCode: Outcome.no) }
        let part = try PartSelection(selectors, without: [], in: session, progress: progress)
        var found: [SequenceNumber] = []
        var total = 0
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            if event.isAct { return true }
            total += 1
            if part.includes(event) { found.append(event.sequence) }
            return true
        }
        guard let first = found.first, let last = found.last else {
            throw Failure("report: no event fits", exitCode: Outcome.no)
        }
        let start = selectors.from == nil ? session.decidedAt.next : SequenceNumber(1)
        let isAll = try found.count == total && !session.isPart() && !isRestored
        guard isAll || start <= last else {
            throw Failure(
                "report: the log was compacted at sequence \(session.decidedAt), and every event that fits lies before",
                exitCode: Outcome.no
            )
        }
        isNarrow = selectors.given.contains { ["--source", "--channel", "--entity", "--kind"].contains($0) }
        (sequences, range, count) = (
            isAll ? nil : Set(found), isAll ? start...session.head : max(first, start)...last, found.count
        )
    }

    private init(
        _ choice: ReportChoice,
        sequences: Set<SequenceNumber>?,
        range: ClosedRange<SequenceNumber>
    ) {
        (self.sequences, self.range) = (sequences, range)
        (count, isNarrow) = (choice.count, choice.isNarrow)
    }

    /// The same events in a log that has as many in the same order, and other acts.
    func moved(from store: EventStore, to other: EventStore) throws -> ReportChoice {
        guard let sequences else {
            return ReportChoice(self, sequences: nil, range: SequenceNumber(1)...(try other.read { $0.head }))
        }
        let moved = try Self.moved(sequences, from: store, to: other)
        guard let first = moved.min(), let last = moved.max() else {
            throw Failure("report: the anonymized log has fewer events than the log")
        }
        return ReportChoice(self, sequences: moved, range: first...last)
    }

    /// Events of a log in another one that has as many in the same order, and other acts.
    ///
    /// - Throws: `Failure` for an act, and if the other log has fewer events.
    static func moved(
        _ sequences: Set<SequenceNumber>,
        from store: EventStore,
        to other: EventStore
    ) throws -> Set<SequenceNumber> {
        if sequences.isEmpty { return [] }
        let moved = zip(try places(in: store), try places(in: other)).filter { sequences.contains($0.0) }.map(\.1)
        guard moved.count == sequences.count else {
            throw Failure("report: the anonymized log has fewer events than the log")
        }
        return Set(moved)
    }

    private static func places(in store: EventStore) throws -> [SequenceNumber] {
        try store.read { session in
            var sequences: [SequenceNumber] = []
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                if !event.isAct { sequences.append(event.sequence) }
                return true
            }
            return sequences
        }
    }

    /// Passes the lines of an export of the events, and of the acts that say how they are read, without bookmarks; each with
    /// what it tells, the header with `nil`.
    func export(
        _ session: borrowing ReadSession,
        to output: (_ line: [UInt8], LogPiece?) throws -> Void
    ) throws {
        var writer = ExportWriter()
        guard let sequences else {
            var header = try session.header()
            header.bookmarks = [:]
            try output(writer.line(header), nil)
            return try session.forEachPiece { try output(writer.line($0), $0) }
        }
        try output(writer.line(session.partHeader(), chosen: "report"), nil)
        try session.forEachPiece {
            sequences.contains($0.sequence) || $0.isAct && $0.kind == Decoders.actKind
        } _: {
            try output(writer.line($0), $0)
        }
    }

    /// Whether the steps are those of all events of the range, so that they can be written in chunks.
    private var isWhole: Bool {
        guard !isNarrow, let sequences else { return !isNarrow }
        return UInt64(sequences.count) == range.upperBound.rawValue - range.lowerBound.rawValue + 1
    }

    /// Writes the page of the events.
    ///
    /// - Parameter other: What the page shows beside them.
    /// - Throws: `Failure` with exit code 1 if another log has none of the events.
    func write(
        _ session: borrowing ReadSession,
        title: String,
        reading: Profile,
        against other: OtherReading? = nil,
        isServed: Bool = false,
        to output: @escaping ([UInt8]) throws -> Void
    ) throws {
        if other == nil, !isServed, isWhole {
            let report = Report(output)
            try report.begin(.steps, title: title)
            var chunks = ReportChunks(
                in: report,
                title: title,
                reading: reading.rawValue,
                range: range,
                options: StateQuery(profile: reading).replayOptions
            )
            try export(session) { try chunks.add($0, $1, of: session) }
            try chunks.end(of: session)
            return try report.end(.steps)
        }
        func write(
            _ query: StateQuery,
            _ name: String,
            _ session: borrowing ReadSession,
            _ line: ([UInt8]) throws -> Void
        ) throws {
            let steps = Steps(title: title, range: range, options: query.replayOptions, reading: name)
            try steps.write(of: session, chosen: sequences, isNarrow: isNarrow, to: line)
        }
        try Report(output).write(title: title, isServed: isServed) { line in
            try export(session) { each, _ in try line(each) }
        } steps: {
            try write(StateQuery(profile: reading), reading.rawValue, session, $0)
        } other: { line in
            switch other {
            case nil: break
            case .reading(let query, let name): try write(query, name, session, line)
            case .log(let log, let name): try log.write(beside: session, range, chosen: sequences, name: name, to: line)
            }
        }
    }
}
