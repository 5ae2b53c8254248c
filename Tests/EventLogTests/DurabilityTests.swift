import EventLog
import Foundation
import TestSupport
import Testing

/// When an append counts as done, and what happens after a commit that failed.
@Suite struct DurabilityTests {
    private func fast(_ log: TemporaryLog) throws -> EventStore {
        var options = EventStore.Options()
        options.durability = .fast
        return try EventStore.open(at: log.path, options: options)
    }

    @Test func fastAppendsAreThereAfterAFlushInTheirOrder() throws {
        let log = try TemporaryLog()
        let store = try fast(log)
        for number in 0..<500 {
            let result = try store.append([.sample(number, key: "key \(number % 400)", payload: "p \(number % 400)")])
            #expect(result.sequences.isEmpty && result.queued == 1)
        }
        let done = try store.flush()
        #expect(done.appended == 400 && done.duplicates == 100)
        #expect(done.first == SequenceNumber(1) && done.last == SequenceNumber(400))
        #expect(try log.events().map { $0.envelope.recordedAt } == (0..<400).map { Timestamp(seconds: Int64($0)) })
        #expect(try store.flush().appended == 0)
    }

    @Test func fastAppendsAreCommittedByThemselves() throws {
        let log = try TemporaryLog()
        let store = try fast(log)
        _ = try store.append([.sample(1)])
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(20)
        // Nobody flushes: it is a matter of time.
        while try log.store.read({ $0.head }) == .zero, clock.now < deadline { usleep(1000) }
        #expect(try log.store.read { $0.head } == SequenceNumber(1))
    }

    @Test func theEndOfAFastStoreWaitsForItsCommits() throws {
        let log = try TemporaryLog()
        do {
            let store = try fast(log)
            for number in 0..<50 { _ = try store.append([.sample(number)]) }
        }
        #expect(try log.store.read { $0.head } == SequenceNumber(50))
    }

    @Test func underFastARefusedBatchGoesAndTheBatchesBehindItAreAppendedOnce() throws {
        // The key that the batch would get instead is held with another payload, too.
        let own = try EventKey("a").separated(by: Array("two".utf8)).rawValue
        let log = try TemporaryLog([.sample(1, key: "a", payload: "one"), .sample(2, key: own, payload: "other")])
        let store = try fast(log)
        _ = try store.append([.sample(3, key: "a", payload: "two")])
        _ = try store.append([.sample(4)])
        let error = #expect(throws: EventLogError.self) { try store.flush() }
        #expect(error?.code == .keyConflict)
        #expect(try store.flush().appended == 1)
        _ = try store.append([.sample(5)])
        #expect(try store.flush().appended == 1)
        let seconds = try log.events().map { $0.envelope.recordedAt }
        #expect(seconds == [1, 2, 4, 5].map { Timestamp(seconds: $0) })
    }

    @Test func underFastAKeyThatIsHeldWithAnotherPayloadGetsAKeyOfItsOwn() throws {
        let log = try TemporaryLog([.sample(1, key: "a", payload: "one")])
        let store = try fast(log)
        _ = try store.append([.sample(2, key: "b"), .sample(3, key: "a", payload: "two"), .sample(4, key: "c")])
        _ = try store.append([.sample(5, key: "a", payload: "two"), .sample(6, key: "a", payload: "three")])
        let done = try store.flush()
        #expect(done.appended == 4 && done.duplicates == 1)
        let keys = try log.events().map { $0.envelope.key?.rawValue ?? "" }
        let own = try EventKey("a").separated(by: Array("two".utf8)).rawValue
        #expect(keys == ["a", "b", own, "c", try EventKey("a").separated(by: Array("three".utf8)).rawValue])
        #expect(own.hasPrefix("a~") && own.utf8.count == 18)
        #expect(try log.store.verify().isIntact)
    }

