#if Recorders
import EventLog

/// What sources record that look rather than listen. One file or answer says nothing of the others: `noteAlive` says when
/// all were looked at.
extension ConnectionJournal {
    /// Something that was seen, with its secrets replaced.
    mutating func observation(_ bytes: [UInt8], _ pairs: [Attributes.Pair], at time: Timestamp) throws {
        var frame = try nextFrame(.in, at: time, isHeard: false)
        frame.attributes = try Attributes(pairs)
        add(try frame.redacted(payload: bytes))
    }

    /// Something that was seen and is too large to keep.
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

/// What servers say of a recorder's standing.
extension ConnectionJournal {
    /// A level of a rate limit that began.
    mutating func limit(_ level: String, used: Int, reset: Int64, at time: Timestamp) throws {
        let frame = FrameDraft(
            recordedAt: time,
            source: source,
            kind: EventKind("recorder.limit/1" as StaticString),
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
