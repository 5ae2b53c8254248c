import TestSupport
import Testing

@testable import EventLog

@Suite struct KeyFlusherTests {
    /// A table may come at any moment while the thread ends: its run must not end without it.
    @Test func afterADrainNoTableWaits() throws {
        let rounds = 300
        let log = try TemporaryLog((1...rounds * 2).map { try .sample($0) })
        let flusher = KeyFlusher(log.store.core.current, runs: nil, covered: 0)
        var random = SeededGenerator(seed: 3)
        func add(_ sequence: Int) {
            let place = UInt64(sequence)
            let maxima = KeyMaxima().bytes
            flusher.add(FrozenKeys(keys: KeyIndex(), secret: .zero, first: place, last: place, maxima: maxima))
        }
        for round in 1...rounds {
            add(round * 2 - 1)
            while !flusher.places.frozen.isEmpty {}
            var steps = Int.random(in: 0..<4_000, using: &random)
            while steps > 0 { steps -= 1 }
            add(round * 2)
            flusher.drain()
            #expect(flusher.places.frozen.isEmpty, "round \(round)")
        }
        #expect(flusher.places.covered == UInt64(rounds * 2))
    }
}
