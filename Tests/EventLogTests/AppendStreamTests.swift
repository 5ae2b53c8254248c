import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EventLog

/// Batches of a producer that goes on before they are durable.
@Suite(.hangGuard) struct AppendStreamTests {
    private let log: TemporaryLog
    private let store: EventStore

    init() throws {
        log = try TemporaryLog()
        var options = EventStore.Options()
        options.wait = .milliseconds(1)
        store = try EventStore.open(at: log.path, options: options)
    }

    private func stream(
        linger: Duration = .zero,
        batchesMax: Int = .max,
        stored: @escaping @Sendable (AppendResult, Int, Duration) -> Void = { _, _, _ in },
        remedy: @escaping @Sendable (any Error) -> AppendStream.Remedy = { _ in .end }
    ) -> AppendStream {
        var gathering = AppendStream.Gathering(linger: linger)
        gathering.batchesMax = batchesMax
        return store.stream(gathering, remedy: remedy, stored: stored)
    }

    private func batch(_ number: Int) throws -> DraftBatch { DraftBatch([try .sample(number, key: "\(number)")]) }

    /// The number of the log's last commit.
    private func commit() throws -> UInt64 { try store.core.current.environment.information().lastTransaction }

    private func seconds() throws -> [Int64] { try log.events().map(\.envelope.recordedAt.seconds) }

    @Test func whatWaitsGoesAlongWithTheFirstCommit() throws {
        let before = try commit()
        let streams = [stream(linger: .seconds(3_600)), stream(linger: .seconds(3_600))]
        for number in 0..<20 { try streams[number % 2].add(batch(number)) }
        #expect(try store.read { $0.head } == .zero)
        #expect(try store.append([.sample(20, key: "20")]).first == SequenceNumber(21))
        #expect(try seconds() == (0...20).map { Int64($0) })
        #expect(try commit() == before + 1)
        for stream in streams { try stream.wait(for: .everything) }
    }

    @Test func aBatchIsCommittedByItselfOnceItHasLingered() throws {
        let stored = Mutex<[Int]>([])
        let stream = stream(
            linger: .milliseconds(1),
            stored: { result, pieces, _ in stored.withLock { $0.append(result.appended * 10 + pieces) } }
        )
        try stream.add(batch(1), pieces: 3)
        while stored.withLock({ $0.isEmpty }) { usleep(1_000) }
        #expect(stored.withLock { $0 } == [13])
        #expect(try store.read { $0.head } == SequenceNumber(1))
    }

    @Test func whatIsHeldIsTriedAgainInItsOrder() throws {
        let failures = Mutex(0)
        let stream = stream(
            linger: .milliseconds(1),
            remedy: { _ in
                failures.withLock { $0 += 1 }
                return .retry(after: .milliseconds(1))
            }
        )
        let lock = try HeldLock(log.path)
        for number in 0..<30 {
            try stream.add(batch(number))
            while number == 9, failures.withLock({ $0 }) == 0 { usleep(1_000) }
        }
        lock.release()
        try stream.wait(for: .everything)
        #expect(try seconds() == (0..<30).map { Int64($0) })
    }

    @Test func afterTheEndNothingFollowsAndEveryWaiterIsTold() throws {
        let stream = stream(batchesMax: 1)
        let lock = try HeldLock(log.path)
        try stream.add(batch(1))
        // The stream may have ended already.
        _ = try? stream.add(batch(2))
        #expect(throws: EventLogError.self) { try stream.wait(for: .room) }
        #expect(throws: EventLogError.self) { try stream.wait(for: .everything) }
        lock.release()
        #expect(throws: EventLogError.self) { try stream.add(batch(3)) }
        #expect(throws: EventLogError.self) { try stream.flush() }
        _ = try store.append([.sample(4, key: "4")])
        #expect(try seconds() == [4])
    }

    @Test func aFinishedStreamIsNotTriedAgain() throws {
        let stream = stream(remedy: { _ in .retry(after: .seconds(3_600)) })
        let lock = try HeldLock(log.path)
        try stream.add(batch(1))
        stream.finish()
        #expect(throws: EventLogError.self) { try stream.wait(for: .everything) }
        lock.release()
        #expect(try seconds().isEmpty)
    }

    @Test func whatIsHeldUntilAFlushStaysInItsOrder() throws {
        let stream = stream(linger: .seconds(3_600), remedy: { _ in .hold })
        let lock = try HeldLock(log.path)
        for number in 0..<5 { try stream.add(batch(number)) }
        #expect(throws: EventLogError.self) { try stream.flush() }
        #expect(throws: EventLogError.self) { try stream.add(batch(9)) }
        lock.release()
        #expect(try stream.flush().appended == 5)
        try stream.add(batch(5))
        #expect(try stream.flush().appended == 1)
        #expect(try seconds() == (0...5).map { Int64($0) })
    }
}
