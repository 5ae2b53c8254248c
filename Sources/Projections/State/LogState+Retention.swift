public import EventLog

extension LogState {
    /// The state that a compaction under the policy leaves (I13). Idempotent. This state stays as it is.
    public func retained(by policy: RetentionPolicy) -> LogState {
        var logState = self
        logState.retain(policy)
        return logState
    }

    /// Reduces the state to what a compaction under the policy leaves.
    mutating func retain(_ policy: RetentionPolicy) {
        // The lists are condensed below; later events append as in any replay.
        condensesIssues = false
        for index in sources.indices { sources[index].retain(policy) }
        // Places of messages have changed, which the keeper's rows refer to.
        digestKeeper = DigestKeeper()
    }

    /// The sequences of the events that a compaction must keep for this (retained) state; no acts, which are always
    /// kept.
    public var neededSequences: Set<UInt64> {
        var sequences: Set<UInt64> = []
        // Growing a large set hashes its elements again and again. Most messages have one event.
        sequences.reserveCapacity(sources.reduce(0) { $0 + $1.parts.messages.store.count })
        for source in sources {
            for (_, part) in source.parts.all { part.collectNeeded(into: &sequences) }
        }
        return sequences
    }

    /// The SHA-256 of the whole state, hidden parts included: two states behave alike for ever if these are equal.
    ///
    /// Hashes lines of canonical JSON, made one at a time; of messages and of frames seen, a line holds a hash. It
    /// compares states within one run and is not for files, as the lines' content may change with the program.
    public var normalFormHash: Hash256 {
        var hasher = Hasher256()
        var writer = CanonicalWriter()
        func add(_ value: JSONValue) {
            writer.reset()
            writer.value(value)
            writer.raw("\n")
            writer.withBytes { hasher.update($0) }
        }
        add(clock.map { .int($0.microseconds) } ?? .null)
        for source in sources.sorted(by: { $0.name < $1.name }) { source.normalForm(into: add) }
        return hasher.finalize()
    }

    /// The facts of this state that no event in `kept` contains, as canonical JSON. Sources are sorted by name, so
    /// equal states give equal bytes. Stored in logs: every later program must read them.
    public func facts(keeping kept: Set<UInt64>) -> [UInt8] {
        let states = sources.sorted { $0.name < $1.name }.map { $0.facts(keeping: kept) }
        return JSONValue.object([
            "format": .string("eventlog.facts/1"),
            "clock": clock.map { .int($0.microseconds) },
            "sources": .array(states),
        ]).canonicalBytes
    }

    /// A state made of a compaction's facts, before any event; the empty state for `nil`.
    ///
    /// Facts come from the canonical reading, whatever rules later events are read by. `sequence` is zero, although the
    /// facts are about later events.
    ///
    /// - Throws: `ProjectionError.damagedFacts`.
    public init(facts bytes: [UInt8]?, rules: ReadingRules = []) throws {
        self.init(rules: rules)
        guard let bytes else { return }
        guard let document = try? JSONValue.parse(bytes).object, document["format"]?.string == "eventlog.facts/1" else {
            throw ProjectionError.facts("they are no facts of a version that this program reads")
        }
        clock = document["clock"]?.number?.int64.map { Timestamp(microseconds: $0) }
        for value in document["sources"]?.array ?? [] {
            guard let object = value.object else { throw ProjectionError.facts("a source is no object") }
            let state = try SourceState(facts: object, rules: rules)
            indexes[state.name] = sources.count
            sources.append(state)
        }
    }

    /// Drops the other sources. Only for a state that has no digest yet: the keeper's notes hold the indexes of
    /// sources.
    mutating func keepOnly(_ names: Set<SourceName>) {
        sources.removeAll { !names.contains($0.name) }
        indexes = Dictionary(uniqueKeysWithValues: sources.enumerated().map { ($0.element.name, $0.offset) })
        clock = sources.compactMap(\.clock).max()
    }
}
