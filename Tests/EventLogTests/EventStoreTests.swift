import EventLog
import Foundation
import TestSupport
import Testing

@Suite struct EventStoreTests {
    @Test func appendNumbersEventsFromOneWithoutGaps() throws {
        let log = try TemporaryLog()
        let first = try log.store.append([.sample(1), .sample(2)])
        let second = try log.store.append([.sample(3)])
        #expect(first.sequences.map(\.rawValue) == [1, 2])
        #expect(first.appended == 2 && first.duplicates == 0)
        #expect(second.first == SequenceNumber(3) && second.last == SequenceNumber(3))
        #expect(try log.events().map(\.envelope.sequence.rawValue) == [1, 2, 3])
    }

    @Test func aSessionKnowsNoKindOfALaterAppend() throws {
        let log = try TemporaryLog([.sample(1)])
        try log.store.read { session in
            let before = try session.kindsBySource()
            _ = try log.store.append([.sample(2, source: "later")])
            // Another session reads the later lanes into the store's memory.
            let after = try log.store.read { try $0.kindsBySource() }
            let again = try session.kindsBySource()
            #expect(after.count == 2 && before.count == 1 && again == before)
        }
    }

    @Test func eventsComeBackAsTheyWereAppended() throws {
        let attributes = try Attributes([.init(name: "dir", value: "in"), .init(name: "connection", value: "3")])
        let draft = try DraftEvent.sample(5, key: "k/é", attributes: attributes, payload: "naïve\0 bytes")
        let log = try TemporaryLog([draft])
        let event = try #require(try log.events().first)
        #expect(event.payload == draft.payload)
        #expect(event.envelope.key == draft.key)
        #expect(event.envelope.attributes == attributes)
        #expect(event.envelope.recordedAt == draft.recordedAt)
        #expect(event.envelope.source == draft.source && event.envelope.kind == draft.kind)
        #expect(event.salt == [UInt8](repeating: 7, count: 16))
    }

    @Test(arguments: [0, 1, 2021, 2022, 4080, 70_000, EnvelopeLimits.payloadBytesMax])
    func payloadsOfEverySizeComeBack(count: Int) throws {
        var draft = try DraftEvent.sample(1)
        draft.payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let log = try TemporaryLog([draft])
        #expect(try log.events().first?.payload == draft.payload)
    }

    @Test func aPayloadOverTheLimitIsRefused() throws {
        let log = try TemporaryLog()
        var draft = try DraftEvent.sample(1)
        draft.payload = [UInt8](repeating: 0, count: EnvelopeLimits.payloadBytesMax + 1)
        let error = #expect(throws: EventLogError.self) { try log.store.append([.sample(0), draft]) }
        #expect(error?.code == .invalidEnvelope)
        #expect(try log.events().isEmpty)
    }

    @Test func noRecorderMayTakeTheSourceOfActs() throws {
        let log = try TemporaryLog()
        let error = #expect(throws: EventLogError.self) { try log.store.append([.sample(1, source: "logtool")]) }
        #expect(error?.code == .invalidEnvelope)
    }

    @Test func theSameDirectoryIsTheSameEnvironment() throws {
        let log = try TemporaryLog([.sample(1)])
        let again = try EventStore.open(at: log.path + "/../test.eventlog")
        _ = try again.append([.sample(2)])
        #expect(try log.events().count == 2)
        #expect(again.identity == log.store.identity)
    }

    @Test func aLogIsThereAfterItWasClosed() throws {
        let directory = try TemporaryDirectory()
        do {
            let store = try EventStore.openOrCreate(at: directory.path("L"))
            _ = try store.append([.sample(1, key: "a"), .sample(2)])
        }
        let store = try EventStore.open(at: directory.path("L"))
        #expect(try store.read { $0.head } == SequenceNumber(2))
        let again = try store.append([.sample(1, key: "a"), .sample(3, key: "b")])
        #expect(again.sequences.map(\.rawValue) == [1, 3])
    }

    @Test func aSessionKeepsItsPrefix() throws {
        let log = try TemporaryLog([.sample(1)])
        try log.store.read { session in
            _ = try log.store.append([.sample(2)])
            #expect(session.head == SequenceNumber(1))
            let error = #expect(throws: EventLogError.self) { try session.event(at: SequenceNumber(2)) }
            #expect(error?.code == .notFound)
        }
        #expect(try log.store.read { try $0.event(at: SequenceNumber(2)) } != nil)
    }

