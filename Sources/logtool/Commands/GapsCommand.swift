import ArgumentParser
import EventLog
import Projections

/// `logtool gaps`: lists the times in which changes may be missing (I29). No gaps is no failure.
///
/// Gaps come from the state: recorders append events for them, and the numbers of some frames show others.
struct GapsCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "gaps",
        abstract: "List the times in which changes may be missing.",
        usage: "logtool gaps LOG [options]"
    )

    static let examples = [
        Example("logtool gaps notes.eventlog", "when was nobody listening?"),
        Example("logtool gaps notes.eventlog --source guild --from head~100", "of one recorder, not long ago"),
        Example("logtool gaps notes.eventlog --json", "the same for scripts"),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var selectors: SelectorOptions
    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    /// Refuses selectors that mean nothing for a gap. `--from` and `--to` choose by time, because a gap covers time and
    /// not events.
    func validate() throws {
        try selectors.refuse(["--entity"], because: "a gap is about a source or one of its topics")
        try selectors.refuse(["--kind"], because: "gaps have reasons; see: logtool gaps LOG")
    }

    /// Folds the log, then selects gaps by the log's clock.
    ///
    /// - Throws: `Failure` with exit code 1 if the log has no such source. An empty list ends with 0.
    func run() throws {
        let store = try log.open(isQuiet: output.quiet)
        let progress = output.progress("replaying")
        // A misspelt source must not look like one without gaps.
        try store.read { try KnownNames($0).check(source: selectors.source) }
        let (state, all) = try StateLoader(store: store, progress: progress).gaps()
        let channel = try selectors.channel.map { try self.channel($0, of: all, in: state) }
        let (gaps, names) = try store.read { (try chosen(all, about: channel, in: $0), try KnownNames($0)) }
        progress.end()
        let output = output.paged(unless: lists.form)
        let documents = gaps.map { JSONValue.object(Self.json(source: $0.source, gap: $0.gap)) }
        switch lists.form {
        case .document: try output.line(JSONValue.array(documents).lines)
        case .lines: for gap in documents { try output.line(gap.text) }
        case .text: for (source, gap) in gaps { try output.line(Self.text(source: source, gap: gap)) }
        }
        if gaps.isEmpty, lists.form == .text {
            for line in nothing(of: all.count, names) { try output.line(line) }
        }
        try output.flush()
    }

    /// Every time that a log can hold. Stands for points that are not given.
    private static let always = Timestamp(microseconds: .min)...Timestamp(microseconds: .max)

    private typealias SourceGap = (source: SourceName, gap: Gap)

    /// The gaps of the requested source and topic that were open at some time between the two points, both inclusive;
    /// of these the last `-n`. A gap without an end is still open.
    private func chosen(
        _ gaps: [SourceGap],
        about channel: EntityReference?,
        in session: borrowing ReadSession
    ) throws -> [SourceGap] {
        guard let span = try span(in: session) else { return [] }
        let fitting = gaps.filter { source, gap in
            (selectors.source ?? source) == source && isAbout(channel, source, gap)
                && gap.from <= span.upperBound && (gap.to ?? span.upperBound) >= span.lowerBound
        }
        return fitting.suffix(selectors.count ?? fitting.count)
    }

    /// A channel as it was asked for, or the one of that name where it is no id and no topic of a gap.
    private func channel(
        _ wanted: EntityReference,
        of gaps: [SourceGap],
        in state: LogState
    ) throws -> EntityReference {
        let isTopic = gaps.contains { isAbout(wanted, $0.source, $0.gap) && $0.gap.topic != nil }
        if isTopic || state.channels(called: wanted, of: selectors.source).isEmpty { return wanted }
        return try ChannelArgument.only(wanted, of: selectors.source, in: state)
    }

    /// True if a gap concerns a channel: its topic is the channel, or it concerns the whole source. A reference with
    /// one part names a channel of any source.
    private func isAbout(_ channel: EntityReference?, _ source: SourceName, _ gap: Gap) -> Bool {
        guard let channel else { return true }
        let isSource = channel.parts.count < 2 || channel.parts[0] == source.rawValue
        return isSource && (gap.topic == nil || gap.topic == channel.parts.last)
    }

    /// The time between the two points, by the log's clock at each; all time without them. `nil` if no event lies
    /// between them. A point that is a time is resolved to a sequence first, so the span begins and ends with events.
    private func span(in session: borrowing ReadSession) throws -> ClosedRange<Timestamp>? {
        guard let range = try selectors.range.range(in: session) else {
            return try selectors.range.isGiven ? nil : Self.always
        }
        let from = selectors.from == nil ? nil : try session.clock(at: range.lowerBound)
        let to = selectors.to == nil ? nil : try session.clock(at: range.upperBound)
        let (first, last) = (from ?? Self.always.lowerBound, to ?? Self.always.upperBound)
        return first <= last ? first...last : nil
    }

    /// The lines for an empty list. They tell a log without gaps from one whose gaps the selectors leave out, and of the
    /// former how much is known.
    private func nothing(of count: Int, _ names: KnownNames) -> [String] {
        guard count == 0 else { return ["no gap fits; without options there \(count == 1 ? "is" : "are") \(count)"] }
        let covered = GapCoverage.lines(of: names.kinds(of: selectors.source))
        let first = "no gaps: nothing is known to be missing"
        return covered.isEmpty ? [first] : ["\(first); this covers"] + covered.map { "  \($0)" }
    }

    /// One gap as in `docs/cli-json.md`. The remote's numbers are texts, because they may have 64 bits.
    private static func json(source: SourceName, gap: Gap) -> JSONObject {
        let numbers = gap.numbers.map { range in
            JSONValue.object(["from": .string(String(range.lowerBound)), "to": .string(String(range.upperBound))])
        }
        return [
            "source": .string(source.rawValue), "topic": .text(gap.topic), "from": .string(gap.from.description),
            "to": .text(gap.to?.description), "reason": .string(gap.reason),
            "missing": numbers.isEmpty ? nil : .array(numbers),
        ]
    }

    /// One gap as a line. Topics and reasons may quote the remote, so the whole line is escaped.
    private static func text(source: SourceName, gap: Gap) -> String {
        let span = "\(TimeText.full(gap.from)) to \(gap.to.map(TimeText.full) ?? "now")"
        let place = gap.topic.map { "\(source)  \($0)" } ?? "\(source)"
        return DisplayText.escaped("\(span)  \(place)  \(gap.reason)\(missing(gap.numbers))")
    }

    /// The numbers that never came: `: number 17`, `: numbers 17 to 19, 22`. At most eight ranges; JSON has all.
    private static func missing(_ ranges: [ClosedRange<Int64>]) -> String {
        guard let first = ranges.first else { return "" }
        let isOne = ranges.count == 1 && first.count == 1
        let shown = ranges.prefix(8).map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
        let more = ranges.count > 8 ? " and \(ranges.count - 8) more" : ""
        return ": number\(isOne ? "" : "s") \(shown.joined(separator: ", "))\(more) never came"
    }
}
