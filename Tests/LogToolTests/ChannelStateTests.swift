import Clients
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// The state of one channel is what the whole state says of it, whichever way it is found.
@Suite struct ChannelStateTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let rounds: UInt64 = isLong ? 200 : 1

    @Test(arguments: Scenario.all)
    func everyChannelOfAScenarioIsThatOfTheWholeState(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        try expectSame(try scenario.log(in: directory), points: Self.isLong ? 50 : 3)
    }

    @Test(arguments: 1...rounds)
    func everyChannelOfARandomStreamIsThatOfTheWholeState(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        try EventStream.log(
            parts: 3,
            in: directory,
            seed: seed,
            whenGrown: { store, _ in try expectSame(store, points: 3) }
        )
    }

    @Test(arguments: 1...rounds)
    func everyChannelOfRandomGatewayFramesIsThatOfTheWholeState(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let store = try Self.gatewayLog(in: directory, seed: seed, parts: 6)
        let foundCount = try expectSame(store, points: 12)
        let hasStrays = try store.read { ChannelIndex($0, build: "test")?.head?.sources.contains { $0.hasStrays } }
        #expect(foundCount > 20 || hasStrays == true, "messages are found by parts of their names")
        #expect(try index(of: store) == (try store.read { $0.head }), "it is answered from the index")
    }

    /// An id that is named with two channels is one message, so no channel can be folded alone any more.
    @Test(arguments: 1...rounds)
    func anIDThatIsNamedWithTwoChannelsIsAnsweredFromTheWholeState(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        var random = SeededGenerator(seed: seed)
        for part in 0..<4 {
            _ = try store.append(
                try (0..<40).map { number in
                    // Only the third part names known ids with another channel.
                    let (id, channel) = part == 2 ? (number, 8 + number % 3) : (part * 40 + number, 7 + number % 2)
                    let isGone = Int.random(in: 0...3, using: &random) == 0
                    let frame = Self.message(channel: channel, s: 3 + id, content: "\(part)")
                    return try Self.draft(isGone ? frame.replacing("MESSAGE_CREATE", with: "MESSAGE_DELETE") : frame)
                }
            )
            try expectSame(store, points: 6)
        }
    }

    @Test(.enabled(if: isLong, "it folds 140,000 frames: EVENTLOG_LONG_TESTS=1"))
    func aRepeatThatWasForgottenCounts() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        let first = Self.message(channel: 7, s: 1, content: "first")
        let second = Self.message(channel: 7, s: 2, content: "second")
        let others = (3..<140_000).map { Self.message(channel: 8, s: $0, content: "other") }
        let frames = [first, second] + others + [first]
        for start in stride(from: 0, to: frames.count, by: 10_000) {
            let part = frames[start..<min(start + 10_000, frames.count)]
            _ = try store.append(try part.map { try Self.draft($0) })
        }
        try expectSame(store, points: 1)
    }

    @Test func whatIsNoIndexIsAsGoodAsNone() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.gatewayLog(in: directory, seed: 9, parts: 3)
        try expectSame(store, points: 1)
        let table = try store.derivedStore().table(ChannelIndex.name, version: KeptStateOptions.tableVersion("test"))
        var entries: [(key: [UInt8], value: [UInt8])] = []
        try table.forEach { key, value in
            entries.append((Array(key), Array(value)))
            return true
        }
        #expect(entries.count > 4)
        for (number, entry) in entries.enumerated() {
            try table.put([(entry.key, [UInt8(number % 4)] + Array(repeating: 0xFF, count: 20))])
            try expectSame(store, points: 1)
            try table.put(entries)
        }
        try table.removeAll()
        try expectSame(store, points: 1)
        #expect(try index(of: store) == (try store.read { $0.head }), "it is made anew")
    }

    /// Two channels have a message of one id, each named by another scan. A block that is damaged on the disk must not make
    /// the other channel's message the only one.
    @Test func aDamagedBlockOfMentionsHidesNoMessage() throws {
        let directory = try TemporaryDirectory()
        let id = EntityReference(kind: .message, parts: ["5"])
        var options = ReplayOptions()
        options.keeping = KeptStateOptions(build: "test")
        options.keeping?.channelEventsMin = 1
        let find = { (store: EventStore) in
            try store.read { try Replay.indexedMessage(id, of: $0, options: options)?.reference.parts }
        }
        var keys: [[UInt8]] = []
        do {
            let store = try EventStore.openOrCreate(at: directory.path("L"))
            _ = try store.append([try Self.draft(Self.message(channel: 7, s: 1, content: "first"))])
            #expect(try find(store) == ["app", "7", "5"])
            _ = try store.append([try Self.draft(Self.message(channel: 8, s: 2, content: "second"))])
            #expect(try find(store) == nil, "two messages fit")
            let table = try store.derivedStore().table(
                ChannelIndex.name,
                version: KeptStateOptions.tableVersion("test")
            )
            try table.forEach(from: Array("m".utf8), to: Array("n".utf8)) { key, _ in
                keys.append(Array(key))
                return true
            }
        }
        try #require(keys.count == 2)
        try Self.damage(valueBehind: keys[0], in: directory)
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        #expect(try find(store) == nil, "two messages still fit")
        try expectSame(store, points: 1)
    }

    /// Alters the first byte behind each occurrence of a key in the files of derived data.
    private static func damage(valueBehind key: [UInt8], in directory: TemporaryDirectory) throws {
        var count = 0
        let log = directory.path("L")
        for name in try FileManager.default.contentsOfDirectory(atPath: log) where name.hasPrefix("cache-") {
            let file = URL(fileURLWithPath: "\(log)/\(name)/data.mdb")
            var data = try Data(contentsOf: file)
            var rest = data.startIndex..<data.endIndex
            while let found = data.range(of: Data(key), in: rest) {
                data[found.upperBound] ^= 0x55
                count += 1
                rest = found.upperBound..<data.endIndex
            }
            let handle = try FileHandle(forWritingTo: file)
            try handle.write(contentsOf: data)
            try handle.close()
        }
        #expect(count > 0)
    }

    @Test func ofTwoThatStoreTheSameOneIsToldSo() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.gatewayLog(in: directory, seed: 10, parts: 2)
        try store.read { session in
            guard var first = ChannelIndex(session, build: "test"), var second = ChannelIndex(session, build: "test"),
                var scan = first.scan()
            else {
                Issue.record("there is no index")
                return
            }
            try scan.look(at: session, through: session.head)
            let stored = (try first.store(scan, in: session), try second.store(scan, in: session))
            #expect(stored.0)
            #expect(!stored.1)
        }
        try expectSame(store, points: 2)
    }

    @Test func aCompactedLogAnswersFromTheWholeState() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.gatewayLog(in: directory, seed: 12, parts: 3)
        try expectSame(store, points: 1)
        let policy = RetentionPolicy(messagesPerChannel: 2)
        _ = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_800_000_000))
        try expectSame(store, points: 1)
    }

    @Test func otherReadingsAndLeftOutEventsAreAnsweredToo() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.gatewayLog(in: directory, seed: 13, parts: 3)
        var options = ReplayOptions()
        options.profile = .retrocastWeb
        try expectSame(store, points: 2, options)
        options = ReplayOptions()
        options.without = [SequenceNumber(3), SequenceNumber(4)]
        try expectSame(store, points: 2, options)
    }

    private static func gatewayLog(in directory: TemporaryDirectory, seed: UInt64, parts: UInt64) throws -> EventStore {
        try EventStream.log(
            of: "retrocast",
            parts: parts,
            in: directory,
            seed: seed,
            source: { _ in "app" },
            mutatingBytes: { $0 % 3 == 2 }
        )
    }

    private static func message(channel: Int, s: Int, content: String) -> String {
        let ids = #""id":"\#(s < 3 ? 5 : s)","channel_id":"\#(channel)","author_id":"1""#
        let data = #"{\#(ids),"content":"\#(content)","created_at":"2026-03-01T11:00:00Z"}"#
        return #"{"op":0,"t":"MESSAGE_CREATE","s":\#(s),"d":\#(data)}"#
    }

    private static func draft(_ frame: String) throws -> DraftEvent {
        DraftEvent(
            recordedAt: Timestamp(seconds: 1_770_000_000),
            source: try SourceName("app"),
            kind: try EventKind("gateway.frame/1"),
            attributes: ["dir": "in"],
            payload: Array(frame.utf8)
        )
    }

    /// How far the index reaches.
    private func index(of store: EventStore) throws -> SequenceNumber? {
        try store.read { ChannelIndex($0, build: "test")?.head.map { SequenceNumber($0.sequence) } }
    }

    /// Compares every channel at some points, the index growing up to each.
    @discardableResult
    private func expectSame(
        _ store: EventStore,
        points: UInt64,
        _ given: ReplayOptions = ReplayOptions()
    ) throws -> Int {
        var options = given
        options.keeping = KeptStateOptions(build: "test")
        options.keeping?.channelEventsMin = 1
        let head = try store.read { $0.head }
        for number in 1...points {
            let point = SequenceNumber(head.rawValue * number / points)
            var whole = try store.read { try Replay.logState(of: $0, through: point, options: given) }
            let document = whole.document()
            for name in Self.channels(of: document) {
                let reference = EntityReference(kind: .channel, parts: [name.source, name.id])
                let states = try store.read {
                    try Replay.channels(named: reference, of: $0, through: point, options: options)
                }
                let expected = Self.rows(of: name, in: document)
                #expect(states.map(\.reference) == [reference])
                let shown = try #require(states.first)
                #expect(Self.arrays(of: shown.document()) == expected, "\(reference) at \(point)")
                #expect(shown.document()["asOf"] == document["asOf"])
                let lines = try JSONValue.parse(Self.lines(of: shown))
                #expect(Self.arrays(of: lines) == expected, "\(reference) at \(point), as lines")
            }
        }
        let count = try expectSameHistories(store, options, given)
        let nobody = EntityReference(kind: .channel, parts: ["nobody"])
        #expect(try store.read { try Replay.channels(named: nobody, of: $0, options: options) }.isEmpty)
        return count
    }

    /// The history of each message by the index, where that serves, and the events that touched it are those of the whole
    /// state, by whichever of its names it is asked for. Returns how often the index served.
    private func expectSameHistories(
        _ store: EventStore,
        _ options: ReplayOptions,
        _ given: ReplayOptions
    ) throws -> Int {
        try store.read { session in
            var count = 0
            var touches: [EntityReference: Set<SequenceNumber>] = [:]
            let whole = try Replay.logState(
                of: session,
                options: given,
                observe: { event, state in
                    for thing in state.touched(by: event) { touches[thing, default: []].insert(event.sequence) }
                    return true
                }
            )
            try whole.forEachHistory(of: .message) { reference, entries in
                let parts = reference.parts
                for name in [parts, Array(parts.dropFirst()), [parts[0], parts[2]], [parts[2]]] {
                    let asked = EntityReference(kind: .message, parts: name)
                    guard let found = try Replay.indexedMessage(asked, of: session, options: options) else { continue }
                    if name.count < 3 { #expect(whole.find(asked) == [reference], "\(asked)") }
                    #expect(found.reference == reference)
                    #expect(found.history == entries, "\(asked)")
                    #expect(Set(found.touches) == touches[reference], "\(asked)")
                    count += 1
                }
            }
            return count
        }
    }

    private struct Name: Hashable {
        let source: String
        let id: String
    }

    /// Every channel that a document says anything of.
    private static func channels(of document: JSONValue) -> Set<Name> {
        var names: Set<Name> = []
        for section in ChannelState.sections {
            for row in document[section.rawValue]?.array ?? [] {
                guard let id = row[section == .channels ? "id" : "channel"]?.string else { continue }
                names.insert(Name(source: row["source"]?.string ?? "", id: id))
            }
        }
        return names
    }

    private static func rows(of name: Name, in document: JSONValue) -> [String: [String]] {
        var rows: [String: [String]] = [:]
        for section in ChannelState.sections {
            let member = section == .channels ? "id" : "channel"
            rows[section.rawValue] = (document[section.rawValue]?.array ?? [])
                .filter { $0["source"]?.string == name.source && $0[member]?.string == name.id }
                .map(\.canonicalText)
        }
        return rows
    }

    private static func arrays(of document: JSONValue) -> [String: [String]] {
        var rows: [String: [String]] = [:]
        for member in document.object?.members ?? [] {
            if let array = member.value.array { rows[member.name] = array.map(\.canonicalText) }
        }
        return rows
    }

    private static func lines(of state: ChannelState) throws -> [UInt8] {
        let bytes = Bytes()
        try state.writeLines { bytes.all.append(contentsOf: $0) }
        return bytes.all
    }

    private final class Bytes {
        var all: [UInt8] = []
    }
}
