/// One held event, lent for the length of a call. `key`, `envelope` and `copied` make new values with
/// each call; nothing else allocates memory.
public struct EventView: ~Copyable {
    /// The event's place in the log.
    public let sequence: SequenceNumber
    let record: Record
    /// Unmanaged, so that an event costs no reference counting. The maker of the view keeps the lane alive: through the
    /// generation's `LaneTable`, which drops none, or with `withExtendedLifetime`.
    private let laneReference: Unmanaged<Lane>
    /// Lies in the map, in an opened block, or in bytes that the maker of the view holds; valid as long as the view.
    @usableFromInline let payload: UnsafeRawBufferPointer
    private let block: Unmanaged<SealedBlock>?

    @inline(__always)
    init(sequence: UInt64, record: Record, lane: Unmanaged<Lane>, block: Unmanaged<SealedBlock>? = nil) {
        self.sequence = SequenceNumber(sequence)
        self.record = record
        laneReference = lane
        payload = record.payload
        self.block = block
    }

    /// Whether the event lies in a compressed block.
    public var isSealed: Bool { block != nil }

    /// What keeps the payload's bytes in memory, if they are no bytes of the map, which the session keeps: who uses them behind the
    /// call must hold it.
    package var payloadOwner: AnyObject? { block?.takeUnretainedValue() }

    var lane: Lane { laneReference.takeUnretainedValue() }

    /// The time of receipt, by the recorder's clock.
    public var recordedAt: Timestamp { Timestamp(microseconds: record.recordedAt) }
    /// The number of the event's lane. Within one session, events with the same number have the same source, kind and
    /// attributes.
    package var laneNumber: UInt32 { record.laneNumber }
    /// Which recorder the event came from.
    public var source: SourceName { lane.source }
    /// What the payload is, and the version of its format.
    public var kind: EventKind { lane.kind }
    /// Identifies the change for ever within its source (I4); `nil` if nothing does.
    public var key: EventKey? {
        record.key.flatMap { try? EventKey(String(decoding: $0, as: UTF8.self)) }
    }
    /// Facts about the event that its payload does not contain.
    public var attributes: Attributes { lane.attributes }
    /// Whether the payload is the original or a substitute.
    public var holding: EventHolding { record.holding }
    /// Whether the event is an act, not a remote change (I1).
    public var isAct: Bool { lane.isAct }
    /// The RFC 6962 leaf hash, as stored.
    public var leafHash: Hash256 { record.leafHash }
    /// The bytes that the leaf hash covers, after the `00` of RFC 6962.
    package var leaf: [UInt8] {
        LeafHash.leaf(recordedAt: record.recordedAt, lane: lane, key: record.key, commitment: record.commitment)
    }
    /// How many bytes the payload has.
    public var payloadCount: Int { payload.count }

    /// Everything but the payload, copied.
    public var envelope: Envelope { envelope(key: key) }

    /// The envelope without its key, which decides nothing about state: making its text would cost more than all the rest.
    package var envelopeWithoutKey: Envelope { envelope(key: nil) }

    private func envelope(key: EventKey?) -> Envelope {
        Envelope(
            sequence: sequence,
            recordedAt: recordedAt,
            source: source,
            kind: kind,
            key: key,
            attributes: attributes,
            holding: holding
        )
    }

    /// Lends the payload's bytes. They must not be used after `body` has returned.
    @inlinable
    @inline(__always)
    public func withPayload<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(payload)
    }

    /// Whether the event has a key whose bytes, which are UTF-8, fit.
    package func hasKey(where isWanted: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        guard let key = record.key else { return false }
        return isWanted(key)
    }

    /// The event as a draft, to be appended to another log.
    package var draft: DraftEvent {
        DraftEvent(
            recordedAt: recordedAt,
            source: source,
            kind: kind,
            key: key,
            attributes: attributes,
            payload: Array(payload)
        )
    }

    /// The event, copied out of the log.
    public func copied() -> RecordedEvent {
        RecordedEvent(
            envelope: envelope,
            payload: Array(payload),
            salt: record.salt.map { Array($0) },
            commitment: record.commitment,
            leafHash: record.leafHash
        )
    }
}
