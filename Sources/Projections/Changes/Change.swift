package import EventLog

/// One domain change that a decoder read out of one event. The set is closed, so the compiler makes every fold handle a
/// new case. Ids are handles of the source's `Names`.
enum Change {
    case channel(ChannelChange)
    case message(MessageChange)
    case community(CommunityChange)
    case item(ItemChange)
    case session(SessionChange)
    case prompt(PromptChange)
    case row(RowChange)
}

/// The event that brought a change. Small, so that histories can hold millions.
package struct EventReference: Codable, Hashable, Sendable, BitwiseCopyable {
    /// The event's place in the log.
    package let sequence: SequenceNumber
    /// When the recorder received it (UTC).
    package let recordedAt: Timestamp

    /// Makes a reference.
    package init(sequence: SequenceNumber, recordedAt: Timestamp) {
        self.sequence = sequence
        self.recordedAt = recordedAt
    }
}

/// The values that decoders and folds share while one event is applied. `names`, `relations` and `notesTouched` last; the
/// other members are set anew for each event (`SourceState.begin`).
struct FoldContext {
    /// The texts behind all handles of this state.
    var names: Names
    /// The texts of the messages, while an event is decoded whose decoder keeps texts there. Otherwise empty.
    var texts = TextPool()
    /// How the columns of rows were compared before. A pure cache.
    var relations = ShapeRelations()
    /// The event being applied.
    var event: EventReference
    /// The client's reading rules for this event; empty for the canonical reading (I16).
    var rules: ReadingRules = .canonical
    /// The rows that this event may have changed, in order, perhaps repeated. Too many cost time; one too few makes the
    /// digest wrong (I12).
    var touched: [EntityKey] = []
    /// False where nothing reads `touched`; `touch` then does nothing.
    var notesTouched = true
    /// The remote's own time of this event, where the decoder knows it better than the changes do; `nil` leaves it to
    /// them.
    var remoteTime: Timestamp?
    /// The reasons of the issues that this event caused, in order; an issue can occur twice.
    var reasons: [String] = []
    /// What the deletions of this event state beside, of the things that they delete; no fold takes it. `nil` where nobody asks.
    var told: [Change]?
    /// The texts that a decoder file joined, with what the payload has of each; empty where nobody asks for `told`.
    var joined: [ExactText: [String]] = [:]

    /// Notes a row that may have changed, appeared or gone.
    @inline(__always)
    mutating func touch(_ key: EntityKey) {
        if notesTouched {
            Steps.count(1)
            touched.append(key)
        }
    }

    /// Records an issue at this event. The reason is in lower case, without a full stop, a secret or a message's text.
    mutating func issue(_ reason: String) {
        reasons.append(reason)
    }
}
