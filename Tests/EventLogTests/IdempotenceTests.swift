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
