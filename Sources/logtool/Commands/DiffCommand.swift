import ArgumentParser
import EventLog
import Projections
import Reduction

/// `logtool diff`: compares two states.
///
/// Four comparisons share the command: of states (`StateDiff`), of what two logs received (`--match identity`), event
/// by event (`--first`), and of a log with a cache (`--map`). All exit with 1 if anything differs.
struct DiffCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two states: what was added, removed, changed and deleted, field by field.",
        usage: """
            logtool diff A B [options]
            logtool diff LOG --observed SEQ [options]
            """,
        discussion: """
            A state is LOG, LOG@POINT, LOG#PROFILE, LOG@POINT#PROFILE, a state document (*.json) or - for one on \
            standard input. B may be an app's SQLite cache, with the map of its tables (docs/cache.md). With --observed, what a \
            client showed is compared with the state of that moment (docs/observed.md). Exit code 1 when they differ.
            """
    )

    static let examples = [
        Example("logtool diff chat.eventlog@head~10 chat.eventlog", "what the last ten events changed"),
        Example("logtool diff chat.eventlog@100 chat.eventlog --explain", "the same, and which events did it"),
        Example("logtool diff bug.eventlog bug.eventlog#retrocast-web --first", "where a client's reading parts"),
        Example("logtool diff expected.json chat.eventlog", "a state document against a log"),
        Example("logtool replay a.eventlog --json | logtool diff - b.eventlog", "two logs"),
        Example("logtool diff phone.eventlog mac.eventlog --match identity", "what one of two machines never received"),
        Example("logtool diff bug.eventlog --observed 57", "what a client showed beside the state of that moment"),
        Example("logtool diff chat.eventlog app.sqlite --map app.yaml", "the log beside an app's own cache"),
    ]

    @Argument(help: ArgumentHelp("The first state.", valueName: "a"), transform: StateReference.parse)
    var one: StateReference

    @Argument(help: ArgumentHelp("The second state.", valueName: "b"), transform: StateReference.parse)
    var second: StateReference?

    /// The second state. Without one, `validate` has refused whatever reads it.
    var other: StateReference { second ?? one }

    @OptionGroup var observed: ObservedDiffOptions

    /// Costs another fold of the events that may be responsible, with a comparison at each (`Explanation`).
    @Flag(help: "Name the events responsible for each difference.")
    var explain = false

    /// Folds both sides together and stops at the first difference, so later ones cost nothing.
    @Flag(help: "Only name the first event after which the two part, and what it changed in each.")
    var first = false

    @Option(
        help: ArgumentHelp(
            "identity: compare what two logs received, by the remote's ids and not by sources.",
            valueName: "way"
        )
    )
    var match: DiffMatch?

    /// For a cache as the second state. Without `--map`, a file with a database's suffix is compared by the program's
    /// own map.
    @OptionGroup var mapping: MapOptions
    @OptionGroup var decoders: DecoderOptions
    @OptionGroup var archives: ArchiveOptions

    @OptionGroup var selectors: SelectorOptions

    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    /// Refuses selectors that a comparison would ignore, because an ignored one would read as "no difference there".
    func validate() throws {
        if observed.event != nil {
            guard second == nil, !first, !explain, match == nil, mapping.map == nil, selectors.given.isEmpty else {
                throw ValidationError(
                    "--observed compares an observation of one log; leave everything but --lag and --json out"
                )
            }
            return
        }
        if observed.lag != nil { throw ValidationError("--lag goes with --observed") }
        guard second != nil else {
            throw ValidationError("give a second state, or --observed with the event of an observation")
        }
        try selectors.refuse(["--from", "--to"], because: "write LOG@POINT")
        try selectors.refuse(["--kind"], because: "states have no events; name things with --entity")
        if first, explain || match != nil || mapping.map != nil || !selectors.given.filter({ $0 != "--source" }).isEmpty
        {
            throw ValidationError("--first compares two readings event by event; leave everything but --source out")
        }
        if match == .identity {
            if explain { throw ValidationError("--match identity names the events; leave --explain out") }
            try selectors.refuse(["--source", "-n"], because: "things are matched without their sources")
        }
        if mapping.map != nil {
            if explain || match != nil {
                throw ValidationError("--map compares a cache; leave --explain and --match out")
            }
            try selectors.refuse(
                ["--entity", "--channel"],
                because: "rows of a cache are told apart by table and key"
            )
        }
        // The first reference would read everything, and the second nothing.
        if one == .standardInput && other == .standardInput {
            throw ValidationError("standard input can be one of the two states only")
        }
    }

    /// - Throws: `Outcome.no` if the states differ, after printing how; `Failure` with exit code 1 if a name fits
    ///   nothing in either state.
    func run() throws {
        if let event = observed.event { return try compare(observation: event) }
        if match == .identity { return try compareByIdentity() }
        if first { return try findFirstDifference() }
        if mapping.map != nil || other.isCache { return try compareWithCache() }
        let progress = output.progress("replaying")
        let all = try allDifferences(progress)
        var differences = selectors.chosen(all)
        // A misspelt name must not read as "the same".
        if differences.isEmpty, selectors.namesThings {
            let states = try documents(progress)
            let selectors = try selectors.named(in: states)
            try selectors.checkThatSomethingFits(in: states, areDocuments: areDocuments)
            differences = selectors.chosen(all)
        }
        // After the selection, so that only the differences that are printed are explained.
        progress.begin("finding the events responsible")
        let responsible = try responsible(for: differences)
        let output = output.paged(unless: lists.form)
        progress.end()
        switch lists.form {
        case .document: try output.line(StateDiff.document(differences, responsible: responsible).lines)
        case .lines:
            for difference in differences {
                try output.line(StateDiff.row(of: difference, responsible: responsible).text)
            }
        case .text: try DifferencePrinter(output: output).print(differences, responsible: responsible)
        }
        try output.flush()
        if !differences.isEmpty { throw Outcome.no }
    }

    /// Compares two points of one log by what was touched between them, other states of logs by the rows whose digests
    /// differ, and anything else by the two documents: the cheapest way that applies. Points of one log may come in
    /// either order.
    private func allDifferences(_ progress: Progress) throws -> [StateDifference] {
        guard case .log(let path, let from, let profile) = one,
            case .log(let otherPath, let to, let otherProfile) = other
        else {
            let states = try documents(progress)
            return StateDiff.differences(states[0], states[1])
        }
        // The paths are compared as they are written. Two spellings of one log only cost the faster way.
        guard path == otherPath, profile == otherProfile else {
            return StateDiff.differences(try logState(one, progress).state, try logState(other, progress).state)
        }
        let store = try decoders.used(
            in: archives.opened(path, isQuiet: output.quiet, passesOthers: true, tellsOfPart: false),
            isQuiet: output.quiet
        )
        let loader = StateLoader(store: store, progress: progress, isQuiet: output.quiet)
        let queries = [from, to].map { StateQuery(point: $0, profile: profile, source: selectors.source) }
        return try loader.differences(from: queries[0], to: queries[1])
    }

    /// `--first`: folds both readings side by side and stops at the first event after which they part. The two logs
    /// need not be the same: events are paired by sequence.
    private func findFirstDifference() throws {
        guard case .log(let path, let point, let profile) = one,
            case .log(let otherPath, let otherPoint, let otherProfile) = other
        else { throw Failure("diff --first: a state document has no events; name two readings of logs") }
        // Two stores of one directory share its environment (I6).
        let stores = try [path, otherPath].map {
            try decoders.used(
                in: archives.opened($0, isQuiet: self.output.quiet, passesOthers: true),
                isQuiet: self.output.quiet
            )
        }
        let queries = [(point, profile), (otherPoint, otherProfile)].map {
            StateQuery(point: $0.0, profile: $0.1, source: selectors.source)
        }
        let sides = try zip(stores, queries).map { store, query in
            let end = try store.read { session in
                try query.checkNames(in: session)
                return try query.point?.resolve(in: session) ?? session.head
            }
            return (store: store, options: query.replayOptions, end: end)
        }
        let progress = output.progress("comparing event by event")
        let result = try FirstDifference.find(sides) { place, end in
            progress.report("comparing at \(place)", done: Int(place.rawValue), total: Int(end.rawValue))
        }
        progress.end()
        let output = output.standardOutput
        try FirstDifferencePrinter(output: output, form: lists.form).print(result)
        try output.flush()
        if case .none(let channels) = result, channels.isEmpty { return }
        throw Outcome.no
    }

    /// Both state documents, `a` first. Each is in memory as a whole, with all messages.
    private func documents(_ progress: Progress) throws -> [JSONValue] {
        try [one, other].map {
            try $0.document(
                source: selectors.source,
                decoders: decoders,
                archives: archives,
                progress: progress,
                isQuiet: output.quiet
            )
        }
    }

    /// `--match identity`: pairs things by the remote's ids, so that the logs of two machines can be compared although
    /// their sources have other names. It ignores the order of arrival and sequences, too (`IdentityDiff`). Both whole
    /// states are in memory.
    private func compareByIdentity() throws {
        let progress = output.progress("replaying")
        let (first, second) = try (logState(one, progress), logState(other, progress))
        progress.begin("comparing histories")
        let differences = IdentityDiff.differences(first.state, second.state).filter { selectors.isAbout($0.entity) }
        let output = output.paged(unless: lists.form)
        progress.end()
        let printer = IdentityPrinter(output: output, differences: differences, names: (first.name, second.name))
        switch lists.form {
        case .document: try output.line(printer.document.lines)
        case .lines: for difference in differences { try output.line(IdentityPrinter.json(difference).text) }
        case .text: try printer.printText()
        }
        try output.flush()
        if !differences.isEmpty { throw Outcome.no }
    }

    /// The state of a log at a reference's point, and the log's path as the command line names it.
    ///
    /// - Throws: `Failure` with exit code 2 for a document: only logs have histories.
    private func logState(_ reference: StateReference, _ progress: Progress) throws -> (name: String, state: LogState) {
        guard case .log(let path, let point, let profile) = reference else {
            throw Failure("diff --match identity: a state document has no histories; name two logs")
        }
        let store = try decoders.used(
            in: archives.opened(path, isQuiet: output.quiet, passesOthers: true, tellsOfPart: false),
            isQuiet: output.quiet
        )
        let loader = StateLoader(store: store, progress: progress, isQuiet: output.quiet)
        let query = StateQuery(point: point, profile: profile, source: selectors.source)
        return (path, try loader.logState(for: query))
    }

    /// True if neither state comes from a log. Logs know their sources and have checked the name.
    private var areDocuments: Bool {
        if case .log = one { return false }
        if case .log = other { return false }
        return true
    }

    /// The events that explain each difference; empty without `--explain`.
    private func responsible(for differences: [StateDifference]) throws -> [EntityReference: [SequenceNumber]] {
        guard explain, !differences.isEmpty else { return [:] }
        return try Explanation(
            first: one,
            second: other,
            source: selectors.source,
            decoders: decoders,
            archives: archives
        )
        .responsible(for: differences)
    }
}

