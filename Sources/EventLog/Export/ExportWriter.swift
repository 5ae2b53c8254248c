import JSON

/// Writes the lines of an exported log (`docs/cli-json.md`): a header, then one line for each piece. For one thread.
///
/// ```swift
/// var writer = ExportWriter()
/// try output(writer.line(session.header()))
/// try session.forEachPiece { try output(writer.line($0)) }
/// ```
///
/// `ReadSession.forEachLine` gives the same lines of a whole log with fewer copies.
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
        json.member("format", Self.format)
        json.member("what", header.what.rawValue)
        if let chosen { json.member("chosen", chosen) }
        json.member("identity", base64: header.identity)
        json.member("size", String(header.size))
        json.member("root", header.root)
        if header.decidedAt > .zero { json.member("decidedAt", header.decidedAt.description) }
        if !header.acts.isEmpty {
            json.name("acts")
            json.begin("[")
            for act in header.acts { json.string(act.description) }
            json.end("]")
        }
        member("facts", header.facts)
        member("factPatches", header.factPatches)
        member("bookmarks", header.bookmarks)
        return end()
    }

    /// Any other line, with its LF.
    public mutating func line(_ piece: LogPiece) -> [UInt8] {
        json.removeAll()
        json.begin("{")
        switch piece {
        case .event(let event): json.members(of: event)
        case .dropped(let run): members(of: run)
        case .missing(let run):
            json.member("from", run.first.description)
            json.member("to", run.last.description)
            json.name("level")
            json.number(run.level)
            json.member("hash", run.hash)
        case .keys(let bytes): json.member("droppedKeys", base64: bytes)
        }
        return end()
    }

    /// The line of an event that is lent, without a copy of it.
    public mutating func line(_ event: borrowing EventView) -> [UInt8] {
        json.removeAll()
        json.begin("{")
        json.members(of: event)
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
    private mutating func members(of run: DroppedRun) {
        json.member("from", run.first.description)
        json.member("to", String(run.first.rawValue + UInt64(run.leafHashes.count) - 1))
        json.member("leafHashes", run.leafHashes)
        json.name("rewrite")
        json.number(run.rewrite)
        if let clock = run.clock { json.member("clock", clock.description) }
        if let clock = run.clockAtNode { json.member("clockAtNode", clock.description) }
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
