import ArgumentParser

/// Options to search for a text.
///
/// Plain texts, not patterns: a payload is full of marks that a pattern would have to escape.
struct MatchOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only what holds or held this text.", valueName: "text"))
    var match: String?

    @Flag(name: .shortAndLong, help: "With --match: take large and small letters for the same.")
    var ignoreCase = false

    /// The text to search for, if any.
    var text: TextMatch? { match.map { TextMatch($0, ignoresCase: ignoreCase) } }

    func validate() throws {
        if match?.isEmpty == true { throw ValidationError("--match \"\" fits everything: give a text") }
        if ignoreCase && match == nil { throw ValidationError("--ignore-case goes with --match") }
    }
}
