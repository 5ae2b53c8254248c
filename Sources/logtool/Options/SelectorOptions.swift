import ArgumentParser
import EventLog
import Projections

/// Selects the part of a log that a list shows; the same options in every command that lists. A command refuses those
/// that mean nothing for what it lists.
///
/// All given ones must fit. `EventSelection` applies them to events and `HistorySelection` to entries of histories.
struct SelectorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only what this recorder received.", valueName: "name"),
        completion: Completions.sources,
        transform: SourceArgument.parse
    )
    var source: SourceName?

    @Option(
        help: ArgumentHelp("Only this channel: SOURCE/ID, its id alone, or its name.", valueName: "channel"),
        transform: ChannelArgument.parse
    )
    var channel: EntityReference?

    @Option(
        help: ArgumentHelp("Only what may have changed this thing.", valueName: "entity"),
        transform: EntityArgument.parse
    )
    var entity: EntityReference?

    @Option(
        help: ArgumentHelp("Only events of this kind, such as gateway.frame/1 or gateway.frame.", valueName: "kind"),
        completion: Completions.kinds
    )
    var kind: String?

    // Groups within groups take a debug build as long to check as all else that it does at its start.
    @Option(
        name: [.customLong("from"), .customLong("since")],
        parsing: .unconditional,
        help: ArgumentHelp("The first event: 4711, head~10, a time, remote:TIME.", valueName: "point"),
        transform: StartArgument.parse
    )
    var start: StartArgument?

    @Option(
        name: [.long, .customLong("until")],
        parsing: .unconditional,
        help: ArgumentHelp("The last event.", valueName: "point"),
        transform: PointArgument.parse
    )
    var to: Point?

    @Option(
        name: [.customShort("n"), .customLong("max-count")],
        help: ArgumentHelp("Only the last so many.", valueName: "n")
    )
    var count: Int?

    /// `--channel` is itself a thing, so it excludes `--entity`. `-n 0` is allowed: it checks names and lists nothing.
    func validate() throws {
        if let count, count < 0 { throw ValidationError("-n is a count: 0 or more") }
        if channel != nil && entity != nil { throw ValidationError("--channel and --entity exclude each other") }
    }

    /// The first event.
    var from: Point? { start?.point }

    /// The run of sequences, both ends included.
    ///
    /// - Throws: `Failure` if `--from` names a server, which only `events --follow` takes.
    var range: PointRange {
        get throws {
            if let address = start?.address {
                throw Failure("--from \(address): only pull and events --follow read from a server; pull the log first")
            }
            return PointRange(from: from, to: to)
        }
    }

    /// The names of the given options, as on a command line. In the order of `asked`, whatever the order on the command
    /// line.
    var given: [String] { asked.map(\.name) }

    /// The given options with their values, as people write them.
    var asked: [(name: String, value: String)] {
        let all: [(name: String, value: String?)] = [
            ("--source", source?.rawValue), ("--channel", channel?.description), ("--entity", entity?.description),
            ("--kind", kind),
            ("--from", from.map(PointArgument.text) ?? start?.address), ("--to", to.map(PointArgument.text)),
            ("-n", count.map(String.init)),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }

    /// The options with the channel by its full name, after a search by id and name.
    ///
    /// - Throws: as `ChannelArgument.only`.
    func resolved(in state: LogState) throws -> SelectorOptions {
        var options = self
        options.channel = try channel.map { try ChannelArgument.only($0, of: source, in: state) }
        return options
    }

    /// Refuses options that mean nothing for what a command lists.
    ///
    /// - Throws: `ValidationError` that names the option and the reason.
    func refuse(_ names: Set<String>, because reason: String) throws {
        guard let name = given.first(where: names.contains) else { return }
        throw ValidationError("\(name) has no meaning here: \(reason)")
    }
}
