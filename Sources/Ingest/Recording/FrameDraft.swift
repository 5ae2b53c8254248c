import EventLog

/// An event about to be made of a payload that may be too large.
struct FrameDraft {
    let recordedAt: Timestamp
    let source: SourceName
    let kind: EventKind
    let key: String
    var attributes = Attributes.none

    /// The event with a payload as it is, or its length and hash if it is larger than 16 MiB (I3).
    func draft(payload: [UInt8]) throws -> DraftEvent {
        guard payload.count <= EnvelopeLimits.payloadBytesMax else {
            return try oversize(length: payload.count, hash: Hasher256.hash(payload))
        }
        return try make(kind, attributes, payload)
    }

    /// The event of a payload that was too large to keep.
    func oversize(length: Int, hash: Hash256) throws -> DraftEvent {
        let payload = Array("{\"length\":\(length),\"sha256\":\"\(hash.hex)\"}".utf8)
        let of = Attributes.Pair(name: "of", value: kind.rawValue)
        return try make(.recorderOversize, Attributes(attributes.pairs + [of]), payload)
    }

    private func make(_ kind: EventKind, _ attributes: Attributes, _ payload: [UInt8]) throws -> DraftEvent {
        DraftEvent(
            recordedAt: recordedAt,
            source: source,
            kind: kind,
            key: try EventKey(key),
            attributes: attributes,
            payload: payload
        )
    }
}
