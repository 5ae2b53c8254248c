import Clients
import EventLog
import TestSupport
import Testing

@testable import Projections

/// The summary of a state is that of the state, kept or not.
@Suite struct StateSummaryTests {
    @Test(arguments: Scenario.all)
    func aSummaryIsThatOfTheState(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        try store.read { session in
            var state = try Replay.logState(of: session, options: Self.options(keeps: false))
            let document = state.document()
            for keeps in [false, true, true] {
                let summary = try Replay.summary(of: session, options: Self.options(keeps: keeps))
                for section in Section.allCases {
                    #expect(summary[section] == document[section.rawValue]?.array?.count, "\(section)")
                }
            }
            #expect(KeptSummary(session, build: "test")?.sequence == session.head)
        }
        #expect(try DerivedCheck.run(on: store, build: "test").damage == nil)
    }

    @Test func aKeptSummaryServesItsOwnStateAlone() throws {
        let directory = try TemporaryDirectory()
        let store = try Scenario.all[0].log(in: directory)
        let before = try store.read { try Replay.summary(of: $0, options: Self.options(keeps: true)) }
        _ = try store.append([
            DraftEvent(
                recordedAt: Timestamp(seconds: 4_000_000_000),
                source: try SourceName("another"),
                kind: try EventKind("gateway.frame/1"),
                payload: Array("no frame".utf8)
            )
        ])
        let after = try store.read { try Replay.summary(of: $0, options: Self.options(keeps: true)) }
        #expect(after[.issues] == before[.issues] + 1)
    }

    @Test func aForgedSummaryIsFound() throws {
        let directory = try TemporaryDirectory()
        let store = try Scenario.all[0].log(in: directory)
        try store.read { session in
            let actual = try Replay.summary(of: session)
            let forged = StateSummary(LogState())
            #expect(forged != actual)
            var options = KeptStateOptions(build: "test")
            options.eventsMin = 0
            try KeptSummary.keep(forged, in: session, options)
        }
        let damage = try #require(try DerivedCheck.run(on: store, build: "test").damage)
        #expect(damage.contains("summary"))
        let found = try store.read { try Replay.summary(of: $0, options: Self.options(keeps: true)) }
        #expect(try found == store.read { try Replay.summary(of: $0) }, "the check has removed it")
    }

    @Test(arguments: Scenario.all)
    func aKeptDigestIsThatOfItsStateAlone(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        let options = Self.options(keeps: true)
        try store.read { session in
            var state = try Replay.logState(of: session, options: options)
            try Replay.keepDigest(of: &state, in: session, options: options)
            #expect(KeptDigest(session, build: "test")?.sequence == session.head)
            var again = try Replay.logState(of: session, options: options)
            #expect(again.digest() == state.digest())
        }
        #expect(try DerivedCheck.run(on: store, build: "test").damage == nil)
        let event = DraftEvent(
            recordedAt: Timestamp(seconds: 4_000_000_000),
            source: try SourceName("another"),
            kind: try EventKind("gateway.frame/1"),
            payload: Array("no frame".utf8)
        )
        let head = try store.read { $0.head }
        _ = try store.append([event])
        try store.read { session in
            var fresh = try Replay.logState(of: session)
            var grown = try Replay.logState(of: session, options: options)
            #expect(grown.digest() == fresh.digest(), "the digest is kept of an earlier state")
            // From the state with the kept digest on.
            var taken = try Replay.logState(of: session, through: head, options: options)
            let before = taken.digest()
            while try Replay.follow(&taken, over: session, options: options) != nil {}
            #expect(taken.digest() == fresh.digest() && before != fresh.digest())
        }
    }

