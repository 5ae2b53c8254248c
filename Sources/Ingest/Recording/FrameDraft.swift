import EventLog

/// Everything of an event but its payload, which may be too large to keep (I3). `redacted(payload:)` replaces secrets
/// first (I14); `draft(payload:)` takes a payload as it is.
struct FrameDraft {
    let recordedAt: Timestamp
    let source: SourceName
    var kind: EventKind
    /// Checked only when the event is made.
    let key: String
    var attributes = Attributes.none

    /// The event with `payload` as it is; if it is larger than 16 MiB, an event with its length and hash instead (I3).
    func draft(payload: [UInt8]) throws -> DraftEvent {
        guard payload.count <= EnvelopeLimits.payloadBytesMax else {
            return try oversize(length: payload.count, hash: Hasher256.hash(payload))
        }
        return try make(kind, attributes, payload)
    }

    /// The event that takes the place of a payload too large to keep; the attribute `of` names the kind it would have
    /// had.
    ///
    /// - Parameters:
    ///   - length: the payload's, in bytes.
    ///   - hash: the payload's SHA-256.
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