    @Test func aBookmarkIsStoredWithItsBatch() throws {
        let log = try TemporaryLog()
        let source = try SourceName("test")
        _ = try log.store.append([.sample(1)], bookmark: Bookmark(source: source, bytes: [1, 2]))
        _ = try log.store.append([], bookmark: Bookmark(source: source, bytes: [3]))
        #expect(try log.store.read { try $0.bookmark(of: source) } == [3])
        let other = try SourceName("other")
        #expect(try log.store.read { try $0.bookmark(of: other) } == nil)
    }

    @Test func theClockIsTheGreatestTimeSoFar() throws {
        let times = (1...600).map { $0 % 7 == 0 ? $0 - 300 : $0 }
        let log = try TemporaryLog(try times.map { try .sample($0) })
        try log.store.read { session in
            for place in [1, 2, 6, 7, 8, 255, 256, 257, 511, 512, 513, 600] {
                let expected = times.prefix(place).max().map { Timestamp(seconds: Int64($0)) }
                let clock = try session.clock(at: SequenceNumber(UInt64(place)))
                #expect(clock == expected)
            }
            let first = try session.clock(at: .zero)
            #expect(first == nil)
        }
    }

    @Test func aTimeFindsTheLongestPrefixWhoseClockIsNotLater() throws {
        let times = (1...600).map { $0 % 7 == 0 ? $0 - 300 : $0 }
        let log = try TemporaryLog(try times.map { try .sample($0) })
        try log.store.read { session in
            for second in [0, 1, 5, 6, 100, 255, 256, 257, 500, 599, 600, 900] {
                let expected = (0...600).last { place in (times.prefix(place).max() ?? .min) <= second }
                let found = try session.lastSequence(clockAtMost: Timestamp(seconds: Int64(second)))
                #expect(found.rawValue == UInt64(expected ?? 0))
            }
        }
    }

    @Test func threadsShareCommitsAndEveryEventGetsItsOwnSequence() async throws {
        let log = try TemporaryLog()
        let sequences = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for task in 0..<8 {
                group.addTask {
                    try (0..<20).flatMap { round in
                        try log.store.append([.sample(round, key: "\(task)/\(round)")]).sequences.map(\.rawValue)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(sequences.sorted() == Array(1...160))
    }

    @Test func tasksShareCommitsWithoutBlocking() async throws {
        let log = try TemporaryLog()
        let sequences = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for task in 0..<30 {
                group.addTask {
                    var sequences: [UInt64] = []
                    for round in 0..<10 {
                        let drafts = try [DraftEvent.sample(round, key: "\(task)/\(round)")]
                        sequences += try await appended(drafts, to: log.store).sequences.map(\.rawValue)
                    }
                    return sequences
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(sequences.sorted() == Array(1...300))
    }

    /// Threads wait, and tasks are told: neither may leave the other waiting.
    @Test func threadsAndTasksShareOneQueue() async throws {
        let log = try TemporaryLog()
        let store = log.store
        let sequences = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for worker in 0..<4 {
                group.addTask {
                    var mine: [UInt64] = []
                    for round in 0..<40 {
                        let result = try await appended([.sample(round, key: "task \(worker)/\(round)")], to: store)
                        mine += result.sequences.map(\.rawValue)
                    }
                    return mine
                }
                group.addTask { try await onThread { try Self.appendForty(to: store, worker: worker) } }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(sequences.sorted() == Array(1...320))
        #expect(try store.verify().whole == 320)
    }

    private static func appendForty(to store: EventStore, worker: Int) throws -> [UInt64] {
        try (0..<40).flatMap { round in
            try store.append([.sample(round, key: "thread \(worker)/\(round)")]).sequences.map(\.rawValue)
        }
    }

    @Test func aConflictRefusesOnlyTheBatchThatHasIt() async throws {
        let log = try TemporaryLog([.sample(1, key: "a")])
        let refused = await withTaskGroup(of: Int.self) { group in
            for task in 0..<20 {
                group.addTask {
                    let key = task % 5 == 0 ? "a" : "key \(task)"
                    do {
                        let result = try await appended([.sample(task + 10, key: key)], to: log.store)
                        return result.appended == 1 ? 0 : 1000
                    } catch let error as EventLogError {
                        return error.code == .keyConflict ? 1 : 1000
                    } catch {
                        return 1000
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(refused == 4)
        #expect(try log.store.read { $0.head } == SequenceNumber(17))
    }
}

/// Appends drafts without blocking a thread.
func appended(_ drafts: [DraftEvent], to store: EventStore) async throws -> AppendResult {
    try await withCheckedThrowingContinuation { continuation in
        do { try store.append(DraftBatch(drafts)) { continuation.resume(with: $0) } } catch {
            continuation.resume(throwing: error)
        }
    }
}

/// Runs a body on a thread of its own.
private func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Swift.Result(catching: body)) }.start()
    }
}
