import ArgumentParser
import EventLog
import JSON
import Projections

/// `logtool salvage`: makes a log of what is left of a damaged one.
///
/// For logs that `verify` calls damaged. Everything in the new log fits its leaf hash (I20); what is lost is named,
/// never guessed. A sound log is copied, with exit code 0.
struct SalvageCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Make a log of every event of a damaged one that still hashes right, and list what is lost.",
        usage: "logtool salvage LOG -o NEW [options]",
        discussion: """
            The damaged log is read page by page and left as it is. Every event keeps its sequence; a lost one becomes \
            a dropped one, and an act names them all. Exit code 3 where anything is lost, or may be: the file's own \
            counts, the mark beside it and derived data may tell of more than is left.
            """
    )

    static let examples = [
        Example("logtool verify chat.eventlog", "what is damaged?"),
        Example("logtool salvage chat.eventlog -o saved.eventlog", "save what is right"),
    ]

    @OptionGroup var log: LogOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Where the new log goes; nothing may be there.", valueName: "new"),
        completion: .directory
    )
    var target: String

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Salvages and prints what was found and lost.
    ///
    /// - Throws: `Outcome.damaged` if anything is lost or may be; the new log is complete even then. `EventLogError` with code
    ///   `invalidArgument` (exit 2) if anything exists at the target, `noLog` (exit 10) if there is no generation to
    ///   read.
    func run() throws {
        let progress = output.progress("reading what is left")
        // The time of the act that names what is lost.
        let report = try EventStore.salvage(log.path, to: target, now: SystemClock.now) {
            progress.report($0)
        }
        progress.end()
        let output = output.standardOutput
        try output.line(document.json ? Self.members(of: report).text : Self.text(of: report, target: target))
        try output.flush()
        // A script must not take a log with losses for a whole one.
        if !report.isComplete { throw Outcome.damaged }
    }

    /// The report as in `docs/cli-json.md`; ranges include both ends.
    private static func members(of report: SalvageReport) -> JSONValue {
        let lost = report.lost.map { range in
            JSONValue.object([
                "from": .string(range.lowerBound.description), "to": .string(range.upperBound.description),
            ])
        }
        return .object([
            "held": .int(report.held),
            "dropped": .int(report.dropped),
            "missing": report.missing > 0 ? .int(report.missing) : nil,
            "lost": .array(lost),
            "doubts": .array(report.doubts.map { .string($0) }),
            "head": .string(report.head.description),
            "root": .string(Base64.encode(report.root.bytes)),
            "keepsIdentity": .bool(report.keepsIdentity),
        ])
    }

    /// The result as lines.
    private static func text(of report: SalvageReport, target: String) -> String {
        let path = DisplayText.escaped(target)
        let range = report.head == .zero ? "" : " of sequences 1 to \(report.head)"
        var lines = ["\(counted(Int(report.held), "event"))\(range), in \(path)"]
        if report.dropped > 0 { lines.append("\(counted(Int(report.dropped), "event")) had been dropped before") }
        if report.missing > 0 {
            lines.append("\(counted(Int(report.missing), "event")) missing, since the log is a part")
        }
        for range in report.lost {
            let isOne = range.lowerBound == range.upperBound
            lines.append("lost: \(isOne ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)")")
        }
        for doubt in report.doubts { lines.append("more may be missing: \(doubt)") }
        if report.isComplete { lines.append("nothing is lost of what the log's files tell of") }
        // A leaf hash is lost or may be, so no root over it can be computed again.
        if !report.keepsIdentity { lines.append("a log of its own: proofs of the old one do not hold for it") }
        return lines.joined(separator: "\n")
    }
}
