/// Merges a part into an existing whole log. The events of the log stay, and the part must have the same ones. The
/// part's later events follow them; if it lacks some of these, the log becomes a part (`docs/decisions/0023`).
struct PartMerge {
    private let reader: LogReader
    private let path: String
    private let head: UInt64

    init(_ reader: LogReader, path: String) throws {
        self.reader = reader
        self.path = path
        head = try reader.head()
    }

    /// Returns the log's own events instead of a piece that covers them. Returns a piece of later events unchanged.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` if the part has other events, or the log itself lacks
    ///   some.
    func pieces(for piece: LogPiece) throws -> [LogPiece] {
        switch piece {
        case .event(let event) where event.envelope.sequence.rawValue <= head:
            return try own(event.envelope.sequence.rawValue, count: 1, hash: event.leafHash)
        case .missing(let run) where run.first.rawValue <= head:
            guard run.first > .zero, (0...MissingRun.levelMax).contains(run.level) else { return [piece] }
            guard run.last.rawValue <= head else {
                let reason = "the part lacks some of the events behind sequence \(head), where the log there ends"
                throw EventStore.refused(path, reason, at: head + 1)
            }
            return try own(run.first.rawValue, count: 1 << UInt64(run.level), hash: run.hash)
        default: return [piece]
        }
    }

    /// The log's own events for a range that the part covers with one hash, if their subtree has this hash.
    private func own(_ first: UInt64, count: UInt64, hash: Hash256) throws -> [LogPiece] {
        // Every input has a piece at sequence 1, so this is checked once.
        if first == 1, try reader.isPart() || reader.decidedAt() > .zero {
            throw EventStore.refused(
                path,
                "the log there lacks events itself, and a part goes on from a whole log only"
            )
        }
        let isAligned = (first - 1).isMultiple(of: count)
        guard isAligned, try reader.root(over: first - 1..<first - 1 + count) == hash else {
            let place = count == 1 ? "" : ", or within the \(count - 1) behind it"
            throw EventStore.refused(
                path,
                "fork at sequence \(first)\(place): the log there goes on otherwise",
                at: first
            )
        }
        return try (first..<first + count).map { .event(try event(at: $0)) }
    }

    private func event(at sequence: UInt64) throws -> RecordedEvent {
        guard let event = try reader.event(at: sequence) else {
            throw reader.damaged("sequence \(sequence) is missing")
        }
        return event
    }
}
