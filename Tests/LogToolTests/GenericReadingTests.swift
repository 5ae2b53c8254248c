import EventLog
import EventLogTesting
import Foundation
import Ingest
import TestSupport
import Testing

@testable import Clients
@testable import Projections
@testable import logtool

/// The readings of any app: on the scenarios, through the commands, and on what the shipped decoder files read.
@Suite struct GenericReadingTests {
    static let names = Profile.generic.map(\.rawValue)
    static let scenarios = ClientScenario.all.filter { names.contains($0.profile.rawValue) }

    @Test func eachReadingHasAScenario() {
        #expect(Set(Self.scenarios.map(\.profile.rawValue)) == Set(Self.names))
    }

    /// The first event after which the states differ is what `diff` and `bisect` name, and it is one of those that a smallest log
    /// keeps.
    @Test(arguments: scenarios) func theCommandsNameTheEvent(client: ClientScenario) throws {
        let folder = try TemporaryDirectory()
        let events = try client.log(in: folder).allEvents().filter { !$0.envelope.isAct }
        let (name, first) = (client.profile.rawValue, try #require(try Self.parting(client, events)))
        func run(_ arguments: String...) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }
        let log = "scenario.eventlog"
        let diff = try run("diff", log, "\(log)#\(name)", "--first", "--json")
        // Of an order alone `bisect` finds the event.
        let part = name == "listed-by-arrival" ? #"{"same":false,"order":["channel:app/r1"]}"# : "\"\(first)\""
        #expect(diff.exitCode == 1 && diff.output.contains(part), "\(diff.output) \(diff.errors)")
        #expect(try run("diff", log, "\(log)#\(name)").exitCode == 1)
        let bisect = try run("bisect", log, "--against", "#\(name)", "--json")
        #expect(try JSONValue.parse(bisect.output)["first"]?.string == "\(first)", "\(bisect.output) \(bisect.errors)")
        guard let shown = Self.shown[name] else { return }
        let reading = ["--profile", name, "--against", "#canonical", "--when", shown]
        let shrink = try ToolRun.run(["shrink", log, "-o", "S", "--json"] + reading, in: folder)
        #expect(shrink.exitCode == 0, "\(shrink.errors)")
        let count = try JSONValue.parse(shrink.output)["events"]?.number?.int64
        #expect((1...3).contains(count ?? 0), "\(shrink.output)")
        #expect(try run("diff", "S", "S#\(name)").exitCode == 1)
    }

    /// What a client shows, and the canonical reading does not, on the scenarios.
    private static let shown = [
        "appends-repeats": "exists(messages[\"b#2\"])", "reset-on-reconnect": "not exists(messages[\"a\"])",
        "arrival-order-wins": "exists(messages[content=\"tea at 5\"])",
        "late-delete-lost": "exists(messages[\"b\"])", "edit-of-unseen-creates": "exists(messages[\"a\"])",
        "snapshot-never-removes": "exists(messages[\"b\"])", "patch-replaces": "not exists(messages[author=\"bo\"])",
        "revives-deleted": "exists(messages[\"b\"])", "ignores-deletes": "exists(messages[\"b\"])",
        "reply-to-missing-dropped": "not exists(messages[\"b\"])",
        "ignores-edits": "exists(messages[content=\"I bring cake\"])",
        "never-asks-again": "not exists(messages[\"b\"])",
    ]

    private static func parting(_ client: ClientScenario, _ events: [RecordedEvent]) throws -> SequenceNumber? {
        var (left, right) = (try client.scenario.start(), try client.scenario.start(client.profile.rules))
        return events.first { event in
            left.apply(event)
            right.apply(event)
            return !StateDiff.differences(left, right).isEmpty
        }?.envelope.sequence
    }

