import EventLog
import JSON

/// Makes batches of a log. For one thread.
struct BatchWriter {
    /// The log's origin, and the key that signs.
    let origin: String
    let key: SigningKey?
    /// The most events of a batch.
    let eventsMax: UInt64

    /// The most bytes of payloads of a batch, if it has more than one event.
    private static let bytesMax = 4 << 20
    /// The most bytes of a section in a message, so that the first one has room for the header.
    private static let chunkBytes = 512 << 10
    private static let level: Int32 = 1

    /// The last event of the batch that begins with an event. A run of dropped events is not cut.
    func last(from first: UInt64, through end: UInt64, _ session: borrowing ReadSession) throws -> UInt64 {
        var (bytes, last) = (0, min(end, first + eventsMax - 1))
        try session.forEachEvent(in: SequenceNumber(first)...SequenceNumber(last)) { event in
            bytes += event.payloadCount
            guard bytes > Self.bytesMax, event.sequence.rawValue > first else { return true }
            last = event.sequence.rawValue - 1
            return false
        }
        return try session.lastOfPiece(at: SequenceNumber(last)).rawValue
    }

    /// The messages of a batch of events, in order. A message has events of one source.
    ///
    /// - Parameter bookmarks: what recorders resume from, with the last batch of a log.
    func batch(
        from first: UInt64,
        through last: UInt64,
        acts: [UInt64],
        bookmarks: [String: [UInt8]],
        attempt: Int,
        _ session: borrowing ReadSession
    ) throws -> [CourierMessage] {
        var lines: [SourceName: [UInt8]] = [:]
        var (writer, other) = (ExportWriter(), ExportWriter())
        try session.forEachPiece(in: SequenceNumber(first)...SequenceNumber(last)) { event in
            lines[event.source, default: []] += writer.line(event)
        } other: { piece in
            // Nobody knows any more whose events these were.
            lines[.logtool, default: []] += other.line(piece)
        }
        var sections: [Section] = []
        for (source, lines) in lines.sorted(by: { $0.key < $1.key }) {
            sections.append(try Section(source, lines))
        }
        if !bookmarks.isEmpty {
            var members = JSONObject()
            for (source, bytes) in bookmarks.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                members[source] = .string(Base64.encode(bytes))
            }
            sections.append(try Section(.logtool, TreeManifest.line(members)))
        }
        return try messages(
            .events,
            first...last,
            acts: acts,
            sections,
            hasBookmarks: !bookmarks.isEmpty,
            attempt: attempt,
            session
        )
    }

    /// The messages of what rewrites left beside the events.
    func remains(_ header: LogHeader, attempt: Int, _ session: borrowing ReadSession) throws -> [CourierMessage] {
        var header = header
        header.bookmarks = [:]
        var writer = ExportWriter()
        var lines = writer.line(header)
        try session.forEachKeyChunk { lines += writer.line(.keys($0)) }
        let section = try Section(.logtool, lines)
        let acts = header.acts.map(\.rawValue)
        return try messages(.remains, 1...header.size, acts: acts, [section], attempt: attempt, session)
    }

    private func messages(
        _ what: BatchName.What,
        _ range: ClosedRange<UInt64>,
        acts: [UInt64],
        _ sections: [Section],
        hasBookmarks: Bool = false,
        attempt: Int,
        _ session: borrowing ReadSession
    ) throws -> [CourierMessage] {
        let root = try session.root(size: range.upperBound)
        let checkpoint = SignedCheckpoint(try Checkpoint(origin: origin, size: range.upperBound, root: root))
        let header = BatchHeader(
            identity: try session.identity(),
            first: range.lowerBound,
            last: range.upperBound,
            checkpoint: try key.map { try checkpoint.signed(by: $0) } ?? checkpoint,
            before: try session.subtreeRoots(of: 0..<range.lowerBound - 1),
            hashes: try session.subtreeRoots(of: range.lowerBound - 1..<range.upperBound),
            acts: acts,
            decidedAt: session.decidedAt.rawValue,
            sections: sections.map(\.bytes.count),
            hasBookmarks: hasBookmarks
        )
        var parts: [(subject: String, bytes: [UInt8])] = []
        for section in sections {
            for begin in stride(from: 0, to: section.bytes.count, by: Self.chunkBytes) {
                let chunk = section.bytes[begin..<min(begin + Self.chunkBytes, section.bytes.count)]
                parts.append((section.subject, (parts.isEmpty ? header.line : []) + chunk))
            }
        }
        guard parts.count <= BatchName.partsMax, header.line.count <= BatchHeader.bytesMax else {
            throw EventLogError(
                .invalidArgument,
                operation: "ship",
                object: "\(range.lowerBound) to \(range.upperBound)",
                reason: "a batch of these events has more than \(BatchName.partsMax) messages",
                advice: "ship the log as a tree: logtool ship LOG --to FOLDER"
            )
        }
        var hasher = Hasher256()
        for part in parts { hasher.update(part.bytes) }
        let name = BatchName(
            what: what,
            first: range.lowerBound,
            last: range.upperBound,
            parts: parts.count,
            state: RewriteState(acts: acts, decidedAt: session.decidedAt.rawValue),
            root: BatchName.half(root),
            digest: BatchName.half(hasher.finalize())
        )
        let identity = header.identity.hexDigits
        return parts.enumerated().map { place, part in
            let id = PartID(identity: identity, batch: name, part: place + 1, attempt: attempt)
            return CourierMessage(subject: part.subject, id: id.text, bytes: part.bytes)
        }
    }

    /// Lines of one source, compressed.
    private struct Section {
        let subject: String
        let bytes: [UInt8]

        init(_ source: SourceName, _ lines: [UInt8]) throws {
            subject = CourierMessage.subjectToken(source)
            bytes = try Zstandard.frame(of: lines, level: BatchWriter.level)
        }
    }
}

extension [UInt8] {
    /// The bytes as lower-case hex digits.
    package var hexDigits: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
