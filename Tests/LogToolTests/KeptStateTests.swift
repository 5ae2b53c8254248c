import Clients
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// A replay that begins from a kept state gives what one from the first event gives.
@Suite struct KeptStateTests {
    private let directory: TemporaryDirectory
    private let store: EventStore

    init() throws {
        directory = try TemporaryDirectory()
        let lists = try EventStream.whole(of: Scenario.all, in: directory)
        store = try EventStore.openOrCreate(at: directory.path("L"))
        for seed in 1...5 as ClosedRange<UInt64> {
            let stream = EventStream(of: lists, seed: seed, mutatingBytes: true)
            _ = try store.append(stream.events.map { $0.renamed(source: "app\(seed % 3)").draft })
        }
    }

    @Test(arguments: [Profile.canonical, .retrocastWeb, .retrocastIOS])
    func everyPointIsTheSameWithAndWithoutKeptStates(profile: Profile) throws {
        let head = try store.read { $0.head.rawValue }
        var (options, plain) = (options, ReplayOptions())
        (options.profile, plain.profile) = (profile, profile)
        _ = try state(at: head, options)
        let states = KeptStates(rules: profile.rules, build: "test")
        let kept = try store.read { states.sequences(in: $0) }
        #expect(kept.count > 1)
        for point in stride(from: 1, through: head, by: 3) {
            let (found, expected) = try (state(at: point, options), state(at: point, plain))
            #expect(found.normalFormHash == expected.normalFormHash, "at \(point)")
        }
        // One that cannot be used would have been removed.
        #expect(try store.read { Set(kept).isSubset(of: states.sequences(in: $0)) })
    }

    @Test func fromAKnownStateEveryPointIsTheSame() throws {
        let head = try store.read { $0.head.rawValue }
        let begin = try state(at: 0)
        let whole = try state(at: head, from: begin, options)
        #expect(try whole.normalFormHash == state(at: head).normalFormHash)
        #expect(try sequences.count > 1, "the way from the start leaves kept states behind")
        for place in stride(from: 0, through: head, by: 9) {
            let known = try state(at: place)
            for point in stride(from: 1, through: head, by: 41) {
                let found = try state(at: point, from: known, options)
                #expect(try found.normalFormHash == state(at: point).normalFormHash, "at \(point) from \(place)")
            }
        }
    }

    /// A state that says nothing shows whether it was begun from.
    @Test func theNearerOfAKnownAndAKeptStateIsBegunFrom() throws {
        let head = try store.read { $0.head.rawValue }
        let expected = try state(at: head, options).normalFormHash
        var known = try state(at: 0)
        known.sequence = SequenceNumber(head / 2)
        #expect(try state(at: head, from: known, options).normalFormHash == expected)
        #expect(try state(at: head, from: known, ReplayOptions()).normalFormHash != expected, "without kept states")
        known.sequence = SequenceNumber(head - 1)
        #expect(try state(at: head, from: known, options).normalFormHash != expected)
        #expect(try state(at: head - 2, from: known, options).normalFormHash == state(at: head - 2).normalFormHash)
    }

