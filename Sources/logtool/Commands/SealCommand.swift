import ArgumentParser
import EventLog
import Projections

/// `logtool seal`: puts older events into compressed blocks.
///
/// It asks for no `--yes`, because nothing goes: every command gives the same answers as before.
struct SealCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal",
        abstract: "Compress older events in place: the log shrinks, and every answer and proof stays the same.",
        usage: "logtool seal LOG [--older-than DURATION] [options]",
        discussion: """
            Events of up to 512 go into one compressed block. Whoever reads the log reads them as before, each by itself too. Events \
            that are appended later lie open until the next seal. What is sealed stays so when the log is compacted, redacted or backed up; \
            an export and a shipped copy have the events open. A program from before there was seal does not open the log any more.

            compact --seal does both in one rewrite. A log that would grow is left alone, unless --force is given.
            """
    )

    static let examples = [
        Example("logtool seal chat.eventlog", "all events"),
        Example("logtool seal chat.eventlog --older-than 30d", "what is older than thirty days"),
        Example("logtool seal chat.eventlog --dry-run", "how much smaller the log would be"),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var age: SealAgeOptions
    @OptionGroup var rewrite: RewriteOptions

    @Flag(help: "Seal also a log that would take more bytes afterwards.")
    var force = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Seals and prints the figures. A log in which nothing is left to seal, and one that would grow, end with 0: both are answers.
    ///
    /// - Throws: `EventLogError`, with code `locked` (exit 11) after `--wait`. The log is unchanged then.
    func run() throws {
        let progress = output.progress("sealing")
        let store = try rewrite.open(log, reportingTo: progress)
        let now = SystemClock.now
        let limit = try age.limit(now: now)
        let result = try rewrite.withScratch(for: log) { scratch in
            try store.seal(
                limit,
                now: now,
                isDryRun: rewrite.dryRun,
                scratch: scratch,
                mustShrink: !force
            )
        }
        progress.end()
        let standardOutput = output.standardOutput
        let lines = document.json ? JSONValue.object(try json(result, store)).lines : try text(result, store)
        try standardOutput.line(lines)
        try standardOutput.flush()
    }

    private func text(_ result: SealResult?, _ store: EventStore) throws -> String {
        guard let result else {
            return "nothing to seal: \(counted(Int(clamping: try store.statistics().sealed), "event")) sealed already"
        }
        let sizes = "\(ByteCountText.text(result.bytes.before)) → \(ByteCountText.text(result.bytes.after)) on disk"
        if result.isRefused { return "left alone: the log would grow, \(sizes); --force seals it all the same" }
        let sealed = counted(Int(clamping: result.sealed.after - result.sealed.before), "event")
        return "\(rewrite.dryRun ? "would seal" : "sealed") \(sealed), up to \(result.through), \(sizes)"
    }

    /// As in `docs/cli-json.md`.
    private func json(_ result: SealResult?, _ store: EventStore) throws -> JSONObject {
        let statistics = try store.statistics()
        let sealed = result?.sealed ?? (before: statistics.sealed, after: statistics.sealed)
        let bytes = result?.bytes ?? (before: statistics.bytesOnDisk, after: statistics.bytesOnDisk)
        let isDone = result.map { !$0.isRefused } ?? false
        return [
            "through": isDone ? .text(result?.through.description) : nil,
            "sealed": .object(["before": .int(sealed.before), "after": .int(isDone ? sealed.after : sealed.before)]),
            "bytes": .object(["before": .int(bytes.before), "after": .int(isDone ? bytes.after : bytes.before)]),
            "leftAlone": result?.isRefused == true ? .object(["bytes": .int(bytes.after)]) : nil,
        ]
    }
}
