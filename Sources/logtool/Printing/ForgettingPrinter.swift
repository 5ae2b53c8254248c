import EventLog
import Projections
import Redaction

/// Prints what was forgotten, or would be. Never prints a text, a name or an id that went.
struct ForgettingPrinter {
    let output: StandardOutput
    let result: ForgettingResult

    /// What is left to do.
    static let beyond =
        "Left to do, because no rewrite reaches it: "
        + ForgettingCertificate.beyondReach.joined(separator: "; ") + "."

    /// The most events and places that are listed for people.
    private static let listedMax = 10

    func printText() throws {
        let what =
            "\(counted(result.messageCount, "message")), \(counted(result.redaction.texts, "text")) in "
            + counted(result.redaction.events.count, "event")
        let names = result.pseudonyms.joined(separator: ", ")
        if let act = result.redaction.act {
            try output.line(output.style.text("forgot \(what), act \(act); now \(names)", .heading))
        } else {
            try output.line(output.style.text("would forget \(what); then \(names)", .heading))
        }
        try printHeld()
        if result.otherEventCount > 0 {
            let events = counted(result.otherEventCount, "event")
            try output.line(
                "others' texts in \(events) have the same texts or names, and stay; see with history --match, and redact"
            )
        }
        if let scan = result.scan { try print(scan) }
        if !result.archives.isEmpty {
            try output.line(
                result.redaction.act == nil
                    ? "archives beside the log: bring them back with logtool import before this, and compact again afterwards"
                    : "archives beside the log cannot go back into it any more; remove them:"
            )
            for path in result.archives { try output.line("  " + DisplayText.escaped(path)) }
        }
        try output.line(Self.beyond)
    }

    private func printHeld() throws {
        if !result.redaction.held.isEmpty {
            try output.line("an id or a name stays where it is part of another id or a word of the protocol:")
            try list(result.redaction.held.map { "event \($0)" })
        }
        if !result.heldParts.isEmpty {
            try output.line("an id, a name or a text stays in what the leaf hash covers:")
            try list(result.heldParts.map { "event \($0.sequence), \(DisplayText.escaped($0.part))" })
        }
        if result.areFactsHeld { try output.line("an id or a name stays in what a compaction kept of dropped events") }
    }

    private func print(_ scan: ForgettingScan) throws {
        let blocks = scan.blockCount > 0 ? ", \(counted(scan.blockCount, "block")) of archives" : ""
        let sealed = scan.sealedCount > 0 ? " (\(scan.sealedCount) in compressed blocks)" : ""
        let searched =
            "searched \(counted(scan.eventCount, "event"))\(sealed), \(counted(scan.fileCount, "file"))\(blocks)"
        if scan.hits.isEmpty, scan.fileHitCount == 0 {
            try output.line("\(searched): the log has \(counted(scan.searchedCount, "text")) nowhere")
        } else {
            try output.line("\(searched): found in \(counted(scan.hits.count, "place")):")
            try list(scan.hits.map { "event \($0.sequence), \(DisplayText.escaped($0.part))" })
            if scan.hits.isEmpty { try output.line("  in the files, outside of events") }
        }
        if scan.unsearchedCount > 0 {
            try output.line("not looked for, being short: \(counted(scan.unsearchedCount, "text"))")
        }
        if !scan.archiveHits.isEmpty {
            try output.line("found in archives:")
            try list(scan.archiveHits.map { "\(DisplayText.escaped($0.path)), \(counted($0.count, "place"))" })
        }
    }

    private func list(_ lines: [String]) throws {
        for line in lines.prefix(Self.listedMax) { try output.line("  " + line) }
        if lines.count > Self.listedMax { try output.line("  and \(lines.count - Self.listedMax) more (--json)") }
    }
}
