import ArgumentParser

/// How much of a state is shown to people. Documents always contain all of it, so these options go with text alone.
struct ViewOptions: ParsableArguments {
    @Flag(help: "Show the ids of channels, messages and items.")
    var ids = false

    @Flag(help: "Show texts whole, not their first line.")
    var full = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only the last messages of each channel.", valueName: "n")
    )
    var tail: Int?

    /// The first given option, if any.
    var given: String? {
        ids ? "--ids" : full ? "--full" : tail != nil ? "--tail" : nil
    }

    func validate() throws {
        if let tail, tail < 0 { throw ValidationError("--tail is a count: 0 or more") }
    }
}
