#if Recorders
import EventLog

/// Events of sources that poll instead of listening. One file or answer proves nothing about the others, so an
/// observation does not move `lastInbound`; `noteAlive` does, once everything was polled (I29).
extension ConnectionJournal {
    /// Records the bytes of one observation, with their secrets replaced (I14).
    mutating func observation(_ bytes: [UInt8], _ pairs: [Attributes.Pair], at time: Timestamp) throws {
        var frame = try nextFrame(.in, at: time, isHeard: false)
        frame.attributes = try Attributes(pairs)
        add(try frame.redacted(payload: bytes))
    }

    /// Records the length and hash of an observation that is too large to keep.
    mutating func oversizeObservation(
        length: Int,
        hash: Hash256,
        _ pairs: [Attributes.Pair],
        at time: Timestamp
    ) throws {
        var frame = try nextFrame(.in, at: time, isHeard: false)
        frame.attributes = try Attributes(pairs)
        add(try frame.oversize(length: length, hash: hash))
    }
}

/// Rate limits that a server reports.
extension ConnectionJournal {
    /// Records that a rate limit entered a new level.
    ///
    /// - Parameters:
    ///   - used: percent of the limit, 0 to 100.
    ///   - reset: when the limit starts over, in seconds since 1970.
    mutating func limit(_ level: String, used: Int, reset: Int64, at time: Timestamp) throws {
        let frame = FrameDraft(
            recordedAt: time,
            source: source,
            kind: .recorderLimit,
            key: "\(counters.name)/l/\(counters.nextLimit())",
            attributes: try Self.attributes(["level": level, "used": String(used), "reset": String(reset)], counters)
        )
        add(try frame.draft(payload: []))
    }

    private static func attributes(
        _ members: [String: String],
        _ counters: ConnectionCounters
    ) throws -> Attributes {
        let pairs = members.map { Attributes.Pair(name: $0.key, value: $0.value) }
        return try Attributes(pairs + [Attributes.Pair(name: "connection", value: counters.name)])
    }
}
#endif
