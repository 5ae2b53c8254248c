import ArgumentParser

/// Whether each line of a list brings the proof of its event.
struct ProvingOptions: ParsableArguments {
    @Flag(help: "Give each entry the inclusion proof of its event; check them with prove --check.")
    var prove = false

    /// What to say where proofs would be printed for people.
    static let needsJSON = "--prove gives proofs to a program: add --json or --jsonl"
}
