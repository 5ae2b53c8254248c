extension RecordedEvent {
    /// The bytes that the leaf hash covers, after the `00` of RFC 6962: the envelope and the commitment, in the layout
    /// of `docs/format.md`. Its hash is `leafHash` if the event is as it was appended.
    public var leaf: [UInt8] {
        let lane = Lane(source: envelope.source, kind: envelope.kind, attributes: envelope.attributes)
        let recordedAt = envelope.recordedAt.microseconds
        guard var key = envelope.key?.rawValue else {
            return LeafHash.leaf(recordedAt: recordedAt, lane: lane, key: nil, commitment: commitment)
        }
        return key.withUTF8 { utf8 in
            LeafHash.leaf(
                recordedAt: recordedAt,
                lane: lane,
                key: UnsafeRawBufferPointer(utf8),
                commitment: commitment
            )
        }
    }

    /// The commitment to a payload: SHA-256(salt ‖ payload).
    public static func commitment(salt: [UInt8], payload: [UInt8]) -> Hash256 {
        salt.withUnsafeBytes { salt in
            payload.withUnsafeBytes { LeafHash.commitment(salt: salt, payload: $0) }
        }
    }
}

extension Envelope {
    /// The leaf hash of an event whose source, kind and attributes are those of a lane.
    func leafHash(in lane: Lane, commitment: Hash256) -> Hash256 {
        let recordedAt = recordedAt.microseconds
        guard var key = key?.rawValue else {
            return LeafHash.hash(recordedAt: recordedAt, lane: lane, key: nil, commitment: commitment)
        }
        return key.withUTF8 { utf8 in
            let key = UnsafeRawBufferPointer(utf8)
            return LeafHash.hash(recordedAt: recordedAt, lane: lane, key: key, commitment: commitment)
        }
    }
}
