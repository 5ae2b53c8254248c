public import EventLog
import JSON

extension LogState {
    /// The state that a compaction under the policy leaves (I13). Idempotent. This state stays as it is.
    public func retained(by policy: RetentionPolicy) -> LogState {
        var logState = self
        logState.retain(policy)
        return logState
    }

    /// Reduces the state to what a compaction under the policy leaves.
    mutating func retain(_ policy: RetentionPolicy) {
        let decision = CompactionDecision(head: sequence, clock: clock)
        for index in sources.indices { sources[index].retainMessages(policy, decision) }
        retainOthers(policy)
    }

    /// Reduces everything but the messages to what a compaction under the policy leaves.
    mutating func retainOthers(_ policy: RetentionPolicy) {
        // The lists are condensed below; later events append as in any replay.
        condensesIssues = false
        for index in sources.indices { sources[index].retainOthers(policy) }
        // Places of messages have changed, which the keeper's rows refer to.
        digestKeeper = DigestKeeper()
    }

    /// The sequences of the events that a compaction must keep for this (retained) state; no acts, which are always
    /// kept.
    package var neededSequences: SequenceSet {
        var sequences = SequenceSet()
        for source in sources {
            for (_, part) in source.parts.all { part.collectNeeded(into: &sequences) }
        }
        return sequences
    }

    /// The SHA-256 of the whole state, hidden parts included: two states behave alike for ever if these are equal.
    ///
    /// It compares states within one process and is not for files: it contains keyed hashes of the messages, whose key is
    /// drawn for each process.
    public var normalFormHash: Hash256 {
        normalFormHash(sources.map { ($0.name, $0.parts.messages.store.normalFormHashes($0.context.names)) })
    }

    /// The same hash for a state whose messages are given as their `normalFormHashes`.
    ///
    /// Hashes lines of canonical JSON, made one at a time; of frames seen, a line holds a hash. Behind the lines are, by
    /// source, the hashes of all messages, sorted: their order of arrival decides nothing.
    func normalFormHash(_ messages: [(source: SourceName, hashes: [UInt128])]) -> Hash256 {
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
        for source in messages.sorted(by: { $0.source < $1.source }) where !source.hashes.isEmpty {
            add(.array([.string(source.source.rawValue), .int(source.hashes.count)]))
            var hashes = source.hashes
            hashes.sortHashes()
            hashes.withUnsafeBytes { hasher.update($0) }
        }
        return hasher.finalize()
    }

    /// The facts of this state that no event in `kept` contains, as canonical JSON. Sources are sorted by name, so
    /// equal states give equal bytes. Stored in logs: every later program must read them.
    package func facts(keeping kept: SequenceSet) -> [UInt8] {
        var writer = CanonicalWriter()
        let document: JSONObject = [
            "format": .string("eventlog.facts/1"),
            "clock": clock.map { .int($0.microseconds) },
            "sources": .array([]),
        ]
        writer.object(document) { name, writer in
            guard name == "sources" else { return false }
            writer.array(sources.sorted { $0.name < $1.name }) { $0.writeFacts(keeping: kept, to: &$1) }
            return true
        }
        return writer.withBytes { Array($0) }
    }

