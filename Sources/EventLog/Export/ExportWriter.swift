import JSON

/// Writes the lines of an exported log (`docs/cli-json.md`): a header, then one line for each piece. For one thread.
///
/// ```swift
/// var writer = ExportWriter()
/// try output(writer.line(session.header()))
/// try session.forEachPiece { try output(writer.line($0)) }
/// ```
public struct ExportWriter {
    /// The name and version of the format, in the header.
    public static let format = "eventlog.export/1"

    private var json = JSONWriter()

    /// Makes a writer.
    public init() {}

    /// The first line, with its LF.
    ///
    /// - Parameter chosen: how the events of a part were selected, as command line options.
    public mutating func line(_ header: LogHeader, chosen: String? = nil) -> [UInt8] {
        json.removeAll()
        json.begin("{")
        member("format", Self.format)
        member("what", header.isPart ? "part" : "log")
        if let chosen { member("chosen", chosen) }
        member("identity", base64: header.identity)
        member("size", String(header.size))
        member("root", header.root)
        if header.decidedAt > .zero { member("decidedAt", header.decidedAt.description) }
        if !header.acts.isEmpty {
            json.name("acts")
            json.begin("[")
            for act in header.acts { json.string(act.description) }
            json.end("]")
        }
        member("facts", header.facts)
        member("bookmarks", header.bookmarks)
        return end()
    }

    /// Any other line, with its LF.
    public mutating func line(_ piece: LogPiece) -> [UInt8] {
        json.removeAll()
        json.begin("{")
        switch piece {
        case .event(let event): members(of: event)
        case .dropped(let run): members(of: run)
        case .missing(let run):
            member("from", run.first.description)
            member("to", run.last.description)
            json.name("level")
            json.number(run.level)
            member("hash", run.hash)
        case .keys(let bytes): member("droppedKeys", base64: bytes)
        }
        return end()
    }

    private mutating func end() -> [UInt8] {
        json.end("}")
        json.endLine()
        return json.bytes
    }
}

// MARK: - Members

extension ExportWriter {
    /// Everything that the event's leaf hash covers. Sequences are texts, because many readers round large numbers.
    private mutating func members(of event: RecordedEvent) {
        member("sequence", event.envelope.sequence.description)
        member("recordedAt", event.envelope.recordedAt.description)
        member("source", event.envelope.source.rawValue)
        member("kind", event.envelope.kind.rawValue)
        if let key = event.envelope.key { member("key", key.rawValue) }
        json.name("attributes")
        json.begin("{")
        for pair in event.envelope.attributes.pairs {
            json.name(of: pair.name)
            json.string(pair.value)
        }
        json.end("}")
        if let salt = event.salt {
            member("salt", base64: salt)
        } else {
            json.name("redacted")
            json.literal(true)
            member("commitment", event.commitment)
        }
        event.payload.withUnsafeBufferPointer { payload in
            if UTF8Sequence.firstFault(in: payload) == payload.count {
                json.name("payload")
                json.string(payload)
            } else {
                json.name("payloadBase64")
                json.base64(UnsafeRawBufferPointer(payload))
            }
        }
    }

    private mutating func members(of run: DroppedRun) {
        member("from", run.first.description)
        member("to", String(run.first.rawValue + UInt64(run.leafHashes.count) - 1))
        json.name("leafHashes")
        json.begin("[")
        for hash in run.leafHashes { json.base64(hash.bytes) }
        json.end("]")
        json.name("rewrite")
        json.number(run.rewrite)
        if let clock = run.clock { member("clock", clock.description) }
        if let clock = run.clockAtNode { member("clockAtNode", clock.description) }
    }

    private mutating func member(_ name: StaticString, _ text: String) {
        json.name(name)
        json.string(text)
    }

    private mutating func member(_ name: StaticString, _ hash: Hash256) {
        member(name, base64: hash.bytes)
    }

    private mutating func member(_ name: StaticString, base64 bytes: [UInt8]) {
        json.name(name)
        json.base64(bytes)
    }

    /// Values by name, sorted by the names' UTF-8 bytes; nothing if there are none.
    private mutating func member(_ name: StaticString, _ values: [String: [UInt8]]) {
        if values.isEmpty { return }
        json.name(name)
        json.begin("{")
        for (name, bytes) in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            json.name(of: name)
            json.base64(bytes)
        }
        json.end("}")
    }
}
