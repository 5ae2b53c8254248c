import Clients
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// Two points are compared by the channels that the events between them name, with the same result as by the whole states,
/// and only if these events change nothing else.
@Suite struct ChannelDifferencesTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let rounds: UInt64 = isLong ? 200 : 1

    @Test(arguments: Scenario.all)
    func theyAreThoseOfTheWholeStates(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        try expectSame(try scenario.log(in: directory), stretches: [1, 7], places: 2, seed: 1, isBehind: true)
    }

    @Test(arguments: 1...rounds)
    func soTheyAreOfRandomEvents(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        try expectSame(
            try EventStream.log(parts: 3, in: directory, seed: seed),
            stretches: [1, 3, 20],
            seed: seed
        )
    }

    /// Channels of two sources, one of which goes on while the index is behind.
    @Test(arguments: 1...rounds)
    func soTheyAreOfRandomGatewayFrames(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        var count = 0
        try EventStream.log(
            of: "retrocast",
            parts: 4,
            in: directory,
            seed: seed,
            source: { "app\($0 % 2)" },
            mutatingBytes: { $0 == 3 }
        ) { store, part in
            count += try expectSame(store, stretches: [1, 2, 5, 12], places: 10, seed: seed, isBehind: part % 2 == 1)
        }
        #expect(count > 40, "the index serves")
    }

    /// Whether the events behind some frames can be compared by channel, given those before.
    @Test(arguments: Case.all)
    func theIndexServesWhereNothingElseChanges(given: Case) throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        let before = [Frame.ready, .message(1, in: 7, guild: 5), .message(2, in: 8), .typing(in: 7)] + given.before
        _ = try store.append(before.enumerated().map { try $1.draft($0) })
        _ = try store.append(given.after.enumerated().map { try $1.draft(100 + $0) })
        let points = (UInt64(before.count), UInt64(before.count + given.after.count))
        // Behind an index that is not stored, and with one that reaches the head.
        for channelEventsMin in [1000, 1] {
            let keeping = Self.keeping(channelEventsMin: channelEventsMin)
            #expect(try isServed(store, behind: points.0, through: points.1, keeping) == given.isServed)
        }
    }

    /// A channel with most of the events costs more than the kept state.
    @Test func aChannelThatIsTheLogIsNotFoldedAlone() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        _ = try store.append((1...100).map { try Frame.message($0, in: 7 + $0 / 100).draft($0) })
        var keeping = KeptStateOptions(build: "test")
        let served = try [100, 99].map { try isServed(store, behind: $0 - 1, through: $0, keeping) }
        #expect(served == [false, false], "the log is short")
        keeping.channelEventsMin = 1
        #expect(try isServed(store, behind: 98, through: 99, keeping), "no state is kept")
        (keeping.eventsMin, keeping.decodedPercentMax) = (1, nil)
        var options = ReplayOptions()
        (options.keeping, options.chunkEvents) = (keeping, 10)
        _ = try store.read { try Replay.logState(of: $0, options: options) }
        #expect(try isServed(store, behind: 99, through: 100, keeping))
        #expect(try !isServed(store, behind: 98, through: 99, keeping))
    }

    @Test func otherReadingsCompactedLogsAndDamagedIndexesAreComparedToo() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        _ = try store.append((1...40).map { try Frame.message($0, in: 7 + $0 % 3).draft($0) })
        var options = ReplayOptions()
        options.profile = .retrocastWeb
        #expect(try expectSame(store, stretches: [1, 5], seed: 1, options) == 0)
        options = ReplayOptions()
        options.without = [SequenceNumber(3)]
        #expect(try expectSame(store, stretches: [1, 5], seed: 1, options) == 0)
        options = ReplayOptions()
        options.sources = [try SourceName("app")]
        #expect(try expectSame(store, stretches: [1, 5], seed: 1, options) == 0)
        #expect(try expectSame(store, stretches: [1, 5], seed: 1) > 0)
        let table = try store.derivedStore().table(ChannelIndex.name, version: KeptStateOptions.tableVersion("test"))
        var entries: [(key: [UInt8], value: [UInt8])] = []
        try table.forEach(from: Array("j".utf8), to: Array("k".utf8)) { key, value in
            entries.append((Array(key), Array(value)))
            return true
        }
        #expect(entries.count >= 3)
        for entry in entries {
            try table.put([(entry.key, [3] + Array(repeating: 0xFF, count: 20))])
            try expectSame(store, stretches: [1, 5], seed: 2)
        }
        _ = try Compaction.run(
            store,
            policy: RetentionPolicy(messagesPerChannel: 2),
            now: Timestamp(seconds: 1_800_000_000)
        )
        _ = try store.append((41...50).map { try Frame.message($0, in: 7 + $0 % 3).draft($0) })
        try expectSame(store, stretches: [1, 5], seed: 3)
        let head = try store.read { $0.head.rawValue }
        #expect(try !isServed(store, behind: head - 1, through: head, Self.keeping(channelEventsMin: 1)))
    }

    /// Without its blocks, a channel looks like one that no event named.
    @Test func anIndexThatIsRemovedMeanwhileIsNotUsed() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        _ = try store.append((1...10).map { try Frame.message($0, in: 7).draft($0) })
        var options = ReplayOptions()
        options.keeping = Self.keeping(channelEventsMin: 1)
        try store.read { session in
            let points = (earlier: SequenceNumber(8), later: SequenceNumber(10))
            let channels = try TouchedChannels(session, after: points.earlier, through: points.later)
            let name = EntityReference(kind: .channel, parts: ["7"])
            for isRemoved in [false, true] {
                guard var replay = try Replay.index(of: session, through: points.later, options, nil), let channels
                else {
                    Issue.record("there is no index")
                    return
                }
                if isRemoved {
                    var other = ChannelIndex(session, build: "test")
                    other?.discard()
                }
                let states = try replay.states(of: channels, points, entriesMax: .max, session)
                #expect((states == nil) == isRemoved)
                let found = try replay.channels(named: name, through: points.later, session)
                #expect((found == nil) == isRemoved)
            }
        }
    }

    // MARK: - Comparing

    /// Compares stretches of some lengths at some places, both ways. Returns how often the index served.
    @discardableResult
    private func expectSame(
        _ store: EventStore,
        stretches: [UInt64],
        places: Int = 3,
        seed: UInt64,
        _ given: ReplayOptions = ReplayOptions(),
        isBehind: Bool = false
    ) throws -> Int {
        var options = given
        options.keeping = Self.keeping(channelEventsMin: isBehind ? 1000 : 1)
        var random = SeededGenerator(seed: seed)
        return try store.read { session in
            let (first, head) = (session.decidedAt.rawValue, session.head.rawValue)
            var count = 0
            for length in stretches where first + length <= head {
                for _ in 0..<(Self.isLong ? 20 * places : places) {
                    let start = UInt64.random(in: first...head - length, using: &random)
                    let points = (earlier: SequenceNumber(start), later: SequenceNumber(start + length))
                    let isServed = try Replay.channelStates(of: session, points, options, nil) != nil
                    count += isServed ? 1 : 0
                    for (a, b) in [points, (points.later, points.earlier)] {
                        // `DifferencesTests` compares these with whole documents.
                        let whole = try Replay.differences(of: session, from: a, to: b, options: given)
                        let found = try Replay.differences(of: session, from: a, to: b, options: options)
                        #expect(found == whole, "\(a) to \(b), by channel: \(isServed)")
                        let texts = [found, whole].map { StateDiff.document($0).canonicalText }
                        #expect(texts[0] == texts[1], "\(a) to \(b), by channel: \(isServed)")
                    }
                }
            }
            return count
        }
    }

    /// Whether the index serves for two points, with the same result as the whole states.
    private func isServed(
        _ store: EventStore,
        behind earlier: UInt64,
        through later: UInt64,
        _ keeping: KeptStateOptions
    ) throws -> Bool {
        var options = ReplayOptions()
        options.keeping = keeping
        let points = (earlier: SequenceNumber(earlier), later: SequenceNumber(later))
        return try store.read { session in
            let whole = try Replay.differences(of: session, from: points.earlier, to: points.later)
            let found = try Replay.differences(of: session, from: points.earlier, to: points.later, options: options)
            #expect(found == whole)
            return try Replay.channelStates(of: session, points, options, nil) != nil
        }
    }

    /// Options under which the index serves wherever it can.
    private static func keeping(channelEventsMin: Int) -> KeptStateOptions {
        var keeping = KeptStateOptions(build: "test")
        keeping.channelEventsMin = channelEventsMin
        keeping.weighsChannels = false
        return keeping
    }
}

