import CBaseline
import EventLog

/// A sequential read of every payload byte: bare LMDB in C beside the public API.
struct ReadBenchmark {
    let count: Int
    let scratch: Scratch

    func run() throws -> [Figure] {
        let bare = try Bare(at: scratch.freshFolder("bare"))
        let store = try EventStore.openOrCreate(at: scratch.fresh("read.eventlog"))
        try LogFilling.fill(store, bare, count: count, seed: 3)
        var rates: [[Double]] = [[], []]
        for _ in 0..<7 {
            rates[0].append(Double(count) / (try seconds { _ = try bare.scan() }))
            rates[1].append(Double(count) / (try seconds { _ = try Self.scan(store) }))
        }
        return [Figure("read, every byte", events: count, rates: rates[1], beside: "bare LMDB", rates[0], goal: 0.95)]
    }

    static func scan(_ store: EventStore) throws -> UInt64 {
        try store.read { session in
            var sum: UInt64 = 0
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                event.withPayload { bytes in
                    sum &+= baseline_touch(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
                }
                return true
            }
            return sum
        }
    }
}
