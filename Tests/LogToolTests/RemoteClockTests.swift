import EventLog
import TestSupport
import Testing

@testable import Projections

/// The greatest time that a remote stated is known after its event was dropped.
@Suite struct RemoteClockTests {
    private let store: EventStore
    private let directory: TemporaryDirectory

    /// Two messages of one channel, the older one with the later time, and a compaction that drops the older one.
    init() throws {
        directory = try TemporaryDirectory()
        store = try EventStore.openOrCreate(at: directory.path("L"))
        _ = try store.append([
            try .message(1, at: "2027-01-01T00:00:00.000000001Z"), try .message(2, at: "2026-03-01T00:00:00Z"),
        ])
    }

    @Test func aCompactionKeepsIt() throws {
        let before = try clock()
        #expect(before == Timestamp(rfc3339: "2027-01-01T00:00:00.000000001Z"))
        try compact()
        #expect(try clock() == before)
        // Facts are told again by the next compaction.
        _ = try store.append([try .message(3, at: "2026-04-01T00:00:00Z")])
        try compact()
        #expect(try clock() == before)
    }

    @Test func aPointByItLiesWhereItLayBefore() throws {
        #expect(try ["2026-06-01", "2027-06-01"].map(sequence) == [0, 2])
        try compact()
        _ = try store.append([try .message(3, at: "2028-01-01T00:00:00Z")])
        #expect(try store.read { $0.decidedAt.rawValue } == 2)
        // No state that is left is as old as the first time.
        #expect(try ["2026-06-01", "2027-06-01"].map(sequence) == [0, 3])
    }

    private func sequence(atRemote time: String) throws -> UInt64 {
        let point = try #require(Point("remote:\(time)"))
        return try store.read { try point.resolve(in: $0).rawValue }
    }

    private func clock() throws -> Timestamp? { try store.read { try Replay.logState(of: $0).remoteClock } }

    private func compact() throws {
        let policy = RetentionPolicy(messagesPerChannel: 1)
        let summary = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_800_000_000))
        #expect(summary.events.after < summary.events.before)
    }
}