// MARK: - Frames

extension ChannelDifferencesTests {
    /// What happened before and between two points, and whether the index serves for them.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let isServed: Bool
        var before: [Frame] = []
        let after: [Frame]

        static let all = served + unserved

        private static let served = [
            Case("nothing", true, []),
            Case("a message", true, [.message(3, in: 7, guild: 5)]),
            Case("messages of several channels", true, [.message(3, in: 8), .message(4, in: 7), .message(5, in: 70)]),
            Case("a message of a new channel in a guild of READY", true, [.message(3, in: 70, guild: 5)]),
            Case("an edit", true, [.message(1, in: 7, guild: 5, content: "b", editedAt: "2026-03-01T12:00:00Z")]),
            Case("a deletion", true, [.deleted(1, in: 7)]),
            Case("a message that is created and deleted", true, [.message(3, in: 7), .deleted(3, in: 7)]),
            Case("a reaction", true, [.reaction(1, in: 7)]),
            Case("typing", true, [.typing(in: 8)]),
            Case("a repeat", true, [.message(2, in: 8, s: 13)], before: [.message(2, in: 8, s: 13)]),
            Case("a channel's name", true, [.channel(7, guild: 5, name: "tea")]),
            Case("a channel's end", true, [.channelEnd(7)]),
            Case("the end of a channel that nobody knew", true, [.channelEnd(9)]),
            Case("control frames", true, [.raw(#"{"op":11}"#), .raw(#"{"op":1,"d":3}"#), .sent(#"{"op":1,"d":3}"#)]),
            Case("a recorder's note", true, [.other("recorder.http/1", #"{}"#)]),
        ]

        private static let unserved = [
            Case("a message that names a guild", false, [.message(3, in: 8, guild: 6)]),
            Case("a message in a guild stated before", false, [.message(3, in: 8, guild: 6)], before: [.guild(6)]),
            Case("a guild", false, [.guild(5)]),
            Case("the end of a guild", false, [.dispatch("GUILD_DELETE", #""id":"5""#)]),
            Case("READY", false, [.ready]),
            Case("a presence", false, [.dispatch("PRESENCE_UPDATE", #""user_id":"1","status":"online""#)]),
            Case("a repeated presence", false, [.presence(s: 14)], before: [.presence(s: 14)]),
            Case("a member", false, [.dispatch("GUILD_MEMBER_UPDATE", #""guild_id":"5","user_id":"1","roles":[]"#)]),
            Case("a voice state", false, [.voice(in: 7)]),
            Case("the end of a channel in which somebody speaks", false, [.channelEnd(7)], before: [.voice(in: 7)]),
            Case("a frame that does not decode", false, [.message(3, in: 7), .raw("{")]),
            Case("an unknown dispatch", false, [.dispatch("TEA", "")]),
            Case("an unknown kind", false, [.other("tea/1", "{}")]),
            Case("a gap", false, [.other("recorder.gap/1", "{}")]),
            Case("an answer", false, [.other("gateway.rest/1", "[]")]),
            Case("a status file", false, [.other("status.file/1", "{}")]),
            Case("a source that is not divided", false, [.message(3, in: 7)], before: [.other("status.file/1", "{}")]),
        ]

        init(_ testDescription: String, _ isServed: Bool, _ after: [Frame], before: [Frame] = []) {
            (self.testDescription, self.isServed, self.before, self.after) = (testDescription, isServed, before, after)
        }
    }

    /// One event of a source.
    struct Frame: Sendable {
        private let kind: String
        private let direction: String
        private let payload: @Sendable (Int) -> String

        /// - Parameter s: the frame's number; by default its place in the log.
        static func dispatch(_ name: String, _ members: String, s: Int? = nil) -> Frame {
            Frame(kind: "gateway.frame/1", direction: "in") {
                #"{"op":0,"t":"\#(name)","s":\#(s ?? $0 + 20),"d":{\#(members)}}"#
            }
        }

        static func raw(_ text: String) -> Frame { Frame(kind: "gateway.frame/1", direction: "in") { _ in text } }
        static func sent(_ text: String) -> Frame { Frame(kind: "gateway.frame/1", direction: "out") { _ in text } }
        static func other(_ kind: String, _ text: String) -> Frame { Frame(kind: kind, direction: "in") { _ in text } }

        static let ready = dispatch("READY", #""user_id":"1","guilds":["5"],"read_states":[]"#)

        static func message(
            _ id: Int,
            in channel: Int,
            guild: Int? = nil,
            content: String = "a",
            editedAt: String? = nil,
            s: Int? = nil
        ) -> Frame {
            var members = #""id":"\#(id)","channel_id":"\#(channel)","author_id":"1","content":"\#(content)""#
            members += #","created_at":"2026-03-01T11:00:00Z""#
            if let guild { members += #","guild_id":"\#(guild)""# }
            if let editedAt { members += #","edited_at":"\#(editedAt)""# }
            return dispatch(editedAt == nil ? "MESSAGE_CREATE" : "MESSAGE_UPDATE", members, s: s)
        }

        static func deleted(_ id: Int, in channel: Int) -> Frame {
            dispatch("MESSAGE_DELETE", #""id":"\#(id)","channel_id":"\#(channel)""#)
        }

        static func reaction(_ id: Int, in channel: Int) -> Frame {
            let ids = #""message_id":"\#(id)","channel_id":"\#(channel)","user_id":"2""#
            return dispatch("MESSAGE_REACTION_ADD", ids + #","emoji":"👍""#)
        }

        static func typing(in channel: Int) -> Frame {
            dispatch("TYPING_START", #""channel_id":"\#(channel)","user_id":"2""#)
        }

        static func channel(_ id: Int, guild: Int, name: String) -> Frame {
            let ids = #""id":"\#(id)","guild_id":"\#(guild)""#
            return dispatch("CHANNEL_UPDATE", ids + #","name":"\#(name)","type":0,"position":1"#)
        }

        static func channelEnd(_ id: Int) -> Frame { dispatch("CHANNEL_DELETE", #""id":"\#(id)","guild_id":"5""#) }

        static func guild(_ id: Int) -> Frame {
            dispatch("GUILD_UPDATE", #""id":"\#(id)","name":"Tea House","owner_id":"1""#)
        }

        static func presence(s: Int) -> Frame {
            dispatch("PRESENCE_UPDATE", #""user_id":"1","status":"online""#, s: s)
        }

        static func voice(in channel: Int) -> Frame {
            dispatch("VOICE_STATE_UPDATE", #""guild_id":"5","user_id":"2","channel_id":"\#(channel)""#)
        }

        func draft(_ number: Int) throws -> DraftEvent {
            var attributes: Attributes = ["dir": direction]
            if kind == "gateway.rest/1" { attributes = ["path": "/channels/7/messages", "status": "200"] }
            return DraftEvent(
                recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
                source: try SourceName("app"),
                kind: try EventKind(kind),
                attributes: attributes,
                payload: Array(payload(number).utf8)
            )
        }
    }
}
