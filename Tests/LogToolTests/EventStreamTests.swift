import Clients
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// What must hold for any events at all, tried on random streams of each app; a stream that fails is shrunk first.
///
/// `EVENTLOG_LONG_TESTS=1` tries a hundred times as many.
@Suite struct EventStreamTests {
    private static let apps = ["vibechannel", "retrocast", "punchlist", "vibestatus", "sidebar"]
    private static let rounds: UInt64 = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 5 : 500

    /// Whoever forgets to touch a row that changes fails here.
    @Test(arguments: apps)
    func theKeptDigestIsThatOfAFreshState(app: String) throws {
        try forEachStream(of: app) { events in
            var kept = LogState()
            _ = kept.digest()
            for (index, event) in events.enumerated() {
                kept.apply(event)
                guard index % 8 == 7 || index == events.count - 1 else { continue }
                var fresh = LogState()
                for event in events[...index] { fresh.apply(event) }
                if kept.digest() != fresh.digest() { return true }
            }
            return false
        }
    }

    /// Readings of any app are about sources that decoder files read: `GenericReadingTests` has them.
    @Test(arguments: Profile.allCases.filter { $0 != .canonical && $0.app != "any app" })
    func theKeptDigestOfAClientIsThatOfAFreshState(profile: Profile) throws {
        let app = profile.rawValue.split(separator: "-").first.map(String.init) ?? ""
        try forEachStream(of: app) { events in
            var kept = LogState(rules: profile.rules)
            _ = kept.digest()
            for (index, event) in events.enumerated() {
                kept.apply(event)
                guard index % 16 == 15 || index == events.count - 1 else { continue }
                var fresh = LogState(rules: profile.rules)
                for event in events[...index] { fresh.apply(event) }
                if kept.digest() != fresh.digest() { return true }
            }
            return false
        }
    }

    @Test(arguments: apps)
    func foldingAgainGivesTheSameBytes(app: String) throws {
        try forEachStream(of: app, mutatingBytes: true) { events in
            var (first, second) = (LogState(), LogState())
            for event in events { first.apply(event) }
            for event in events { second.apply(event) }
            return first.normalFormHash != second.normalFormHash || first.document() != second.document()
        }
    }

    /// I13, for the streams as they are and for whatever comes afterwards.
    @Test(arguments: apps)
    func aCompactionChangesNothingThatFollows(app: String) throws {
        let policy = RetentionPolicy(messagesPerChannel: 2)
        try forEachStream(of: app) { events in
            let half = events.count / 2
            var whole = LogState()
            for event in events[..<half] { whole.apply(event) }
            whole = whole.retained(by: policy)
            // A log with nothing to drop is left alone.
            if whole.neededSequences.count == half { return false }
            guard var folded = try? Self.refolded(events[..<half], into: whole) else { return true }
            for event in events[half...] {
                whole.apply(event)
                folded.apply(event)
            }
            return whole.normalFormHash != folded.normalFormHash
        }
    }

    /// For every place in the stream: fold up to it, save, load, fold the rest.
    @Test(arguments: apps)
    func aSavedStateGoesOnAsIfItHadNotBeenSaved(app: String) throws {
        try forEachStream(of: app, mutatingBytes: true) { events in
            var walked = LogState()
            var whole = LogState()
            for event in events { whole.apply(event) }
            let expected = whole.normalFormHash
            for (index, event) in events.enumerated() {
                walked.apply(event)
                guard let pieces = try? walked.pieces(whole: true), var loaded = try? SavedState([pieces]).logState()
                else { return true }
                // A saved number has its canonical text: 0 for -0.
                if loaded.normalFormHash != walked.normalFormHash
                    || loaded.document().canonicalText != walked.document().canonicalText
                {
                    return true
                }
                for event in events[(index + 1)...] { loaded.apply(event) }
                if loaded.normalFormHash != expected || loaded.digest() != whole.digest() { return true }
            }
            return false
        }
    }

