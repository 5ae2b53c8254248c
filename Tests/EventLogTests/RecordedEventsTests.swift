import EventLog
import TestSupport
import Testing

@Suite struct RecordedEventsTests {
    @Test func theLoopSeesEveryEventOnceAcrossChunks() async throws {
        let log = try TemporaryLog(try (1...2_500).map { try DraftEvent.sample($0) })
        var seen: [UInt64] = []
        for try await event in log.store.events() { seen.append(event.envelope.sequence.rawValue) }
        #expect(seen == Array(1...2_500))
    }

    @Test func theLoopEndsAtTheHeadItBeganWith() async throws {
        let log = try TemporaryLog(try (1...3).map { try DraftEvent.sample($0) })
        var seen = 0
        for try await _ in log.store.events() {
            seen += 1
            _ = try log.store.append([.sample(100 + seen)])
        }
        #expect(seen == 3)
    }

    @Test(arguments: [(2, 4, [2, 3, 4]), (4, 9, [4, 5]), (7, 9, [])] as [(UInt64, UInt64, [UInt64])])
    func aRangeIsCutOut(first: UInt64, last: UInt64, expected: [UInt64]) async throws {
        let log = try TemporaryLog(try (1...5).map { try DraftEvent.sample($0) })
        var seen: [UInt64] = []
        for try await event in log.store.events(in: SequenceNumber(first)...SequenceNumber(last)) {
            seen.append(event.envelope.sequence.rawValue)
        }
        #expect(seen == expected)
    }

    @Test func aRewriteBetweenTwoChunksEndsTheLoopWithAnError() async throws {
        let log = try TemporaryLog(try (1...1_500).map { try DraftEvent.sample($0) })
        var events = log.store.events().makeAsyncIterator()
        _ = try await events.next()
        _ = try log.store.rewrite(.dropping([1_200], decidedAt: SequenceNumber(1_500))) { _ in }
        var error: EventLogError?
        do {
            while try await events.next() != nil {}
        } catch let thrown as EventLogError {
            error = thrown
        }
        #expect(error?.code == .invalidArgument)
    }
}
