import EventLog
import JSON
import Projections
import Redaction

/// Prints what a redaction did, or would do. Never prints a text that went.
struct RedactionPrinter {
    let output: StandardOutput
    let result: RedactionResult
    /// The archives beside the log, which hold what compactions dropped before.
    let archives: [String]

    /// What no redaction of a log can reach.
    static let beyond = """
        Beyond reach are backups, exports, archives and copies of the log, caches elsewhere until their next rebuild, snapshots and freed \
        blocks of the file system, ids and checksums that the remote made, and what the remote still holds and may send again.
        """

    /// The most events and places that are listed for people.
    private static let listedMax = 10

    func printText() throws {
        let texts = counted(result.texts, "text")
        let events = counted(result.events.count, "event")
        if let act = result.act {
            try output.line(output.style.text("redacted \(texts) in \(events), act \(act)", .heading))
        } else {
            try output.line(output.style.text("would redact \(texts) in \(events)", .heading))
        }
        try list(result.events.map { "\($0.sequence)  \(counted($0.places, "place"))" })
        if !result.held.isEmpty {
            try output.line("a text stays where it is an id or a word of the protocol:")
            try list(result.held.map { "event \($0)" })
        }
        if !result.others.isEmpty {
            try output.line("the same stands in texts of other things, and stays there:")
            try list(result.others.map { DisplayText.escaped($0.description) })
        }
        if let scan = result.scan {
            let searched = "searched \(counted(scan.eventCount, "event")) and \(counted(scan.fileCount, "file"))"
            if scan.hits.isEmpty, scan.fileHitCount == 0 {
                let texts = scan.unsearchedCount > 0 ? "the longer texts" : "the texts"
                try output.line("\(searched): the log has \(texts) nowhere")
            } else {
                try output.line("\(searched): the same text still stands in \(counted(scan.hits.count, "place")):")
                try list(scan.hits.map { "event \($0.sequence), \(DisplayText.escaped($0.part))" })
                if scan.hits.isEmpty { try output.line("  in the files, outside of events") }
            }
            if scan.unsearchedCount > 0 {
                try output.line("not looked for: \(counted(scan.unsearchedCount, "text")) of one byte")
            }
        }
        if !archives.isEmpty {
            let advice =
                result.act == nil
                ? "bring them back with logtool import before this, and compact again afterwards"
                : "they cannot go back into the log any more; remove them"
            try output.line("archives of compactions may hold the same texts; \(advice):")
            for path in archives { try output.line("  " + DisplayText.escaped(path)) }
        }
        try output.line(Self.beyond)
    }

    private func list(_ lines: [String]) throws {
        for line in lines.prefix(Self.listedMax) { try output.line("  " + line) }
        if lines.count > Self.listedMax { try output.line("  and \(lines.count - Self.listedMax) more (--json)") }
    }

    func printDocument() throws {
        var members: JSONObject = [
            "act": result.act.map { .string($0.description) } ?? .null,
            "texts": .int(result.texts),
            "redacted": .array(
                result.events.map {
                    .object(["sequence": .string($0.sequence.description), "places": .int($0.places)])
                }
            ),
            "others": .array(result.others.map { .string($0.description) }),
            "held": .array(result.held.map { .string($0.description) }),
        ]
        if !archives.isEmpty { members["archives"] = .array(archives.map { .string($0) }) }
        members["scan"] =
            result.scan.map { scan in
                .object([
                    "events": .int(scan.eventCount), "files": .int(scan.fileCount), "bytes": .int(scan.byteCount),
                    "hits": .array(
                        scan.hits.map {
                            .object(["sequence": .string($0.sequence.description), "part": .string($0.part)])
                        }
                    ),
                    "fileHits": .int(scan.fileHitCount), "unsearched": .int(scan.unsearchedCount),
                ])
            } ?? .null
        try output.line(JSONValue.object(members).text)
    }
}
