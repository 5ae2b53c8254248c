import EventLog
import Foundation
import Projections

/// A replay with all folds on: beside a bare LMDB scan that touches every byte, beside the same work as most people would
/// write it (Foundation's JSONDecoder into structs and dictionaries), with two threads, and with digests.
struct ReplayBenchmark {
    let count: Int
    let scratch: Scratch
    private let rounds = 3

    /// Of frames with members that nobody knows, and of plain ones alone.
    func run() throws -> [Figure] {
        try run(isPlain: false) + run(isPlain: true)
    }

    private func run(isPlain: Bool) throws -> [Figure] {
        let bare = try Bare(at: scratch.freshFolder("bare"))
        let path = scratch.fresh("replay.eventlog")
        let store = try EventStore.openOrCreate(at: path)
        try fill(bare, store, Corpus(seed: 4, isPlain: isPlain))
        let name = isPlain ? "replay, plain frames" : "replay"
        let memory = try bytesPerMessage(path, name)
        _ = try keptReplay(store)
        var rates: [String: [Double]] = [:]
        for _ in 0..<rounds {
            rates["bare", default: []].append(rate(count, try seconds { _ = try bare.scan() }))
            rates["one", default: []].append(rate(count, try seconds { _ = try replay(store) }))
            rates["two", default: []].append(rate(count, try seconds { _ = try replay(store, ahead: true) }))
            rates["kept", default: []].append(rate(count, try seconds { _ = try keptReplay(store) }))
            rates["digest", default: []].append(rate(count, try seconds { _ = try digest(store) }))
            let part = min(count, 50_000)
            rates["each", default: []].append(rate(part, try seconds { try digestEach(store, count: part) }))
            rates["everyday", default: []].append(rate(part, try seconds { try Everyday.replay(store, count: part) }))
        }
        return figures(rates, name) + memory + [try derivedBytes(store, path, name)]
    }

    private func fill(_ bare: Bare, _ store: EventStore, _ corpus: consuming Corpus) throws {
        let slice = min(count, 200_000)
        for start in stride(from: 0, to: count, by: slice) {
            corpus.refill(count: min(slice, count - start))
            try bare.append(corpus, batch: 10_000)
            for drafts in try corpus.drafts(firstNumber: start, keys: .growing).chunked(by: 10_000) {
                _ = try store.append(drafts)
            }
        }
    }

    private func figures(_ rates: [String: [Double]], _ name: String) -> [Figure] {
        let one = rates["one"] ?? []
        func figure(_ how: String, _ rates: [Double]?, beside baseline: String, _ other: [Double]?, goal: Double?)
            -> Figure
        {
            Figure("\(name), \(how)", events: count, rates: rates ?? [], beside: baseline, other ?? [], goal: goal)
        }
        return [
            figure("one core", one, beside: "bare LMDB, every byte", rates["bare"], goal: 0.12),
            figure("one core", one, beside: "JSONDecoder", rates["everyday"], goal: 15),
            figure("one core", one, beside: "events a second", [1_200_000], goal: 1),
            figure("two cores", rates["two"], beside: "one core", one, goal: nil),
            figure("two cores", rates["two"], beside: "events a second", [1_800_000], goal: 1),
            figure("from kept states", rates["kept"], beside: "events a second", [5_000_000], goal: 1),
            figure("final digest", rates["digest"], beside: "events a second", [600_000], goal: 1),
            figure("each digest", rates["each"], beside: "events a second", [200_000], goal: 1),
        ]
    }

    private func rate(_ count: Int, _ seconds: Double) -> Double { Double(count) / seconds }

    private func replay(_ store: EventStore, ahead: Bool = false) throws -> LogState {
        var options = ReplayOptions()
        options.decodesAhead = ahead
        return try store.read { try Replay.logState(of: $0, options: options) }
    }

    /// What is decoded is kept by the first replay, and read by those that follow.
    private func keptReplay(_ store: EventStore) throws -> LogState {
        try store.read { try Replay.logState(of: $0, options: keeping) }
    }

    private var keeping: ReplayOptions {
        var options = ReplayOptions()
        options.keeping = KeptStateOptions(build: "benchmark")
        return options
    }

    /// All that is derived, with the index of channels that the first query of one makes.
    private func derivedBytes(_ store: EventStore, _ path: String, _ name: String) throws -> Figure {
        if let channel = EntityReference("channel:gateway/\(Corpus.channelID(0))") {
            _ = try store.read { try Replay.channels(named: channel, of: $0, options: keeping) }
        }
        let log = Double(Scratch.bytes(of: path + "/gen-000001"))
        let derived = Double(Scratch.bytes(of: path + "/cache-000001"))
        return Figure("\(name), derived data beside the log", events: count, found: derived / log, allowed: 0.6)
    }

    private func digest(_ store: EventStore) throws -> Hash256 {
        var state = try replay(store)
        return state.digest()
    }

    private func digestEach(_ store: EventStore, count: Int) throws {
        try store.read { session in
            try Replay.digests(of: session, through: SequenceNumber(UInt64(count))) { _, _ in true }
        }
    }

    /// In a process of its own, to which nothing of what was measured before has left room; only where the system tells.
    private func bytesPerMessage(_ path: String, _ name: String) throws -> [Figure] {
        let output = scratch.file("message-bytes.json")
        _ = try Child.use(CommandLine.arguments[0], ["--answer", "message-bytes", "--answer", path], output: output)
        let bytes = try JSONDecoder().decode(Double?.self, from: Data(contentsOf: URL(filePath: output)))
        return bytes.map { bytes in
            [Figure("\(name), bytes per live message beside its text", events: count, found: bytes, allowed: 120)]
        } ?? []
    }

    /// What the process holds more of after a replay than before, its texts taken off, for each live message.
    static func answer(_ arguments: [String]) throws {
        guard let path = arguments.first else { return }
        let store = try EventStore.open(at: path)
        func replay() throws -> LogState { try store.read { try Replay.logState(of: $0) } }
        // The first state takes the room that the work itself needs; the second one, with the first still there, new room.
        let first = try replay()
        let before = Memory.anonymousBytes()
        let state = try replay()
        let after = withExtendedLifetime(first) { Memory.anonymousBytes() }
        guard let before, let after else { return print("null") }
        let statistics = state.messageStatistics
        print(Double(after - before - statistics.textBytes) / Double(max(1, statistics.live)))
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
