import ArgumentParser
import EventLog
import Projections
import Reduction

/// How `bisect` and `shrink` judge a state: by a command or an expression. The other options say what the command gets.
///
/// Optional values without defaults, so that `validate` sees which were given.
struct TestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A shell command that gets the state document on standard input.",
            valueName: "command"
        )
    )
    var run: String?

    @Option(
        help: ArgumentHelp(
            "An expression over the state (docs/expressions.md), such as 'count(messages[channel=\"10\"]) > 3'.",
            valueName: "expression"
        ),
        transform: ExpressionArgument.parse
    )
    var when: StateExpression?

    @Option(
        help: ArgumentHelp("Give the command only the rows of this thing.", valueName: "entity"),
        transform: EntityArgument.parse
    )
    var entity: EntityReference?

    @Option(
        help: ArgumentHelp("Give the command only the rows of this channel.", valueName: "channel"),
        transform: ChannelArgument.parse
    )
    var channel: EntityReference?

    @Option(
        help: ArgumentHelp("Give the command only these parts, such as channels,messages.", valueName: "parts"),
        transform: SectionArgument.parse
    )
    var only: Set<Section>?

    @Option(
        help: ArgumentHelp("How long one run of the command may take; default: 60s.", valueName: "duration"),
        transform: DurationText.parse
    )
    var timeout: Duration?

    /// True if a test is given at all.
    var isGiven: Bool { run != nil || when != nil }

    func validate() throws {
        if run != nil && when != nil { throw ValidationError("give one of --run and --when") }
        if run == nil && (entity != nil || channel != nil || only != nil || timeout != nil) {
            throw ValidationError("--entity, --channel, --only and --timeout go with --run")
        }
        if entity != nil && (channel != nil || only != nil) || channel != nil && only != nil {
            throw ValidationError("give one of --entity, --channel and --only")
        }
        // A shell that finds no program ends with 127, which would pass for an answer about every state.
        if let program = try run.flatMap(TestCommand.missingProgram) {
            throw ValidationError("--run \"\(run ?? "")\": there is no program \"\(program)\"")
        }
    }

    /// Puts the full name of the channel in the place of a name that people see, so that the test means the same channel
    /// at every point.
    ///
    /// - Throws: as `ChannelArgument.only`.
    mutating func nameChannel(in store: EventStore) throws {
        guard let channel else { return }
        let state = try StateLoader(store: store, isQuiet: true).logState(for: StateQuery())
        self.channel = try ChannelArgument.only(channel, in: state)
    }

    /// The test; `nil` if none is given.
    ///
    /// - Parameter isQuiet: Whether a command's own output is discarded.
    func test(isQuiet: Bool) -> StateTest? {
        if let when { return .expression(when) }
        guard let run else { return nil }
        let command = TestCommand(line: run, timeout: timeout ?? .seconds(60), isQuiet: isQuiet)
        return .command(command, part: StatePartQuery(entity: entity, channel: channel))
    }
}

/// Expressions as options.
enum ExpressionArgument {
    /// Parses while the command line is read, so a mistake costs no replay.
    static func parse(_ text: String) throws -> StateExpression {
        do {
            return try StateExpression(parsing: text)
        } catch {
            throw ValidationError("\"\(text)\" is no expression: \(error)")
        }
    }
}