    @Test func aForgedDigestIsFound() throws {
        let directory = try TemporaryDirectory()
        let store = try Scenario.all[0].log(in: directory)
        try store.read { session in
            var state = LogState()
            var options = KeptStateOptions(build: "test")
            options.eventsMin = 0
            try KeptDigest.keep(state.digest(), in: session, options)
        }
        let damage = try #require(try DerivedCheck.run(on: store, build: "test").damage)
        #expect(damage.contains("digest"))
        #expect(try store.read { KeptDigest($0, build: "test") } == nil, "the check has removed it")
    }

    @Test(arguments: Scenario.all)
    func keptCountsAreThoseOfTheStates(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        for profile in scenario.profiles {
            try store.read { session in
                var reading = ReplayOptions()
                reading.profile = profile
                let canonical = try Replay.logState(of: session)
                let own = try Replay.logState(of: session, options: reading)
                let expected = Dictionary(
                    Set(StateDiff.differences(canonical, own).map(\.entity)).map { ($0.kind, 1) },
                    uniquingKeysWith: +
                )
                var made = 0
                let before = SequenceNumber(session.head.rawValue - 1)
                // The second ones are those that the first has kept; they are those of the head alone.
                for (last, expectedMade) in [(session.head, 1), (session.head, 1), (before, 2)] {
                    let counts = Replay.differenceCounts(
                        of: profile.rules,
                        through: last,
                        in: session,
                        options: Self.options(keeps: true)
                    ) {
                        made += 1
                        return (canonical, own)
                    }
                    #expect(counts == expected)
                    #expect(made == expectedMade)
                }
            }
        }
        #expect(try DerivedCheck.run(on: store, build: "test", client: RuleClient.self).damage == nil)
    }

    @Test func forgedCountsAreFound() throws {
        let directory = try TemporaryDirectory()
        let store = try Scenario.all[0].log(in: directory)
        let rules = Profile.retrocastWeb.rules
        try store.read { session in
            var options = KeptStateOptions(build: "test")
            options.eventsMin = 0
            try KeptCounts.keep([.guild: 1_000], of: rules, in: session, options)
        }
        let damage = try #require(try DerivedCheck.run(on: store, build: "test", client: RuleClient.self).damage)
        #expect(damage.contains("counts"))
        #expect(try store.read { KeptCounts($0, of: rules, build: "test") } == nil, "the check has removed it")
    }

    /// The kept digest saves hashing the rows that go; what a compaction leaves is hashed and proved in any case.
    @Test(arguments: Scenario.all)
    func aCompactionTakesTheDigestOfTheStateBefore(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        let options = Self.options(keeps: true)
        func compacted(_ keeping: KeptStateOptions?) throws -> CompactionSummary {
            try Compaction.run(
                store,
                policy: RetentionPolicy(messagesPerChannel: 1),
                now: Timestamp(seconds: 4_000_000_000),
                isDryRun: true,
                keeping: keeping
            )
        }
        func outcome(_ summary: CompactionSummary) -> [String] {
            ["\(summary.digest)", "\(summary.counts)", "\(summary.events)", "\(summary.channels)"]
        }
        let plain = try compacted(nil)
        #expect(try compacted(options.keeping).digestBefore == plain.digestBefore, "none is kept")
        try store.read { session in
            var state = try Replay.logState(of: session, options: options)
            try Replay.keepDigest(of: &state, in: session, options: options)
        }
        let quick = try compacted(options.keeping)
        #expect(quick.digestBefore == plain.digestBefore && outcome(quick) == outcome(plain))
        try store.read { try KeptDigest.keep(StateDigest.noRows, in: $0, #require(options.keeping)) }
        let forged = try compacted(options.keeping)
        #expect(forged.digestBefore == StateDigest.noRows, "otherwise the kept one is not used")
        #expect(plain.events.before == plain.events.after || outcome(forged) == outcome(plain))
    }

    private static func options(keeps: Bool) -> ReplayOptions {
        var options = ReplayOptions()
        options.retained = true
        guard keeps else { return options }
        options.keeping = KeptStateOptions(build: "test")
        options.keeping?.eventsMin = 0
        return options
    }
}
