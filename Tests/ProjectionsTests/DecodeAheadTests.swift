import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct DecodeAheadTests {
    /// Long enough for the second thread, with frames of every kind among the plain ones.
    private static let eventCount = 20_000

    @Test func oneThreadAndTwoGiveTheSameState() throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("a.eventlog"))
        try Self.fill(store)
        var options = ReplayOptions()
        let (ahead, alone) = try store.read { session in
            let ahead = try Replay.logState(of: session, options: options)
            options.decodesAhead = false
            return (ahead, try Replay.logState(of: session, options: options))
        }
        #expect(ahead.normalFormHash == alone.normalFormHash)
        #expect(ahead.sequence == alone.sequence)
        #expect(ahead.clock == alone.clock)
        #expect(ahead.issues.map(\.issue.reason) == alone.issues.map(\.issue.reason))
        var (first, second) = (ahead, alone)
        #expect(first.digest() == second.digest())
    }

    /// A replay that fails never hands over the batch that it was filling.
    @Test(arguments: 1...4)
    func aQueueEndsWithBatchesThatWereNeverHandedOver(count: Int) {
        let queue = FoldingQueue(ReplayedState(LogState()))
        for _ in 0..<count { #expect(!queue.freeBatch().isFull) }
        queue.wait()
        #expect(queue.logState.sequence == .zero)
    }

    @Test func theDigestOfEveryEventEndsInThatOfTheWhole() throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("a.eventlog"))
        try Self.fill(store, count: 600)
        var last: Hash256?
        var whole = try store.read { session in
            try Replay.logState(of: session) { _, state in
                last = state.digest()
                return true
            }
        }
        let atOnce = whole.digest()
        #expect(last == atOnce)
        var refolded = try store.read { try Replay.logState(of: $0) }
        #expect(refolded.digest() == atOnce)
    }

    @Test(arguments: [0, 1, 255, 256, 257, 3000] as [UInt64], [true, false])
    func theDigestsOfAllEventsAreThoseAnObserverAsksFor(count: UInt64, decodesAhead: Bool) throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("a.eventlog"))
        try Self.fill(store, count: 3000)
        var options = ReplayOptions()
        options.decodesAhead = decodesAhead
        var expected: [SequenceNumber: Hash256] = [:]
        var found: [SequenceNumber] = []
        try store.read { session in
            _ = try Replay.logState(of: session, through: SequenceNumber(count)) { event, state in
                expected[event.sequence] = state.digest()
                return true
            }
            try Replay.digests(of: session, through: SequenceNumber(count), options: options) { event, digest in
                found.append(event.sequence)
                #expect(expected[event.sequence] == digest)
                return true
            }
        }
        #expect(found == expected.keys.sorted() && found.count == count)
    }

    @Test(arguments: [1, 700])
    func whoeverIsToldTheDigestsMayStopThem(after count: Int) throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("a.eventlog"))
        try Self.fill(store, count: 3000)
        var told = 0
        try store.read { session in
            try Replay.digests(of: session) { _, _ in
                told += 1
                return told < count
            }
        }
        #expect(told == count)
    }

    @Test func aSavedStateIsTheSameWhenLoadedAndGoesOnAlike() throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("a.eventlog"))
        try Self.fill(store, count: 1200)
        try store.read { session in
            let half = try Replay.logState(of: session, through: SequenceNumber(700))
            var loaded = try SavedState([half.pieces(whole: true)]).logState()
            #expect(loaded.normalFormHash == half.normalFormHash)
            try loaded.begin(session)
            try session.forEachEvent(in: SequenceNumber(701)...session.head) { event in
                event.withPayload { loaded.apply(event.envelope, payload: $0) }
                return true
            }
            var whole = try Replay.logState(of: session)
            #expect(loaded.normalFormHash == whole.normalFormHash)
            #expect(loaded.digest() == whole.digest())
        }
    }

    private static func fill(_ store: EventStore, count: Int = eventCount) throws {
        var traffic = PlainTraffic(seed: 331)
        let sources = [try SourceName("a"), try SourceName("b")]
        var drafts: [DraftEvent] = []
        for index in 0..<count {
            let isLink = index % 997 == 5
            drafts.append(
                DraftEvent(
                    recordedAt: Timestamp(microseconds: Int64(index) * 700),
                    source: sources[index % 7 == 0 ? 1 : 0],
                    kind: try EventKind(isLink ? "recorder.link/1" : "gateway.frame/1"),
                    attributes: isLink ? ["link": "open"] : ["dir": index % 50 == 3 ? "out" : "in"],
                    payload: isLink ? [] : Array(traffic.frame().utf8)
                )
            )
        }
        for start in stride(from: 0, to: drafts.count, by: 5000) {
            _ = try store.append(Array(drafts[start..<min(start + 5000, drafts.count)]))
        }
    }
}
