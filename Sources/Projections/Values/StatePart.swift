/// What decoders and folds have in common: they are saved, compared and compacted in the same way (I13).
protocol StatePart: Codable, Sendable {
    /// Adds the sequence of every event that holds something this state says, or that a later event needs.
    func collectNeeded(into sequences: inout Set<UInt64>)

    /// The whole state, hidden parts included, as small values that do not depend on handles, on hash seeds, or on the
    /// order of arrival where that decides nothing. Two parts behave alike for ever exactly if all of these are equal.
    func snapshot(names: Names, into take: (JSONValue) -> Void)

    /// What this (retained) state says and no event with a sequence in `kept` says: the facts that a compaction stores.
    func facts(keeping kept: Set<UInt64>, names: Names) -> JSONValue

    /// Takes over facts into an empty state, before the kept events are applied; `null` changes nothing.
    mutating func load(facts: JSONValue, names: inout Names) throws
}