    @Test func aSourceOrLeftOutEventsAreTheSameToo() throws {
        let head = try store.read { $0.head.rawValue }
        _ = try state(at: head, options)
        var some = options
        some.sources = [try SourceName("app1")]
        var plain = ReplayOptions()
        plain.sources = some.sources
        #expect(try state(at: head, some).normalFormHash == state(at: head, plain).normalFormHash)
        for left in stride(from: 1, through: head, by: 7) {
            var some = options
            some.without = [SequenceNumber(left)]
            var plain = ReplayOptions()
            plain.without = some.without
            #expect(
                try state(at: head, some).normalFormHash == state(at: head, plain).normalFormHash,
                "without \(left)"
            )
        }
    }

    /// Also where the table itself finds nothing wrong with a value.
    @Test(arguments: [1, 2, 3])
    func whatIsAlteredIsPassedOverAndRemoved(every step: Int) throws {
        let head = try store.read { $0.head.rawValue }
        let expected = try state(at: head).normalFormHash
        _ = try state(at: head, options)
        let table = try table
        let kept = try sequences
        #expect(kept.count > 5)
        var alteredPieces: [SequenceNumber] = []
        for (index, sequence) in kept.enumerated() where index % step == 0 {
            let pieces = try pieces(of: sequence)
            let key = index % 4 == 0 ? states.headKey(sequence) : pieces[index % pieces.count]
            var bytes = try #require(try table.value(at: key))
            bytes[bytes.count / 2] ^= 1
            try table.put([(key, Array(bytes.dropLast(index % 3)))])
            if index % 4 != 0 { alteredPieces.append(sequence) }
        }
        #expect(!alteredPieces.isEmpty)
        try store.read { session in
            for sequence in alteredPieces { #expect(states.state(at: sequence, in: session) == nil, "\(sequence)") }
        }
        #expect(try state(at: head, options).normalFormHash == expected)
        #expect(try state(at: head, options).normalFormHash == expected)
        let newest = try #require(try sequences.last)
        #expect(try store.read { states.state(at: newest, in: $0) } != nil)
    }

    @Test func aStateGoesWithTheOneThatItIsBasedOn() throws {
        let head = try store.read { $0.head.rawValue }
        let expected = try state(at: head).normalFormHash
        _ = try state(at: head, options)
        let kept = try sequences
        let lost = kept[kept.count / 2]
        try store.read { states.remove(lost, in: $0) }
        try store.read { session in
            for sequence in kept {
                let isThere = states.state(at: sequence, in: session) != nil
                #expect(isThere == (sequence < lost), "\(sequence)")
            }
        }
        #expect(try state(at: head, options).normalFormHash == expected)
        try store.read { session in
            for sequence in states.sequences(in: session) {
                #expect(states.state(at: sequence, in: session) != nil, "\(sequence)")
            }
        }
    }

    /// The pieces of two savings of one sequence that are based on different states must not be taken for one.
    @Test func piecesOfAnotherSavingAreTold() throws {
        let head = try store.read { $0.head.rawValue }
        let expected = try state(at: head).normalFormHash
        _ = try state(at: head, options)
        let kept = try sequences
        let (table, last) = (try table, try #require(kept.last))
        let other = try pieces(of: kept[kept.count - 2])
        for (key, from) in zip(try pieces(of: last), other) {
            try table.put([(key, try #require(try table.value(at: from)))])
        }
        #expect(try store.read { states.state(at: last, in: $0) } == nil)
        #expect(try state(at: head, options).normalFormHash == expected)
    }

    @Test func whatAnotherBuildKeptIsRemoved() throws {
        let head = try store.read { $0.head.rawValue }
        let expected = try state(at: head).normalFormHash
        _ = try state(at: head, options)
        #expect(try sequences.count > 1)
        _ = try store.derivedStore().table(KeptStates.name, version: 0xDEAD)
        #expect(try sequences.isEmpty, "another version of the table takes its place")
        for _ in 0..<2 { #expect(try state(at: head, options).normalFormHash == expected) }
        var other = options
        other.keeping?.build = "another build"
        #expect(try state(at: head, other).normalFormHash == expected)
        #expect(try sequences.isEmpty)
    }

    @Test func theyGoWithTheirGeneration() throws {
        let head = try store.read { $0.head.rawValue }
        _ = try state(at: head, options)
        let policy = RetentionPolicy(messagesPerChannel: 1)
        _ = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_800_000_000))
        #expect(try sequences.isEmpty)
        let expected = try state(at: head + 1).normalFormHash
        for _ in 0..<2 { #expect(try state(at: head + 1, options).normalFormHash == expected) }
    }

    private var options: ReplayOptions {
        var options = ReplayOptions()
        options.keeping = KeptStateOptions(build: "test")
        options.keeping?.eventsMin = 5
        options.keeping?.bytesFactors = (0, 0)
        options.keeping?.decodedPercentMax = nil
        options.chunkEvents = 5
        return options
    }

    private let states = KeptStates(rules: .canonical, build: "test")

    private var table: DerivedTable {
        get throws { try store.derivedStore().table(KeptStates.name, version: KeptStateOptions.tableVersion("test")) }
    }

    private var sequences: [SequenceNumber] {
        get throws { try store.read { states.sequences(in: $0) } }
    }

    private func pieces(of sequence: SequenceNumber) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        try table.forEach(from: states.pieceKey(sequence, 0), to: states.pieceKey(sequence.next, 0)) { key, _ in
            keys.append(Array(key))
            return true
        }
        return keys
    }

    private func state(at point: UInt64, _ options: ReplayOptions = ReplayOptions()) throws -> LogState {
        try store.read { try Replay.logState(of: $0, through: SequenceNumber(point), options: options) }
    }

    private func state(at point: UInt64, from known: LogState, _ options: ReplayOptions) throws -> LogState {
        try store.read { try Replay.logState(of: $0, through: SequenceNumber(point), from: known, options: options) }
    }
}
