import JSON

/// Reads the lines of an exported log (`docs/cli-json.md`), which may come from anybody.
///
/// Commitments and leaf hashes are computed from what a line contains, never taken on trust; only a redacted event's
/// commitment is read. Whether the events are those of a log is decided by its root: see `EventStore.importLog`. For one
/// thread.
///
/// ```swift
/// var reader = ExportReader()
/// try EventStore.importLog(at: path, header: reader.header(first)) { log in
///     for line in lines { try log.add(reader.piece(line)) }
/// }
/// ```
public struct ExportReader {
    private var lanes = RecentLanes()

    /// Makes a reader.
    public init() {}

    /// Reads the first line.
    ///
    /// - Throws: `ExportFault` if it is no header of this format.
    public func header(_ line: [UInt8]) throws -> LogHeader {
        try Self.read(line, Self.header)
    }

    /// Reads any other line.
    ///
    /// - Throws: `ExportFault` if it is no line of this format, `EventLogError` for a name beyond its limits.
    public mutating func piece(_ line: [UInt8]) throws -> LogPiece {
        try Self.read(line) { try piece($0) }
    }

    /// Reads the line of an event that will be appended anew; its sequence, salt and hashes are ignored.
    ///
    /// - Throws: as `piece`, and `ExportFault` for a redacted event.
    public mutating func draft(_ line: [UInt8]) throws -> DraftEvent {
        try Self.read(line) { try draft($0) }
    }

    /// Whether a line is that of an event, not a header or something else.
    public static func isEvent(_ line: [UInt8]) -> Bool {
        line.withUnsafeBytes { bytes in
            guard let line = try? ExportLine(bytes) else { return false }
            return [.recordedAt, .source, .kind].allSatisfy { line[$0] != nil } && !line.contains(.format)
        }
    }
}

extension ExportReader {
    /// Interprets an object while its bytes are borrowed.
    static func read<Result>(_ line: [UInt8], _ body: (ExportLine) throws -> Result) throws -> Result {
        try line.withUnsafeBytes { try read($0, body) }
    }

    /// Interprets an object.
    static func read<Result>(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (ExportLine) throws -> Result
    ) throws -> Result {
        do {
            return try body(ExportLine(bytes))
        } catch let error as JSONError {
            throw ExportFault(error.description)
        }
    }

    /// Interprets the event of a proof.
    static func event(ofProof line: ExportLine) throws -> RecordedEvent {
        var reader = ExportReader()
        guard case .event(let event) = try reader.piece(line) else { throw ExportFault("it is no event") }
        return event
    }

    private static func header(_ line: ExportLine) throws -> LogHeader {
        guard let name = line[.format]?.string, name.hasPrefix("eventlog.export/") else {
            throw ExportFault("it is no exported log: its first line has no \"format\"")
        }
        guard name == ExportWriter.format else {
            throw ExportFault("its format is \(name.prefix(40)), this program reads \(ExportWriter.format)")
        }
        guard let what = line[.what].flatMap({ LogHeader.What(rawValue: $0.string) }) else {
            throw ExportFault("it is neither a log nor a part of one nor an archive")
        }
        var header = LogHeader(
            identity: try line.bytes(.identity),
            size: try line.number(.size),
            root: try line.hash(.root),
            decidedAt: line.contains(.decidedAt) ? SequenceNumber(try line.number(.decidedAt)) : .zero,
            acts: try line.numbers(.acts).map { SequenceNumber($0) },
            facts: try line.values(.facts),
            bookmarks: try line.values(.bookmarks)
        )
        header.what = what
        header.factPatches = try line.values(.factPatches)
        return header
    }

    /// Interprets a line; see `piece` of bytes.
    mutating func piece(_ line: ExportLine) throws -> LogPiece {
        if line.contains(.leafHashes) { return .dropped(try Self.run(line)) }
        if line.contains(.level) { return .missing(try Self.missing(line)) }
        if line.contains(.droppedKeys) { return .keys(try line.bytes(.droppedKeys)) }
        return .event(try event(line))
    }

