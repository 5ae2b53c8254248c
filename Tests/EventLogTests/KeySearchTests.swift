import EventLog
import TestSupport
import Testing

@Suite struct KeySearchTests {
    @Test func keysOfHeldAndOfDroppedEventsAreFound() throws {
        let log = try TemporaryLog((1...600).map { try .sample($0, key: $0 % 2 == 0 ? "key \($0)" : nil) })
        _ = try log.store.append([.sample(601, source: "other", key: "key 2"), .sample(602, source: "other", key: "o")])
        _ = try log.store.rewrite(.dropping((1...400).map { $0 }, decidedAt: SequenceNumber(602)))
        let keys = try ["key 600", "key 2", "key 3", "o", "key 400", "key 402", "key 600"].map { try EventKey($0) }
        let found = try log.store.read { try $0.sequences(of: keys, source: SourceName("test")) }
        #expect(found.map { $0?.rawValue } == [600, 2, nil, nil, 400, 402, 600])
        let others = try log.store.read { try $0.sequences(of: keys, source: SourceName("other")) }
        #expect(others.map { $0?.rawValue } == [nil, 601, nil, 602, nil, nil, nil])
    }

    @Test func keysInRunsAndBehindThemAreFound() throws {
        let directory = try TemporaryDirectory()
        var options = EventStore.Options()
        options.keysInMemory = 50
        let store = try EventStore.openOrCreate(at: directory.path("L"), options: options)
        for start in stride(from: 1, to: 490, by: 20) {
            _ = try store.append(try (start..<start + 20).map { try .sample($0, key: "key \($0 &* 7919 % 10_007)") })
        }
        try store.drainDerivedData()
        let numbers = [500, 1, 250, 499, 77]
        var keys = try numbers.map { try EventKey("key \($0 &* 7919 % 10_007)") }
        keys.append(try EventKey("missing"))
        let source = try SourceName("test")
        let found = try store.read { try $0.sequences(of: keys, source: source) }
        #expect(found.map { $0?.rawValue } == numbers.map { UInt64($0) } + [nil])
        let others = try store.read { try $0.sequences(of: keys, source: SourceName("other")) }
        #expect(others.allSatisfy { $0 == nil })
    }

    @Test func anEmptyLogHasNoKeys() throws {
        let log = try TemporaryLog()
        let key = try EventKey("a")
        #expect(try log.store.read { try $0.sequence(of: key, source: SourceName("test")) } == nil)
        _ = try log.store.append([.sample(1, key: "a")])
        #expect(try log.store.read { try $0.sequence(of: key, source: SourceName("test")) } == SequenceNumber(1))
    }
}
