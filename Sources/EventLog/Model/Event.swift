/// One remote change before it is appended: an event without sequence, salt and leaf hash.
public struct DraftEvent: Hashable, Sendable {
    /// The time of receipt by the recorder's clock, in microseconds since 1970, UTC. It need not rise from event to
    /// event.
    public var recordedAt: Timestamp
    /// The recorder that the change comes from.
    public var source: SourceName
    /// What the payload is, and the version of its format.
    public var kind: EventKind
    /// Identifies the change for ever within its source (I4); `nil` if nothing does.
    public var key: EventKey?
    /// Facts about the change that the payload does not contain.
    public var attributes: Attributes
    /// The bytes as the remote sent them, secrets aside (I2).
    public var payload: [UInt8]

    /// Makes a draft.
    public init(
        recordedAt: Timestamp,
        source: SourceName,
        kind: EventKind,
        key: EventKey? = nil,
        attributes: Attributes = .none,
        payload: [UInt8]
    ) {
        self.recordedAt = recordedAt
        self.source = source
        self.kind = kind
        self.key = key
        self.attributes = attributes
        self.payload = payload
    }
}

/// How much of an event its log still holds (I7). All three have the same leaf hash.
public enum EventHolding: UInt8, Hashable, Sendable {
    /// The envelope and the payload as they were appended.
    case whole = 0
    /// The envelope and a substitute payload in which texts are replaced; the original and its salt are gone.
    case redacted = 1
    /// Nothing but the leaf hash.
    case dropped = 2
}

/// The fields of an event beside its payload.
public struct Envelope: Hashable, Sendable {
    /// The event's place in the log.
    public let sequence: SequenceNumber
    /// The time of receipt by the recorder's clock, in microseconds since 1970, UTC.
    public let recordedAt: Timestamp
    /// Which recorder the event came from.
    public let source: SourceName
    /// What the payload is, and the version of its format.
    public let kind: EventKind
    /// Identifies the change for ever within its source (I4); `nil` if nothing does.
    public let key: EventKey?
    /// Facts about the change that the payload does not contain.
    public let attributes: Attributes
    /// Whether the payload is the original (`whole`) or a substitute (`redacted`). Never `dropped`.
    public let holding: EventHolding

    /// Makes an envelope.
    public init(
        sequence: SequenceNumber,
        recordedAt: Timestamp,
        source: SourceName,
        kind: EventKind,
        key: EventKey? = nil,
        attributes: Attributes = .none,
        holding: EventHolding = .whole
    ) {
        self.sequence = sequence
        self.recordedAt = recordedAt
        self.source = source
        self.kind = kind
        self.key = key
        self.attributes = attributes
        self.holding = holding
    }

    /// Whether the event is an act: something that logtool did to the log, and no remote change (I1).
    public var isAct: Bool { source == .logtool }
}

/// One event as its log holds it, copied out of the log.
public struct RecordedEvent: Hashable, Sendable {
    /// Everything but the bytes.
    public let envelope: Envelope
    /// The bytes as the remote sent them, or their substitute if the event is redacted.
    public let payload: [UInt8]
    /// Sixteen random bytes that the commitment to the payload is salted with; `nil` if redacted.
    public let salt: [UInt8]?
    /// SHA-256(salt ‖ payload) of the original payload, also if the event is redacted.
    public let commitment: Hash256
    /// The RFC 6962 leaf hash.
    public let leafHash: Hash256

    /// Makes a recorded event.
    public init(
        envelope: Envelope,
        payload: [UInt8],
        salt: [UInt8]?,
        commitment: Hash256,
        leafHash: Hash256
    ) {
        self.envelope = envelope
        self.payload = payload
        self.salt = salt
        self.commitment = commitment
        self.leafHash = leafHash
    }
}
