import EventLog
import Foundation
import JSON
import TestSupport
import Testing

@testable import Projections

/// Messages that a compaction dropped and that later events state, of every app: what is left of a log and what the rule
/// promises go on alike, whole states compared (I13).
@Suite struct RevivedMessageTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let rounds: UInt64 = isLong ? 50 : 1

    /// Compacts a log of the events of an app's scenarios three times, at random points, with fewer and fewer messages. Each
    /// tail has events of before again, and others: versions that are no newer, which bring nothing back. Newer ones are in the logs of
    /// `CompactionModelTests`, and below.
    @Test(arguments: ["retrocast", "vibechannel", "sidebar", ""])
    func whatIsLeftGoesOnAsPromised(app: String) throws {
        let lists = try EventStream.lists(of: app)
        try #require(!lists.isEmpty, "\(app) has scenarios")
        for seed in 1...Self.rounds { try checkOneLog(of: lists, seed: seed) }
    }

    private func checkOneLog(of lists: [[RecordedEvent]], seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        var random = SeededGenerator(seed: seed ^ 0xDEAD)
        var drafts = EventStream(of: lists, seed: seed, mutatingBytes: false).events.map(\.draft)
        drafts += EventStream(of: lists, seed: seed + 1_000, mutatingBytes: false).events.map(\.draft)
        var promised: LogState?
        for keep in [2, 1, 0] {
            let count = min(drafts.count, Int.random(in: 20...150, using: &random))
            // Repeats of what came, with keys of their own.
            let known = try store.allEvents().filter { !$0.envelope.isAct }.map(\.draft)
            var tail = Array(drafts.prefix(count))
            for _ in 0..<10 {
                guard let draft = known.randomElement(using: &random) else { break }
                tail.insert(draft, at: Int.random(in: 0...tail.count, using: &random))
            }
            drafts.removeFirst(count)
            _ = try store.append(tail)
            promised = try goOn(promised, in: store, "seed \(seed), before \(keep)")
            let before = try store.read { try Replay.logState(of: $0) }
            let policy = RetentionPolicy(messagesPerChannel: keep, keepsParents: seed.isMultiple(of: 2))
            let summary = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_900_000_000))
            if summary.events.after < summary.events.before { promised = before.retained(by: policy) }
            promised = try goOn(promised, in: store, "seed \(seed), compacted to \(keep)")
            let again = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_900_000_000))
            #expect(again.events.before == again.events.after, "seed \(seed): a second compaction drops nothing")
        }
        _ = try store.append(drafts)
        _ = try goOn(promised, in: store, "seed \(seed), at the end")
    }

    /// An app that a decoder file reads states versions by their own numbers.
    @Test(arguments: 1...(isLong ? 50 : 2) as ClosedRange<UInt64>) func anyAppsMessagesAreLiveAgain(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let lines = (0..<300).map { place in
            func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
            let operation = ["make", "replace", "replace", "replace", "patch", "gone", "lost"][number(0..<7)]
            let text =
                #"{"op":"\#(operation)","c":"c\#(number(0..<2))","id":"m\#(number(0..<20))","t":"t\#(place)","#
                + #""v":\#(1_767_225_600_000 + max(0, place + number(-40..<5)))}"#
            let raw = JSONValue.string(text).canonicalText
            return #"{"t_ms":\#(1_767_225_600_000 + place * 1000),"dir":"in","raw":\#(raw)}"#
        }
        let log = try FormatLog(file: Self.file, lines, "any", 100)
        var promised: LogState?
        for (keep, count) in [(6, 100), (3, 180), (0, 240), (0, 300)] {
            try log.ingest(Array(lines.prefix(count)))
            promised = try goOn(promised, in: log.store, "seed \(seed), before \(keep)")
            if count == 300 { break }
            let before = try log.store.read { try Replay.logState(of: $0) }
            let policy = RetentionPolicy(messagesPerChannel: keep)
            let summary = try Compaction.run(log.store, policy: policy, now: Timestamp(seconds: 1_900_000_000))
            if summary.events.after < summary.events.before { promised = before.retained(by: policy) }
            promised = try goOn(promised, in: log.store, "seed \(seed), compacted to \(keep)")
        }
        var state = try #require(promised)
        let live = (state.document()["messages"]?.array ?? []).count { $0["compacted"]?.bool == true }
        #expect(live > 0, "seed \(seed)")
    }

    private static let file = """
        decoder: random/1
        order: id
        rules:
        - {when: {/op: make}, make: message, at: {channel: /c, id: /id}, with: {content: /t, version: {time: /v, as: ms}}}
        - {when: {/op: replace}, replace: message, at: {channel: /c, id: /id}, with: {content: /t, version: {time: /v, as: ms}}}
        - {when: {/op: patch}, patch: message, at: {channel: /c, id: /id}, with: {content: /t, version: {time: /v, as: ms}}}
        - {when: {/op: gone}, delete: message, at: {channel: /c, id: /id}}
        - {when: {/op: lost}, delete: message, at: {channel: /c, id: /id}, deleted: until-stated}
        samples:
        - payload: '{"op":"gone","c":"c","id":"1"}'
          gives: '[{"messageDeleted":{"channel":"c","id":"1"}}]'
        """

    /// Applies what came since to a promised state, which then equals the log's.
    private func goOn(_ promised: LogState?, in store: EventStore, _ place: String) throws -> LogState? {
        guard var state = promised else { return nil }
        return try store.read { session in
            if session.head > state.sequence {
                try session.forEachEvent(in: state.sequence.next...session.head) { event in
                    state.apply(event.copied())
                    return true
                }
            }
            var found = try Replay.logState(of: session)
            #expect(
                found.normalFormHash == state.normalFormHash,
                "\(place): \(difference(found, state))"
            )
            #expect(found.digest() == state.digest(), "\(place)")
            return state
        }
    }

    private func difference(_ found: LogState, _ promised: LogState) -> String {
        var (left, right) = (found, promised)
        let differences = StateDiff.differences(left.document(), right.document()).prefix(3)
        return differences.map { "\($0)" }.joined(separator: "\n")
    }
}
