import ArgumentParser
import Projections

/// The place in the log that a command looks at.
///
/// `unconditional` parsing, here and for `--from`, `--to` and `--tail`: a value that begins with a dash is taken, and
/// refused by name instead of as an unknown option.
struct PointOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The state there: 4711, head~10, a time, remote:TIME; default: head.", valueName: "point"),
        transform: PointArgument.parse
    )
    var at: Point?
}
