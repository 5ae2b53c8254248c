import EventLog

/// Tells where a log and others of its identity part: by the hashes that a sender gives when it is asked, or by the batches of a stream.
struct CourierFork {
    let courier: any Courier
    let identity: [UInt8]
    /// Keys of which one must have signed what is believed; none for anything that fits together.
    let verifiers: [VerifierKey]

    /// How long a sender has for an answer.
    static let answerLimit = Duration.seconds(5)
    /// The most batches that are read for one answer.
    private static let readsMax = 64

    /// The tree of a sender that answers; `nil` if none does, or its checkpoint is not signed as asked.
    func asked() -> TreeState? {
        try? TreeState(of: AskedTree(courier: courier, limit: Self.answerLimit), verifiers: verifiers)
    }

    /// Where a log parts from the earliest batch that is not of it, as far as the batches tell.
    ///
    /// Cost: the ids of the stream, and at most 64 batches.
    func parting(of store: EventStore) throws -> Parting? {
        var view = CourierView(of: courier, identity: identity)
        try view.look(behind: 0)
        let all = view.batches.keys.flatMap { view.all(of: $0) }.filter { $0.what == .events }
        let others = try store.read { session in try all.filter { try !$0.isNamed(in: session) } }
        var earliest: UInt64?
        for name in others.sorted(by: { ($0.first, $0.last, $0.digest) < ($1.first, $1.last, $1.digest) })
            .prefix(Self.readsMax)
        {
            guard let batch = proved(name, view), let parting = try store.read({ try batch.parting(of: $0) }) else {
                continue
            }
            switch parting {
            case .at: return parting
            case .before(let sequence): earliest = min(earliest ?? .max, sequence.rawValue)
            }
        }
        return earliest.map { .before(SequenceNumber($0)) }
    }

    /// A batch whose bytes hold, signed as asked; `nil` for any other.
    func proved(_ name: BatchName, _ view: CourierView) -> Batch? {
        guard let batch = try? view.read(name) else { return nil }
        if !verifiers.isEmpty, (try? batch.header.checkpoint.check(verifiers)) == nil { return nil }
        return batch
    }
}

/// Where two logs part.
enum Parting {
    /// At this event.
    case at(SequenceNumber)
    /// Somewhere before this event.
    case before(SequenceNumber)

    /// The event that a message names.
    var sequence: SequenceNumber {
        switch self {
        case .at(let sequence), .before(let sequence): sequence
        }
    }

    /// For messages.
    var text: String {
        switch self {
        case .at(let sequence): "at sequence \(sequence)"
        case .before(let sequence): "before sequence \(sequence)"
        }
    }
}

extension BatchName {
    /// Whether the name is one that batches of a log have.
    func isNamed(in session: borrowing ReadSession) throws -> Bool {
        try last <= session.head.rawValue && Self.half(session.root(size: last)) == root
    }
}

extension Batch {
    /// Where a log parts from that of the batch; `nil` if one is the beginning of the other, as far as the batch tells.
    func parting(of session: borrowing ReadSession) throws -> Parting? {
        let head = session.head.rawValue
        guard header.first - 1 <= head else { return nil }
        guard try session.subtreeRoots(of: 0..<header.first - 1) == header.before else {
            return .before(SequenceNumber(header.first))
        }
        // Bytes that do not hold tell nothing.
        guard let pieces = try? pieces() else { return nil }
        var sequence = header.first
        for hash in pieces.lazy.flatMap(\.leafHashes) {
            if sequence > head { return nil }
            if try session.leafHash(at: SequenceNumber(sequence)) != hash { return .at(SequenceNumber(sequence)) }
            sequence += 1
        }
        return nil
    }
}
