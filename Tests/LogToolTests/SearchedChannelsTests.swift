import EventLog
import Foundation
import JSON
import Kinds
import TestSupport
import Testing

@testable import Projections
@testable import logtool

/// A search that folds only the channels in which a text can be finds what a search of the whole state finds, and so do the last
/// changes.
@Suite struct SearchedChannelsTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let rounds: UInt64 = isLong ? 100 : 2

    @Test(arguments: Scenario.all)
    func theyHoldWhatTheWholeStateHolds(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        try expectSame(try scenario.log(in: directory))
    }

    /// Frames of two sources, some of them altered at random, while the index is made piece by piece.
    @Test(arguments: 1...rounds)
    func soTheyDoOfRandomGatewayFrames(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        var served = 0
        try EventStream.log(
            of: "retrocast",
            parts: 4,
            in: directory,
            seed: seed,
            source: { "app\($0 % 2)" },
            mutatingBytes: { $0 == 3 }
        ) { store, _ in served += try expectSame(store) }
        #expect(served > 40, "the index serves")
    }

    /// Messages, edits, deletions and ends of channels at random, of which nothing concerns more than a channel.
    @Test(arguments: 1...rounds * 5)
    func theLastChangesAreThoseOfTheWholeState(seed: UInt64) throws {
        typealias Frame = ChannelDifferencesTests.Frame
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        var random = SeededGenerator(seed: seed)
        let frames: [Frame] = (0..<400).map { number in
            let (id, channel) = (Int.random(in: 0..<120, using: &random), Int.random(in: 0..<8, using: &random))
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8: return .message(id, in: id % 8, content: "a\(number)")
            case 8..<13:
                let time = "2026-03-01T12:0\(number % 10):00Z"
                return .message(id, in: id % 8, content: "b\(number)", editedAt: time)
            case 13..<16: return .deleted(id, in: id % 8)
            case 16: return .reaction(id, in: id % 8)
            case 17: return .channelEnd(channel)
            case 18: return .channel(channel, guild: 5, name: "c\(number)")
            default: return .typing(in: channel)
            }
        }
        _ = try store.append([try Frame.ready.draft(0)] + frames.enumerated().map { try $1.draft(1 + $0) })
        try store.read { session in
            let whole = try Replay.logState(of: session)
            #expect(try lastServed(whole, session) == 6, "the index serves")
        }
    }

    /// What the search relies on: every text that a history can be searched for stands in the payload of an event that names its
    /// thing's channel, or is a word of the program's own.
    @Test(arguments: Scenario.all)
    func everyTextOfAHistoryStandsInAPayload(scenario: Scenario) throws {
        let directory = try TemporaryDirectory()
        let store = try scenario.log(in: directory)
        let events = try store.allEvents()
        guard events.allSatisfy({ [.gateway, .link].contains(EventFamily(kind: $0.envelope.kind)) }) else { return }
        try store.read { session in
            let state = try Replay.logState(of: session)
            state.forEachHistory { thing, entries in
                for text in Self.texts(of: entries) where !GatewayMembers.ownWords.contains(text) {
                    let search = TextSearch(text, ignoresCase: false)
                    let isThere = events.contains { event in
                        event.payload.withUnsafeBytes { search?.occursUnescaped(in: $0) ?? true }
                    }
                    #expect(isThere, "\(text) of \(thing)")
                }
            }
        }
    }

    @Test func aSearchThatFindsMoreThanChannelsIsOfTheWholeState() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        let frames: [ChannelDifferencesTests.Frame] = [
            .ready, .message(1, in: 7, content: "tea"), .guild(6), .message(2, in: 8, content: "coffee"),
            .channel(9, guild: 5, name: "milk"), .message(3, in: 9, content: #"wat\u0065r"#), .deleted(3, in: 9),
        ]
        _ = try store.append(frames.enumerated().map { try $1.draft($0) })
        try store.read { session in
            // Of the guild "Tea House" no channel tells; "text" and "voice" are kinds of channels.
            let texts = ["tea", "coffee", "milk", "water", "lemon", "Tea", "tex", "oic", "\u{FFFD}"]
            let unserved = ["Tea", "tex", "oic", "\u{FFFD}"]
            for text in texts {
                var filter = HistoryFilter()
                filter.text = TextSearch(text, ignoresCase: false)
                let isServed = try Replay.channels(holding: filter, in: session, options: Self.options) != nil
                #expect(isServed == !unserved.contains(text), "\(text)")
            }
        }
    }

    /// The command answers by channels of a log that is long enough, and says "nothing" of no other than the whole log.
    @Test func theCommandsAnswerTheSameByChannels() throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        typealias Frame = ChannelDifferencesTests.Frame
        let frames: [Frame] = (0..<6000).map { number in
            switch number {
            case 4000: .message(number, in: 7, content: "only here")
            case 5000: .message(4000, in: 7, content: "not any more", editedAt: "2026-03-01T12:00:00Z")
            case 5900: .deleted(3, in: 3)
            default: .message(number, in: number % 40)
            }
        }
        _ = try store.append(frames.enumerated().map { try $1.draft($0) })
        let commands = [
            ["history", "L", "--match", "only here"], ["audit", "L", "--match", "only here", "--json"],
            ["audit", "L", "--deletes", "-n", "1"], ["audit", "L", "-n", "2", "--jsonl"],
            ["history", "L", "--match", "never said"], ["audit", "L", "--match", "never said", "--json"],
        ]
        let found = try commands.map { try ToolRun.run($0, in: folder) }
        // A channel's name needs the whole state; nobody has the channel 99.
        _ = try store.append([try Frame.other("status.file/1", "{}").draft(9000)])
        for (command, short) in zip(commands, found) {
            let whole = try ToolRun.run(command, in: folder)
            #expect(short.output == whole.output && short.exitCode == whole.exitCode, "\(command)")
            #expect(short.errors == whole.errors, "\(command)")
        }
        #expect(found[0].output.contains("message:app/7/4000"))
        #expect(found[2].output.contains("message:app/3/3"))
        #expect(found.map(\.exitCode) == [0, 0, 0, 0, 1, 1])
    }

    // MARK: - Comparing

    /// Compares searches for many texts, and the last changes, with those of the whole state. Returns how often channels served for
    /// a text.
    @discardableResult
    private func expectSame(_ store: EventStore) throws -> Int {
        try store.read { session in
            let whole = try Replay.logState(of: session)
            var texts: Set<String> = ["nowhere", "text", "1", "é"]
            whole.forEachHistory { thing, entries in
                for text in Self.texts(of: entries) where texts.count < (Self.isLong ? 2000 : 100) {
                    texts.formUnion([text, String(text.prefix(4)), String(text.suffix(3)).uppercased()])
                }
                texts.formUnion(thing.parts.dropFirst())
            }
            var served = 0
            for text in texts.sorted(by: ExactText.precedes) where !text.isEmpty {
                for ignoresCase in [false, true] {
                    let match = TextMatch(text, ignoresCase: ignoresCase)
                    var filter = HistoryFilter()
                    filter.text = match.search
                    guard
                        let part = try Replay.channels(holding: filter, in: session, options: Self.options)
                    else { continue }
                    served += 1
                    #expect(Self.found(match, in: part) == Self.found(match, in: whole), "\(text)")
                    #expect(Self.changes(match, in: part) == Self.changes(match, in: whole), "\(text)")
                }
            }
            _ = try lastServed(whole, session)
            return served
        }
    }

    /// Compares the last changes, of some counts, and says how often channels served.
    private func lastServed(_ whole: LogState, _ session: borrowing ReadSession) throws -> Int {
        var served = 0
        for needsEnd in [false, true] {
            for count in [1, 3, 10] where try isSame(last: count, needsEnd, whole, session) { served += 1 }
        }
        return served
    }

    /// Compares the last changes of messages; false if the channels do not serve.
    private func isSame(
        last count: Int,
        _ needsEnd: Bool,
        _ whole: LogState,
        _ session: borrowing ReadSession
    ) throws -> Bool {
        var filter = HistoryFilter()
        (filter.needsChange, filter.needsEnd) = (true, needsEnd)
        func last(_ state: LogState, behind point: SequenceNumber = .zero) -> [String] {
            var found: [String] = []
            state.forEachChange(
                of: [.message],
                filter: filter,
                where: { _ in true },
                last: count,
                includes: { (!needsEnd || $0.class == .delete) && $0.entry.sequence > point },
                { found.append("\($0)") }
            )
            return found
        }
        let part = try Replay.channels(ofLastEventsIn: session, options: Self.options) {
            last($0, behind: $1).count == count
        }
        guard let part else { return false }
        #expect(last(part) == last(whole), "\(count), ends: \(needsEnd)")
        return true
    }

    private static let options: ReplayOptions = {
        var options = ReplayOptions()
        options.keeping = KeptStateOptions(build: "test")
        options.keeping?.channelEventsMin = 1
        options.keeping?.weighsChannels = false
        return options
    }()

    private static func texts(of entries: [HistoryEntry]) -> [String] {
        entries.flatMap { EntryTexts.texts(of: $0.fields).map(\.text) }
    }

    private static func found(_ match: TextMatch, in state: LogState) -> [String] {
        var filter = HistoryFilter()
        filter.text = match.search
        var found: [String] = []
        state.forEachHistory(filter: filter) { thing, entries in
            let holding = texts(of: entries).contains { match.range(in: $0) != nil }
            if holding { found.append("\(thing): \(entries)") }
        }
        return found
    }

    private static func changes(_ match: TextMatch, in state: LogState) -> [String] {
        var filter = HistoryFilter()
        (filter.text, filter.needsChange) = (match.search, true)
        var found: [String] = []
        state.forEachChange(
            of: [.message],
            filter: filter,
            where: { _ in true },
            includes: { change in
                [change.before, change.after].contains { fields in
                    fields.map { EntryTexts.texts(of: $0).contains { match.range(in: $0.text) != nil } } ?? false
                }
            },
            { found.append("\($0)") }
        )
        return found
    }
}
