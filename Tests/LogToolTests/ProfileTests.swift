import Clients
import EventLog
import EventLogTesting
import Foundation
import TestSupport
import Testing

@testable import Projections
@testable import logtool

/// A scenario as one client shows it, at the end or at a point before.
struct ClientScenario: CustomTestStringConvertible, Sendable {
    let scenario: Scenario
    let state: FixtureState

    var profile: Profile { state.profile }

    /// Every `expected.PROFILE.json` and `expected@SEQ.PROFILE.json` there is.
    static let all = Scenario.all.flatMap { scenario in
        scenario.states.filter { $0.profile != .canonical }.map { ClientScenario(scenario: scenario, state: $0) }
    }

    var testDescription: String {
        let point = state.point.map { " at \($0)" } ?? ""
        return "\(scenario.testDescription) as \(profile.rawValue)\(point)"
    }

    /// A log of its own with the events that the client has seen.
    func log(in directory: TemporaryDirectory) throws -> EventStore {
        try scenario.log(in: directory, through: state.point)
    }
}

@Suite struct ProfileTests {
    @Test(arguments: ClientScenario.all)
    func givesTheStateThatTheClientShows(client: ClientScenario) throws {
        let directory = try TemporaryDirectory()
        let store = try client.log(in: directory)
        let document = try StateLoader(store: store).document(for: StateQuery(profile: client.profile))
        let golden = client.scenario.golden(of: client.state)
        #expect(Golden.difference(document.lines + "\n", from: golden) == nil)
    }

    @Test(arguments: ClientScenario.all)
    func partsFromWhatTheRemoteMeant(client: ClientScenario) throws {
        let directory = try TemporaryDirectory()
        let store = try client.log(in: directory)
        #expect(try body(of: store, client.profile.rules) != body(of: store, []))
    }

    @Test(arguments: ClientScenario.all)
    func keepsItsDigestUpToDate(client: ClientScenario) throws {
        let directory = try TemporaryDirectory()
        let store = try client.log(in: directory)
        var kept = try client.scenario.start(client.profile.rules)
        var fresh = try client.scenario.start(client.profile.rules)
        _ = kept.digest()
        for event in try store.allEvents() {
            kept.apply(event)
            fresh.apply(event)
            var copy = fresh
            #expect(kept.digest() == copy.digest(), "at sequence \(event.envelope.sequence)")
        }
    }

    @Test(arguments: ClientScenario.all)
    func goesOnFromASavedState(client: ClientScenario) throws {
        let directory = try TemporaryDirectory()
        let events = try client.log(in: directory).allEvents()
        var whole = try client.scenario.start(client.profile.rules)
        for event in events { whole.apply(event) }
        for count in events.indices {
            var state = try client.scenario.start(client.profile.rules)
            for event in events[..<count] { state.apply(event) }
            state = try SavedState([state.pieces(whole: true)]).logState(rules: client.profile.rules)
            state.use(try client.scenario.decoders)
            for event in events[count...] { state.apply(event) }
            #expect(state.document() == whole.document(), "saved after \(count) events")
        }
    }