    /// Saved again and again as what came since, by the state that was saved or by the one that was loaded last.
    @Test(arguments: apps)
    func savingsThatFollowOneAnotherMakeTheState(app: String) throws {
        try forEachStream(of: app, mutatingBytes: true) { events in
            var walked = LogState()
            var savings: [[SavedPiece]] = []
            for (index, event) in events.enumerated() {
                walked.apply(event)
                guard index % 4 == 3 || index == events.count - 1 else { continue }
                guard let pieces = try? walked.pieces(whole: false) else { return true }
                walked.noteSaved()
                savings.append(pieces)
                guard var loaded = try? SavedState(savings).logState(), loaded.normalFormHash == walked.normalFormHash,
                    loaded.document().canonicalText == walked.document().canonicalText
                else { return true }
                if index % 3 == 0 { walked = loaded }
            }
            return false
        }
    }

    @Test func bytesThatAreNoSavedStateAreRefused() throws {
        let directory = try TemporaryDirectory()
        let lists = try EventStream.whole(of: Scenario.all, in: directory)
        var random = SeededGenerator(seed: 3)
        var state = LogState()
        for event in EventStream(of: lists, seed: 4, mutatingBytes: false).events { state.apply(event) }
        let pieces = try state.pieces(whole: true)
        for (index, piece) in pieces.enumerated() {
            for length in stride(from: 0, to: piece.count, by: 97) {
                let short = pieces[..<index] + [SavedPiece(Array(piece.bytes.prefix(length)))]
                #expect(throws: (any Error).self) { try SavedState([Array(short)]).logState() }
            }
        }
        for _ in 0..<200 {
            var other = pieces
            let index = Int.random(in: 0..<pieces.count, using: &random)
            let offset = Int.random(in: 0..<pieces[index].count, using: &random)
            var bytes = pieces[index].bytes
            bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            other[index] = SavedPiece(bytes)
            // Whether it is refused or read as another state: it must come back.
            _ = try? SavedState([other]).logState()
        }
    }

    /// Two different documents never have one digest, and one document never two.
    @Test(arguments: apps)
    func aDigestStandsForOneState(app: String) throws {
        var digests: [Hash256: [UInt8]] = [:]
        try forEachStream(of: app) { events in
            var state = LogState()
            for event in events {
                state.apply(event)
                let content = Self.digested(&state)
                if digests.updateValue(content, forKey: state.digest()) ?? content != content { return true }
            }
            return false
        }
        #expect(Set(digests.values).count == digests.count)
    }

    private func forEachStream(
        of app: String,
        mutatingBytes: Bool = false,
        fails: ([RecordedEvent]) -> Bool
    ) throws {
        let lists = try EventStream.lists(of: app)
        try #require(!lists.isEmpty)
        for seed in 1...Self.rounds {
            let stream = EventStream(of: lists, seed: seed, mutatingBytes: mutatingBytes)
            guard fails(stream.events) else { continue }
            let least = shrunk(stream.events, while: fails)
            Issue.record("seed \(seed), \(least.count) events:\n\(EventStream.description(of: least))")
            return
        }
    }

    /// The state that a compaction of these events leaves: from the facts and the kept events alone.
    private static func refolded(_ events: ArraySlice<RecordedEvent>, into state: LogState) throws -> LogState {
        let kept = state.neededSequences
        var folded = try LogState(facts: state.facts(keeping: kept))
        for event in events where kept.contains(event.envelope.sequence.rawValue) { folded.apply(event) }
        folded.sequence = state.sequence
        return folded
    }

    /// What a digest covers, as text: the document without what only sequences and time make of it.
    private static func digested(_ state: inout LogState) -> [UInt8] {
        var document = state.document().object ?? JSONObject()
        for name in ["format", "profile", "asOf", "sequence", "digest", "typing", "sessionAggregates"] {
            document[name] = nil
        }
        document["deletedMessages"] = .array(Self.rows(document["deletedMessages"], without: ["sequence"]))
        document["sessions"] = .array(Self.rows(document["sessions"], without: ["stale", "state"]))
        let issues = Self.rows(document["issues"], without: ["sequence"]).map(\.canonicalText).sorted()
        document["issues"] = .array(issues.map { .string($0) })
        return JSONValue.object(document).canonicalBytes
    }

    private static func rows(_ value: JSONValue?, without names: [String]) -> [JSONValue] {
        (value?.array ?? []).map { row in
            var row = row.object ?? JSONObject()
            for name in names { row[name] = nil }
            return .object(row)
        }
    }
}