/// How the things of two states are paired; without it, by source and id.
enum DiffMatch: String, CaseIterable, ExpressibleByArgument {
    case identity
}

extension SelectorOptions {
    /// True if a name is given that may not exist.
    fileprivate var namesThings: Bool { source != nil || channel != nil || entity != nil }

    /// The differences of the requested channel or thing, the last `-n` of them. Differences come by kind of thing, so
    /// `-n` has no meaning of time here.
    fileprivate func chosen(_ differences: [StateDifference]) -> [StateDifference] {
        let fitting = entity == nil && channel == nil ? differences : differences.filter { isAbout($0.entity) }
        return fitting.suffix(count ?? fitting.count)
    }

    /// The options with the channel by its full name, if it is no id of a state's channel but the name of one.
    ///
    /// - Throws: `Failure` with exit code 2 and the matches if several channels have the name.
    fileprivate func named(in states: [JSONValue]) throws -> SelectorOptions {
        guard let channel else { return self }
        let rows = states.flatMap { $0["channels"]?.array ?? [] }
        let source = { (row: JSONValue) in row["source"]?.string ?? "" }
        if rows.contains(where: { channel.fits([source($0), $0["id"]?.string ?? ""]) }) { return self }
        let matches = rows.filter { row in row["name"]?.string.map { channel.fits([source(row), $0]) } ?? false }
        let names = Set(matches.map { EntityReference(kind: .channel, parts: [source($0), $0["id"]?.string ?? ""]) })
        guard names.count < 2 else {
            let shown = names.map(\.description).sorted().prefix(10).joined(separator: ", ")
            throw Failure("find \"\(channel)\": several channels fit: \(shown)")
        }
        var options = self
        options.channel = names.first ?? channel
        return options
    }

