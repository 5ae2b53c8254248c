import ArgumentParser
import EventLog
import Ingest
import Projections

/// `logtool status`: shows how the recorders of a log are doing, from the log and from the locks of its sources.
///
/// Needs no running recorder and no message from one. Whether a recorder runs shows in its source's lock, which the
/// system releases even after a kill; all else is in the log.
struct StatusCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show per source whether it is connected, how far behind, and what it missed.",
        usage: "logtool status LOG [options]"
    )

    static let examples = [
        Example("logtool status chat.eventlog", "is every recorder listening?"),
        Example("logtool status chat.eventlog --json", "the same for scripts"),
    ]

    @OptionGroup var log: LogOptions

    @Option(
        help: ArgumentHelp("Only this recorder.", valueName: "name"),
        completion: Completions.sources,
        transform: SourceArgument.parse
    )
    var source: SourceName?

    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    /// Prints a line or document for each source but `logtool`, by name. The open gaps are those of `gaps`, so the log is
    /// folded. Cost: reads the whole log, also with `--source`.
    ///
    /// - Throws: `Failure` with exit code 1 if the log has no such source. A recorder that is down is an answer: the
    ///   exit code stays 0.
    func run() throws {
        // One instant for all sources, so that their ages can be compared.
        let now = SystemClock.now
        let progress = output.progress("reading what the recorders say")
        let store = try log.open(isQuiet: output.quiet)
        try store.read { try KnownNames($0).check(source: source) }
        let sources = try RecorderStatus.all(in: store).filter { source == nil || $0.source == source }
        let gaps = try StateLoader(store: store, progress: progress).gaps().gaps.filter { $0.gap.to == nil }
        let counts = Dictionary(grouping: gaps, by: \.source).mapValues(\.count)
        progress.end()
        let output = output.standardOutput
        let documents = sources.map { JSONValue.object(Self.json($0, gaps: counts[$0.source] ?? 0, now: now)) }
        switch lists.form {
        case .document: try output.line(JSONValue.array(documents).lines)
        case .lines: for document in documents { try output.line(document.text) }
        case .text:
            for source in sources {
                let sign =
                    try source.wasKilled ? store.read { try RecorderStatus.lastSign(of: source.source, in: $0) } : nil
                try output.line(Self.text(source, sign: sign, gaps: counts[source.source] ?? 0, now: now))
            }
        }
        try output.flush()
    }

    /// One source as in `docs/cli-json.md`. `lagSeconds` is the age of its last event by this machine's clock.
    /// `connected` is true only while the source's lock is held.
    private static func json(_ status: RecorderStatus, gaps: Int, now: Timestamp) -> JSONObject {
        var json: JSONObject = [
            "source": .string(status.source.rawValue),
            "running": .bool(status.isRunning),
            "connected": status.isConnected.map { .bool($0) },
            "since": .text(status.linkChangedAt?.description),
            "events": .int(status.events),
            "lastEvent": .text(status.lastEvent?.description),
            "lagSeconds": .int(status.lagSeconds(now)),
            "gaps": .int(gaps),
            "retries": .int(status.retries),
        ]
        // Left out unless the source has recorded one.
        if let rate = status.rate {
            json["rateLimit"] = .object([
                "level": .string(rate.level), "usedPercent": .int(rate.used), "reset": .text(rate.reset?.description),
            ])
        }
        return json
    }

    /// One source as a line: its link, events, age, gaps and rate limit. Sources without links are recording or
    /// recorded, by their lock alone.
    private static func text(_ status: RecorderStatus, sign: Timestamp?, gaps: Int, now: Timestamp) -> String {
        var parts = [status.source.rawValue]
        switch status.saysConnected {
        // The log's last word is that the link is open, but nobody holds the source's lock.
        case true? where !status.isRunning:
            parts.append("not running: killed while connected since \(status.linkChangedAt.map(TimeText.full) ?? "?")")
            if let sign = sign ?? status.lastTime { parts.append("last sign of life \(TimeText.full(sign))") }
        case true?: parts.append("connected since \(status.linkChangedAt.map(TimeText.full) ?? "?")")
        case false? where !status.isRunning:
            parts.append("not running since \(status.linkChangedAt.map(TimeText.full) ?? "?")")
        case false?: parts.append("not connected since \(status.linkChangedAt.map(TimeText.full) ?? "?")")
        case nil: parts.append(status.isRunning ? "recording" : "recorded")
        }
        parts.append("\(status.events) events")
        if let last = status.lastEvent {
            parts.append("last \(TimeText.ago(seconds: status.lagSeconds(now))) (\(TimeText.full(last)))")
        }
        parts.append(gaps == 0 ? "no open gap is known" : "\(gaps) open gap\(gaps == 1 ? "" : "s")")
        if status.retries > 0 { parts.append("\(status.retries) retries") }
        if let rate = status.rate { parts.append("rate limit \(rate.level), \(rate.used) % used") }
        return DisplayText.escaped(parts.joined(separator: "  "))
    }
}
