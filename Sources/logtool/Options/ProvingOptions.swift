import ArgumentParser

/// Whether each entry of a list comes with its event's proof.
///
/// Cost: for each entry a path of O(log n) hashes and a copy of its event, which make the output many times larger.
struct ProvingOptions: ParsableArguments {
    @Flag(help: "Give each entry the inclusion proof of its event; check them with prove --check.")
    var prove = false

    /// The error for proofs in output for people.
    static let needsJSON = "--prove gives proofs to a program: add --json or --jsonl"
    /// The error for proofs of what a file that stands in reads.
    static let needsFileInForce = "--prove goes without --decoder: a proof has the act that puts the file in force"
}
