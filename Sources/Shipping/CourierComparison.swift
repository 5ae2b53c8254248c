public import EventLog

/// Compares a log with what a courier brings, and takes nothing.
public struct CourierComparison {
    /// The newest checkpoint that is proved: that of a sender that answers, or else that of a batch in the stream.
    public let checkpoint: SignedCheckpoint
    /// Whether a sender answered.
    public let isAsked: Bool
    /// The first event at which the log differs, among those that both have; `nil` if one is the beginning of the other.
    public let fork: SequenceNumber?
    /// False if the stream no longer has the event at which they part, which lies before `fork`.
    public let isExact: Bool

    /// Compares a log with a stream.
    ///
    /// Cost: with a sender, a tile for each level. Without, the ids of the stream's messages, and some batches.
    ///
    /// - Parameter verifiers: keys of which one must have signed what counts; none for anything that fits together.
    /// - Throws: `EventLogError`: `notFound` if there is no stream, or nothing in it is proved; `invalidArgument` if it is that of another log;
    ///   `io` if the courier cannot be reached.
    public init(of store: EventStore, with courier: any Courier, verifiers: [VerifierKey] = []) throws {
        guard let identity = try courier.identity() else { throw Self.empty(courier, "there is no stream of the log") }
        guard identity == store.identity else {
            throw EventLogError(
                .invalidArgument,
                operation: "compare with",
                object: courier.name,
                reason: "the stream is of a log with another identity"
            )
        }
        let fork = CourierFork(courier: courier, identity: identity, verifiers: verifiers)
        if let tree = fork.asked() {
            (checkpoint, isAsked, isExact) = (tree.checkpoint, true, true)
            self.fork = try store.read { try tree.firstDifference($0) }
            return
        }
        guard let newest = try fork.newest() else { throw Self.empty(courier, "no batch in the stream is proved") }
        (checkpoint, isAsked) = (newest.header.checkpoint, false)
        let isOwn = try store.read { session in
            try newest.header.last <= session.head.rawValue
                && session.root(size: newest.header.last) == newest.header.checkpoint.checkpoint.root
        }
        switch isOwn ? nil : try fork.parting(of: store) {
        case .at(let sequence): (self.fork, isExact) = (sequence, true)
        case .before(let sequence): (self.fork, isExact) = (sequence, false)
        case nil: (self.fork, isExact) = (nil, true)
        }
    }

    private static func empty(_ courier: any Courier, _ reason: String) -> EventLogError {
        EventLogError(
            .notFound,
            operation: "compare with",
            object: courier.name,
            reason: reason,
            advice: "logtool ship LOG --to nats://… fills it"
        )
    }
}

extension CourierFork {
    /// The batch of the newest state that reaches farthest, among those that hold and are signed as asked; `nil` if there is none.
    fileprivate func newest() throws -> Batch? {
        var view = CourierView(of: courier, identity: identity)
        try view.look(behind: 0)
        let all = view.batches.keys.flatMap { view.all(of: $0) }.filter { $0.what == .events }
        return all.sorted { ($0.last, $0.state, $0.digest) > ($1.last, $1.state, $1.digest) }.lazy
            .compactMap { proved($0, view) }.first
    }
}
