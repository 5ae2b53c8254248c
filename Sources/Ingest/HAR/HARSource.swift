public import EventLog

/// Records a HAR file that a browser's developer tools or a proxy saved (docs/events.md).
///
/// An event's key is its entry's start, a hash of the URL and the message's number, so a later export of the same
/// session adds only what is new (I15).
public struct HARSource: EventSource, Sendable {
    /// The recorder's name in the log.
    public let name: SourceName
    private let path: String
    private let kind: HARKind?
    private let keepGoing: Bool

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - kind: the kind of entries to take; `nil` for the one kind that fits.
    ///   - keepGoing: whether to pass over entries and messages that cannot be read, instead of refusing the file.
    public init(path: String, kind: HARKind? = nil, name: SourceName, keepGoing: Bool = false) {
        self.path = path
        self.kind = kind
        self.name = name
        self.keepGoing = keepGoing
    }

    /// Reads the whole file once, so that nothing of a broken one is appended.
    ///
    /// - Throws: `IngestError` with code `io`, `invalidHAR` naming file, entry and message, or `unknownKind`.
    public func drafts(after history: RecordedHistory) throws -> HARDrafts {
        let document = try HARDocument(path: path)
        var contents = try checked(document) { (reader) throws(HARFault) in
            try HARContents(reader, keepGoing: keepGoing)
        }
        let kind = try kind ?? contents.kind(of: document.name)
        let taken = contents.take(kind, isGiven: self.kind != nil)
        let timeline = try checked(document) { (reader) throws(HARFault) in
            try HARTimeline(taken, reader, after: contents.faults, keepGoing: keepGoing)
        }
        let issues = timeline.faults.issues(document.name) + (contents.others.issue(document.name).map { [$0] } ?? [])
        return HARDrafts(document, timeline, issues: issues, kind: kind, source: name, after: history)
    }

    /// Turns a fault into an error for people: one without a place concerns the file, another one an entry or message.
    private func checked<Result>(
        _ document: HARDocument,
        _ body: (HARReader) throws(HARFault) -> Result
    ) throws -> Result {
        do throws(HARFault) {
            return try document.read(body)
        } catch {
            guard !error.place.isEmpty else {
                throw HARDocument.error(
                    .invalidHAR,
                    document.name,
                    error.reason,
                    advice: "save it again as HAR; for JSON lines use: logtool ingest LOG capture FILE"
                )
            }
            throw HARDocument.error(
                .invalidHAR,
                "\(document.name): \(error.place)",
                "\(error.reason); nothing was appended",
                advice: "save it again, or pass over what cannot be read with --keep-going"
            )
        }
    }
}
