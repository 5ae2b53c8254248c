import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// What is derived from a log shows nothing that the log's own events do not give.
@Suite struct PlantedCacheTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let options: ReplayOptions = {
        var options = ReplayOptions()
        options.keeping = KeptStateOptions(build: "test")
        options.keeping?.eventsMin = 5
        options.keeping?.bytesFactors = (0, 0)
        options.keeping?.decodedPercentMax = nil
        options.keeping?.channelEventsMin = 1
        options.chunkEvents = 5
        return options
    }()

    private static func draft(_ number: Int, _ content: String) throws -> DraftEvent {
        let frame =
            number == 0
            ? #"{"op":0,"s":1,"t":"CHANNEL_CREATE","d":{"id":"10","type":0,"name":"general","guild_id":"1"}}"#
            : SampleCaptures.message(number, content: content)
        return DraftEvent(
            recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
            source: try SourceName("guild"),
            kind: try EventKind("gateway.frame/1"),
            key: try EventKey("c/\(number)"),
            attributes: ["dir": "in"],
            payload: Array(frame.utf8)
        )
    }

    private func log(_ name: String, saying word: String = "message") throws -> EventStore {
        var options = EventStore.Options()
        options.salt = .fixed(7)
        options.keysInMemory = 10
        let store = try EventStore.openOrCreate(at: directory.path(name), options: options)
        _ = try store.append((0...60).map { try Self.draft($0, $0 == 17 ? "\(word) 17" : "message \($0)") })
        try store.drainDerivedData()
        return store
    }

    private func digest(_ store: EventStore, _ options: ReplayOptions = ReplayOptions()) throws -> Hash256 {
        try store.read { session in
            var state = try Replay.logState(of: session, options: options)
            return state.digest()
        }
    }

    private func channel(_ store: EventStore, _ options: ReplayOptions = ReplayOptions()) throws -> [String] {
        let name = EntityReference(kind: .channel, parts: ["guild", "10"])
        return try store.read { session in
            let states = try Replay.channels(named: name, of: session, options: options)
            return states.map { $0.document(DocumentOptions()).canonicalText }
        }
    }

    private func makeDerivedData(of store: EventStore) throws {
        _ = try digest(store, Self.options)
        _ = try channel(store, Self.options)
    }

    /// A twin: the same identity, the same last event, and so the same last leaf hash; one message says something else.
    private func twin(of store: EventStore, at path: String) throws -> EventStore {
        let forger = try log("forger", saying: "forgery")
        let header = try store.read { try $0.header() }
        var (pieces, root): ([LogPiece], Hash256) = try forger.read { session in
            var pieces: [LogPiece] = []
            try session.forEachPiece { pieces.append($0) }
            return (pieces, try session.root(size: session.head.rawValue))
        }
        var altered = header
        altered.root = root
        _ = try EventStore.importLog(at: path, header: altered) { log in for piece in pieces { try log.add(piece) } }
        pieces = []
        return try EventStore.open(at: path)
    }

    @Test(arguments: [false, true])
    func aCacheOfATwinIsNotBelieved(isMoved: Bool) throws {
        let path = directory.path("L")
        let expected: (Hash256, [String])
        let twinPath = directory.path("twin")
        do {
            let store = try log("L")
            expected = (try digest(store), try channel(store))
            let twin = try twin(of: store, at: twinPath)
            let last = try store.read { try $0.leafHash(at: $0.head) }
            #expect(try twin.read { try $0.leafHash(at: $0.head) } == last, "the last events are the same")
            try makeDerivedData(of: twin)
            #expect(try digest(twin, Self.options) != expected.0)
        }
        try? FileManager.default.removeItem(atPath: path + "/cache-000001")
        if isMoved {
            // Only somebody who may write here can do that; then the events themselves tell.
            try FileManager.default.moveItem(atPath: twinPath + "/cache-000001", toPath: path + "/cache-000001")
        } else {
            try FileManager.default.copyItem(atPath: twinPath + "/cache-000001", toPath: path + "/cache-000001")
        }
        let store = try EventStore.open(at: path)
        #expect(try digest(store, Self.options) == expected.0)
        #expect(try channel(store, Self.options) == expected.1)
    }

    @Test func whatIsRightIsComparedAndStays() throws {
        let store = try log("L")
        try makeDerivedData(of: store)
        let check = try DerivedCheck.run(on: store, build: "test")
        #expect(check.damage == nil)
        #expect(check.states > 3)
        #expect(check.postings > 0)
        #expect(check.keys > 0)
        #expect(try DerivedCheck.run(on: store, build: "test").states == check.states)
    }

    /// Of a state that fits its place in all but what it says.
    @Test func aForgedStateIsFoundAndDropped() throws {
        let store = try log("L")
        let expected = try digest(store)
        try makeDerivedData(of: store)
        let states = KeptStates(rules: .canonical, build: "test")
        try store.read { session in
            let kept = states.sequences(in: session)
            let sequence = try #require(kept.last)
            let forger = try log("forger", saying: "forgery")
            let state = try forger.read { try Replay.logState(of: $0, through: sequence) }
            let saving = try states.saving(of: state, base: nil, payloadBytes: 0, in: session)
            states.remove(sequence, in: session)
            let table = states.writableTable(in: session)
            try states.write(saving, to: #require(table))
        }
        #expect(try digest(store, Self.options) != expected, "whoever may write here can forge a state")
        let damage = try #require(try DerivedCheck.run(on: store, build: "test").damage)
        #expect(damage.contains("is not what the events give"))
        let again = try EventStore.open(at: directory.path("L"))
        #expect(try digest(again, Self.options) == expected)
    }

    @Test func aForgedJournalIsFoundAndDropped() throws {
        let store = try log("L")
        try makeDerivedData(of: store)
        let table = try store.derivedStore().table(ChannelIndex.name, version: KeptStateOptions.tableVersion("test"))
        var forged: [(key: [UInt8], value: [UInt8])] = []
        try table.forEach(from: Array("j".utf8)) { key, value in
            let text = String(decoding: value, as: UTF8.self)
            if text.contains("message 17") {
                var bytes = Array(value)
                let place = try #require(Data(bytes).range(of: Data("message 17".utf8)))
                bytes[place.lowerBound + 1] = UInt8(ascii: "a")
                forged.append((Array(key), bytes))
            }
            return true
        }
        try #require(!forged.isEmpty)
        try table.put(forged)
        #expect(try channel(store, Self.options) != channel(store))
        let damage = try #require(try DerivedCheck.run(on: store, build: "test").damage)
        #expect(damage == "the index of channels is not what the events give")
    }

    @Test func verifyDeepSaysWhatItCompared() throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40)
        let run = try ToolRun.run(["verify", "L", "--deep"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains("\nderived: compared "))
        let json = try ToolRun.run(["verify", "L", "--deep", "--json"], in: folder).output
        #expect(json.contains(#""derived":{"states":"#))
    }
}
