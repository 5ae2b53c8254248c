/// Which events of a log are sealed.
public enum SealLimit: Hashable, Sendable {
    /// All that the log has.
    case all
    /// Those from before the first that came at or after a time, by the log's clock.
    case before(Timestamp)
}

/// The result of sealing.
public struct SealResult: Sendable {
    /// The last sequence that is sealed now.
    public let through: SequenceNumber
    /// How many held events lie in blocks, before and after.
    public let sealed: (before: UInt64, after: UInt64)
    /// Bytes on disk of the data file, before and after.
    public let bytes: (before: UInt64, after: UInt64)
    /// Whether the log was left unchanged, because it would have grown.
    public let isRefused: Bool
}

extension ReadSession {
    /// The last sequence that sealing with a limit covers; `nil` if it covers no more than is sealed already, but for acts: each
    /// sealing appends one.
    public func sealPoint(_ limit: SealLimit) throws -> SequenceNumber? {
        let last =
            switch limit {
            case .all: head
            case .before(let time): try lastSequence(clockAtMost: Timestamp(microseconds: time.microseconds - 1))
            }
        let through = try reader.sealing()?.through ?? 0
        guard last.rawValue > through else { return nil }
        var isCovering = false
        try forEachEvent(in: SequenceNumber(through + 1)...last) { event in
            isCovering = !event.isAct
            return !isCovering
        }
        return isCovering ? last : nil
    }
}

extension EventStore {
    /// The kind of the act that sealing appends.
    public static let sealKind = EventKind("logtool.seal/1" as StaticString)

    /// Puts older events into compressed blocks, in one rewrite (I9). Every read gives the same as before: sequences, bytes, leaf
    /// hashes and proofs. What is sealed stays sealed in later rewrites; a copy by export and import is not.
    ///
    /// Appends go on meanwhile. Cost: the log is copied once, at some 200 MB of payloads a second.
    ///
    /// - Parameters:
    ///   - limit: Which events; the others stay as they are.
    ///   - now: When the act is recorded.
    ///   - isDryRun: Whether to leave the log unchanged; the figures come from a rewrite that is thrown away.
    ///   - scratch: An empty folder for a dry run; `nil` for the log's own folder.
    ///   - mustShrink: Whether to leave a log alone that would take more bytes.
    /// - Returns: `nil` if nothing is left to seal: the log is then unchanged, and gets no act.
    /// - Throws: `EventLogError`; the log is then unchanged.
    public func seal(
        _ limit: SealLimit,
        now: Timestamp,
        isDryRun: Bool = false,
        scratch: String? = nil,
        mustShrink: Bool = true
    ) throws -> SealResult? {
        let point = try read { session in
            try session.sealPoint(limit).map { (through: $0, head: session.head, before: try session.reader.sealing()) }
        }
        guard let point else {
            if !isDryRun { try removeLeftoversIfAny() }
            return nil
        }
        let payload = "{\"sealedThrough\":\"\(point.through)\"}"
        let act = DraftEvent(recordedAt: now, source: .logtool, kind: Self.sealKind, payload: Array(payload.utf8))
        var plan = RewritePlan(dropped: [], decidedAt: point.head, act: act)
        plan.sealsThrough = point.through
        plan.isDryRun = isDryRun
        plan.scratch = scratch
        plan.mustShrink = mustShrink
        // Another seal has done it meanwhile.
        plan.voidedBy = [Self.sealKind]
        let result = try rewrite(plan)
        return SealResult(
            through: point.through,
            sealed: (point.before?.events ?? 0, result.sealedAfter),
            bytes: (result.bytesBefore, result.bytesAfter),
            isRefused: result.isRefused
        )
    }
}
