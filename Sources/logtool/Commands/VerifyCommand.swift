import ArgumentParser
import Clients
import EventLog
import JSON
import Projections

/// `logtool verify`: checks that a log is as it was written.
///
/// Nothing that opening a log relies on is believed: pages are checked before LMDB reads them (I24), then structure,
/// checksums, hashes and acts. The events are never changed; derived data that is damaged is removed (I17).
struct VerifyCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every hash of a log and the tree over them.",
        usage: "logtool verify LOG [options]",
        discussion: """
            Exit code 3 names the first damaged place; 1 says that the log is whole, but is not what the kept root saw. \
            What is derived from the log (cache-NNNNNN) is no part of it: what is damaged there is removed and said, and \
            computed anew.
            """
    )

    static let examples = [
        Example("logtool verify chat.eventlog", "is everything as it was written?"),
        Example("logtool verify chat.eventlog --deep", "are the states kept beside it what its events give?"),
        Example("logtool root chat.eventlog --json > root.json", "keep what proves the log as it is now"),
        Example("logtool verify chat.eventlog --against root.json", "was nothing altered up to there?"),
        Example("logtool verify chat.eventlog --against tree", "does the tree that ship wrote have the same events?"),
        Example("logtool verify copy.eventlog --against nats://hub.example.org", "is the copy what the sender has?"),
    ]

    @OptionGroup var log: LogOptions

    /// Costs a replay for each reading that has kept states. Without it, only the checksums of derived data are
    /// checked.
    @Flag(help: "Fold the log anew, too, and compare what is derived from it: kept states, channels, keys.")
    var deep = false

    @Option(
        help: ArgumentHelp("A root kept from before, hex or base64; with --size.", valueName: "hash"),
        transform: HashArgument.parse
    )
    var root: Hash256?

    @Option(help: ArgumentHelp("How many events the kept root covers.", valueName: "n"))
    var size: UInt64?

    @Option(
        help: ArgumentHelp(
            "A file that root --json wrote; or what ship wrote: a tree, its URL, or the address of a NATS server.",
            valueName: "file"
        ),
        completion: .file(extensions: ["json"])
    )
    var against: String?

    @OptionGroup(title: "Options of a tree") var tree: TreeOptions

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// A root says nothing without the number of events that it covers.
    func validate() throws {
        if (root == nil) != (size == nil) { throw ValidationError("--root and --size go together") }
        if root != nil && against != nil { throw ValidationError("--root and --against exclude each other") }
    }

    /// Verifies the log and prints what was found; then failures follow.
    ///
    /// - Throws: `Failure` with exit code 3 if the log is damaged, with 1 if it is whole but does not continue the kept
    ///   root. `EventLogError` with code `notFound` (exit 1) if the kept root covers more events than the log has.
    func run() throws {
        // First: a file that cannot be read must not cost a verification.
        let shipped = try shipped()
        let kept = shipped == nil ? try keptRoot() : nil
        let progress = output.progress("verifying")
        var report = try EventStore.verify(at: log.path, options: .reporting(to: progress))
        // Folding a damaged log would only repeat the damage.
        let deep = try report.isIntact && deep ? checkDeep(&report) : nil
        progress.end()
        if !report.provesRemains, !output.quiet {
            StandardError.line("logtool: unproved: \(Self.unproved)")
        }
        if let derived = report.derivedDamage, !output.quiet {
            StandardError.line(DisplayText.escaped("logtool: removed derived data, to be computed anew: \(derived)"))
        }
        let output = output.standardOutput
        let agreement = try report.isIntact ? shipped.map { try compare(with: $0) } : nil
        var members = Self.json(report, deep)
        members["tree"] = agreement.map { .object($0.json) }
        try output.line(document.json ? JSONValue.object(members).text : Self.text(report, deep))
        if let agreement, !document.json { try output.line(agreement.text) }
        try output.flush()
        if let damage = report.damage {
            throw Failure(
                "verify log at \"\(log.path)\": \(damage); save what is right with: logtool salvage LOG -o NEW",
                exitCode: Outcome.damaged
            )
        }
        // Last, because a damaged log has no root to compare.
        if let kept { try check(kept, in: log.open(isQuiet: self.output.quiet)) }
        if let parting = agreement?.parting {
            throw Failure(
                "verify log at \"\(log.path)\": what it is compared with goes on otherwise \(parting)",
                exitCode: Outcome.no
            )
        }
    }

    /// `--deep`: folds the log anew and compares all derived data with it (I17, I19).
    ///
    /// The report names the first damage to derived data: the checksums', else the comparison's.
    private func checkDeep(_ report: inout VerifyReport) throws -> DerivedCheck {
        let progress = output.progress("folding anew")
        defer { progress.end() }
        let (store, build) = (try log.open(isQuiet: output.quiet), ProgramIdentity.build)
        let check = try DerivedCheck.run(on: store, build: build, client: RuleClient.self) { done, total in
            let (done, total) = (Int(clamping: done.rawValue), Int(clamping: total.rawValue))
            progress.report("folded \(done) of \(total)", done: done, total: total)
        }
        report.derivedDamage = report.derivedDamage ?? check.damage
        return check
    }

    /// The note for a log whose last rewrite was made by a version that did not name its remains by hash (I25).
    static let unproved =
        "what the last compaction left beside the events (facts, keys, clocks) is named by no act: "
        + "an earlier version or a salvage made it"

    /// The root that the user kept; a file of `-` is standard input.
    ///
    /// - Throws: `Failure` with exit code 2 if the file is no root.
    private func keptRoot() throws -> KeptRoot? {
        if let root, let size { return KeptRoot(size: size, root: root) }
        return try against.map { file in
            do {
                return try KeptRoot(try InputFile.bytes(at: file))
            } catch let fault as ExportFault {
                throw Failure("read root \"\(file)\": \(fault)")
            }
        }
    }

    /// Compares the log's earlier root with one that the user kept.
    ///
    /// - Throws: `Failure` with exit code 1 if they differ: the log is whole, but is not the one that the root was of.
    private func check(_ kept: KeptRoot, in store: EventStore) throws {
        let found = try store.read { try $0.root(size: kept.size) }
        guard found != kept.root else { return }
        throw Failure(
            "verify log at \"\(log.path)\": its first \(kept.size) events have the root \(found), not the kept one",
            exitCode: Outcome.no
        )
    }

    /// The report in one line, with `--deep` in two. Counts of a damaged log are those up to the damage.
    private static func text(_ report: VerifyReport, _ deep: DerivedCheck?) -> String {
        // Not even the head was readable, so counts would mean nothing.
        if !report.isIntact, report.head == .zero { return "damaged: before any event could be read" }
        var counts = ["\(report.whole) whole"]
        if report.redacted > 0 { counts.append("\(report.redacted) redacted") }
        if report.sealed > 0 { counts.append("\(report.sealed) sealed") }
        if report.dropped > 0 { counts.append("\(report.dropped) dropped") }
        if report.missing > 0 { counts.append("\(report.missing) missing, since the log is a part") }
        let (state, root) = report.isIntact ? ("intact", ", root \(report.root)") : ("damaged", "")
        let line = "\(state): sequences 1 to \(report.head), \(counts.joined(separator: ", "))\(root)"
        guard let deep else { return line }
        let words = [(deep.states, "kept state"), (deep.postings, "posting list"), (deep.keys, "key")]
        let compared = words.map { counted($0, $1) }.joined(separator: ", ")
        return "\(line)\nderived: compared \(compared) with what the events give"
    }

    /// The report as in `docs/cli-json.md`. `missing` and `damage` are left out where they do not apply.
    private static func json(_ report: VerifyReport, _ deep: DerivedCheck?) -> JSONObject {
        [
            "intact": .bool(report.isIntact),
            "head": .string(report.head.description),
            "whole": .int(report.whole),
            "redacted": .int(report.redacted),
            "sealed": report.sealed > 0 ? .int(report.sealed) : nil,
            "dropped": .int(report.dropped),
            "missing": report.missing > 0 ? .int(report.missing) : nil,
            "root": report.isIntact ? .string(Base64.encode(report.root.bytes)) : nil,
            "damage": report.damage.map { damage in
                .object(["sequence": .text(damage.sequence?.description), "reason": .string(damage.reason)])
            },
            "derivedDamage": .text(report.derivedDamage),
            "unproved": report.provesRemains ? nil : .string(unproved),
            "derived": deep.map { deep in
                .object(["states": .int(deep.states), "journals": .int(deep.postings), "keys": .int(deep.keys)])
            },
        ]
    }
}
