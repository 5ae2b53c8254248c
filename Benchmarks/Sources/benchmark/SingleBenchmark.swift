import EventLog
import Foundation

/// One event a batch, durable; and eight threads that append one event each at a time, which share their commits.
struct SingleBenchmark {
    let count: Int
    let scratch: Scratch

    func run() throws -> [Figure] {
        let bare = try Bare(at: scratch.freshFolder("bare"))
        let alone = try EventStore.openOrCreate(at: scratch.fresh("alone.eventlog"))
        let shared = try EventStore.openOrCreate(at: scratch.fresh("shared.eventlog"))
        var rates: [[Double]] = [[], [], []]
        var corpus = Corpus(seed: 2)
        for round in 0..<4 {
            corpus.refill(count: count / 4)
            let drafts = try corpus.drafts(firstNumber: round * count, keys: .growing)
            let n = Double(corpus.count)
            rates[0].append(n / (try seconds { try bare.append(corpus, batch: 1) }))
            rates[1].append(n / (try seconds { for draft in drafts { _ = try alone.append([draft]) } }))
            rates[2].append(n / seconds { appendAtOnce(drafts, to: shared) })
        }
        return [
            Figure("append one by one", events: count, rates: rates[1], beside: "bare LMDB", rates[0], goal: 0.8),
            Figure("append, eight at once", events: count, rates: rates[2], beside: "one by one", rates[1], goal: 5),
        ]
    }

    private func appendAtOnce(_ drafts: [DraftEvent], to store: EventStore) {
        let threads = 8
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for index in stride(from: thread, to: drafts.count, by: threads) {
                do { _ = try store.append([drafts[index]]) } catch { print("append: \(error)") }
            }
        }
    }
}
