import EventLog

/// Folds the events of one channel, merged in sequence order with those that concern all channels (I21). Serves one
/// query: first all shared blocks, then the channel's blocks from the oldest on, then `finish`.
struct ChannelFold {
    /// The state of the channel's source; it is right only for this channel. Other channels may have rows that are
    /// wrong.
    private(set) var state: SourceState
    let channel: EntityID
    /// The channel's id.
    let id: String
    /// The message whose touches are noted; `nil` for none.
    private var watched: EntityID?
    /// The events that touched the watched message, in order.
    private(set) var touches: [SequenceNumber] = []
    /// The point at which `earlier` is taken; `nil` if none is wanted.
    private var forkPoint: SequenceNumber?
    /// The state at the fork point; `nil` until an event behind it is folded.
    private(set) var earlier: SourceState?
    /// The rows that events behind the fork point touched, in order, perhaps repeated.
    private(set) var touched: [EntityKey] = []
    /// The sequences of the events that concern all channels, ascending; the first `sharedCount` of them are folded.
    private var shared: [UInt64] = []
    private var sharedCount = 0

    init(_ source: SourceName, channel id: String) {
        state = SourceState(name: source)
        self.id = id
        channel = state.context.names.id(id)
        // The scan has left repeats out, so the fold need not detect any. It could not: it sees a part of each
        // connection only.
        state.parts.gateway.connections.knownRepeats = []
        state.context.notesTouched = false
    }

    /// Notes from now on which events touch a message. Touched rows are noted only then, as nothing else reads them.
    mutating func watch(_ message: String) {
        watched = state.context.names.id(message)
        state.context.notesTouched = true
    }

    /// Keeps the state at a point, and notes from there on which rows events touch.
    mutating func fork(at point: SequenceNumber) { forkPoint = point }

    /// Takes the next block of events that concern all channels, up to a sequence; false if it is malformed.
    mutating func addShared(_ block: UnsafeRawBufferPointer, through last: SequenceNumber) -> Bool {
        var reader = PostingReader(block, channel: channel)
        while let entry = reader.next(), reader.sequence <= last.rawValue {
            if entry == .reference { shared.append(reader.sequence) }
        }
        return !reader.isMalformed
    }

    /// Folds the entries of the channel's next block up to a sequence, and the shared events that come before each;
    /// false if it is malformed. A state is then to be thrown away.
    mutating func apply(
        _ block: UnsafeRawBufferPointer,
        through last: SequenceNumber,
        _ session: borrowing ReadSession
    ) throws -> Bool {
        var reader = PostingReader(block, channel: channel)
        while let entry = reader.next(), reader.sequence <= last.rawValue {
            try applyShared(before: reader.sequence, session)
            switch entry {
            case .plain:
                forkIfDue(before: reader.event.sequence)
                state.applyPlain(reader.frame, reader.event, connection: nil)
                noteTouches()
            case .reference: try apply(SequenceNumber(reader.sequence), session)
            // The event is among the shared ones; this entry only shows that the channel exists.
            case .naming: break
            }
        }
        return !reader.isMalformed
    }

    /// Folds the remaining events that concern all channels. Only for a channel that some event named: others have no
    /// rows.
    mutating func finish(_ session: borrowing ReadSession) throws {
        try applyShared(before: .max, session)
    }

    /// Folds the remaining events that concern all channels and come before a sequence.
    private mutating func applyShared(before end: UInt64, _ session: borrowing ReadSession) throws {
        while sharedCount < shared.count, shared[sharedCount] < end {
            sharedCount += 1
            try apply(SequenceNumber(shared[sharedCount - 1]), session)
        }
    }

    /// Fetches an event from the log and folds it on the general way.
    private mutating func apply(_ sequence: SequenceNumber, _ session: borrowing ReadSession) throws {
        // A dropped event changes nothing.
        guard let event = try session.event(at: sequence) else { return }
        forkIfDue(before: sequence)
        event.payload.withUnsafeBytes { state.apply(event.envelope, payload: $0) }
        noteTouches()
    }

    @inline(__always)
    private mutating func forkIfDue(before sequence: SequenceNumber) {
        guard let forkPoint, sequence > forkPoint, earlier == nil else { return }
        earlier = state
        state.context.notesTouched = true
    }

    @inline(__always)
    private mutating func noteTouches() {
        if earlier != nil { touched += state.context.touched }
        guard let watched else { return }
        let isTouched = state.context.touched.contains {
            $0.section.isOfMessages && $0.first == channel && $0.second == watched
        }
        if isTouched { touches.append(state.context.event.sequence) }
    }
}
