import EventLog
import JSON

extension Messages {
    /// The messages themselves are left out, as there may be millions: `normalFormHashes` has a hash of each. Dropped
    /// ones are a hash for each channel. `answers` is left out, too: it follows from the messages.
    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        var writer = CanonicalWriter()
        var dropped: [JSONValue] = []
        compacted.forEachChannel(names) { channel, messages in
            writer.reset()
            write(messages, names, to: &writer)
            let hash = writer.withBytes { Hasher256.hash($0) }
            dropped.append(.array([.string(names.text(channel)), .string(hash.hex)]))
        }
        take(
            .object([
                "compacted": .array(dropped),
                "decisions": decisions,
                "circles": circles.normalForm,
                "fates": fates.normalForm(names: names),
            ])
        )
    }

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue {
        JSONValue.written { writeFacts(keeping: kept, names: names, to: &$0) }
    }

    /// The retained messages need no fact: `collectNeeded` names every event that they consist of. The dropped ones are
    /// `[[channel, [id, …], [run, …]], …]`, sorted, with a run (`Drop.fact`) for neighbours of which the same is known.
    func writeFacts(keeping kept: SequenceSet, names: Names, to writer: inout CanonicalWriter) {
        let facts: JSONObject = [
            "compacted": .null, "decisions": decisions, "circles": circles.facts, "links": fates.facts(names: names),
        ]
        writer.object(facts) { name, writer in
            guard name == "compacted" else { return false }
            var isFirst = true
            writer.raw("[")
            compacted.forEachChannel(names) { channel, messages in
                writer.raw(isFirst ? "[" : ",[")
                isFirst = false
                writer.value(.string(names.text(channel)) as JSONValue)
                writer.raw(",")
                write(messages, names, to: &writer)
                writer.raw("]")
            }
            writer.raw("]")
            return true
        }
    }

    /// Writes `[id, …],[run, …]` of messages in their order.
    private func write(
        _ messages: [(id: EntityID, drop: CompactedMessages.Drop)],
        _ names: Names,
        to writer: inout CanonicalWriter
    ) {
        writer.array(messages) { message, writer in
            guard let number = message.id.number else {
                return writer.value(.string(names.text(message.id)) as JSONValue)
            }
            writer.raw("\"")
            writer.number(number)
            writer.raw("\"")
        }
        var runs: [(count: Int, drop: CompactedMessages.Drop)] = []
        for message in messages {
            if runs.last?.drop == message.drop {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((1, message.drop))
            }
        }
        writer.raw(",")
        writer.array(runs) { run, writer in writer.value(run.drop.fact(of: run.count)) }
    }

    /// The clock at each decision of a compaction, `[[head, microseconds], …]`.
    private var decisions: JSONValue {
        .array(
            compacted.clocks.sorted { $0.key < $1.key }.map {
                .array([.string(String($0.key)), .int($0.value.microseconds)])
            }
        )
    }

    /// Ids of compacted messages that are no texts are passed over. The other errors are
    /// `ProjectionError.damagedFacts`.
    mutating func load(facts: JSONValue, names: inout Names) throws {
        guard !facts.isNull else { return }
        guard let channels = facts["compacted"] else {
            throw ProjectionError.facts("messages have no `compacted`")
        }
        for decision in facts["decisions"]?.array ?? [] {
            guard let head = decision.array?.first?.string.flatMap({ UInt64($0) }),
                let clock = decision.array?.last?.number?.int64
            else { throw ProjectionError.facts("a decision of messages has another form") }
            compacted.note(clock: Timestamp(microseconds: clock), decidedAt: head)
        }
        let text = channels.canonicalBytes
        try text.withUnsafeBytes { try load(compacted: $0, names: &names, CompactionDecision(head: .zero, clock: nil)) }
        try circles.load(facts["circles"])
        fates.load(facts: facts["links"], names: &names)
    }

    /// Loads the dropped messages from their fact, without making a value of it: it may have millions of ids.
    ///
    /// - Parameter last: The last decision of the log, which is that of messages whose facts name none: earlier programs wrote
    ///   the ids alone. Such a message counts as dropped with a version of that time.
    mutating func load(
        compacted bytes: UnsafeRawBufferPointer,
        names: inout Names,
        _ last: CompactionDecision
    ) throws {
        do {
            var dropped: [(key: MessageKey, drop: CompactedMessages.Drop)] = []
            var reader = JSONReader(bytes)
            try reader.enterArray()
            while try reader.nextElement() {
                try reader.enterArray()
                guard try reader.nextElement(), try reader.kind() == .string else { throw Self.compactedFault }
                let channel = names.id(try reader.string().string)
                guard try reader.nextElement(), try reader.kind() == .array else { throw Self.compactedFault }
                let ids = try Self.ids(&reader, &names)
                guard try reader.nextElement() else {
                    let drop = CompactedMessages.Drop(decidedAt: last.head.rawValue, rank: .version(last.clock))
                    for id in ids { dropped.append((MessageKey(channel: channel, id: id), drop)) }
                    compacted.note(clock: last.clock, decidedAt: last.head.rawValue)
                    continue
                }
                guard try reader.kind() == .array else { throw Self.compactedFault }
                try reader.enterArray()
                var rest = ids[...]
                while try reader.nextElement() {
                    guard let (count, drop) = CompactedMessages.Drop.run(of: try reader.value()), count <= rest.count
                    else { throw Self.compactedFault }
                    for id in rest.prefix(count) { dropped.append((MessageKey(channel: channel, id: id), drop)) }
                    rest = rest.dropFirst(count)
                }
                guard rest.isEmpty, try !reader.nextElement() else { throw Self.compactedFault }
            }
            compacted.insert(dropped)
        } catch is JSONError {
            throw Self.compactedFault
        }
    }

    private static var compactedFault: ProjectionError {
        .facts("the compacted messages of a channel have another form")
    }

    /// Reads an array of ids; elements that are no texts are passed over, as earlier programs did.
    private static func ids(_ reader: inout JSONReader, _ names: inout Names) throws(JSONError) -> [EntityID] {
        var ids: [EntityID] = []
        try reader.enterArray()
        while try reader.nextElement() {
            if try reader.kind() == .string {
                ids.append(names.id(try reader.string()))
            } else {
                try reader.skip()
            }
        }
        return ids
    }
}

extension CompactedMessages.Drop {
    /// The fact of a run of messages: `[count, head, deleted for good, version]`. The version is left out if none was known,
    /// and null if the one that was known has no time.
    fileprivate func fact(of count: Int) -> JSONValue {
        let run: [JSONValue] = [.int(count), .string(String(decidedAt)), .bool(isDeletedForGood)]
        switch rank {
        case .unwritten: return .array(run)
        case .version(let version): return .array(run + [version?.normalForm ?? .null])
        }
    }

    /// Reads what `fact` gave; `nil` for anything else.
    fileprivate static func run(of fact: JSONValue) -> (count: Int, drop: CompactedMessages.Drop)? {
        guard let parts = fact.array, 3...4 ~= parts.count,
            let count = parts[0].number?.int64.flatMap(Int.init(exactly:)), count > 0,
            let head = parts[1].string.flatMap({ UInt64($0) }), let isDeletedForGood = parts[2].bool
        else { return nil }
        var drop = CompactedMessages.Drop(decidedAt: head, isDeletedForGood: isDeletedForGood)
        guard parts.count == 4 else { return (count, drop) }
        if !parts[3].isNull {
            guard let version = Timestamp(normalForm: parts[3]) else { return nil }
            drop.rank = .version(version)
        } else {
            drop.rank = .version(nil)
        }
        return (count, drop)
    }
}
