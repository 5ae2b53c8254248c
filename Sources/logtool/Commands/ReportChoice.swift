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
    /// - Throws: `Failure` with exit code 1 if nothing fits.
    init(_ selectors: SelectorOptions, in session: borrowing ReadSession, _ progress: Progress) throws {
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
        let isAll = try found.count == total && !session.isPart()
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
        let places = try Self.places(in: store).enumerated().filter { sequences.contains($0.element) }.map(\.offset)
        let there = try Self.places(in: other)
        let moved = places.filter { $0 < there.count }.map { there[$0] }
        guard moved.count == places.count, let first = moved.first, let last = moved.last else {
            throw Failure("report: the anonymized log has fewer events than the log")
        }
        return ReportChoice(self, sequences: Set(moved), range: first...last)
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

    /// Passes the lines of an export of the events, and of the acts that say how they are read, without bookmarks.
    func export(_ session: borrowing ReadSession, to output: ([UInt8]) throws -> Void) throws {
        var writer = ExportWriter()
        guard let sequences else {
            var header = try session.header()
            header.bookmarks = [:]
            try output(writer.line(header))
            return try session.forEachPiece { try output(writer.line($0)) }
        }
        try output(writer.line(session.partHeader(), chosen: "report"))
        try session.forEachPiece {
            sequences.contains($0.sequence) || $0.isAct && $0.kind == Decoders.actKind
        } _: {
            try output(writer.line($0))
        }
    }

    /// Writes the page of the events.
    ///
    /// - Parameter other: Another reading, which the page shows beside the first one.
    func write(
        _ session: borrowing ReadSession,
        title: String,
        reading: Profile,
        against other: Profile? = nil,
        isServed: Bool = false,
        to output: @escaping ([UInt8]) throws -> Void
    ) throws {
        func write(_ reading: Profile, of session: borrowing ReadSession, _ line: ([UInt8]) throws -> Void) throws {
            let options = StateQuery(profile: reading).replayOptions
            let steps = Steps(title: title, range: range, options: options, reading: reading.rawValue)
            try steps.write(of: session, chosen: sequences, isNarrow: isNarrow, to: line)
        }
        try Report(output).write(title: title, isServed: isServed) {
            try export(session, to: $0)
        } steps: {
            try write(reading, of: session, $0)
        } other: { line in
            if let other { try write(other, of: session, line) }
        }
    }
}

/// The reading that a page shows beside the first one.
struct AgainstOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Another reading beside it: '#PROFILE'.", valueName: "#profile"),
        completion: Completions.profiles,
        transform: Self.parse
    )
    var against: Profile?

    private static func parse(_ text: String) throws -> Profile {
        try ProfileArgument.parse(text.hasPrefix("#") ? String(text.dropFirst()) : text)
    }
}
