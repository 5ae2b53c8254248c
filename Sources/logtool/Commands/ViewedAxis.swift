#if Recorders
import EventLog
import JSON
import Projections
import Viewer

/// What a page asks about the whole of a log that is served: its axis, the next mark, the events of a channel. Apart from the
/// chunks, so that nobody waits for it who only looks at a point. Marks are made once; of a log that grows, only what is new is read.
actor ViewedAxis {
    private let store: EventStore
    private let options: ReplayOptions
    private var marks: LogMarks?
    /// What makes the marks of a long log.
    private var making: Task<LogMarks, any Error>?
    private var channels: (head: SequenceNumber, generation: UInt32, sequences: [PlaceName: [UInt64]])?

    private var links: (head: SequenceNumber, generation: UInt32, connections: ConnectionLinks)?

    /// More gaps than these are counted.
    private static let gapsMax = 1000
    static let bucketsMax = 2000

    /// More events than these are read by a task of their own.
    private static let inlineMax: UInt64 = 20_000

    init(_ store: EventStore, _ options: ReplayOptions) { (self.store, self.options) = (store, options) }

    /// The axis of some events: the first event of each bucket, the events in it, its marks, and the gaps. Buckets are of
    /// equal times, or of equally many events where all came in one moment. While the marks of a long log are made, it has
    /// none of them, and says so.
    ///
    /// - Parameters:
    ///   - range: The events.
    ///   - count: How many buckets; at least 1.
    ///   - place: Only events of this channel are counted.
    /// - Throws: `Failure` if the events of the place cannot be told apart.
    func axis(_ range: ClosedRange<UInt64>, count: Int, of place: PlaceName?) async throws -> JSONObject {
        let marks = try await currentMarks(waits: false)
        return try store.read { session in
            let times = try [range.lowerBound, range.upperBound].map { try session.clock(at: SequenceNumber($0)) }
            let starts = try Self.starts(range, times[0], times[1], count: count, session)
            let counts: [Int]
            if let place {
                let list = try sequences(of: place, in: session)
                let places = starts.map { LogMarks.index(of: $0, in: list) }
                counts = zip(places, places.dropFirst()).map { $1 - $0 }
            } else {
                counts = zip(starts, starts.dropFirst()).map { Int($1 - $0) }
            }
            let gaps = marks?.gaps(in: range, countMax: Self.gapsMax) ?? (.array([]), 0)
            return [
                "from": .string(String(range.lowerBound)), "to": .string(String(range.upperBound)),
                "times": .array(times.compactMap { $0 }.map { .string($0.description) }),
                "starts": .array(starts.map { .string(String($0)) }), "counts": .array(counts.map { .int($0) }),
                "marks": .object(marks?.json(in: starts) ?? [:]), "gaps": gaps.shown, "gapCount": .int(gaps.count),
                "pending": marks == nil ? .bool(true) : nil,
            ]
        }
    }

    /// The first events of the buckets, and the event behind the last one.
    private static func starts(
        _ range: ClosedRange<UInt64>,
        _ first: Timestamp?,
        _ last: Timestamp?,
        count: Int,
        _ session: borrowing ReadSession
    ) throws -> [UInt64] {
        let (begin, end) = (range.lowerBound, range.upperBound + 1)
        guard let first, let last, last > first else {
            return (0...count).map { begin + UInt64(Double(end - begin) * Double($0) / Double(count)) }
        }
        let span = Double(last.microseconds - first.microseconds)
        let inner = try (1..<max(count, 1)).map { bucket in
            let offset = Int64(span * Double(bucket) / Double(count))
            let time = Timestamp(microseconds: first.microseconds + offset - 1)
            return min(max(try session.lastSequence(clockAtMost: time).rawValue + 1, begin), end)
        }
        return [begin] + inner + [end]
    }

    /// The next event behind a sequence, or the last one before it, that has a mark, or is of a channel.
    func next(from sequence: UInt64, isBack: Bool, of place: PlaceName?) async throws -> UInt64? {
        guard let place else {
            return try await currentMarks(waits: true)?.next(from: sequence, isBack: isBack)
        }
        return try store.read { session in
            LogMarks.next(in: try sequences(of: place, in: session), from: sequence, isBack: isBack)
        }
    }

    /// The connection of an event, with the events at which it began and ended; empty for an event of none.
    ///
    /// Cost: a walk over the events that were appended since the last call.
    func connection(of sequence: UInt64) throws -> JSONObject {
        try store.read { session in
            guard let envelope = try session.event(at: SequenceNumber(sequence))?.envelope,
                let name = envelope.attributes["connection"]
            else { return [:] }
            var known = links.take() ?? (.zero, session.generationNumber, ConnectionLinks())
            if known.generation != session.generationNumber {
                known = (.zero, session.generationNumber, ConnectionLinks())
            }
            if known.head < session.head {
                try session.forEachEvent(in: known.head.next...session.head) { event in
                    known.connections.take(event)
                    return true
                }
                known.head = session.head
            }
            links = known
            return known.connections.json(of: name, in: envelope.source) ?? [:]
        }
    }

    /// The marks up to the head. Of a long log that was not read yet they are made by a task; without waiting for it, `nil`.
    private func currentMarks(waits: Bool) async throws -> LogMarks? {
        let (head, generation) = try store.read { ($0.head, $0.generationNumber) }
        if let known = marks, known.generation == generation,
            head <= known.head || head.rawValue - known.head.rawValue <= Self.inlineMax
        {
            // Held by nobody else while it goes on, or it would be copied.
            marks = nil
            var next = known
            try store.read { session in
                if session.generationNumber == generation { try next.advance(over: session) }
            }
            marks = next
            return next
        }
        let (store, options) = (store, options)
        let task =
            making
            ?? Task.detached(priority: .utility) {
                try store.read { try LogMarks(of: $0, options: options) }
            }
        if making == nil {
            making = task
            Task { await take(task) }
        }
        guard waits || head.rawValue <= Self.inlineMax else { return nil }
        return try await task.value
    }

    private func take(_ task: Task<LogMarks, any Error>) async {
        // Who waits for it gets the error; the next question tries again.
        let made = try? await task.value
        (marks, making) = (made ?? marks, nil)
    }

    private func sequences(of place: PlaceName, in session: borrowing ReadSession) throws -> [UInt64] {
        if channels?.head != session.head || channels?.generation != session.generationNumber {
            channels = (session.head, session.generationNumber, [:])
        }
        if let known = channels?.sequences[place] { return known }
        guard place.kind == .message, place.parts.count == 2,
            let found = try Replay.sequences(
                ofChannel: place.parts[1],
                of: try SourceName(place.parts[0]),
                in: session,
                options: options
            )
        else { throw Failure("the events of \(place.text) cannot be told apart from others without reading all") }
        channels?.sequences[place] = found
        return found
    }
}
#endif