    @Test func anAppenderKeepsTheOrderOfBatchesAndStopsAtAConflict() throws {
        let log = try TemporaryLog()
        let appender = Appender(log.store)
        for batch in 0..<20 {
            let former = try appender.append((0..<300).map { try .sample(batch * 300 + $0, key: "\(batch)/\($0)") })
            #expect(former?.first?.rawValue == (batch == 0 ? nil : UInt64(batch * 300 - 299)))
        }
        #expect(try appender.append([.sample(1, key: "0/7", payload: "other")])?.last == SequenceNumber(6000))
        let error = #expect(throws: EventLogError.self) { try appender.append([.sample(1, key: "behind")]) }
        #expect(error?.code == .keyConflict && error?.sequence == SequenceNumber(8))
        #expect(try appender.append([.sample(1, key: "again")]) == nil)
        #expect(try appender.finish()?.first == SequenceNumber(6001))
        #expect(try appender.finish() == nil)
        let times = try log.events().map { $0.envelope.recordedAt }
        #expect(times.prefix(6000) == (0..<6000).map { Timestamp(seconds: Int64($0)) }[...])
    }

    // MARK: - The map

    @Test func theMapGrowsWhileOthersReadAndWrite() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("L")
        var options = EventStore.Options()
        options.mapBytes = 1 << 20
        let store = try EventStore.openOrCreate(at: path, options: options)
        let child = try child("appendsFiveMegabytes", path)
        _ = try store.append([.sample(1, key: "mine")])
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
        // The other process has made the file larger than this one's map.
        #expect(try store.read { try $0.event(at: $0.head) } != nil)
        let large = String(repeating: "x", count: 3 << 20)
        #expect(try store.append([.sample(2, key: "large", payload: large)]).appended == 1)
        #expect(try store.statistics().bytesMax >= 8 << 20)
        #expect(try store.verify().isIntact)
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment[childVariable] != nil))
    func appendsFiveMegabytes() throws {
        var options = EventStore.Options()
        options.mapBytes = 1 << 20
        let path = try #require(ProcessInfo.processInfo.environment[Self.childVariable])
        let store = try EventStore.open(at: path, options: options)
        let payload = String(repeating: "y", count: 100_000)
        for number in 0..<50 { _ = try store.append([.sample(number, key: "\(number)", payload: payload)]) }
    }

    // MARK: - A commit that fails

    @Test func afterAFailedCommitTheLogGoesOn() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("L")
        _ = try EventStore.openOrCreate(at: path)
        let child = try child("appendsUntilTheFileMayNotGrow", path)
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
        let store = try EventStore.open(at: path)
        #expect(try store.verify().isIntact)
        #expect(try store.read { $0.head }.rawValue > 10)
    }

    /// In a process of its own: the limit of file sizes is one for a process.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[childVariable] != nil))
    func appendsUntilTheFileMayNotGrow() throws {
        let path = try #require(ProcessInfo.processInfo.environment[Self.childVariable])
        let store = try EventStore.open(at: path)
        signal(SIGXFSZ, SIG_IGN)
        var acknowledged: UInt64 = 0
        // The file is full after some dozen commits.
        let padding = String(repeating: "x", count: 4_000)
        func limit(_ bytes: rlim_t) {
            var limits = rlimit()
            getrlimit(__rlimit_resource_t(1), &limits)
            limits.rlim_cur = min(bytes, limits.rlim_max)
            setrlimit(__rlimit_resource_t(1), &limits)
        }
        for round in 1...3 {
            limit(rlim_t(round) << 18)
            var failure: EventLogError?
            for number in 0..<10_000 where failure == nil {
                do {
                    let draft = try DraftEvent.sample(
                        number,
                        key: "\(round)/\(number)",
                        payload: "\(round) \(number) \(padding)"
                    )
                    acknowledged = try store.append([draft]).last?.rawValue ?? acknowledged
                } catch let error as EventLogError {
                    failure = error
                }
            }
            #expect(failure?.code == .io)
            #expect(try store.read { $0.head }.rawValue == acknowledged)
        }
        limit(1 << 40)
        #expect(try store.append([.sample(1, key: "last")]).first?.rawValue == acknowledged + 1)
        #expect(try store.append([.sample(0, key: "1/0", payload: "1 0 \(padding)")]).appended == 0)
    }

    private static let childVariable = "EVENTLOG_DURABILITY_TEST_LOG"

    private func child(_ test: String, _ path: String) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", "DurabilityTests/\(test)"]
        process.environment = ProcessInfo.processInfo.environment.merging([Self.childVariable: path]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }
}
