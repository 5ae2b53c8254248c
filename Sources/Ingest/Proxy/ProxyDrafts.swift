#if Recorders
import EventLog

/// The content of a message while it is lent.
enum LentContent {
    case bytes(UnsafeRawBufferPointer)
    case oversize(length: Int, hash: Hash256)

    /// What of it is kept. Cost: a copy of the bytes.
    var kept: KeptContent.Result {
        switch self {
        case .bytes(let bytes): .whole(Array(bytes))
        case .oversize(let length, let hash): .oversize(length: length, hash: hash)
        }
    }
}

extension KeptContent.Result {
    /// Lends the content.
    func lend<Value>(_ body: (LentContent) -> Value) -> Value {
        switch self {
        case .whole(let bytes): bytes.withUnsafeBytes { body(.bytes($0)) }
        case .oversize(let length, let hash): body(.oversize(length: length, hash: hash))
        }
    }
}

/// The events of messages that came together: one connection, direction and time.
struct ProxyDrafts {
    private(set) var batch = DraftBatch()
    /// Events that could not be made.
    private(set) var failures = 0
    private let counters: ConnectionCounters
    private let source: SourceName
    private let kind: EventKind
    private let attributes: Attributes
    let time: Timestamp

    init(
        _ counters: ConnectionCounters,
        source: SourceName,
        kind: EventKind,
        attributes: Attributes,
        at time: Timestamp
    ) {
        (self.counters, self.source, self.kind) = (counters, source, kind)
        (self.attributes, self.time) = (attributes, time)
    }

    /// Adds a message with its secrets replaced (I14). The bytes of one that can hold no secret are copied once, into the
    /// batch.
    mutating func add(_ content: LentContent) {
        guard case .bytes(let bytes) = content, bytes.count <= EnvelopeLimits.payloadBytesMax, Self.isPlain(bytes)
        else {
            do { try batch.append(draft(content)) } catch { failures += 1 }
            return
        }
        counters.withNextFrameKey { key in
            batch.append(
                recordedAt: time,
                source: source,
                kind: kind,
                key: key,
                attributes: attributes,
                payload: bytes
            )
        }
    }

    private static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.withMemoryRebound(to: UInt8.self) { !SecretName.mayOccur(in: $0) }
    }

    private func draft(_ content: LentContent) throws -> DraftEvent {
        let key = counters.nextFrameKey()
        let frame = FrameDraft(recordedAt: time, source: source, kind: kind, key: key, attributes: attributes)
        switch content {
        case .bytes(let bytes): return try frame.redacted(payload: Array(bytes))
        case .oversize(let length, let hash): return try frame.oversize(length: length, hash: hash)
        }
    }
}
#endif
