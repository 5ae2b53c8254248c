import EventLog
import Projections

/// The lines of an exported log: a header, then one line for each event, run of dropped or missing events, or block of
/// keys, in the order of sequences. Importing checks them; here only their form is checked.
enum ExportedLog {
    /// The format's name and version. Another version is refused.
    static let format = "eventlog.export/1"

    /// The first line.
    ///
    /// - Parameter chosen: How the events of a part were selected, as command line options.
    static func header(_ header: LogHeader, chosen: String? = nil) -> JSONValue {
        .object([
            "format": .string(format),
            "what": .string(header.isPart ? "part" : "log"),
            "chosen": .text(chosen),
            "identity": .string(Base64.encode(header.identity)),
            "size": .string(String(header.size)),
            "root": .string(Base64.encode(header.root.bytes)),
            "decidedAt": header.decidedAt > .zero ? .string(header.decidedAt.description) : nil,
            "acts": header.acts.isEmpty ? nil : .array(header.acts.map { .string($0.description) }),
            "facts": values(header.facts),
            "bookmarks": values(header.bookmarks),
        ])
    }

    /// Any line but the first. The members tell which piece it is.
    static func line(_ piece: LogPiece) -> JSONValue {
        switch piece {
        case .event(let event): .object(ExportedEvent.object(for: event))
        case .dropped(let run): line(run)
        case .missing(let run):
            .object([
                "from": .string(run.first.description), "to": .string(run.last.description), "level": .int(run.level),
                "hash": .string(Base64.encode(run.hash.bytes)),
            ])
        case .keys(let bytes): .object(["droppedKeys": .string(Base64.encode(bytes))])
        }
    }

    /// A run of dropped events: their leaf hashes, and the clock that they leave behind.
    private static func line(_ run: DroppedRun) -> JSONValue {
        let last = run.first.rawValue + UInt64(run.leafHashes.count) - 1
        return .object([
            "from": .string(run.first.description),
            "to": .string(String(last)),
            "leafHashes": .array(run.leafHashes.map { .string(Base64.encode($0.bytes)) }),
            "rewrite": .int(run.rewrite),
            "clock": .text(run.clock?.description),
            "clockAtNode": .text(run.clockAtNode?.description),
        ])
    }

    /// Bytes by name, sorted by the names' bytes, so that two exports of one log are the same.
    private static func values(_ values: [String: [UInt8]]) -> JSONValue? {
        if values.isEmpty { return nil }
        var object = JSONObject()
        for (name, bytes) in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            object[name] = .string(Base64.encode(bytes))
        }
        return .object(object)
    }
}

// MARK: - Reading

extension ExportedLog {
    /// Reads the first line.
    ///
    /// - Throws: `ExportedEvent.Fault` that says what is wrong with it.
    static func header(_ value: JSONValue) throws -> LogHeader {
        guard let name = value["format"]?.string, name.hasPrefix("eventlog.export/") else {
            throw ExportedEvent.Fault(description: "it is no exported log: its first line has no \"format\"")
        }
        // A newer version may have members whose meaning this program does not know.
        guard name == format else {
            throw ExportedEvent.Fault(description: "its format is \(name), this program reads \(format)")
        }
        let what = value["what"]?.string
        guard what == "log" || what == "part" else {
            throw ExportedEvent.Fault(description: "it is neither a log nor a part of one")
        }
        var header = LogHeader(
            identity: try ExportedEvent.bytes(value, "identity"),
            size: try ExportedEvent.number(value, "size"),
            root: try ExportedEvent.hash(value, "root"),
            decidedAt: try value["decidedAt"] == nil
                ? .zero : SequenceNumber(ExportedEvent.number(value, "decidedAt")),
            acts: try (value["acts"]?.array ?? []).map { act in
                guard let number = act.string.flatMap({ UInt64($0) }) else {
                    throw ExportedEvent.Fault(description: "\"acts\" has what is no number")
                }
                return SequenceNumber(number)
            },
            facts: try values(value, "facts"),
            bookmarks: try values(value, "bookmarks")
        )
        header.isPart = what == "part"
        return header
    }

    /// Reads any line but the first.
    ///
    /// - Throws: `ExportedEvent.Fault`, or `EventLogError` for a name beyond its limits.
    static func piece(_ value: JSONValue) throws -> LogPiece {
        if value["leafHashes"] != nil { return .dropped(try run(value)) }
        if value["level"] != nil { return .missing(try missing(value)) }
        if value["droppedKeys"] != nil { return .keys(try ExportedEvent.bytes(value, "droppedKeys")) }
        return .event(try ExportedEvent.event(value))
    }

    /// A run of dropped events.
    private static func run(_ value: JSONValue) throws -> DroppedRun {
        let first = try ExportedEvent.number(value, "from")
        let hashes = try ExportedEvent.hashes(value, "leafHashes")
        let (end, overflow) = first.addingReportingOverflow(UInt64(hashes.count))
        // `to` follows from the other two members, so a cut line is noticed.
        guard first > 0, !overflow, try ExportedEvent.number(value, "to") == end - 1 else {
            throw ExportedEvent.Fault(description: "\"from\", \"to\" and \"leafHashes\" do not fit")
        }
        guard let rewrite = value["rewrite"]?.number?.uint64.flatMap({ UInt32(exactly: $0) }) else {
            throw ExportedEvent.Fault(description: "\"rewrite\" is missing or no number")
        }
        return DroppedRun(
            first: SequenceNumber(first),
            leafHashes: hashes,
            rewrite: rewrite,
            clock: try time(value, "clock"),
            clockAtNode: try time(value, "clockAtNode")
        )
    }

    /// A subtree of events that the part lacks: its level, and the hash that takes its place in the tree.
    private static func missing(_ value: JSONValue) throws -> MissingRun {
        guard let level = value["level"]?.number?.uint64, level <= MissingRun.levelMax else {
            throw ExportedEvent.Fault(description: "\"level\" is no number from 0 to \(MissingRun.levelMax)")
        }
        let run = MissingRun(
            first: SequenceNumber(try ExportedEvent.number(value, "from")),
            level: Int(level),
            hash: try ExportedEvent.hash(value, "hash")
        )
        guard run.first > .zero, run.last >= run.first, try ExportedEvent.number(value, "to") == run.last.rawValue
        else {
            throw ExportedEvent.Fault(description: "\"from\", \"to\" and \"level\" do not fit")
        }
        return run
    }

    private static func time(_ value: JSONValue, _ name: String) throws -> Timestamp? {
        guard value[name] != nil else { return nil }
        guard let time = Timestamp(rfc3339: try ExportedEvent.text(value, name)) else {
            throw ExportedEvent.Fault(description: "\"\(name)\" is no time")
        }
        return time
    }

    private static func values(_ value: JSONValue, _ name: String) throws -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for member in value[name]?.object?.members ?? [] {
            guard let bytes = member.value.string.flatMap(Base64.decode) else {
                throw ExportedEvent.Fault(description: "\"\(name)\" has what is no base64")
            }
            values[member.name] = bytes
        }
        return values
    }
}
