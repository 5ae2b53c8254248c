import EventLog
import TestSupport
import Testing

@Suite struct IdempotenceTests {
    @Test func aKeyThatIsHeldAppendsNothing() throws {
        let log = try TemporaryLog([.sample(1, key: "a"), .sample(2, key: "b")])
        let result = try log.store.append([.sample(2, key: "b"), .sample(3, key: "c"), .sample(1, key: "a")])
        #expect(result.sequences.map(\.rawValue) == [2, 3, 1])
        #expect(result.appended == 1 && result.duplicates == 2)
    }

    @Test func aKeyTwiceInOneBatchIsOneEvent() throws {
        let log = try TemporaryLog()
        let result = try log.store.append([.sample(1, key: "a"), .sample(2), .sample(1, key: "a")])
        #expect(result.sequences.map(\.rawValue) == [1, 2, 1])
    }

    @Test func appendRefusesAKeyWithAnotherPayload() throws {
        let log = try TemporaryLog([.sample(1), .sample(2, key: "a")])
        let error = #expect(throws: EventLogError.self) {
            try log.store.append([.sample(3, key: "new"), .sample(9, key: "a")])
        }
        #expect(error?.code == .keyConflict)
        #expect(error?.sequence == SequenceNumber(2))
        #expect(error?.description.contains("\"a\"") == true)
        #expect(try log.events().count == 2)
        #expect(try log.store.append([.sample(3, key: "new")]).sequences.map(\.rawValue) == [3])
    }

    @Test func anotherKindIsAConflictToo() throws {
        let log = try TemporaryLog([.sample(1, key: "a")])
        let error = #expect(throws: EventLogError.self) {
            try log.store.append([.sample(1, kind: "other/1", key: "a")])
        }
        #expect(error?.code == .keyConflict)
    }

    @Test func aConflictWithinABatchRefusesIt() throws {
        let log = try TemporaryLog()
        let error = #expect(throws: EventLogError.self) {
            try log.store.append([.sample(1, key: "a"), .sample(2, key: "a")])
        }
        #expect(error?.code == .keyConflict)
        #expect(try log.store.append([.sample(2, key: "a")]).appended == 1)
    }

    @Test func keysOfTwoSourcesDoNotMeet() throws {
        let log = try TemporaryLog([.sample(1, source: "x", key: "a")])
        #expect(try log.store.append([.sample(2, source: "y", key: "a")]).appended == 1)
    }

    @Test func keysAreBytesAndNotUnicodeEquivalence() throws {
        let log = try TemporaryLog([.sample(1, key: "caf\u{e9}")])
        #expect(try log.store.append([.sample(2, key: "cafe\u{301}")]).appended == 1)
        #expect(try log.events().map { $0.envelope.key?.rawValue.utf8.count } == [5, 6])
    }

    @Test func thousandsOfKeysAreAllRemembered() throws {
        let log = try TemporaryLog()
        let drafts = try (0..<5000).map { try DraftEvent.sample($0, key: "key \($0 * 7919)") }
        for start in stride(from: 0, to: 5000, by: 500) {
            _ = try log.store.append(Array(drafts[start..<start + 500]))
        }
        let again = try log.store.append(drafts.reversed())
        #expect(again.appended == 0)
        #expect(again.sequences.map(\.rawValue) == (1...5000).reversed())
    }
}

/// Batches of keys that ascend need no lookup of each; the shortcut never changes an answer.
@Suite struct AscendingKeyTests {
    /// Against a dictionary: numbers that ascend in batches large and small, begin again, overlap what is held, have other
    /// widths, and share the log with other sources.
    @Test(arguments: 1...12) func everyKeyIsHeldOnce(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var options = EventStore.Options()
        options.keysInMemory = 200
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"), options: options)
        var held: [String: UInt64] = [:]
        var head: UInt64 = 0
        for _ in 0..<40 {
            let drafts = try Self.batch(&random)
            let expected = drafts.map { draft -> UInt64 in
                let name = "\(draft.source) \(draft.key?.rawValue ?? "")"
                if let sequence = held[name] { return sequence }
                head += 1
                held[name] = head
                return head
            }
            #expect(try store.append(drafts).sequences.map(\.rawValue) == expected)
        }
        #expect(try store.verify().isIntact)
    }

    /// The greatest keys of a log may be those of dropped events.
    @Test func keysOfDroppedEventsAreFoundThoughTheyAscendAboveAllThatAreHeld() throws {
        let drafts = try (1...20).map { try DraftEvent.sample($0, key: "c1/\($0)") }
        let log = try TemporaryLog(drafts)
        _ = try log.store.rewrite(.dropping(Array(11...20), decidedAt: SequenceNumber(20)))
        let again = try log.store.append(Array(drafts[14...]) + [.sample(21, key: "c1/21")])
        #expect(again.sequences.map(\.rawValue) == [15, 16, 17, 18, 19, 20, 22])
        #expect(again.appended == 1)
    }

    private static func batch(_ random: inout SeededGenerator) throws -> [DraftEvent] {
        let source = ["x", "y"][Int.random(in: 0..<2, using: &random)]
        let count = Int.random(in: 1...(Int.random(in: 0..<6, using: &random) == 0 ? 400 : 12), using: &random)
        let start = Int.random(in: 0..<2_000, using: &random)
        let isPadded = Int.random(in: 0..<3, using: &random) == 0
        var numbers = (start..<start + count).map { $0 }
        if Int.random(in: 0..<5, using: &random) == 0 { numbers.shuffle(using: &random) }
        if Int.random(in: 0..<5, using: &random) == 0 { numbers.append(start) }
        return try numbers.map { number in
            let digits = String(number)
            let padding = isPadded ? String(repeating: "0", count: max(0, 6 - digits.count)) : ""
            return try .sample(number, source: source, key: "c/\(padding)\(digits)")
        }
    }
}