    @Test func theListCountsThemForSuchASource() throws {
        let folder = try TemporaryDirectory()
        let scenario = try #require(Scenario.all.first { $0.testDescription == "any-message-again-after-a-reconnect" })
        _ = try scenario.log(in: folder)
        let text = try ToolRun.run(["profiles", "scenario.eventlog", "--json"], in: folder).output
        let rows = try JSONValue.parse(text).array ?? []
        let counts = Dictionary(
            uniqueKeysWithValues: rows.map { ($0["profile"]?.string ?? "", $0["entities"]?.text ?? "") }
        )
        #expect(counts["appends-repeats"] == "1")
        // The message that is gone, and its answer.
        #expect(counts["reset-on-reconnect"] == "2")
        #expect(counts["late-delete-lost"] == "0")
        #expect(counts["retrocast-web"] == "0")
        let listed = try ToolRun.run(["profiles"], in: folder).output
        #expect(
            listed.contains(
                "\nlate-delete-lost\n  deletionOfUnseenIsForgotten\n    forgets the deletion of a message, item or event that it"
                    + " does not show (any app: as bug Retrocast B11)\n"
            )
        )
    }

    /// Sources that an app's decoder reads have profiles of their own.
    @Test(arguments: names) func eventsOfAnAppAreReadAsTheyAre(name: String) throws {
        let profile = try #require(Profile(rawValue: name))
        let apps = Scenario.all.filter { !$0.testDescription.hasPrefix("any-") }
        for scenario in apps.enumerated().filter({ $0.offset % 7 == 0 }).map(\.element) {
            let folder = try TemporaryDirectory()
            let events = try scenario.log(in: folder).allEvents()
            var (left, right) = (LogState(), LogState(rules: profile.rules))
            for event in events {
                left.apply(event)
                right.apply(event)
            }
            #expect(left.digest() == right.digest(), "\(scenario.testDescription)")
        }
    }

    // MARK: - Traffic of real protocols

    @Test(.needs(shared: "formats/genlib.py"), arguments: FormatStateTests.protocols)
    func aReadingIsThatOfTheEventsAtEveryPoint(protocolName: String) throws {
        let capture = try FormatCapture(of: protocolName, seed: 5)
        let log = try FormatLog(capture.name, capture.lines, "log")
        let events = try log.store.allEvents()
        var parted: [String] = []
        for profile in Profile.generic {
            var options = ReplayOptions()
            options.rules = profile.rules
            var state = LogState(rules: profile.rules)
            try log.store.read { try state.begin($0) }
            _ = state.digest()
            for (index, event) in events.enumerated() {
                state.apply(event)
                guard index % 40 == 7 || index == events.count - 1 else { continue }
                let through = event.envelope.sequence
                var replayed = try log.store.read { try Replay.logState(of: $0, through: through, options: options) }
                #expect(replayed.digest() == state.digest(), "\(profile.rawValue) at \(through)")
                state = try SavedState([state.pieces(whole: true)]).logState(rules: profile.rules)
                try log.store.read { try state.begin($0) }
            }
            var canonical = try log.store.read { try Replay.logState(of: $0) }
            if canonical.digest() != state.digest() { parted.append(profile.rawValue) }
        }
        #expect(parted.count >= 3, "\(protocolName): \(parted)")
    }

    /// Kept states give what a replay without them gives, with any number of threads.
    @Test(.needs(shared: "formats/genlib.py"), arguments: FormatStateTests.protocols)
    func aKeptStateOfAReadingGoesOnAsItWas(protocolName: String) throws {
        let capture = try FormatCapture(of: protocolName, seed: 6)
        let log = try FormatLog(capture.name, capture.lines, "kept", capture.lines.count / 2)
        var keeping = KeptStateOptions(build: "test")
        (keeping.eventsMin, keeping.decodedPercentMax, keeping.bytesFactors) = (1, nil, (records: 0, rest: 0))
        func state(_ profile: Profile, keeps: Bool) throws -> LogState {
            var options = ReplayOptions()
            options.rules = profile.rules
            if keeps { (options.keeping, options.chunkEvents) = (keeping, 16) }
            return try log.store.read { try Replay.logState(of: $0, options: options) }
        }
        for profile in Profile.generic { _ = try state(profile, keeps: true) }
        try log.ingest(capture.lines)
        for profile in Profile.generic {
            var (left, right) = (try state(profile, keeps: true), try state(profile, keeps: false))
            #expect(left.digest() == right.digest(), "\(profile.rawValue)")
        }
    }

    /// Events of which none comes again, late, out of order or after a reconnect give every client the same.
    @Test(arguments: names, [41, 42] as [UInt64]) func trafficWithoutTroubleReadsAlike(name: String, seed: UInt64)
        throws
    {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let profile = try #require(Profile(rawValue: name))
        var chat = ChatTraffic()
        let events = try (0..<120).map { _ in try chat.event(chat.quiet(&random)) }
        var (left, right) = (try chat.start(), try chat.start(profile.rules))
        for event in events {
            left.apply(event)
            right.apply(event)
        }
        let doesLess = ["ignores-edits", "ignores-deletes"].contains(name)
        #expect(StateDiff.differences(left, right).isEmpty == !doesLess)
    }

    /// Whatever is recorded, four readings show what their descriptions say, told by a model that knows no fold.
    @Test(arguments: ChatModel.Reading.allCases, Array(51...58) as [UInt64])
    func aModelShowsTheSame(reading: ChatModel.Reading, seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var (chat, model) = (ChatTraffic(), ChatModel(reading: reading))
        var state = try chat.start(Profile(rawValue: reading.rawValue)?.rules ?? .canonical)
        for step in 0..<150 {
            let action = chat.any(&random)
            state.apply(try chat.event(action))
            model.apply(action)
            let rows = state.document()["messages"]?.array ?? []
            let shown = rows.map { "\($0["id"]?.string ?? ""): \($0["content"]?.string ?? "")" }.sorted()
            #expect(shown == model.shown, "\(reading) after step \(step): \(action)")
            if shown != model.shown { return }
        }
    }

    /// A message that is stated again and again is shown so often and no oftener, whatever edits follow.
    @Test func copiesAreLimited() throws {
        var chat = ChatTraffic()
        var state = try chat.start(Profile(rawValue: "appends-repeats")?.rules ?? .canonical)
        for _ in 0..<40 { state.apply(try chat.event(.post(id: "a", text: "hi"))) }
        state.apply(try chat.event(.change(id: "a", text: "ho", revision: 1)))
        let rows = state.document()["messages"]?.array ?? []
        #expect(rows.count == GenericClient.copiesMax)
        #expect(rows.allSatisfy { $0["content"]?.string == "ho" })
    }
}
