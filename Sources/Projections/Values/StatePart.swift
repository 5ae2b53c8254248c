/// The common part of decoders and folds: how they are saved, compared and compacted (I13).
///
/// A compaction keeps the events of `collectNeeded`, stores `facts`, and then proves that facts and kept events give a
/// part with the same `normalForm`.
protocol StatePart: Codable, Sendable {
    /// Adds the sequence of every event that this state, or a later event, needs.
    func collectNeeded(into sequences: inout SequenceSet)

    /// Gives the whole state, hidden parts included, as small values.
    ///
    /// The values do not depend on handles, on hash seeds, or on an order of arrival that decides nothing. Two parts
    /// behave alike for any later events exactly if their values are equal.
    func normalForm(names: Names, into take: (JSONValue) -> Void)

    /// The facts that a compaction stores: all of this (retained) state that the events in `kept` do not give.
    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue

    /// Writes `facts` as canonical JSON. A part whose facts may be large writes them without making a value of all.
    func writeFacts(keeping kept: SequenceSet, names: Names, to writer: inout CanonicalWriter)

    /// Loads facts into an empty state, before the kept events are applied; `null` changes nothing.
    ///
    /// - Throws: `ProjectionError.damagedFacts`.
    mutating func load(facts: JSONValue, names: inout Names) throws
}

extension StatePart {
    func writeFacts(keeping kept: SequenceSet, names: Names, to writer: inout CanonicalWriter) {
        writer.value(facts(keeping: kept, names: names))
    }
}
