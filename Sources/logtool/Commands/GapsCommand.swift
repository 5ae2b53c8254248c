import ArgumentParser
import EventLog
import Projections

/// `logtool gaps`: when changes may be missing.
struct GapsCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "gaps",
        abstract: "List the times in which changes may be missing.",
        usage: "logtool gaps LOG [options]"
    )

    static let examples = [
        Example("logtool gaps notes.eventlog", "when was nobody listening?"),
        Example("logtool gaps notes.eventlog --json", "the same for scripts"),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let state = try StateLoader(store: try log.open(), progress: Progress(isQuiet: output.quiet)).workspace(
            for: StateQuery(retained: true)
        )
        let output = output.standardOutput
        let gaps = state.gaps.map { JSONValue.object(Self.json(source: $0.source, gap: $0.gap)) }
        switch lists.form {
        case .document: try output.line(JSONValue.array(gaps).lines)
        case .lines: for gap in gaps { try output.line(gap.text) }
        case .text: for (source, gap) in state.gaps { try output.line(Self.text(source: source, gap: gap)) }
        }
        try output.flush()
    }

    private static func json(source: SourceName, gap: Gap) -> JSONObject {
        [
            "source": .string(source.rawValue), "topic": .text(gap.topic), "from": .string(gap.from.description),
            "to": .text(gap.to?.description), "reason": .string(gap.reason),
        ]
    }

    private static func text(source: SourceName, gap: Gap) -> String {
        let span = "\(TimeText.full(gap.from)) to \(gap.to.map(TimeText.full) ?? "now")"
        let place = gap.topic.map { "\(source)  \($0)" } ?? "\(source)"
        return DisplayText.escaped("\(span)  \(place)  \(gap.reason)")
    }
}
