import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

/// A scenario as one client shows it.
struct ClientScenario: CustomTestStringConvertible, Sendable {
    let scenario: Scenario
    let profile: Profile

    /// Every `expected.PROFILE.json` there is.
    static let all = Scenario.all.flatMap { scenario in
        scenario.profiles.map { ClientScenario(scenario: scenario, profile: $0) }
    }

    var testDescription: String { "\(scenario.testDescription) as \(profile.rawValue)" }
}

@Suite struct ProfileTests {
    @Test(arguments: ClientScenario.all)
    func givesTheStateThatTheClientShows(client: ClientScenario) throws {
        let directory = try TemporaryDirectory()
        let store = try client.scenario.log(in: directory)
        let document = try StateLoader(store: store).document(for: StateQuery(profile: client.profile))
        let golden = client.scenario.golden(of: client.profile)
        #expect(Golden.difference(document.lines + "\n", from: golden) == nil)
    }

    @Test(arguments: ClientScenario.all)
    func partsFromWhatTheRemoteMeant(client: ClientScenario) throws {
        let directory = try TemporaryDirectory()
        let store = try client.scenario.log(in: directory)
        #expect(try body(of: store, client.profile.rules) != body(of: store, []))
    }

    @Test(arguments: ClientScenario.all)
    func keepsItsDigestUpToDate(client: ClientScenario) throws {
        let directory = try TemporaryDirectory()
        let store = try client.scenario.log(in: directory)
        var kept = Workspace(rules: client.profile.rules)
        var fresh = Workspace(rules: client.profile.rules)
        _ = kept.digest()
        for event in try store.allEvents() {
            kept.apply(event)
            fresh.apply(event)
            var copy = fresh
            #expect(kept.digest() == copy.digest(), "at sequence \(event.envelope.sequence)")
        }
    }

    /// A rule that no scenario of its profile needs is a rule that nobody would miss.
    @Test(arguments: Profile.allCases)
    func everyRuleOfAProfileShowsInAScenario(profile: Profile) throws {
        var unseen = ReadingRule.allCases.filter { profile.rules.contains($0) }
        for client in ClientScenario.all where client.profile == profile {
            let directory = try TemporaryDirectory()
            let store = try client.scenario.log(in: directory)
            let whole = try body(of: store, profile.rules)
            unseen = try unseen.filter { try body(of: store, profile.rules.removing($0)) == whole }
        }
        #expect(unseen.isEmpty, "\(profile.rawValue): no scenario shows \(unseen)")
    }

    @Test func everyRuleIsSomeClients() {
        let orphans = ReadingRule.allCases.filter { rule in
            !Profile.allCases.contains { $0.rules.contains(rule) }
        }
        #expect(orphans.isEmpty)
        #expect(Profile.canonical.rules.isEmpty)
    }

    /// The state's arrays, which say what the digest covers and what passes with time.
    private func body(of store: EventStore, _ rules: ReadingRules) throws -> JSONValue {
        var options = ReplayOptions()
        options.rules = rules
        var state = try store.read { try Replay.workspace(of: $0, options: options) }
        var document = state.document().object ?? JSONObject()
        document["digest"] = nil
        return .object(document)
    }
}
