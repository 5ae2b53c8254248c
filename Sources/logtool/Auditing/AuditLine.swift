import EventLog
import Projections

/// One change as an audit lists it.
struct AuditLine {
    let change: AuditEntry
    /// Redacted events among those that the texts came from, in the order of the texts: a substitute is shown for their
    /// text.
    let redacted: [SequenceNumber]
    /// The members that prove the line, if requested.
    private var proof = JSONObject()

    /// Makes the line of a change. Its event and the one that gave the old text are checked against their leaf hashes
    /// (I7).
    ///
    /// Cost: two hashes of each event, and with a proof that of `EntryProof`.
    ///
    /// - Parameter surroundings: what the proof may need of channels and guilds; `nil` for a line without a proof.
    /// - Throws: `EventLogError` with code `damaged` if one of the events is not as it was appended.
    init(_ change: AuditEntry, provedWithin surroundings: Surroundings?, in session: borrowing ReadSession) throws {
        self.change = change
        let sequence = change.entry.sequence
        var redacted: [SequenceNumber] = []
        // The event that gave the old text, then the one that changed it.
        for place in [change.knownSince, sequence] {
            guard let place, !redacted.contains(place) else { continue }
            try session.checkEvent(at: place)
            if try session.holding(at: place) == .redacted { redacted.append(place) }
        }
        self.redacted = redacted
        guard let surroundings else { return }
        let proof = try EntryProof(
            of: json,
            of: change.entity,
            at: sequence,
            after: change.earlier,
            within: surroundings,
            in: session
        )
        self.proof = try proof.members()
    }

    /// The line of a change that was read out of some events of a log.
    ///
    /// - Parameter redacted: those of the events that are redacted.
    init(_ change: AuditEntry, redacted: Set<SequenceNumber>) {
        self.change = change
        let places = [change.knownSince, change.entry.sequence].compactMap { $0 }
        self.redacted = places.enumerated().filter { redacted.contains($1) && !places[..<$0].contains($1) }.map(
            \.element
        )
    }

    /// The line for scripts (`docs/cli-json.md`).
    var json: JSONObject {
        let entry = change.entry
        var object: JSONObject = [
            "entity": .string(change.entity.description),
            "change": .string(entry.change),
            "kinds": entry.kinds.isEmpty ? nil : .array(entry.kinds.map { .string($0) }),
            "late": entry.late.map { _ in .bool(true) },
            "version": entry.late.map { .int($0.number) },
            "of": entry.late.map { .int($0.count) },
            "by": .text(entry.by),
            "remoteTime": .text(entry.remoteTime?.description),
            "recordedAt": .string(entry.recordedAt.description),
            "sequence": .string(entry.sequence.description),
            "before": change.before.map { .object($0) },
            "after": change.after.map { .object($0) },
            "redacted": redacted.isEmpty ? nil : .array(redacted.map { .string($0.description) }),
        ]
        for member in proof.members { object[member.name] = member.value }
        return object
    }

    /// Who wrote the thing: the name, else the id.
    var author: String? {
        let fields = change.before ?? change.after
        return fields?["authorName"]?.string ?? fields?["author"]?.string
    }

    /// Notes on the change: finer kinds, and events whose text is a substitute.
    var notes: [String] {
        var notes = LateText.notes(on: change.entry) + change.entry.kinds
        if change.class == .delete, let cause = change.entry.fields["cause"]?.string, cause != "deleted" {
            notes.append(DeletionText.cause(cause))
        }
        if change.entity.kind == .message, change.entry.change == "unreadable" {
            notes.append("its file is no message any more")
        }
        if !redacted.isEmpty {
            notes.append(
                "redacted: the text of event \(redacted.map(\.description).joined(separator: ", ")) is a substitute"
            )
        }
        return notes
    }

    /// The members that differ, with their old and new values; `nil` for a side that lacks the member. The order is the
    /// old thing's, then the new one's.
    var differences: [(name: String, before: JSONValue?, after: JSONValue?)] {
        let (before, after) = (change.before ?? JSONObject(), change.after ?? JSONObject())
        let names = before.members.map(\.name) + after.members.map(\.name).filter { before[$0] == nil }
        return names.filter { before[$0] != after[$0] }.map { ($0, before[$0], after[$0]) }
    }
}

/// Lists the changes of an audit, one after another: `begin`, then `print` for each, then `end`. Only `end` writes the
/// last bytes.
///
/// `print` may write at once: an audit has no bound, and no printer keeps its lines.
protocol AuditPrinter {
    func begin() throws
    func print(_ line: AuditLine) throws
    /// - Parameter summary: Counts of all lines, and what they cannot show.
    func end(_ summary: AuditSummary) throws
}

/// The counts of an audit, and the reasons why it may lack something.
struct AuditSummary {
    /// How many lines there are of each class.
    var counts: [AuditEntry.Class: Int] = [:]
    /// How many messages are not listed from before, because compactions dropped them.
    var droppedMessages = 0
    /// How many changes of such messages are not listed, because nothing proves what they changed.
    var unprovedChanges = 0
    /// How many versions are not listed because they came late and changed nothing.
    var lateVersions = 0
    /// Redacted events that no line names: their substitutes show nothing, or something else.
    var unreadable: [SequenceNumber] = []
    /// Size and root of the log that was read.
    let size: UInt64
    let root: Hash256
    /// Whether no option chose among the changes.
    let isOfAll: Bool

    init(size: UInt64, root: Hash256, isOfAll: Bool) {
        (self.size, self.root, self.isOfAll) = (size, root, isOfAll)
    }

    var total: Int { counts.values.reduce(0, +) }

    /// `2 edits, 1 delete`.
    var countText: String {
        let words = AuditEntry.Class.allCases.compactMap { kind -> String? in
            counts[kind].map { "\($0) \(kind.rawValue)\($0 == 1 ? "" : "s")" }
        }
        if !words.isEmpty { return words.joined(separator: ", ") }
        // Of a choice that fits nothing this would be said of the whole log.
        return isOfAll ? "no edits, deletes, moves or restores" : "no change fits"
    }

    /// What the lines cannot show, as sentences.
    var missing: [String] { [droppedText, unprovedText, lateText, redactedText].compactMap { $0 } }

    /// Names the first redacted event and counts all of them.
    private var redactedText: String? {
        guard let first = unreadable.first else { return nil }
        let count = unreadable.count
        let what = count == 1 ? "event \(first) is" : "\(count) events (\(first) is the first) are"
        return "\(what) redacted: a text from there and a change made there show as far as the substitute tells"
    }

    private var lateText: String? {
        guard lateVersions > 0 else { return nil }
        return lateVersions == 1
            ? "1 version is not listed, because it came late and changed nothing; history tells it"
            : "\(lateVersions) versions are not listed, because they came late and changed nothing; history tells them"
    }

    private var droppedText: String? {
        guard droppedMessages > 0 else { return nil }
        let what = droppedMessages == 1 ? "1 message" : "\(droppedMessages) messages"
        let them = droppedMessages == 1 ? "it" : "them"
        return
            "what happened to \(what) before compactions dropped \(them) is not listed; read the log with its archives (--with-archive), or a copy from before"
    }

    private var unprovedText: String? {
        guard unprovedChanges > 0 else { return nil }
        return unprovedChanges == 1
            ? "1 change of a message that compactions had dropped is not listed, because nothing proves it; leave --prove out to see it"
            : "\(unprovedChanges) changes of messages that compactions had dropped are not listed, because nothing proves them; leave "
                + "--prove out to see them"
    }
}
