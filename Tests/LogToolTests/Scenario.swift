import Clients
import EventLog
import EventLogTesting
import Foundation
import Ingest
import Projections
import TestSupport
import Testing

/// One folder of `Fixtures/events`: a story with what the remote sent and the state that it must give.
struct Scenario: CustomTestStringConvertible, Sendable {
    let folder: URL

    /// Every scenario, by name.
    static let all: [Scenario] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: PackageRoot.scenarios.path)) ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted()
            .map { Scenario(folder: PackageRoot.scenarios.appending(path: $0)) }
    }()

    var testDescription: String { folder.lastPathComponent }

    /// The state that the scenario's events give; with a client's profile `expected.PROFILE.json`.
    func golden(of profile: Profile = .canonical) -> URL { golden(of: FixtureState(profile)) }

    /// A state that the scenario's events give, at the end or at a point before (`expected@SEQ.json`).
    func golden(of state: FixtureState) -> URL { folder.appending(path: state.fileName) }

    /// When changes may be missing, a line each.
    var gapsGolden: URL { folder.appending(path: "gaps.txt") }

    /// Whether the scenario says when changes may be missing.
    var tellsGaps: Bool { FileManager.default.fileExists(atPath: gapsGolden.path) }

    /// The states that the scenario tells.
    var states: [FixtureState] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { FixtureState(fileName: $0) }
    }

    /// The clients whose state at the end the scenario tells.
    var profiles: [Profile] { states.filter { $0.point == nil && $0.profile != .canonical }.map(\.profile) }

    /// Appends the scenario's events to a log as the source `app`.
    func record(into store: EventStore) throws {
        let decoders = try decoders
        if try store.read({ $0.head }) == .zero {
            for source in decoders.sources {
                try Decoders.set(decoders[source], for: source, in: store, at: Timestamp(seconds: 0))
            }
        }
        let capture = folder.appending(path: "capture.ndjson")
        guard FileManager.default.fileExists(atPath: capture.path) else {
            _ = try store.append(try exportedEvents())
            return
        }
        let source = CaptureSource(path: capture.path, kind: try kind(), name: try SourceName("app"))
        _ = try Recorder.record(source, into: store)
    }

    /// A log of its own with the scenario's events.
    func log(in directory: TemporaryDirectory) throws -> EventStore {
        let store = try EventStore.openOrCreate(at: directory.path("scenario.eventlog"))
        try record(into: store)
        return store
    }

    /// A log of its own with the scenario's events up to a point; with all of them where that is `nil`.
    func log(in directory: TemporaryDirectory, through point: SequenceNumber?) throws -> EventStore {
        guard let point else { return try log(in: directory) }
        let events = try log(in: directory).allEvents().prefix { $0.envelope.sequence <= point }
        let store = try EventStore.openOrCreate(at: directory.path("point.eventlog"))
        _ = try store.append(events.map { DraftEvent(again: $0) })
        return store
    }

    /// The decoder files in the first line of `events.ndjson`. A log has them before the events, whose sequences follow.
    var decoders: Decoders {
        get throws {
            let file = folder.appending(path: "events.ndjson")
            guard let text = try? String(contentsOf: file, encoding: .utf8),
                let first = text.split(separator: "\n").first
            else { return Decoders() }
            return try Decoders(texts: try JSONValue.parse(String(first))["decoders"]?.object ?? JSONObject())
        }
    }

    /// The state before the events, as a client with these rules reads them.
    func start(_ rules: ReadingRules = .canonical) throws -> LogState {
        var state = LogState(rules: rules)
        state.use(try decoders)
        return state
    }

    /// The line `kind: …` of `about.md`; `nil` where the kind is guessed.
    private func kind() throws -> CaptureKind? {
        let about = try String(contentsOf: folder.appending(path: "about.md"), encoding: .utf8)
        let line = about.split(separator: "\n").first { $0.hasPrefix("kind: ") }
        return line.flatMap { CaptureKind(rawValue: String($0.dropFirst(6))) }
    }

    /// The events of `events.ndjson`, as `logtool export` writes them; sequences and salts are given anew.
    private func exportedEvents() throws -> [DraftEvent] {
        let text = try String(contentsOf: folder.appending(path: "events.ndjson"), encoding: .utf8)
        return try text.split(separator: "\n").compactMap { line in
            let value = try JSONValue.parse(String(line))
            guard let kind = value["kind"]?.string else { return nil }
            return DraftEvent(
                recordedAt: Timestamp(rfc3339: value["recordedAt"]?.string ?? "") ?? Timestamp(seconds: 0),
                source: try SourceName(value["source"]?.string ?? ""),
                kind: try EventKind(kind),
                key: try value["key"]?.string.map { try EventKey($0) },
                attributes: try Attributes(
                    (value["attributes"]?.object?.members ?? []).map {
                        Attributes.Pair(name: $0.name, value: $0.value.string ?? "")
                    }
                ),
                payload: Array((value["payload"]?.string ?? "").utf8)
            )
        }
    }
}
