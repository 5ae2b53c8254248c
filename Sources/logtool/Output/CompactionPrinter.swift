import EventLog
import Projections

/// Prints what a compaction did, or would do.
struct CompactionPrinter {
    let output: StandardOutput
    let summary: CompactionSummary
    let isDryRun: Bool

    /// For people.
    func printText() throws {
        let dropped = summary.events.before - summary.events.after
        let verb = isDryRun ? "would drop" : "dropped"
        try output.line(
            "\(verb) \(dropped) of \(counted(summary.events.before, "event")), keeping \(counted(summary.keep, "message")) a channel"
        )
        for channel in summary.channels where channel.before != channel.after {
            let name = DisplayText.escaped("\(channel.source)/\(channel.id)")
            try output.line("  \(name)  \(counted(channel.before, "message")) → \(channel.after)")
        }
        let size = "\(ByteCountText.text(summary.bytes.before)) → \(ByteCountText.text(summary.bytes.after))"
        try output.line(output.style.text("\(size) on disk, digest \(summary.digest)", .quiet))
    }

    /// As one document.
    func printDocument() throws {
        let channels = summary.channels.map { channel in
            JSONValue.object([
                "source": .string(channel.source.rawValue), "id": .string(channel.id),
                "before": .int(channel.before), "after": .int(channel.after),
            ])
        }
        let document: JSONObject = [
            "keep": .int(summary.keep),
            "events": .object(["before": .int(summary.events.before), "after": .int(summary.events.after)]),
            "bytes": .object(["before": .int(summary.bytes.before), "after": .int(summary.bytes.after)]),
            "channels": .array(channels),
            "digest": .string(summary.digest.hex),
        ]
        try output.line(JSONValue.object(document).lines)
    }
}
