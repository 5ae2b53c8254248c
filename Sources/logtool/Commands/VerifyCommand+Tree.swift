import EventLog
import JSON
import JetStream
import Projections
import Shipping

extension VerifyCommand {
    /// What `--against` names, if it is no file.
    enum Shipped {
        case tree(TreeState)
        /// The address of a server, which is asked once the log is verified.
        case stream(String)
    }

    /// How far a log and a tree, or a stream, agree.
    struct Agreement {
        /// Which it is, and its name for people.
        let other: String
        let checkpoint: Checkpoint
        /// How many events both have.
        let common: UInt64
        /// The first event at which they differ; `nil` if one is the beginning of the other.
        let fork: SequenceNumber?
        /// False if they differ somewhere before `fork`.
        var isExact = true

        /// How many events at the beginning are known to be the same.
        private var agreed: UInt64 { fork.map { isExact ? $0.rawValue - 1 : 0 } ?? common }

        /// For people.
        var text: String {
            let other = "\(other) of \(checkpoint.size) events"
            if fork == nil { return "\(other) has the same first \(common), root \(checkpoint.root)" }
            return isExact ? "\(other) has the same first \(agreed), and then others" : "\(other) has others"
        }

        /// Where they part; `nil` if they do not.
        var parting: String? {
            fork.map { isExact ? "from sequence \($0) on" : "before sequence \($0)" }
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

    /// The tree or the stream that `--against` names; `nil` if it names a file, or nothing.
    func shipped() throws -> Shipped? {
        guard let against else { return nil }
        if NATSAddress.isAddress(against) {
            _ = try NATSAddress(against)
            return .stream(against)
        }
        guard TreeOptions.isURL(against) || (try? FolderTree(at: against)) != nil else { return nil }
        let source = try tree.source(against, operation: "verify --against")
        return .tree(try TreeState(of: source, verifiers: tree.verifiers()))
    }

    /// Compares the log with a tree, by a few of its tiles, or with a stream, by what a sender answers or its batches.
    ///
    /// - Throws: `EventLogError`: `notFound` (exit 1) if a tile is missing, or the stream has nothing; `invalidArgument` (2) if a tile is not that
    ///   of the checkpoint.
    func compare(with shipped: Shipped) throws -> Agreement {
        let store = try log.open(isQuiet: output.quiet)
        switch shipped {
        case .tree(let tree):
            return try store.read { session in
                Agreement(
                    other: "the tree \(DisplayText.escaped(against ?? ""))",
                    checkpoint: tree.checkpoint.checkpoint,
                    common: min(tree.size, session.head.rawValue),
                    fork: try tree.firstDifference(session)
                )
            }
        case .stream(let address):
            let end = CourierEnd.receiver(store.identity)
            let courier = try tree.server.courier(at: address, as: end, operation: "verify --against")
            let found = try CourierComparison(of: store, with: courier, verifiers: tree.verifiers())
            let checkpoint = found.checkpoint.checkpoint
            return Agreement(
                other: "the \(found.isAsked ? "sender's log" : "stream") at \(DisplayText.escaped(courier.name))",
                checkpoint: checkpoint,
                common: try store.read { min(checkpoint.size, $0.head.rawValue) },
                fork: found.fork,
                isExact: found.isExact
            )
        }
    }
}
