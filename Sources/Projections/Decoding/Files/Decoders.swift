public import EventLog
import Kinds

/// The decoder files of a log's sources.
///
/// The file in force for a source is the one in the newest act `logtool.decoder/1` of the log, at every point of the log
/// alike: it says how bytes are read, not what happened.
public struct Decoders: Sendable {
    /// The kind of the act that puts a file in force.
    package static let actKind = EventKind("logtool.decoder/1" as StaticString)
    /// The attribute of the act that names the source.
    static let sourceAttribute = "decodes"

    private var files: [SourceName: DecoderFile] = [:]
    private var faults: [SourceName: String] = [:]
    /// The decoders in Swift that the program has registered for the log.
    var registered = RegisteredDecoders()
    /// Whether what files read is noted, for one who asks.
    var traces = false

    /// No files.
    public init() {}

    /// Whether a decoder file may read events of a kind.
    public static func mayRead(_ kind: EventKind) -> Bool {
        kind.is(.serverSentEvent) || EventFamily(kind: kind) == .generic
    }

    /// Whether it is chosen for each source what reads events of a kind: a decoder file, or an app's reading of rows and streams.
    package static func isChosen(_ kind: EventKind) -> Bool {
        mayRead(kind) || EventFamily(kind: kind) == .realtime
    }

    /// The file of a source; `nil` if it has none.
    public subscript(source: SourceName) -> DecoderFile? {
        get { files[source] }
        set { files[source] = newValue }
    }

    /// The file whose rules read a source; `nil` where it has none, or one that declares an app.
    package func rules(of source: SourceName) -> DecoderFile? { files[source].flatMap { $0.app == nil ? $0 : nil } }

    /// The sources that have a file, by name.
    public var sources: [SourceName] { files.keys.sorted() }

    /// The name and hash of each file, by source, as state documents give them; `nil` without files.
    var document: JSONValue? {
        if files.isEmpty { return nil }
        var members = JSONObject()
        for source in sources {
            guard let file = files[source] else { continue }
            members[source.rawValue] = .object(["name": .string(file.name), "sha256": .string(file.hash.hex)])
        }
        return .object(members)
    }

    /// The files in force in a log or standing in for them, and the decoders that were registered for it. Cost: O(1) for a log without acts of the kind.
    ///
    /// A file that this program cannot read is no error: each event of its source is an issue then.
    ///
    /// - Throws: `EventLogError` if the log cannot be read.
    public init(inForce session: borrowing ReadSession) throws {
        registered = RegisteredDecoders(of: session)
        for (name, act) in try Self.acts(session) { take(act.envelope, act.payload, source: name) }
        for (source, file) in registered.standIns { (files[source], faults[source]) = (file, nil) }
    }

    /// The files of sources by the sources' names, as `texts` gives them.
    ///
    /// - Throws: `DecoderFileError` for a text that is no decoder file; `EventLogError` for a name that no source can have.
    package init(texts: JSONObject) throws {
        for member in texts.members {
            files[try SourceName(member.name)] = try DecoderFile(member.value.string ?? "")
        }
    }

    /// The whole text of each file, by source; `nil` without files.
    package var texts: JSONObject? {
        if files.isEmpty { return nil }
        var texts = JSONObject()
        for source in sources { texts[source.rawValue] = files[source].map { .string($0.text) } }
        return texts
    }

    /// The files that acts put in force; other events are passed over. Of several acts for a source the last counts.
    package init(among events: some Sequence<RecordedEvent>) {
        for event in events where event.envelope.isAct && event.envelope.kind == Self.actKind {
            guard let name = event.envelope.attributes[Self.sourceAttribute] else { continue }
            take(event.envelope, event.payload, source: name)
        }
    }

    /// The act that puts the file of a source in force; `nil` without one.
    package static func act(for source: String, in session: borrowing ReadSession) throws -> SequenceNumber? {
        try acts(session)[source]?.envelope.sequence
    }

    /// The sequence of the newest act of the kind; zero without any. What was derived from an earlier part of the log alone
    /// was made with other files.
    package static func changedAt(in session: borrowing ReadSession) throws -> SequenceNumber {
        try acts(session).values.map(\.envelope.sequence).max() ?? .zero
    }

    private static func acts(_ session: borrowing ReadSession) throws -> [String: RecordedEvent] {
        try session.newestActs(actKind, by: sourceAttribute)
    }

    private mutating func take(_ envelope: Envelope, _ payload: [UInt8], source name: String) {
        guard let source = try? SourceName(name) else { return }
        let value = try? JSONValue.parse(payload)
        // An act that takes a file away holds none.
        if value?["file"]?.isNull ?? false { return (files[source], faults[source]) = (nil, nil) }
        (files[source], faults[source]) = (nil, nil)
        do throws(DecoderFileError) {
            guard let text = value?["file"]?.string else { throw DecoderFileError(nil, "the act holds no file") }
            let file = try DecoderFile(text)
            guard value?["sha256"]?.string == file.hash.hex else {
                throw DecoderFileError(nil, "the act gives another SHA-256 than its file has")
            }
            files[source] = file
        } catch {
            faults[source] = "the decoder file in the act at \(envelope.sequence) cannot be read: \(error)"
        }
    }

    /// Why the file in force for a source cannot be read; `nil` if it can, or there is none.
    package func fault(of source: SourceName) -> String? { faults[source] }
}
