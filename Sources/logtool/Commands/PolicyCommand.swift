import ArgumentParser
import EventLog
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `logtool policy`: shows and sets what compactions of a log keep.
///
/// A policy is an act of the log, so it travels with it, and who set which is known for ever.
struct PolicyCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Show or set what compactions keep: how many messages, for how long, which pinned ones.",
        usage: """
            logtool policy LOG [--json]
            logtool policy LOG set [--keep N] [--keep-within DURATION] [--deleted N] [options]
            """,
        discussion: """
            Without a policy compact keeps the 500 newest messages of each channel, as many deleted ones, and what the kept \
            ones answer. A message stays if any of this keeps it: its place among the newest, its age, a pin, an answer. \
            set changes what is named and leaves the rest. With --source or --channel the rule is for that alone, and goes before the \
            wider one. The policy takes effect with the next compaction; what went comes back from its archive alone.
            """
    )

    static let examples = [
        Example("logtool policy chat.eventlog", "what the next compaction keeps"),
        Example("logtool policy chat.eventlog set --keep 200 --keep-within 90d", "200 messages, and all of 90 days"),
        Example(
            "logtool policy chat.eventlog set --deleted 0",
            "no deleted message stays, but in events that others need"
        ),
        Example("logtool policy chat.eventlog set --channel general --keep 5000", "more of one channel"),
        Example("logtool policy chat.eventlog set --pin message:0903-bob", "one message stays, however old"),
    ]

    @OptionGroup var log: LogOptions

    @Argument(help: ArgumentHelp("set, to change the policy.", valueName: "set"), completion: .list(["set"]))
    var verb: String?

    @OptionGroup var rule: RetentionRuleOptions

    @Option(
        help: ArgumentHelp("The rule is for this source's channels alone.", valueName: "name"),
        completion: Completions.sources,
        transform: SourceArgument.parse
    )
    var source: SourceName?

    @Option(
        help: ArgumentHelp("The rule is for this channel alone: SOURCE/ID, its id, or its name.", valueName: "channel"),
        transform: ChannelArgument.parse
    )
    var channel: EntityReference?

    @Flag(help: "Take the rule of --source or --channel away.")
    var inherit = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A message, or a channel with all its messages, that always stays.", valueName: "entity"),
        transform: EntityArgument.parse
    )
    var pin: [EntityReference] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Take a pin away.", valueName: "entity"),
        transform: EntityArgument.parse
    )
    var unpin: [EntityReference] = []

    @Flag(inversion: .prefixedNo, help: "Whether messages that kept ones answer stay.")
    var parents: Bool?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How many archives of compactions stay beside the log; 0 makes none, all keeps them (all).",
            valueName: "n"
        ),
        transform: Self.archiveCount
    )
    var archives: ArchiveCount?

    @Flag(help: "Begin with the default in place of what was set before.")
    var reset = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Who sets it, for the act; the login name by default.", valueName: "name")
    )
    var by: String?

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    private var changes: Bool {
        !rule.rule.isEmpty || inherit || !pin.isEmpty || !unpin.isEmpty || parents != nil || archives != nil
            || reset
    }

    /// How many archives stay.
    struct ArchiveCount {
        /// `nil` for all.
        let max: Int?
    }

    private static func archiveCount(_ text: String) throws -> ArchiveCount {
        if text == "all" { return ArchiveCount(max: nil) }
        guard let count = Int(text), count >= 0 else {
            throw ValidationError("--archives is a count, 0 or more, or all")
        }
        return ArchiveCount(max: count)
    }

    func validate() throws {
        guard verb == nil || verb == "set" else {
            throw ValidationError("\"\(verb ?? "")\" is nothing that policy does; it has set")
        }
        if verb == nil {
            if changes || source != nil || channel != nil || by != nil {
                throw ValidationError("to change the policy write: policy LOG set …")
            }
            return
        }
        guard changes else { throw ValidationError("say what to set: --keep, --keep-within, --deleted, --pin, …") }
        if source != nil, channel != nil { throw ValidationError("--channel names the source, too: give one of them") }
        let isOfPlace = source != nil || channel != nil
        if isOfPlace, rule.rule.isEmpty, !inherit {
            throw ValidationError("--source and --channel go with --keep, --keep-within, --deleted or --inherit")
        }
        if inherit, !isOfPlace || !rule.rule.isEmpty {
            throw ValidationError("--inherit goes with --source or --channel, and with no rule")
        }
        if let by, by.isEmpty { throw ValidationError("--by needs a name that is not empty") }
    }

    /// - Throws: `Failure` with exit code 1 if the log has nothing that an option names; `EngineError` for a policy of a form
    ///   that this program does not know.
    func run() throws {
        let store = try log.open(isQuiet: output.quiet)
        if verb == "set" { try set(store) }
        let (policy, act) = try store.read { (try RetentionPolicy(inForce: $0), try RetentionPolicy.act(in: $0)) }
        try print(policy, act)
    }

    /// Changes the policy by the options.
    private func set(_ store: EventStore) throws {
        let progress = output.progress("looking for what is named")
        let needsState = channel != nil || !pin.isEmpty
        let loader = StateLoader(store: store, progress: progress, isQuiet: true)
        let state = needsState ? try loader.logState(for: StateQuery()) : nil
        progress.end()
        let place = try place(in: state)
        let pinned = try store.read { session in
            try KnownNames(session).check(source: source)
            return try pin.compactMap { reference in
                try state.map { try EntityArgument.only(reference, in: $0, of: session) }
            }
        }
        if let other = pinned.first(where: { !$0.isPinnable }) {
            throw Failure("pin \"\(other)\": only messages and channels can be pinned")
        }
        let name = by ?? ProcessInfo.processInfo.userName
        try RetentionPolicy.change(in: store, isReset: reset, by: name, at: SystemClock.now) { policy in
            if let place {
                policy[place] = inherit ? RetentionPolicy.Rule() : rule.rule.within(policy[place])
            } else {
                policy.rule = rule.rule.within(policy.rule)
            }
            policy.pins.formUnion(pinned)
            for reference in unpin {
                let meant = policy.pins.filter { $0.kind == reference.kind && reference.fits($0.parts) }
                guard !meant.isEmpty else {
                    throw Failure("unpin \"\(reference)\": nothing that is pinned fits", exitCode: Outcome.no)
                }
                policy.pins.subtract(meant)
            }
            if let parents { policy.keepsParents = parents }
            if let archives { policy.archivesMax = archives.max }
        }
    }

    /// The source or channel that the rule is for; `nil` for the whole log.
    private func place(in state: LogState?) throws -> RetentionPolicy.Place? {
        if let source { return RetentionPolicy.Place(source: source) }
        guard let channel, let state else { return nil }
        let parts = try ChannelArgument.only(channel, in: state).parts
        guard parts.count == 2 else { return nil }
        return RetentionPolicy.Place(source: try SourceName(parts[0]), channel: parts[1])
    }

    private func print(_ policy: RetentionPolicy, _ act: RecordedEvent?) throws {
        let by = act.flatMap { try? JSONValue.parse($0.payload) }?["by"]?.string
        let output = output.standardOutput
        if document.json {
            var members = policy.json
            members["by"] = by.map { .string($0) }
            members["act"] = act.map { .string($0.envelope.sequence.description) }
            try output.line(JSONValue.object(members).lines)
        } else {
            for line in PolicyText.lines(policy) { try output.line(line) }
            let set = act.map { act in
                "set by event \(act.envelope.sequence), \(TimeText.full(act.envelope.recordedAt))"
                    + (by.map { ", \(DisplayText.escaped($0))" } ?? "")
            }
            try output.line(output.style.text(set ?? "the default: the log has no policy of its own", .quiet))
        }
        try output.flush()
    }
}