    /// Refuses to call two states the same if neither has the requested thing: nothing was compared.
    ///
    /// Cost: `documents` folds both logs again. So the caller asks only if nothing differs.
    ///
    /// - Throws: `Failure` with exit code 1.
    fileprivate func checkThatSomethingFits(in states: [JSONValue], areDocuments: Bool) throws {
        if let source, areDocuments {
            let names = states.flatMap { $0.object?.members.flatMap { $0.value.array ?? [] } ?? [] }
            guard names.contains(where: { $0["source"]?.string == source.rawValue }) else {
                throw Failure("find source \"\(source)\": neither state has anything of it", exitCode: Outcome.no)
            }
        }
        guard let wanted = entity ?? channel else { return }
        // Compared with an empty document, every row of a state is a difference; that gives the names of its things.
        let things = states.lazy.flatMap { StateDiff.differences(.object(JSONObject()), $0).map(\.entity) }
        guard !things.contains(where: isAbout) else { return }
        throw Failure("find \"\(wanted)\": neither state has such a thing", exitCode: Outcome.no)
    }

    /// True if a thing is the requested one, or in the requested channel. Leading parts of the name may be missing
    /// (`EntityReference.fits`).
    fileprivate func isAbout(_ thing: EntityReference) -> Bool {
        guard let wanted = entity ?? channel else { return true }
        let place = channel == nil ? thing : thing.channel
        return place.map { $0.kind == wanted.kind && wanted.fits($0.parts) } ?? false
    }
}