    /// A state made of a compaction's facts, before any event; the empty state for `nil`.
    ///
    /// Facts come from the canonical reading, whatever rules later events are read by. `sequence` is zero, although the
    /// facts are about later events.
    ///
    /// - Parameter decidedAt: The head at which the log was last compacted.
    /// - Throws: `ProjectionError.damagedFacts`.
    public init(facts bytes: [UInt8]?, decidedAt: SequenceNumber = .zero, rules: ReadingRules = .canonical) throws {
        self.init(rules: rules)
        guard let bytes else { return }
        try bytes.withUnsafeBytes { bytes in
            guard let facts = try? CutFacts(bytes), facts.document["format"]?.string == "eventlog.facts/1" else {
                throw ProjectionError.facts("they are no facts of a version that this program reads")
            }
            clock = facts.document["clock"]?.number?.int64.map { Timestamp(microseconds: $0) }
            for (index, value) in (facts.document["sources"]?.array ?? []).enumerated() {
                guard let object = value.object else { throw ProjectionError.facts("a source is no object") }
                var state = try SourceState(facts: object, rules: rules)
                if let compacted = facts.compacted[index] {
                    let last = CompactionDecision(head: decidedAt, clock: clock)
                    try state.parts.messages.load(compacted: compacted, names: &state.context.names, last)
                }
                if let frames = facts.frames[index] { try state.parts.gateway.load(frames: frames) }
                indexes[state.name] = sources.count
                sources.append(state)
            }
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

/// Facts as values, without the lists that may be long: the ids of the messages that compactions dropped, and the frames
/// seen on each connection of a gateway.
private struct CutFacts {
    /// Everything but those; the lists in their places are empty.
    private(set) var document = JSONObject()
    /// The text of the list of each source, by the source's place among the sources. Borrowed from the facts.
    private(set) var compacted: [Int: UnsafeRawBufferPointer] = [:]
    /// The texts of the lists of each source's connections, `nil` for those without one. Borrowed, too.
    private(set) var frames: [Int: [UnsafeRawBufferPointer?]] = [:]

    init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var reader = JSONReader(bytes)
        try reader.enterObject()
        while let name = try reader.nextMember()?.string {
            if name == "sources", try reader.kind() == .array {
                document[name] = .array(try sources(&reader))
            } else {
                document[name] = try reader.value()
            }
        }
        try reader.finish()
    }

    private mutating func sources(_ reader: inout JSONReader) throws(JSONError) -> [JSONValue] {
        var sources: [JSONValue] = []
        (compacted, frames) = ([:], [:])
        try reader.enterArray()
        while try reader.nextElement() {
            guard try reader.kind() == .object else {
                sources.append(try reader.value())
                continue
            }
            var source = JSONObject()
            try reader.enterObject()
            while let name = try reader.nextMember()?.string {
                if name == "messages", try reader.kind() == .object {
                    source[name] = .object(try messages(&reader, of: sources.count))
                } else if name == "gateway", try reader.kind() == .object {
                    source[name] = .object(try gateway(&reader, of: sources.count))
                } else {
                    source[name] = try reader.value()
                }
            }
            sources.append(.object(source))
        }
        return sources
    }

    private mutating func gateway(_ reader: inout JSONReader, of source: Int) throws(JSONError) -> JSONObject {
        var gateway = JSONObject()
        try reader.enterObject()
        while let name = try reader.nextMember()?.string {
            if name == "connections", try reader.kind() == .array {
                var (connections, lists): ([JSONValue], [UnsafeRawBufferPointer?]) = ([], [])
                try reader.enterArray()
                while try reader.nextElement() {
                    let (connection, list) = try connection(&reader)
                    connections.append(connection)
                    lists.append(list)
                }
                gateway[name] = .array(connections)
                frames[source] = lists
            } else {
                gateway[name] = try reader.value()
            }
        }
        return gateway
    }

    private func connection(
        _ reader: inout JSONReader
    ) throws(JSONError) -> (connection: JSONValue, frames: UnsafeRawBufferPointer?) {
        guard try reader.kind() == .object else { return (try reader.value(), nil) }
        var connection = JSONObject()
        var frames: UnsafeRawBufferPointer?
        try reader.enterObject()
        while let name = try reader.nextMember()?.string {
            if name == "frames", try reader.kind() == .array {
                frames = try reader.slice()
                connection[name] = .array([])
            } else {
                connection[name] = try reader.value()
            }
        }
        return (.object(connection), frames)
    }

    private mutating func messages(_ reader: inout JSONReader, of source: Int) throws(JSONError) -> JSONObject {
        var messages = JSONObject()
        try reader.enterObject()
        while let name = try reader.nextMember()?.string {
            if name == "compacted", try reader.kind() == .array {
                compacted[source] = try reader.slice()
                messages[name] = .array([])
            } else {
                messages[name] = try reader.value()
            }
        }
        return messages
    }
}
