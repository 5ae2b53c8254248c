import EventLog
import Foundation
import Projections
import Synchronization
import TestSupport

/// A list of events that no recorder made: those of scenarios, left out, doubled, swapped, cut and mutated by a seed.
struct EventStream {
    var events: [RecordedEvent]

    /// The events of all scenarios of one app, each scenario as a source of its own.
    static func whole(of scenarios: [Scenario], in directory: TemporaryDirectory) throws -> [[RecordedEvent]] {
        try scenarios.enumerated().map { number, scenario in
            let store = try EventStore.openOrCreate(at: directory.path("scenario-\(number)"))
            try scenario.record(into: store)
            return try store.allEvents().map { $0.renamed(source: scenario.testDescription) }
        }
    }

    /// The events of an app's scenarios, but for the one that is there for its size: a stream is folded many times.
    static func lists(of app: String) throws -> [[RecordedEvent]] {
        try known.withLock { known in
            if let lists = known[app] { return lists }
            let directory = try TemporaryDirectory()
            let scenarios = Scenario.all.filter { $0.testDescription.hasPrefix(app) }
            let lists = try whole(of: scenarios, in: directory).filter { events in
                events.allSatisfy { $0.payload.count <= 1 << 16 }
            }
            known[app] = lists
            return lists
        }
    }

    private static let known = Mutex<[String: [[RecordedEvent]]]>([:])

    /// Some of the lists, riffled together under one source's name, with the faults of a bad line.
    init(of lists: [[RecordedEvent]], seed: UInt64, mutatingBytes: Bool) {
        var random = SeededGenerator(seed: seed)
        var queues = lists.shuffled(using: &random).prefix(3).map { $0[...] }
        var picked: [RecordedEvent] = []
        while let index = queues.indices.filter({ !queues[$0].isEmpty }).randomElement(using: &random) {
            let event = queues[index].removeFirst()
            switch Int.random(in: 0..<12, using: &random) {
            case 0: break
            case 1: picked += [event, event]
            case 2: picked.insert(event, at: max(0, picked.count - 1))
            case 3: if let old = picked.randomElement(using: &random) { picked += [event, old] }
            case 4 where mutatingBytes: picked.append(event.mutated(using: &random))
            default: picked.append(event)
            }
        }
        events = picked.enumerated().map { $0.element.renamed(source: "app").placed(at: UInt64($0.offset) + 1) }
    }

    /// Makes the log `L` of random events. It grows part by part; each part is a stream of its own.
    ///
    /// - Parameters:
    ///   - apps: The beginning of the names of the scenarios whose events are used; all scenarios by default.
    ///   - source: Gives the source of a part.
    ///   - mutatingBytes: Whether a part has payloads with altered bytes.
    ///   - whenGrown: Gets the log after each part, and the part.
    @discardableResult
    static func log(
        of apps: String = "",
        parts: UInt64,
        in directory: TemporaryDirectory,
        seed: UInt64,
        source: (UInt64) -> String = { "app\($0)" },
        mutatingBytes: (UInt64) -> Bool = { _ in true },
        whenGrown: (EventStore, UInt64) throws -> Void = { _, _ in }
    ) throws -> EventStore {
        let scenarios = Scenario.all.filter { $0.testDescription.hasPrefix(apps) }
        let lists = try whole(of: scenarios, in: directory)
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        for part in 0..<parts {
            let stream = EventStream(of: lists, seed: seed * parts + part, mutatingBytes: mutatingBytes(part))
            _ = try store.append(stream.events.map { $0.renamed(source: source(part)).draft })
            try whenGrown(store, part)
        }
        return store
    }

    /// A few words for each event, for whoever has to find out why it fails.
    static func description(of events: [RecordedEvent]) -> String {
        events.map { event in
            let text = String(decoding: event.payload.prefix(300), as: UTF8.self)
            return "\(event.envelope.sequence) \(event.envelope.kind) \(text)"
        }.joined(separator: "\n")
    }
}

extension EventStore {
    /// All held events in order, copied.
    func allEvents() throws -> [RecordedEvent] {
        try read { session in
            var events: [RecordedEvent] = []
            guard session.head > .zero else { return events }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) {
                events.append($0.copied())
                return true
            }
            return events
        }
    }
}

extension RecordedEvent {
    func renamed(source: String) -> RecordedEvent {
        guard let source = try? SourceName(source) else { return self }
        return changed(sequence: envelope.sequence, source: source, payload: payload)
    }

    func placed(at sequence: UInt64) -> RecordedEvent {
        changed(sequence: SequenceNumber(sequence), source: envelope.source, payload: payload)
    }

    /// The same event without its key, ready to be appended to another log.
    var draft: DraftEvent {
        DraftEvent(
            recordedAt: envelope.recordedAt,
            source: envelope.source,
            kind: envelope.kind,
            attributes: envelope.attributes,
            payload: payload
        )
    }

    /// The same event with up to four faults in its bytes.
    func mutated(using random: inout SeededGenerator) -> RecordedEvent {
        var bytes = payload
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(contentsOf: Array("9e99{[\"]}:,-".utf8).shuffled(using: &random).prefix(3), at: index)
            case 3: bytes.removeSubrange(index...)
            case 4: bytes.insert(contentsOf: bytes.prefix(index), at: index)
            default: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &random))
            }
        }
        return changed(sequence: envelope.sequence, source: envelope.source, payload: bytes)
    }

    private func changed(sequence: SequenceNumber, source: SourceName, payload: [UInt8]) -> RecordedEvent {
        RecordedEvent(
            envelope: Envelope(
                sequence: sequence,
                recordedAt: envelope.recordedAt,
                source: source,
                kind: envelope.kind,
                attributes: envelope.attributes
            ),
            payload: payload,
            salt: salt,
            commitment: commitment,
            leafHash: leafHash
        )
    }
}
