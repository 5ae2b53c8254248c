import EventLog
import JSON

extension Messages {
    /// The messages themselves are left out, as there may be millions: `normalFormHashes` has a hash of each. Dropped
    /// ones are a hash for each channel. `answers` is left out, too: it follows from the messages.
    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        var writer = CanonicalWriter()
        let dropped = compacted.channels(names).map { channel in
            writer.reset()
            write(compactedIn: channel, names, to: &writer)
            let hash = writer.withBytes { Hasher256.hash($0) }
            return JSONValue.array([.string(names.text(channel)), .string(hash.hex)])
        }
        take(
            .object([
                "compacted": .array(dropped),
                "circles": circles.normalForm,
                "fates": fates.normalForm(names: names),
            ])
        )
    }

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue {
        JSONValue.written { writeFacts(keeping: kept, names: names, to: &$0) }
    }

    /// The retained messages need no fact: `collectNeeded` names every event that they consist of. The dropped ones are
    /// `[[channel, [id, …]], …]`, sorted.
    func writeFacts(keeping kept: SequenceSet, names: Names, to writer: inout CanonicalWriter) {
        let facts: JSONObject = [
            "compacted": .null, "circles": circles.facts, "links": fates.facts(names: names),
        ]
        writer.object(facts) { name, writer in
            guard name == "compacted" else { return false }
            writer.array(compacted.channels(names)) { channel, writer in
                writer.raw("[")
                writer.value(.string(names.text(channel)) as JSONValue)
                writer.raw(",")
                write(compactedIn: channel, names, to: &writer)
                writer.raw("]")
            }
            return true
        }
    }

    /// Writes `[id, …]`, sorted.
    private func write(compactedIn channel: EntityID, _ names: Names, to writer: inout CanonicalWriter) {
        writer.array(compacted.messages(in: channel, names)) { id, writer in
            guard let number = id.number else { return writer.value(.string(names.text(id)) as JSONValue) }
            writer.raw("\"")
            writer.number(number)
            writer.raw("\"")
        }
    }

    /// Ids of compacted messages that are no texts are passed over. The other errors are
    /// `ProjectionError.damagedFacts`.
    mutating func load(facts: JSONValue, names: inout Names) throws {
        guard !facts.isNull else { return }
        guard let channels = facts["compacted"] else {
            throw ProjectionError.facts("messages have no `compacted`")
        }
        let text = channels.canonicalBytes
        try text.withUnsafeBytes { try load(compacted: $0, names: &names) }
        try circles.load(facts["circles"])
        fates.load(facts: facts["links"], names: &names)
    }

    /// Loads the dropped messages from their fact, without making a value of it: it may have millions of ids.
    mutating func load(compacted bytes: UnsafeRawBufferPointer, names: inout Names) throws {
        do {
            var reader = JSONReader(bytes)
            try reader.enterArray()
            while try reader.nextElement() {
                try reader.enterArray()
                guard try reader.nextElement(), try reader.kind() == .string else { throw Self.compactedFault }
                let channel = names.id(try reader.string().string)
                guard try reader.nextElement(), try reader.kind() == .array else { throw Self.compactedFault }
                compacted.insert(try Self.ids(&reader, &names), in: channel)
                if try reader.nextElement() { throw Self.compactedFault }
            }
            compacted.indexIDs()
        } catch is JSONError {
            throw Self.compactedFault
        }
    }

    private static var compactedFault: ProjectionError {
        .facts("the compacted messages of a channel have another form")
    }

    /// Reads an array of ids; elements that are no texts are passed over.
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
