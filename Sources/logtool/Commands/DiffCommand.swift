import ArgumentParser
import EventLog
import Projections

/// `logtool diff`: compares two states.
struct DiffCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two states: what was added, removed and changed, field by field.",
        usage: "logtool diff A B [options]",
        discussion: """
            A state is LOG, LOG@POINT, LOG#PROFILE, LOG@POINT#PROFILE, a state document (*.json) or - for one on \
            standard input. Exit code 1 when they differ.
            """
    )

    static let examples = [
        Example("logtool diff chat.eventlog@head~10 chat.eventlog", "what the last ten events changed"),
        Example("logtool diff chat.eventlog@100 chat.eventlog --explain", "the same, and which events did it"),
        Example("logtool diff expected.json chat.eventlog", "a state document against a log"),
        Example("logtool replay a.eventlog --json | logtool diff - b.eventlog", "two logs"),
    ]

    @Argument(help: ArgumentHelp("The first state.", valueName: "a"), transform: StateReference.parse)
    var first: StateReference

    @Argument(help: ArgumentHelp("The second state.", valueName: "b"), transform: StateReference.parse)
    var second: StateReference

    @Flag(help: "Name the events responsible for each difference.")
    var explain = false

    @Option(help: ArgumentHelp("Only what this recorder received.", valueName: "name"), transform: SourceArgument.parse)
    var source: SourceName?

    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if first == .standardInput && second == .standardInput {
            throw ValidationError("standard input can be one of the two states only")
        }
    }

    func run() throws {
        let differences = try StateDiff.differences(
            first.document(source: source),
            second.document(source: source)
        )
        let document = StateDiff.document(differences, responsible: try responsible(for: differences))
        let output = output.standardOutput
        if lists.json {
            try output.line(document.lines)
        } else if lists.jsonl {
            for difference in document["differences"]?.array ?? [] { try output.line(difference.text) }
        } else {
            try DifferencePrinter(output: output).print(document["differences"]?.array ?? [])
        }
        try output.flush()
        if !differences.isEmpty { throw Outcome.no }
    }

    private func responsible(for differences: [StateDifference]) throws -> [EntityReference: [SequenceNumber]] {
        guard explain, !differences.isEmpty else { return [:] }
        return try Explanation(first: first, second: second, source: source).responsible(for: differences)
    }
}
