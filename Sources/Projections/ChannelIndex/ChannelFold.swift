import EventLog

/// Folds the events of one channel, and of those of all channels, in sequence order.
struct ChannelFold {
    /// The state of the channel's source, which says nothing right of other channels.
    private(set) var state: SourceState
    let channel: EntityID
    /// The events of all channels that are to be folded still, the next one last.
    private var shared: [UInt64] = []

    init(_ source: SourceName, channel id: String) {
        state = SourceState(name: source)
        channel = state.context.names.id(id)
        // Repeats are in no block.
        state.gateway.connections.takesAll = true
    }

    /// Takes the events of all channels; false where a block is malformed.
    mutating func addShared(_ blocks: [JournalBlock], through last: SequenceNumber) -> Bool {
        for block in blocks {
            var reader = JournalReader(block.bytes, channel: channel)
            while let entry = reader.next(), reader.sequence <= last.rawValue {
                if case .reference(let sequence) = entry { shared.append(sequence.rawValue) }
            }
            guard !reader.isMalformed else { return false }
        }
        extendLifetime(blocks)
        shared.reverse()
        return true
    }

    /// Folds the entries of a block up to a sequence; false where it is malformed.
    mutating func apply(
        _ block: JournalBlock,
        through last: SequenceNumber,
        _ session: borrowing ReadSession
    ) throws -> Bool {
        defer { extendLifetime(block) }
        var reader = JournalReader(block.bytes, channel: channel)
        while let entry = reader.next(), reader.sequence <= last.rawValue {
            try applyShared(before: reader.sequence, session)
            switch entry {
            case .plain(let frame, let event): state.applyPlain(frame, event, connection: nil)
            case .reference(let sequence): try apply(sequence, session)
            case .naming: break
            }
        }
        return !reader.isMalformed
    }

    /// Folds what is left of the events of all channels.
    mutating func finish(_ session: borrowing ReadSession) throws {
        try applyShared(before: .max, session)
    }

    private mutating func applyShared(before end: UInt64, _ session: borrowing ReadSession) throws {
        while let next = shared.last, next < end {
            shared.removeLast()
            try apply(SequenceNumber(next), session)
        }
    }

    private mutating func apply(_ sequence: SequenceNumber, _ session: borrowing ReadSession) throws {
        guard let event = try session.event(at: sequence) else { return }
        event.payload.withUnsafeBytes { state.apply(event.envelope, payload: $0) }
    }
}