    private static func run(_ line: ExportLine) throws -> DroppedRun {
        let first = try line.number(.from)
        let hashes = try line.hashes(.leafHashes)
        let (end, overflow) = first.addingReportingOverflow(UInt64(hashes.count))
        guard first > 0, !overflow, try line.number(.to) == end - 1 else {
            throw ExportFault("\"from\", \"to\" and \"leafHashes\" do not fit")
        }
        guard let rewrite = try line.plainNumber(.rewrite).flatMap({ UInt32(exactly: $0) }) else {
            throw ExportFault("\"rewrite\" is missing or no number")
        }
        return DroppedRun(
            first: SequenceNumber(first),
            leafHashes: hashes,
            rewrite: rewrite,
            clock: try line.time(.clock),
            clockAtNode: try line.time(.clockAtNode)
        )
    }

    private static func missing(_ line: ExportLine) throws -> MissingRun {
        guard let level = try line.plainNumber(.level), level <= MissingRun.levelMax else {
            throw ExportFault("\"level\" is no number from 0 to \(MissingRun.levelMax)")
        }
        let run = MissingRun(
            first: SequenceNumber(try line.number(.from)),
            level: Int(level),
            hash: try line.hash(.hash)
        )
        guard run.first > .zero, run.last >= run.first, try line.number(.to) == run.last.rawValue else {
            throw ExportFault("\"from\", \"to\" and \"level\" do not fit")
        }
        return run
    }

    private mutating func event(_ line: ExportLine) throws -> RecordedEvent {
        let payload = try Self.payload(line)
        let isRedacted = try line.isTrue(.redacted)
        let salt = isRedacted ? nil : try line.bytes(.salt)
        if let salt, salt.count != 16 { throw ExportFault("\"salt\" has not 16 bytes") }
        let commitment: Hash256
        if let salt {
            commitment = RecordedEvent.commitment(salt: salt, payload: payload)
        } else {
            commitment = try line.hash(.commitment)
        }
        let (envelope, lane) = try envelope(line, holding: isRedacted ? .redacted : .whole)
        return RecordedEvent(
            envelope: envelope,
            payload: payload,
            salt: salt,
            commitment: commitment,
            leafHash: envelope.leafHash(in: lane, commitment: commitment)
        )
    }

    private mutating func draft(_ line: ExportLine) throws -> DraftEvent {
        if try line.isTrue(.redacted) {
            throw ExportFault("the event is redacted; only an export of the whole log keeps its proof")
        }
        let (envelope, _) = try envelope(line, holding: .whole)
        return DraftEvent(
            recordedAt: envelope.recordedAt,
            source: envelope.source,
            kind: envelope.kind,
            key: envelope.key,
            attributes: envelope.attributes,
            payload: try Self.payload(line)
        )
    }

    private mutating func envelope(
        _ line: ExportLine,
        holding: EventHolding
    ) throws -> (envelope: Envelope, lane: Lane) {
        let recordedAt = try line.neededTime(.recordedAt)
        let sequence = SequenceNumber(try line.number(.sequence))
        let known = lanes.lane(of: line)
        let source = try known?.source ?? SourceName(try line.text(.source))
        let kind = try known?.kind ?? EventKind(try line.text(.kind))
        let key = line.contains(.key) ? try EventKey(try line.text(.key)) : nil
        let attributes = try known?.attributes ?? line.attributes()
        let lane = known ?? lanes.add(Lane(source: source, kind: kind, attributes: attributes), of: line)
        let envelope = Envelope(
            sequence: sequence,
            recordedAt: recordedAt,
            source: source,
            kind: kind,
            key: key,
            attributes: attributes,
            holding: holding
        )
        return (envelope, lane)
    }

    /// A text that has no UTF-8 form is refused: the payload's bytes would differ from what it says.
    private static func payload(_ line: ExportLine) throws -> [UInt8] {
        if let text = line[.payload] { return try text.decoded() }
        return try line.bytes(.payloadBase64)
    }
}
