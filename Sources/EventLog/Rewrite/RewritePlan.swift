/// The plan of a rewrite: which events it drops or redacts, and what it stores beside the events (I9). Compact, redact,
/// seal, restore and migrate are one mechanism.
public struct RewritePlan: Sendable {
    /// Held events to drop, ascending: no acts, and none after `decidedAt`.
    public var dropped: [SequenceNumber]
    /// The head when the plan was made.
    public var decidedAt: SequenceNumber
    /// The act that names what was done: source `logtool`; it becomes the new generation's last event.
    ///
    /// It must name the dropped events by `"droppedHash":"HEX"` in its payload, HEX being `droppedHash(of: dropped)`,
    /// and each substitute by `"sequence":"N","substituteHash":"HEX"`. The payload is a JSON object; the rewrite adds
    /// what it leaves beside the events as the member `remains`.
    public var act: DraftEvent
    /// Acts that come before `act`, in the same commit: where one is too small to name all substitutes. Each is a JSON object of
    /// the source `logtool`, and counts as one of the rewrite's acts.
    public var earlierActs: [DraftEvent] = []
    /// Values to store beside the events, by name (1 to 255 bytes of UTF-8). Facts under other names stay unchanged;
    /// none can be removed.
    public var facts: [String: [UInt8]]
    /// Payloads that replace the originals, which are removed for ever, as are their salts. The rewrite passes over
    /// sequences that are dropped or not held.
    public var substitutes: [SequenceNumber: [UInt8]]
    /// Whether to leave the log unchanged: the rewrite does everything but the switch, and removes the new generation.
    public var isDryRun = false
    /// For a dry run: an empty folder for the new generation, so that the log's own folder needs no write permission.
    public var scratch: String?
    /// Acts of these kinds change what the plan was made of: one that is appended after `decidedAt` stops the rewrite, and the
    /// log stays unchanged.
    public var voidedBy: Set<EventKind> = []
    /// Events up to this sequence go into compressed blocks; those that lie in blocks already stay there. Reading gives the same.
    /// Not behind `decidedAt`.
    public var sealsThrough = SequenceNumber.zero
    /// Whether to leave the log unchanged if the new generation would take more bytes.
    public var mustShrink = false

    /// Makes a plan.
    public init(
        dropped: [SequenceNumber],
        decidedAt: SequenceNumber,
        act: DraftEvent,
        facts: [String: [UInt8]] = [:],
        substitutes: [SequenceNumber: [UInt8]] = [:]
    ) {
        self.dropped = dropped
        self.decidedAt = decidedAt
        self.act = act
        self.facts = facts
        self.substitutes = substitutes
    }

    /// The hash by which an act names dropped events: SHA-256 of their sequences in order, eight bytes each,
    /// big-endian.
    public static func droppedHash(of sequences: some Sequence<SequenceNumber>) -> Hash256 {
        var hasher = Hasher256()
        for sequence in sequences {
            withUnsafeBytes(of: sequence.rawValue.bigEndian) { hasher.update($0) }
        }
        return hasher.finalize()
    }

    /// Checks everything that does not need the log.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument`.
    func check(path: String) throws {
        let reason: String
        if let other = (earlierActs + [act]).first(where: { $0.source != .logtool }) {
            reason = "the act's source is \"\(other.source)\" and not \"logtool\""
        } else if !earlierActs.isEmpty && !dropped.isEmpty {
            reason = "a rewrite that drops events has one act"
        } else if zip(dropped, dropped.dropFirst()).contains(where: { $0 >= $1 }) || dropped.first == .zero {
            reason = "the dropped sequences do not ascend"
        } else if let last = dropped.last, last > decidedAt {
            reason = "sequence \(last) came after the decision at \(decidedAt)"
        } else if sealsThrough > decidedAt {
            reason = "events up to \(sealsThrough) would be sealed, behind the decision at \(decidedAt)"
        } else if let large = substitutes.first(where: { $0.value.count > EnvelopeLimits.payloadBytesMax })?.key {
            reason = "the substitute of sequence \(large) has more than \(EnvelopeLimits.payloadBytesMax) bytes"
        } else if facts.keys.contains(where: { !(1...255).contains($0.utf8.count) }) {
            reason = "the name of a fact has not 1 to 255 bytes"
        } else if !isActOpen {
            reason = "the act's payload is no JSON object"
        } else if act.payload.count > EnvelopeLimits.payloadBytesMax - Self.remainsBytesMax {
            reason = "the act has \(act.payload.count) bytes"
        } else if scratch != nil && !isDryRun {
            reason = "a folder for dry runs is given, and it is none"
        } else {
            return
        }
        throw EventLogError(.invalidArgument, operation: "rewrite log at", object: path, reason: reason)
    }
}

/// The result of a rewrite.
public struct RewriteResult: Hashable, Sendable {
    /// The sequence of the act.
    public let act: SequenceNumber
    /// The number of the new generation.
    public let generation: UInt32
    /// Held events before the rewrite.
    public let heldBefore: UInt64
    /// Held events after the rewrite, without its act.
    public let heldAfter: UInt64
    /// Held events that lie in compressed blocks after the rewrite.
    public let sealedAfter: UInt64
    /// Bytes on disk of the old data file.
    public let bytesBefore: UInt64
    /// Bytes on disk of the new data file.
    public let bytesAfter: UInt64
    /// Whether the log was left unchanged because it would have grown.
    public let isRefused: Bool
}
