import EventLog
import Foundation

/// One event a batch, durable; and eight threads and eight tasks that append one event each at a time, which share their
/// commits. In short turns, so that all meet the same machine.
struct SingleBenchmark {
    let count: Int
    let scratch: Scratch
    private let workers = 8

    func run() async throws -> [Figure] {
        let bare = try Bare(at: scratch.freshFolder("bare"))
        let stores = try ["alone", "threads", "tasks"].map { name in
            try EventStore.openOrCreate(at: scratch.fresh("\(name).eventlog"))
        }
        var rates: [[Double]] = [[], [], [], []]
        var corpus = Corpus(seed: 2)
        let rounds = 10
        for round in 0..<rounds {
            corpus.refill(count: count / rounds)
            let drafts = try corpus.drafts(firstNumber: round * count, keys: .growing)
            let n = Double(corpus.count)
            rates[0].append(n / (try seconds { try bare.append(corpus, batch: 1) }))
            rates[1].append(n / (try seconds { for draft in drafts { _ = try stores[0].append([draft]) } }))
            rates[2].append(n / seconds { appendOnThreads(drafts, to: stores[1]) })
            let start = ContinuousClock.now
            await appendInTasks(drafts, to: stores[2])
            rates[3].append(n / ((ContinuousClock.now - start) / .seconds(1)))
        }
        return [
            Figure("append one by one", events: count, rates: rates[1], beside: "bare LMDB", rates[0], goal: 0.8),
            Figure("append, eight threads", events: count, rates: rates[2], beside: "one by one", rates[1], goal: 5),
            Figure("append, eight tasks", events: count, rates: rates[3], beside: "one by one", rates[1], goal: 5),
        ]
    }

    /// Threads of their own: a concurrent loop would start no more of them than there are cores.
    private func appendOnThreads(_ drafts: [DraftEvent], to store: EventStore) {
        let group = DispatchGroup()
        let workers = workers
        for worker in 0..<workers {
            group.enter()
            Thread {
                for index in stride(from: worker, to: drafts.count, by: workers) {
                    do { _ = try store.append([drafts[index]]) } catch { print("append: \(error)") }
                }
                group.leave()
            }.start()
        }
        group.wait()
    }

    private func appendInTasks(_ drafts: [DraftEvent], to store: EventStore) async {
        let workers = workers
        await withTaskGroup { group in
            for worker in 0..<workers {
                group.addTask {
                    for index in stride(from: worker, to: drafts.count, by: workers) {
                        await withCheckedContinuation { continuation in
                            do {
                                try store.append(DraftBatch([drafts[index]])) { result in
                                    if case .failure(let error) = result { print("append: \(error)") }
                                    continuation.resume()
                                }
                            } catch {
                                print("append: \(error)")
                                continuation.resume()
                            }
                        }
                    }
                }
            }
        }
    }
}
