import EventLog
import TestSupport
import Testing

@Suite struct DraftBatchTests {
    /// Drafts that share much, and a few that do not: texts that Unicode takes for equal are different bytes.
    private static func drafts(_ count: Int, seed: UInt64 = 1) throws -> [DraftEvent] {
        var random = SeededGenerator(seed: seed)
        let attributes: [Attributes] = [
            ["dir": "in"], ["dir": "out"], .none, ["dir": "caf\u{e9}"], ["dir": "cafe\u{301}"],
        ]
        return try (0..<count).map { number in
            DraftEvent(
                recordedAt: Timestamp(microseconds: Int64(number) * 7 - 3),
                source: try SourceName(Bool.random(using: &random) ? "chat" : "other"),
                kind: EventKind(Bool.random(using: &random) ? "a/1" as StaticString : "b/2"),
                key: try Int.random(in: 0..<4, using: &random) == 0 ? nil : EventKey("key \(number)"),
                attributes: attributes[Int.random(in: 0..<attributes.count, using: &random)],
                payload: (0..<Int.random(in: 0..<300, using: &random)).map { UInt8(truncatingIfNeeded: $0 &* number) }
            )
        }
    }

    @Test func whatIsPutInComesOut() throws {
        let drafts = try Self.drafts(2_000)
        #expect(DraftBatch(drafts).drafts == drafts)
        #expect(
            DraftBatch(drafts).drafts.map { Array(($0.attributes["dir"] ?? "").utf8) }
                == drafts.map { Array(($0.attributes["dir"] ?? "").utf8) }
        )
        #expect(DraftBatch([]).isEmpty && DraftBatch().drafts.isEmpty)
    }

    @Test(arguments: [1, 2, 3, 4, 5]) func batchesAreJoinedInAnyPieces(_ seed: UInt64) throws {
        let drafts = try Self.drafts(500, seed: seed)
        var random = SeededGenerator(seed: seed)
        var batch = DraftBatch(roomOf: DraftBatch(drafts))
        var start = 0
        while start < drafts.count {
            let end = min(drafts.count, start + Int.random(in: 0..<40, using: &random))
            if Bool.random(using: &random) {
                batch.append(contentsOf: DraftBatch(Array(drafts[start..<end])))
            } else {
                for draft in drafts[start..<end] { batch.append(draft) }
            }
            start = end
        }
        #expect(batch.count == drafts.count)
        #expect(batch.payloadByteCount == drafts.reduce(0) { $0 + $1.payload.count })
        #expect(batch.drafts == drafts)
    }

    @Test func aCopyIsItsOwn() throws {
        let drafts = try Self.drafts(20)
        let first = DraftBatch(Array(drafts[..<10]))
        var (left, right) = (first, first)
        for draft in drafts[10..<15] { left.append(draft) }
        right.append(contentsOf: DraftBatch(Array(drafts[15...])))
        #expect(first.drafts == Array(drafts[..<10]))
        #expect(left.drafts == Array(drafts[..<15]))
        #expect(right.drafts == Array(drafts[..<10] + drafts[15...]))
    }

    /// A log writes salts and hashes into a batch's memory: those of one log are not those of another.
    @Test func oneBatchIsAppendedToManyLogsAtOnce() async throws {
        let drafts = try Self.drafts(1_000)
        let batch = DraftBatch(drafts)
        let directory = try TemporaryDirectory()
        let stores = try (0..<6).map { try EventStore.openOrCreate(at: directory.path("\($0).eventlog")) }
        try await withThrowingTaskGroup { group in
            for store in stores { group.addTask { _ = try store.append(batch) } }
            try await group.waitForAll()
        }
        var salts: Set<[UInt8]> = []
        for store in stores {
            let events = try store.read { session in
                try (1...UInt64(drafts.count)).compactMap { try session.event(at: SequenceNumber($0)) }
            }
            #expect(events.map(\.payload) == drafts.map(\.payload))
            #expect(try store.verify().isIntact)
            salts.formUnion(events.compactMap(\.salt))
        }
        #expect(salts.count == stores.count * drafts.count)
        #expect(batch.drafts == drafts)
    }

    @Test func aBatchIsAppendedAgainAndAddsNothing() throws {
        let log = try TemporaryLog()
        let batch = DraftBatch(try (0..<600).map { try .sample($0, key: "c1/\($0)") })
        #expect(try log.store.append(batch).appended == 600)
        #expect(try log.store.append(batch).duplicates == 600)
        let appender = Appender(log.store)
        #expect(try appender.append(batch) == nil)
        #expect(try appender.finish()?.duplicates == 600)
    }

    @Test func limitsHoldForBatchesToo() throws {
        let log = try TemporaryLog()
        var batch = DraftBatch([try .sample(1)])
        batch.append(
            recordedAt: Timestamp(seconds: 1),
            source: .logtool,
            kind: EventKind("a/1" as StaticString),
            payload: UnsafeRawBufferPointer(start: nil, count: 0)
        )
        let error = #expect(throws: EventLogError.self) { try log.store.append(batch) }
        #expect(error?.code == .invalidEnvelope)
        #expect(try log.events().isEmpty)
    }
}