    /// After a compaction a client's reading is of what is kept: no promise but that it is read.
    @Test(arguments: ClientScenario.all)
    func readsWhatACompactionKept(client: ClientScenario) throws {
        let directory = try TemporaryDirectory()
        let store = try client.log(in: directory)
        let policy = RetentionPolicy(messagesPerChannel: 1)
        _ = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_800_000_000))
        let document = try StateLoader(store: store).document(for: StateQuery(profile: client.profile))
        #expect(document["profile"]?.string == client.profile.rawValue)
    }

    /// A rule that no scenario of its profile needs is a rule that nobody would miss.
    @Test(arguments: Profile.allCases)
    func everyRuleOfAProfileShowsInAScenario(profile: Profile) throws {
        let own = ReadingRules(profile.divergences.flatMap(\.rules))
        var unseen = ReadingRule.allCases.filter { own.contains($0) }
        for client in ClientScenario.all where client.profile == profile {
            let directory = try TemporaryDirectory()
            let store = try client.log(in: directory)
            let whole = try body(of: store, profile.rules)
            unseen = try unseen.filter { try body(of: store, profile.rules.removing($0)) == whole }
        }
        #expect(unseen.isEmpty, "\(profile.rawValue): no scenario shows \(unseen)")
    }

    /// A set of rules is 256 bits.
    @Test func everyRuleHasABit() {
        #expect(ReadingRule.allCases.count <= 256)
        for rule in ReadingRule.allCases {
            let rules = ReadingRules([rule])
            #expect(ReadingRule.allCases.filter { rules.contains($0) } == [rule])
            #expect(ReadingRules(shortName: rules.shortName, of: nil) == rules)
        }
    }

    /// The longest name must not touch its number, and the numbers stand below each other.
    @Test func eachNameOfAComparisonStandsApartFromItsNumber() throws {
        let directory = try TemporaryDirectory()
        try directory.makeLog(messages: 2)
        let lines = try ToolRun.run(["profiles", "L"], in: directory).output.split(separator: "\n")
        #expect(lines.count == Profile.allCases.count - 1)
        let places = try lines.map { line in
            let name = try #require(Profile.allCases.first { line.hasPrefix($0.rawValue + "  ") }, "\(line)")
            return line.dropFirst(name.rawValue.count).prefix { $0 == " " }.count + name.rawValue.count
        }
        #expect(Set(places).count == 1)
    }

    @Test func everyRuleIsSomeClients() {
        let orphans = ReadingRule.allCases.filter { rule in
            !Profile.allCases.contains { $0.rules.contains(rule) }
        }
        #expect(orphans.isEmpty)
        #expect(Profile.canonical.rules.isEmpty)
    }

    @Test func theTablesOfProfilesNameEveryRuleAndScenariosThatExist() throws {
        let url = PackageRoot.url.appending(path: "docs/profiles.md")
        let chapters = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n## ")
        for profile in Profile.allCases where profile != .canonical {
            let own = ReadingRules(profile.divergences.flatMap(\.rules))
            let rules = ReadingRule.allCases.filter { own.contains($0) }.map { "\($0)" }
            let chapter = chapters.first { $0.hasPrefix(profile.rawValue + "\n") } ?? ""
            let pieces = chapter.split(separator: "`", omittingEmptySubsequences: false)
            let quoted = Set(pieces.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) })
            #expect(rules.filter { !quoted.contains($0) }.isEmpty, "\(profile.rawValue)")
            let names = Set(Profile.allCases.map(\.rawValue))
            let scenarios = quoted.filter { $0.contains("-") && $0.first?.isLetter == true && !names.contains($0) }
            let known = Set(Scenario.all.map(\.testDescription))
            #expect(scenarios.subtracting(known).isEmpty, "\(profile.rawValue)")
        }
    }

    @Test func theDifferenceOfTwoClientsIsOnTheTable() throws {
        let directory = try TemporaryDirectory()
        let scenario = Scenario.all.first { $0.testDescription == "vibechannel-edit-writes-local-date" }
        _ = try scenario?.log(in: directory)
        let log = "scenario.eventlog"
        let run = try ToolRun.run(
            ["diff", "\(log)#vibechannel-ios", "\(log)#vibechannel-vscode", "--json", "--explain"],
            in: directory
        )
        #expect(run.exitCode == 1)
        let differences = try JSONValue.parse(run.output)["differences"]?.array ?? []
        let added = differences.filter { $0["change"]?.string == "added" }.compactMap { $0["entity"]?.string }
        #expect(added == ["message:app/general/20250304T050607-ann-0a1b2c"])
        // Written, readable to both, by the second event; rewritten, readable to one of them, by the fourth.
        let parted = differences.first { $0["entity"]?.string == added.first }
        let sequences = parted?["sequences"]?.array?.compactMap(\.string)
        #expect(sequences == ["2", "4"])
    }

    /// The state's arrays, which say what the digest covers and what passes with time.
    private func body(of store: EventStore, _ rules: ReadingRules) throws -> JSONValue {
        var options = ReplayOptions()
        options.rules = rules
        var state = try store.read { try Replay.logState(of: $0, options: options) }
        var document = state.document().object ?? JSONObject()
        document["digest"] = nil
        return .object(document)
    }
}
