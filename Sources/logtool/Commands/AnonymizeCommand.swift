import ArgumentParser
import EventLog
import Projections
import Reduction

/// `logtool anonymize`: a log of the same shape for others (`LogAnonymizing`). The log itself is never changed.
struct AnonymizeCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "anonymize",
        abstract: "Replace words, ids, times and names of a whole log, and prove that its shape is the same.",
        usage: "logtool anonymize LOG -o OUT [options]",
        discussion: """
            Equal texts get equal substitutes, so references hold; ids and times keep their order, times their distances. The new log \
            is folded and compared: the same events in the same order, rows of each source, threads, gaps, and as much that each \
            client reads otherwise. What stays is listed: \(AnonymizeCommand.stays). Where the shape depends on more, that stays too, \
            and is named; exit code 1 where nothing can be replaced. Acts and what compactions dropped are left out. Read the result \
            before you show it: what structure tells, such as how often somebody wrote, is still there.
            """
    )

    /// The classes that stay in every log, for help.
    static let stays = """
        kinds, names of attributes and of members that the formats have, words of the protocols in their places, \
        words of routes and extensions of files, short numbers, times of the day, punctuation and emoji, decoder files \
        and what they name
        """

    static let examples = [
        Example("logtool anonymize bug.eventlog -o shown.eventlog", "a log that can be shown, of the same shape"),
        Example("logtool anonymize bug.eventlog -o shown.eventlog --json", "what stays, in full"),
    ]

    @OptionGroup var log: LogOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Where the new log goes; nothing may be there.", valueName: "out"),
        completion: .directory
    )
    var target: String

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Replaces, compares, writes and prints.
    ///
    /// - Throws: `EngineError` with code `no` if nothing can be replaced, `Failure` if the target exists.
    func run() throws {
        let store = try log.open(isQuiet: output.quiet)
        try NewLogTarget.refuseExisting(target, operation: "anonymize")
        let progress = output.progress("anonymizing")
        let anonymizing = try LogAnonymizing(of: store)
        let anonymized = try anonymizing.run { progress.begin($0) }
        try anonymized.write(to: target)
        progress.end()
        let output = output.standardOutput
        if document.json {
            var same = JSONObject()
            for (name, count) in anonymized.counts { same[name] = .int(count) }
            let members: JSONObject = [
                "events": .int(anonymized.events.count), "replaced": .int(anonymized.result.replacedCount),
                "same": .object(same), "kept": KeptPrinter.document(anonymized.result),
            ]
            try output.line(JSONValue.object(members).text)
        } else {
            try print(anonymized, to: output)
        }
        try output.flush()
    }

    private func print(_ anonymized: AnonymizedLog, to output: StandardOutput) throws {
        let replaced = counted(anonymized.result.replacedCount, "text")
        try output.line(
            output.style.text("\(counted(anonymized.events.count, "event")), \(replaced) replaced", .heading)
        )
        // What is counted is named as in the state document.
        let same = anonymized.counts.map { "\($0.name) \($0.count)" }.joined(separator: ", ")
        try output.line("the same: order, kinds and distances of the events; \(same)")
        for line in KeptPrinter.lines(anonymized.result) { try output.line(DisplayText.escaped(line)) }
        try output.line()
        try output.line("next:")
        try output.line("  " + DisplayText.escaped("logtool replay \(target)"))
    }
}
