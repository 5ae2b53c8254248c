import Clients
import EventLog
import Foundation
import Projections
import TestSupport
import Testing

/// The differences of two points, found by what was touched between them, and of two states, found by their digests' leaves,
/// against those of the two whole documents.
@Suite struct DifferencesTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: Scenario.all)
    func theyAreThoseOfTheDocuments(scenario: Scenario) throws {
        let store = try scenario.log(in: folder)
        for profile in [.canonical] + scenario.profiles { try check(store, profile, seed: 1) }
    }

    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil

    @Test(arguments: 1...(isLong ? 100 : 1) as ClosedRange<UInt64>)
    func soTheyAreOfRandomEvents(seed: UInt64) throws {
        let store = try EventStream.log(parts: 3, in: folder, seed: seed)
        for profile in Self.isLong ? Profile.allCases : [.canonical] { try check(store, profile, seed: seed) }
    }

    /// Two readings of one log have nothing in common but the ids of the remote.
    @Test(arguments: Scenario.all)
    func soThoseOfTwoReadingsAre(scenario: Scenario) throws {
        let store = try scenario.log(in: folder)
        var states = try ([.canonical] + scenario.profiles).map { profile in
            var options = ReplayOptions()
            options.profile = profile
            return try store.read { try Replay.logState(of: $0, options: options) }
        }
        let documents = states.indices.map { states[$0].document() }
        for index in states.indices {
            let whole = StateDiff.differences(documents[0], documents[index])
            #expect(StateDiff.differences(states[0], states[index]) == whole)
        }
    }

    @Test(arguments: 1...(isLong ? 100 : 3) as ClosedRange<UInt64>)
    func soThoseOfTwoReadingsOfRandomEventsAre(seed: UInt64) throws {
        let store = try EventStream.log(parts: 3, in: folder, seed: seed)
        var states = try [Profile.canonical, .retrocastWeb, .retrocastIOS].map { profile in
            var options = ReplayOptions()
            options.profile = profile
            return try store.read { try Replay.logState(of: $0, options: options) }
        }
        let documents = states.indices.map { states[$0].document() }
        for (first, second) in [(0, 1), (1, 0), (1, 2), (2, 0)] {
            let whole = StateDiff.differences(documents[first], documents[second])
            #expect(StateDiff.differences(states[first], states[second]) == whole)
        }
    }

    /// Both ends, the last event, and points between, in either order; in the long form each pair both ways.
    private func check(_ store: EventStore, _ profile: Profile, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var options = ReplayOptions()
        options.profile = profile
        try store.read { session in
            let head = session.head.rawValue
            var pairs: [(UInt64, UInt64)] = [(0, head), (max(head, 1) - 1, head)]
            for _ in 0..<(Self.isLong ? 4 : 1) {
                pairs.append((.random(in: 0...head, using: &random), .random(in: 0...head, using: &random)))
            }
            for pair in Self.isLong ? pairs + pairs.map({ ($1, $0) }) : pairs {
                let points = (SequenceNumber(pair.0), SequenceNumber(pair.1))
                let found = try Replay.differences(of: session, from: points.0, to: points.1, options: options)
                var states = try [points.0, points.1].map {
                    try Replay.logState(of: session, through: $0, options: options)
                }
                let whole = StateDiff.differences(states[0].document(), states[1].document())
                #expect(found == whole, "\(profile.rawValue), \(pair)")
                #expect(StateDiff.differences(states[0], states[1]) == whole, "\(profile.rawValue), \(pair)")
                // A state shows something else exactly where its digest is another one.
                #expect(profile != .canonical || found.isEmpty == (states[0].digest() == states[1].digest()))
            }
        }
    }
}
