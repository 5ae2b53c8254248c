import TestSupport
import Testing

@testable import EventLog

/// What `verify` holds the keys of dropped events against.
@Suite struct DroppedKeysTests {
    @Test func rangesHoldWhatWasAddedAndNothingElse() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            var ranges = SequenceRanges()
            var added: Set<UInt64> = []
            var next: UInt64 = 1
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                next += UInt64.random(in: 0...3, using: &random)
                let last = next + UInt64.random(in: 0...4, using: &random)
                ranges.append(next...last)
                added.formUnion(next...last)
                next = last + 1
            }
            for sequence in 0...(next + 4) {
                #expect(ranges.contains(sequence) == added.contains(sequence), "\(sequence) of \(added.sorted())")
            }
        }
    }

    /// A chunk whose checksum is right, but which names an event that is not dropped: appends would take it for one.
    @Test(arguments: [1, 40, 100, 101] as [UInt64])
    func aKeyOfAnEventThatIsHeldIsFound(sequence: UInt64) throws {
        let log = try TemporaryLog(try (1...100).map { try .sample($0, key: "key \($0)") })
        let dropped = Array(41...60) as [UInt64]
        _ = try log.store.rewrite(.dropping(dropped, decidedAt: SequenceNumber(100))) { _ in }
        #expect(try log.store.verify().isIntact)
        let generation = log.store.core.current
        var entries = try generation.read { reader in
            var cursor = try Cursor(reader.view, reader.tables.keys)
            var entries: [DroppedKeys.Entry] = []
            while try cursor.advance() { entries += try DroppedKeys.entries(under: cursor, reader) }
            return entries
        }
        try #require(entries.count == 20)
        entries[7] = DroppedKeys.Entry(high: entries[7].high, low: entries[7].low, sequence: sequence)
        let transaction = try generation.environment.beginWrite()
        for chunk in DroppedKeys.chunks(of: entries) {
            try transaction.putSummed(chunk.value, at: chunk.key, in: generation.tables.keys)
        }
        try transaction.commit()
        let damage = try #require(try log.store.verify().damage)
        #expect(damage.sequence == SequenceNumber(sequence))
        #expect(damage.reason == "its key stands among those of dropped events")
    }
}
