import ArgumentParser
import Projections

/// The place in the log that a command looks at.
struct PointOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The state there: 4711, head~10, a time, remote:TIME; default: head.", valueName: "point"),
        transform: PointArgument.parse
    )
    var at: Point?
}
