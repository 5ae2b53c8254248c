import EventLog
import JSON
import Projections
import Shipping

extension VerifyCommand {
    /// How far a log and a tree agree.
    struct Agreement {
        /// The tree, as `--against` names it.
        let name: String
        let checkpoint: Checkpoint
        /// How many events both have.
        let common: UInt64
        /// The first event at which they differ; `nil` if one is the beginning of the other.
        let fork: SequenceNumber?

        /// How many events at the beginning are the same.
        private var agreed: UInt64 { fork.map { $0.rawValue - 1 } ?? common }

        /// For people.
        var text: String {
            let tree = "the tree \(DisplayText.escaped(name)) of \(checkpoint.size) events"
            return fork == nil
                ? "\(tree) has the same first \(common), root \(checkpoint.root)"
                : "\(tree) has the same first \(agreed), and then others"
        }

        /// The member `tree` of the document.
        var json: JSONObject {
            [
                "origin": .string(checkpoint.origin),
                "size": .string(String(checkpoint.size)),
                "root": .string(Base64.encode(checkpoint.root.bytes)),
                "agrees": .string(String(agreed)),
                "fork": .text(fork?.description),
            ]
        }
    }

    /// The tree that `--against` names; `nil` if it names a file, or nothing.
    func shippedTree() throws -> TreeState? {
        guard let against, TreeOptions.isURL(against) || (try? FolderTree(at: against)) != nil else { return nil }
        return try TreeState(of: tree.source(against, operation: "verify --against"), verifiers: tree.verifiers())
    }

    /// Compares the log with a tree, by a few of its tiles.
    ///
    /// - Throws: `EventLogError`: `notFound` (exit 1) if a tile is missing, `invalidArgument` (2) if one is not that of the checkpoint.
    func compare(with tree: TreeState) throws -> Agreement {
        try log.open(isQuiet: output.quiet).read { session in
            Agreement(
                name: against ?? "",
                checkpoint: tree.checkpoint.checkpoint,
                common: min(tree.size, session.head.rawValue),
                fork: try tree.firstDifference(session)
            )
        }
    }
}
