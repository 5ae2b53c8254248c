import EventLog

/// What sources record that look rather than listen.
extension ConnectionJournal {
    /// Something that was seen, with its secrets replaced.
    mutating func observation(_ bytes: [UInt8], _ pairs: [Attributes.Pair], at time: Timestamp) throws {
        var frame = nextFrame(.in, at: time)
        frame.attributes = pairs
        add(try frame.redacted(payload: bytes))
    }

    /// Something that was seen and is too large to keep.
    mutating func oversizeObservation(
        length: Int,
        hash: Hash256,
        _ pairs: [Attributes.Pair],
        at time: Timestamp
    ) throws {
        var frame = nextFrame(.in, at: time)
        frame.attributes = pairs
        add(try frame.oversize(length: length, hash: hash))
    }
}
