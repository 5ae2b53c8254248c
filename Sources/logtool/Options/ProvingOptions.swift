import ArgumentParser

/// Whether each entry of a list comes with its event's proof.
struct ProvingOptions: ParsableArguments {
    @Flag(help: "Give each entry the inclusion proof of its event; check them with prove --check.")
    var prove = false

    /// The error for proofs in output for people.
    static let needsJSON = "--prove gives proofs to a program: add --json or --jsonl"
}
