import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Redaction

/// What forgetting a person promises, tested by what the log and its state say before and after (`docs/design.md`).
@Suite struct ForgetTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    static let now = Timestamp(seconds: 1_900_000_000)
    /// More with `EVENTLOG_LONG_TESTS`.
    private static let effort = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 1 : 4

    // MARK: - Whole logs

    @Test(arguments: Scenario.all) func ofEachScenarioOnlyThePersonGoes(scenario: Scenario) throws {
        _ = try check(each: Self.effort) {
            let directory = try TemporaryDirectory()
            return (try scenario.log(in: directory), directory)
        }
    }

    @Test(arguments: DenseTraffic.allCases, UInt64(1)...UInt64(effort))
    func ofDenseTrafficOnlyThePersonGoes(traffic: DenseTraffic, seed: UInt64) throws {
        let events = try traffic.events(count: 80, seed: seed)
        let count = try check(each: 3) {
            let directory = try TemporaryDirectory()
            // Half of them lie in compressed blocks.
            let isSealed = traffic == .gateway || traffic == .branches
            return (try RedactionTests.log(of: events, in: directory, isSealed: isSealed), directory)
        }
        #expect(count > 0 || traffic == .rows)
    }

    /// Logs of other apps, whose formats decoder files describe.
    @Test(.needs(shared: "formats/genlib.py"), arguments: FormatStateTests.protocols)
    func ofAnyAppOnlyThePersonGoes(name: String) throws {
        let capture = try FormatCapture(of: name, seed: 5)
        let count = try check(each: 2 * Self.effort) {
            let log = try FormatLog(capture.name, capture.lines, "forgotten")
            return (log.store, log)
        }
        #expect(count > 0 || name == "todoist")
    }

    /// Forgets some people of a log, each in a log of its own. Returns how many were forgotten.
    private func check(each count: Int, _ log: () throws -> (store: EventStore, keeper: Any)) throws -> Int {
        let whole = try log()
        defer { withExtendedLifetime(whole) {} }
        var done = 0
        for person in try Self.people(in: whole.store).prefix(count) {
            let (store, keeper) = try log()
            defer { withExtendedLifetime(keeper) {} }
            let before = try ForgetSnapshot(of: store)
            let forgetting = try LogForgetting(of: store, .init(people: [person], by: "the keeper"))
            let result = try forgetting.run(now: Self.now)
            let after = try ForgetSnapshot(of: store, after: before)
            try before.check(after, result, person)
            #expect(try store.verify().isIntact)
            #expect(throws: LogForgetting.UnknownPerson.self, "\(person)") {
                try LogForgetting(of: store, .init(people: [person], by: "the keeper"))
            }
            done += 1
        }
        return done
    }

    /// The authors of a log, and one user who wrote nothing, by id.
    static func people(in store: EventStore) throws -> [String] {
        let state = try RedactionTests.state(of: store)
        let document = try RedactionTests.document(of: store)
        let authors = state.authors().map(\.id)
        let users = ["members", "bans", "presences", "voiceStates"].flatMap { section in
            (document[section]?.array ?? []).compactMap { $0["user"]?.string }
        }
        var seen: Set<String> = []
        return (authors + users.filter { !authors.contains($0) }.prefix(1)).filter { seen.insert($0).inserted }
    }
}
