import EventLog
import Projections

/// Prints what a compaction did, or would do.
///
/// A dry run prints the same figures with other verbs, so that the two can be compared line by line.
struct CompactionPrinter {
    let output: StandardOutput
    let summary: CompactionSummary
    let isDryRun: Bool
    /// Whether options stood in for what the log's policy says.
    let isOverruled: Bool
    /// The log's path as it was given, for the command that copies it.
    let path: String
    /// Whether what is dropped goes into an archive, unless this is a dry run.
    let makesArchive: Bool
    /// The messages that would go; `nil` if nobody asked.
    let gone: [StateDifference]?

    /// For people. A compaction that was refused, or had nothing to drop, has no channels to list.
    func printText() throws {
        if let refused = summary.refused { return try printRefusal(refused) }
        guard summary.events.after < summary.events.before else { return try printNothing() }
        // Acts are in neither figure, so the act that this compaction appends does not show.
        let dropped = summary.events.before - summary.events.after
        let drop = isDryRun ? "would drop" : "dropped"
        let go = (isDryRun ? "would go" : "gone") + (isArchived ? " from the log" : " for good")
        try output.line(
            "\(drop) \(dropped) of \(counted(summary.events.before, "event")), keeping \(PolicyText.summary(summary.policy)) a channel"
        )
        if isOverruled { try output.line("  by the options of this run, in place of the log's policy") }
        for channel in summary.channels where channel.before != channel.after {
            let name = DisplayText.escaped("\(channel.source)/\(channel.id)")
            try output.line("  \(name)  \(counted(channel.before, "message")) → \(channel.after)")
        }
        for message in gone ?? [] { try output.line(Self.line(message)) }
        try output.line("\(go): \(losses)")
        try output.line("\(sizes(summary.bytes.before, summary.bytes.after)) on disk\(sealed)")
        try output.line(quiet("digest before  \(summary.digestBefore)"))
        try output.line(quiet("digest after   \(summary.digest), proved: the kept events give the retained state"))
        try output.line(advice)
        for path in summary.removedArchives {
            try output.line("removed \(DisplayText.escaped(path)), as the policy says")
        }
    }

    /// One message that would go: whose it is, when it was made, what it says.
    private static func line(_ message: StateDifference) -> String {
        func text(_ name: String) -> String? { message.fields.first { $0.name == name }?.a?.string }
        let who = text("authorName") ?? text("author")
        let said = text("content").map { $0.split(separator: "\n", maxSplits: 1).first.map(String.init) ?? "" }
        let parts = [message.entity.description, who, text("createdAt"), said].compactMap { $0 }
        return DisplayText.escaped("    " + parts.joined(separator: "  "))
    }

    /// For a log in which every event is needed.
    private func printNothing() throws {
        try output.line("nothing to drop: the state needs each of \(counted(summary.events.before, "event"))")
        if summary.sealed != nil {
            try output.line("\(sizes(summary.bytes.before, summary.bytes.after)) on disk\(sealed)")
        }
        try output.line(quiet("digest \(summary.digest)"))
    }

    /// For a compaction that was not done because the log would have grown.
    private func printRefusal(_ refused: (events: Int, bytes: UInt64)) throws {
        let dropped = summary.events.before - refused.events
        if dropped == 0 {
            // A run that was to seal, and had nothing to drop.
            try output.line(
                "left alone: sealed, the log would grow, \(sizes(summary.bytes.before, refused.bytes)); --force seals it all the same"
            )
            return try output.line(quiet("digest \(summary.digest)"))
        }
        try output.line(
            "left alone: without \(dropped) of \(counted(summary.events.before, "event")) the log would grow, "
                + sizes(summary.bytes.before, refused.bytes) + "; --force drops them all the same"
        )
        try output.line(quiet("digest \(summary.digest)"))
    }

    /// `1342 messages, 4337 deleted texts, 867 earlier revisions`. What is gone for good, as the state counts it: an
    /// event may carry several of them, or none.
    private var losses: String {
        let (before, after) = summary.counts
        return [
            counted(before.messages - after.messages, "message"),
            counted(before.deletedTexts - after.deletedTexts, "deleted text"),
            counted(before.revisions - after.revisions, "earlier revision"),
        ].joined(separator: ", ")
    }

    /// Whether what goes can be found again.
    private var isArchived: Bool { summary.archive != nil || isDryRun && makesArchive }

    /// Where what goes can be found again.
    private var advice: String {
        let log = DisplayText.escaped(path)
        if let archive = summary.archive {
            let file = DisplayText.escaped(archive.path)
            return
                "archived in \(file) (\(ByteCountText.text(archive.bytes))); it goes back with: logtool import \(log) \(file)"
        }
        guard isDryRun else { return "what was dropped is only in copies made before (logtool backup)" }
        return isArchived
            ? "it would be kept in an archive"
            : "it would be kept nowhere else"
    }

    /// `, 812 events sealed`, where the run was to seal any.
    private var sealed: String {
        summary.sealed.map { ", \(counted(Int(clamping: $0), "event")) \(isDryRun ? "would be sealed" : "sealed")" }
            ?? ""
    }

    private func sizes(_ before: UInt64, _ after: UInt64) -> String {
        "\(ByteCountText.text(before)) → \(ByteCountText.text(after))"
    }

    private func quiet(_ text: String) -> String { output.style.text(text, .quiet) }

    /// As one document. A refused compaction has equal figures before and after, and `leftAlone`.
    func printDocument() throws {
        let (before, after) = summary.counts
        let channels = summary.channels.map { channel in
            JSONValue.object([
                "source": .string(channel.source.rawValue), "id": .string(channel.id),
                "before": .int(channel.before), "after": .int(channel.after),
            ])
        }
        let document: JSONObject = [
            "keep": .int(summary.policy.messagesPerChannel),
            "policy": .object(summary.policy.json),
            "events": Self.pair(summary.events.before, summary.events.after),
            "bytes": Self.pair(summary.bytes.before, summary.bytes.after),
            "messages": Self.pair(before.messages, after.messages),
            "sealed": summary.sealed.map { .int($0) },
            "deletedTexts": Self.pair(before.deletedTexts, after.deletedTexts),
            "revisions": Self.pair(before.revisions, after.revisions),
            "channels": .array(channels),
            "digestBefore": .string(summary.digestBefore.hex),
            "digest": .string(summary.digest.hex),
            "archive": summary.archive.map { archive in
                .object([
                    "path": .string(archive.path), "events": .int(archive.events), "bytes": .int(archive.bytes),
                ])
            },
            "removedArchives": summary.removedArchives.isEmpty
                ? nil : .array(summary.removedArchives.map { .string($0) }),
            "proved": .bool(summary.events.after < summary.events.before),
            "leftAlone": summary.refused.map { refused in
                .object(["events": .int(refused.events), "bytes": .int(refused.bytes)])
            },
            "list": gone.map { messages in
                .array(
                    messages.map { message in
                        let members = message.fields.compactMap { field in
                            field.a.map { JSONObject.Member(name: field.name, value: $0) }
                        }
                        return .object([
                            "entity": .string(message.entity.description),
                            "message": .object(JSONObject(distinct: members)),
                        ])
                    }
                )
            },
        ]
        try output.line(JSONValue.object(document).lines)
    }

    private static func pair(_ before: some BinaryInteger, _ after: some BinaryInteger) -> JSONValue {
        .object(["before": .int(before), "after": .int(after)])
    }
}
