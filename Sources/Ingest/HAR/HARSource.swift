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
    private let site: HARSite?
    private let keepGoing: Bool
    private let note: (@Sendable (String) -> Void)?

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - kind: the kind of entries to take; `nil` for the one kind that fits, else `raw`.
    ///   - site: the host whose entries are taken, with the hosts below it; `nil` for all, or of kind `raw` for the host with
    ///     most of them.
    ///   - keepGoing: whether to pass over entries and messages that cannot be read, instead of refusing the file.
    ///   - note: called with a line for people that names what was chosen, where neither kind nor site were given.
    public init(
        path: String,
        kind: HARKind? = nil,
        site: String? = nil,
        name: SourceName,
        keepGoing: Bool = false,
        note: (@Sendable (String) -> Void)? = nil
    ) {
        self.site = site.map { HARSite($0) }
        self.note = note
        self.path = path
        self.kind = kind
        self.name = name
        self.keepGoing = keepGoing
    }

    /// Reads the whole file once, so that nothing of a broken one is appended.
    ///
    /// - Throws: `IngestError` with code `io`, `invalidHAR` naming file, entry and message, `unknownKind`, or `nothingFits`
    ///   if no entry is of the kind or site that was given.
    public func drafts(after history: RecordedHistory) throws -> HARDrafts {
        var document = try HARDocument(path: path)
        let read = { (reader: HARReader) throws(HARFault) in
            try HARContents(reader, site: site, keepGoing: keepGoing)
        }
        var contents = try checked(document, read)
        if !contents.attachments.isEmpty {
            document = try HARDocument(document, attaching: contents.attachments.sorted())
            contents = try checked(document, read)
        }
        if let site, contents.candidates.isEmpty { throw Self.nothing(of: site, in: document.name, contents.others) }
        let kind = try kind ?? contents.kind(of: document.name)
        let shown = contents.kinds
        let taken = take(kind, of: &contents, document)
        let timeline = try checked(document) { (reader) throws(HARFault) in
            try HARTimeline(taken, reader, after: contents.faults, keepGoing: keepGoing)
        }
        if self.kind != nil || site != nil || kind == .raw, timeline.pieces.isEmpty {
            throw Self.nothing(of: kind, in: document.name, shown, timeline.faults.issues(document.name).first)
        }
        let issues = timeline.faults.issues(document.name) + (contents.others.issue(document.name).map { [$0] } ?? [])
        return HARDrafts(document, timeline, issues: issues, kind: kind, source: name, after: history)
    }

    /// Takes the entries of a kind, and says what was chosen.
    private func take(
        _ kind: HARKind,
        of contents: inout HARContents,
        _ document: HARDocument
    ) -> [HARContents.Candidate] {
        guard kind == .raw else { return contents.take(kind, isGiven: self.kind != nil) }
        let chosen = document.read { contents.rawSite($0) }
        let taken = contents.takeRaw(chosen)
        if let chosen, site == nil || self.kind == nil {
            let sockets = taken.count { $0.isSocket }
            note?(
                "\(document.name): takes all of \(chosen.host.prefix(100)) as it came (--kind raw --site HOST): "
                    + "WebSockets: \(sockets), answers and streams: \(taken.count - sockets)"
            )
        }
        return taken
    }

    /// The error of a given site of which the file has nothing.
    private static func nothing(of site: HARSite, in name: String, _ others: HAROthers) -> IngestError {
        HARDocument.error(
            .nothingFits,
            name,
            "no WebSocket, event stream or JSON answer is of the site \(site.host.prefix(100)); nothing was appended",
            advice: others.issue(name).map { "\($0.reason); give --site the host without a port" }
                ?? "save it again, with the content of requests"
        )
    }

    /// The error of a given kind of which nothing can be taken.
    private static func nothing(
        of kind: HARKind,
        in name: String,
        _ shown: [HARKind],
        _ issue: IngestIssue?
    ) -> IngestError {
        let cause = issue.map { " (\($0.place): \($0.reason))" } ?? ""
        let others = shown.filter { $0 != kind }.map(\.rawValue).joined(separator: "|")
        return HARDocument.error(
            .nothingFits,
            name,
            "no entry of kind \(kind.rawValue) can be taken\(cause); nothing was appended",
            advice: others.isEmpty ? "save it again, with the content of requests" : "its entries show --kind \(others)"
        )
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
