import EventLog
import Foundation
import Projections

/// A replay with all folds on, beside the same work as most people would write it: Foundation's JSONDecoder into structs
/// and dictionaries.
struct ReplayBenchmark {
    let count: Int
    let scratch: Scratch

    func run() throws -> [Figure] {
        let store = try EventStore.openOrCreate(at: scratch.fresh("replay.eventlog"))
        var corpus = Corpus(seed: 4)
        let slice = min(count, 200_000)
        for start in stride(from: 0, to: count, by: slice) {
            corpus.refill(count: min(slice, count - start))
            for drafts in try corpus.drafts(firstNumber: start, keys: .growing).chunked(by: 10_000) {
                _ = try store.append(drafts)
            }
        }
        var rates: [[Double]] = [[], [], []]
        for _ in 0..<3 {
            rates[0].append(Double(count) / (try seconds { _ = try ReadBenchmark.scan(store) }))
            rates[1].append(Double(count) / (try seconds { try replay(store) }))
            let part = min(count, 50_000)
            rates[2].append(Double(part) / (try seconds { try Everyday.replay(store, count: part) }))
        }
        return [
            Figure(
                "replay, one core",
                events: count,
                rates: rates[1],
                beside: "read, every byte",
                rates[0],
                goal: 0.12
            ),
            Figure("replay, one core", events: count, rates: rates[1], beside: "JSONDecoder", rates[2], goal: 15),
        ]
    }

    private func replay(_ store: EventStore) throws {
        _ = try store.read { try Replay.workspace(of: $0) }
    }
}

/// What a user would write first.
private enum Everyday {
    struct Frame: Decodable {
        let op: Int
        let t: String?
        let d: Message?
    }

    struct Message: Decodable {
        let id: String
        let channel: String
        let author: String?
        let content: String?
        let createdAt: String?
        let editedAt: String?
        let authorName: String?

        enum CodingKeys: String, CodingKey {
            case id, content
            case channel = "channel_id"
            case author = "author_id"
            case createdAt = "created_at"
            case editedAt = "edited_at"
            case authorName = "author_display_name"
        }
    }

    static func replay(_ store: EventStore, count: Int) throws {
        let decoder = JSONDecoder()
        var channels: [String: [String: Message]] = [:]
        try store.read { session in
            try session.forEachEvent(in: SequenceNumber(1)...SequenceNumber(UInt64(count))) { event in
                let frame = try event.withPayload { try decoder.decode(Frame.self, from: Data($0)) }
                guard let message = frame.d else { return true }
                channels[message.channel, default: [:]][message.id] = frame.t == "MESSAGE_DELETE" ? nil : message
                return true
            }
        }
    }
}
