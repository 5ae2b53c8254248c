public import EventLog

/// One domain change that a decoder read out of one event. The set is closed: every fold that ought to think about a
/// new case is made to by the compiler.
enum Change {
    case channel(ChannelChange)
    case message(MessageChange)
    case community(CommunityChange)
    case item(ItemChange)
    case session(SessionChange)
    case prompt(PromptChange)
    case row(RowChange)
}

/// The event that a change came with.
public struct EventReference: Codable, Hashable, Sendable, BitwiseCopyable {
    /// The event's place in the log.
    public let sequence: SequenceNumber
    /// When the recorder received it.
    public let recordedAt: Timestamp

    /// Makes a reference.
    public init(sequence: SequenceNumber, recordedAt: Timestamp) {
        self.sequence = sequence
        self.recordedAt = recordedAt
    }
}

/// What folds and decoders share while one event is applied.
struct FoldContext {
    /// The texts behind all handles of this state.
    var names: Names
    /// The event at hand.
    var event: EventReference
    /// How the event at hand is read otherwise than the remote meant it.
    var rules: ReadingRules = []
    /// The rows that this event may have changed, in order, perhaps repeated; read by the digest.
    var touched: [EntityKey] = []
    /// Whether anybody reads `touched`.
    var notesTouched = true
    /// When the remote says that the event at hand happened, where the decoder knows it better than its changes tell.
    var remoteTime: Timestamp?
    /// What this event could not be made sense of.
    var reasons: [String] = []

    /// Says that a row may have changed, appeared or gone.
    @inline(__always)
    mutating func touch(_ key: EntityKey) {
        if notesTouched { touched.append(key) }
    }

    /// Records an issue at the event at hand: lower case, no full stop, no secret, no text of the message.
    mutating func issue(_ reason: String) {
        reasons.append(reason)
    }
}
