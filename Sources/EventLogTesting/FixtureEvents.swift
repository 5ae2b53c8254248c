import Clients
import EventLog
import Ingest
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The events of a fixture, in memory, in ascending order of their sequences.
struct FixtureEvents {
    static let eventsName = "events.ndjson"
    static let captureName = "capture.ndjson"
    /// The `format` in the first line of `events.ndjson` if a compaction left facts, or decoder files read the events.
    static let factsFormat = "eventlog.fixture/1"

    private(set) var events: [(envelope: Envelope, payload: [UInt8])] = []
    private var facts: [UInt8]?
    private var decoders = Decoders()

    init(in directory: URL) throws {
        let capture = directory.appending(path: Self.captureName)
        if FileManager.default.fileExists(atPath: capture.path) {
            try read(capture: capture, kind: try Self.kind(in: directory))
        } else {
            try read(lines: directory.appending(path: Self.eventsName))
        }
    }

    /// Whether the fixture has an event with that sequence.
    func hold(_ point: SequenceNumber) -> Bool {
        events.contains { $0.envelope.sequence == point }
    }

    /// The state document that the events give.
    func document(of wanted: FixtureState) throws -> JSONValue {
        var state = try start(wanted)
        for event in events(of: wanted) { event.payload.withUnsafeBytes { state.apply(event.envelope, payload: $0) } }
        var options = DocumentOptions()
        options.profile = wanted.profile
        return state.document(options)
    }

    /// The last event that changed the rows of a thing in the document; `nil` if none did. Cost: replays all events.
    func last(changing wanted: EntityReference, in given: FixtureState) throws -> Envelope? {
        var state = try start(given)
        var rows: [JSONValue] = []
        var last: Envelope?
        for event in events(of: given) {
            event.payload.withUnsafeBytes { state.apply(event.envelope, payload: $0) }
            guard state.touched(by: event.envelope).contains(wanted) else { continue }
            let now = state.document(of: wanted).object?.members.map(\.value).filter { $0.array != nil } ?? []
            if now != rows { last = event.envelope }
            rows = now
        }
        return last
    }

    private func events(of state: FixtureState) -> ArraySlice<(envelope: Envelope, payload: [UInt8])> {
        guard let point = state.point else { return events[...] }
        return events.prefix { $0.envelope.sequence <= point }
    }

    private func start(_ state: FixtureState) throws -> LogState {
        var start = try LogState(facts: facts, rules: state.profile.rules)
        start.use(decoders)
        return start
    }

    // MARK: - Reading

    private mutating func read(capture: URL, kind: CaptureKind?) throws {
        try FixtureFile.check(capture)
        var drafts = try CaptureSource(path: capture.path, kind: kind, name: SourceName("app")).drafts(after: .empty)
        while let item = try drafts.next() {
            if case .draft(let draft, _) = item { add(draft, sequence: nil) }
        }
    }

    private mutating func read(lines file: URL) throws {
        let bytes = try FixtureFile.bytes(of: file)
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            do {
                try add(JSONValue.parse(Array(line)))
            } catch {
                throw FixtureError(file, "line \(index + 1): \(error)")
            }
        }
    }

    private mutating func add(_ line: JSONValue) throws {
        guard line["kind"] != nil else {
            // A header, or a line of an export about dropped events.
            if let text = line["facts"]?.string { facts = Data(base64Encoded: text).map { Array($0) } }
            if let texts = line["decoders"]?.object { decoders = try Decoders(texts: texts) }
            return
        }
        let pairs = (line["attributes"]?.object?.members ?? []).map {
            Attributes.Pair(name: $0.name, value: $0.value.string ?? "")
        }
        let encoded = line["payloadBase64"]?.string.flatMap { Data(base64Encoded: $0) }
        guard let recordedAt = Timestamp(rfc3339: line["recordedAt"]?.string ?? "") else {
            throw FixtureLineFault(description: "\"recordedAt\" is no time")
        }
        let draft = DraftEvent(
            recordedAt: recordedAt,
            source: try SourceName(line["source"]?.string ?? ""),
            kind: try EventKind(line["kind"]?.string ?? ""),
            key: try line["key"]?.string.map { try EventKey($0) },
            attributes: try Attributes(pairs),
            payload: encoded.map { Array($0) } ?? Array((line["payload"]?.string ?? "").utf8)
        )
        add(draft, sequence: line["sequence"]?.string.flatMap { UInt64($0) })
    }

    private mutating func add(_ draft: DraftEvent, sequence: UInt64?) {
        let last = events.last?.envelope.sequence ?? .zero
        let next = last.rawValue + 1
        let envelope = Envelope(
            sequence: SequenceNumber(max(sequence ?? next, next)),
            recordedAt: draft.recordedAt,
            source: draft.source,
            kind: draft.kind,
            key: draft.key,
            attributes: draft.attributes,
            holding: .whole
        )
        assert(last < envelope.sequence, "the events of a fixture ascend, which `events(of:)` relies on")
        events.append((envelope, draft.payload))
    }

    /// The kind in the line `kind: …` of `about.md`; `nil` without one, so that the kind is guessed.
    private static func kind(in directory: URL) throws -> CaptureKind? {
        let page = directory.appending(path: "about.md")
        guard FileManager.default.fileExists(atPath: page.path) else { return nil }
        let about = try FixtureFile.bytes(of: page)
        let line = String(decoding: about, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("kind: ") }
        return line.flatMap { CaptureKind(rawValue: String($0.dropFirst(6))) }
    }
}

private struct FixtureLineFault: Error, CustomStringConvertible {
    let description: String
}
