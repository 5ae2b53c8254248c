#if Recorders
import Clients
import EventLog
import JSON
import Projections
import Viewer

/// The events of a log that is served in chunks, and what is said of single ones.
actor ViewedLog {
    /// The most rows of a place that a chunk has, and how many of one that was not asked for.
    private static let (rowsMax, tail) = (4000, 16)
    /// The rows that a page asks for at least.
    private static let rowsMin = 60
    /// A search ends after so many events or finds, and says where to go on.
    private static let (scannedMax, foundMax): (UInt64, Int) = (500_000, 50)
    private static let entriesMax = 500

    private let store: EventStore
    private let first: SequenceNumber
    /// `nil` for a log that is followed.
    private let last: SequenceNumber?
    private let reading: Profile
    nonisolated let title: String
    private var chunks: StepChunks
    /// Makes the chunks of single events, which need no chunk before them.
    private let steps: StepChunks
    /// The last chunk, made before a page asks for it.
    private var readyChunk: (question: ChunkQuestion, head: SequenceNumber, generation: UInt32, bytes: [UInt8])?
    /// The chunks as if one event had never arrived, for a page that shows that beside the log.
    private var parted: (left: UInt64, chunks: StepChunks)?

    init(_ store: EventStore, title: String, from first: SequenceNumber, to last: SequenceNumber?, reading: Profile) {
        (self.store, self.first, self.last, self.reading, self.title) = (store, first, last, reading, title)
        let options = StateQuery(profile: reading).replayOptions
        steps = StepChunks(title: title, reading: reading.rawValue, options: options)
        chunks = steps
    }

    /// Makes what a page asks for first, the chunk of the last events, and then the index of channels, by which jumps are short.
    func prepare() throws {
        let head = try store.read { session -> SequenceNumber? in
            guard let range = range(in: session) else { return nil }
            let index = range.upperBound.rawValue - range.lowerBound.rawValue
            let start = range.lowerBound.rawValue + index / StepChunks.eventsMax * StepChunks.eventsMax
            let question = ChunkQuestion(from: start, to: range.upperBound.rawValue, places: [], rows: Self.rowsMin)
            let bytes = try made(question, of: session)
            readyChunk = (question, session.head, session.generationNumber, bytes)
            return range.upperBound
        }
        guard let head else { return }
        let (steps, store) = (steps, store)
        Task.detached(priority: .utility) {
            // A question makes the index. Without it, the first jump does, and says what is wrong if the log cannot be read.
            _ = try? store.read { session in
                try steps.writeStep(at: head, Self.size(rows: 1), of: session) { _ in }
            }
        }
    }

    /// The events that are served; `nil` if there are none yet.
    private func range(in session: borrowing ReadSession) -> ClosedRange<SequenceNumber>? {
        let end = min(last ?? session.head, session.head)
        return first <= end ? first...end : nil
    }

    /// The events that are served, as numbers.
    ///
    /// - Throws: `Failure` if there are none.
    func range() throws -> ClosedRange<UInt64> {
        try store.read { session in
            guard let range = range(in: session) else { throw Failure("there are no such events") }
            return range.lowerBound.rawValue...range.upperBound.rawValue
        }
    }

    /// What the page begins with: which events there are, and how many a chunk has.
    func header() throws -> [UInt8] {
        try store.read { session in
            guard let range = range(in: session) else { throw Failure("there are no such events") }
            var header = try chunks.header(range, of: session)
            header["chunk"] = .int(StepChunks.eventsMax)
            header["follows"] = .bool(last == nil)
            return Steps.line(header)
        }
    }

    /// A chunk of the events of a range.
    ///
    /// - Parameters:
    ///   - places: Places to show beside those that the events touch.
    ///   - rows: How many rows of each place are wanted.
    ///   - left: An event that is passed over as if it had never arrived. The first such chunk folds from the last kept state before
    ///     that event on.
    /// - Throws: `Failure` for events that are not served, or too many.
    func chunk(
        _ from: UInt64,
        _ to: UInt64,
        of places: Set<PlaceName>,
        rows: Int,
        without left: UInt64? = nil
    ) throws -> [UInt8] {
        try store.read { session in
            guard let range = range(in: session), from >= range.lowerBound.rawValue, from <= to,
                to <= range.upperBound.rawValue, to - from < StepChunks.eventsMax
            else { throw Failure("a chunk has at most \(StepChunks.eventsMax) of the events that are served") }
            let question = ChunkQuestion(from: from, to: to, places: places, rows: rows)
            guard let left else {
                if let ready = readyChunk, ready.question == question, ready.head == session.head,
                    ready.generation == session.generationNumber
                {
                    return ready.bytes
                }
                return try made(question, of: session)
            }
            guard range.contains(SequenceNumber(left)) else { throw Failure("event \(left) is not served") }
            var chunks = parted.flatMap { $0.left == left ? $0.chunks : nil } ?? chunksWithout(left)
            // Held by nobody else while it goes on, or the state in it would be copied.
            parted = nil
            var bytes: [UInt8] = []
            try chunks.write(question.events, in: places, question.size, of: session) { bytes += $0 }
            parted = (left, chunks)
            return bytes
        }
    }

    /// What a page asks of a chunk.
    private struct ChunkQuestion: Equatable {
        let from: UInt64
        let to: UInt64
        let places: Set<PlaceName>
        let rows: Int

        var events: ClosedRange<SequenceNumber> { SequenceNumber(from)...SequenceNumber(to) }

        var size: StateWindow.Size { ViewedLog.size(rows: rows) }
    }

    private static func size(rows: Int) -> StateWindow.Size {
        StateWindow.Size(rows: min(max(rows, 1), rowsMax), tail: tail, reach: 8)
    }

    /// The chunk of one event with the channel that it changes; `nil` where only a whole chunk tells what it changes. Waits for no
    /// other chunk.
    ///
    /// - Parameter rows: How many rows of the channel are wanted.
    /// - Throws: `Failure` for an event that is not served.
    nonisolated func step(at sequence: UInt64, rows: Int) throws -> [UInt8]? {
        try store.read { session in
            let end = min(last ?? session.head, session.head)
            let sequence = SequenceNumber(sequence)
            guard first <= sequence, sequence <= end else { throw Failure("event \(sequence) is not served") }
            var bytes: [UInt8] = []
            let isTold = try steps.writeStep(at: sequence, Self.size(rows: rows), of: session) { bytes += $0 }
            return isTold ? bytes : nil
        }
    }

    private func made(_ question: ChunkQuestion, of session: borrowing ReadSession) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try chunks.write(question.events, in: question.places, question.size, of: session) { bytes += $0 }
        return bytes
    }

    private func chunksWithout(_ left: UInt64) -> StepChunks {
        var options = StateQuery(profile: reading).replayOptions
        options.without = [SequenceNumber(left)]
        return StepChunks(title: title, reading: "\(reading.rawValue) without event \(left)", options: options)
    }

    /// The events from one on that contain a text, in whatever case, with what stands around it, and where to go on.
    func search(_ text: String, from: UInt64) throws -> JSONObject {
        let match = EventMatch(TextMatch(text, ignoresCase: true))
        return try store.read { session in
            guard let range = range(in: session), from <= range.upperBound.rawValue else {
                return ["found": .array([]), "next": nil]
            }
            let start = max(from, range.lowerBound.rawValue)
            let end = min(range.upperBound.rawValue, start + Self.scannedMax - 1)
            var found: [JSONValue] = []
            var next = end + 1
            try session.forEachEvent(in: SequenceNumber(start)...SequenceNumber(end)) { event in
                guard match.isMatch(event) else { return true }
                try session.check(event)
                let around = event.withPayload { FoundText.around(text, in: $0) }
                found.append(
                    .object(["sequence": .string(event.sequence.description), "text": .string(around)])
                )
                next = event.sequence.rawValue + 1
                return found.count < Self.foundMax
            }
            if found.count < Self.foundMax { next = end + 1 }
            let isMore = next <= range.upperBound.rawValue
            return ["found": .array(found), "next": isMore ? .string(String(next)) : nil]
        }
    }

    /// The last entries of one thing's history within the events that are served, and how many there are.
    func history(of thing: EntityReference) throws -> JSONObject {
        let loader = StateLoader(store: store, isQuiet: true)
        let entries = try loader.history(of: thing, profile: reading).entries
        let end = last ?? SequenceNumber(.max)
        let known = entries.filter { $0.sequence <= end }
        let shown = known.suffix(Self.entriesMax).map { entry in
            JSONValue.object([
                "sequence": .string(entry.sequence.description), "change": .string(entry.change),
                "fields": .object(entry.fields),
            ])
        }
        return ["entries": .array(shown), "count": .int(known.count)]
    }

    /// The proof that an event is in the log as it is now.
    func proof(of sequence: UInt64) throws -> [UInt8] {
        try store.read { session in
            try InclusionProof(of: SequenceNumber(sequence), size: session.head.rawValue, in: session).json
        }
    }

    /// The events of a day by the log's clock, in UTC; `nil` if there are none.
    func day(_ text: String) throws -> ClosedRange<UInt64>? {
        guard let begin = Timestamp(written: text), text.utf8.count == 10 else {
            throw Failure("a day is 2026-01-31")
        }
        let end = Timestamp(microseconds: begin.microseconds + 86_400_000_000 - 1)
        return try store.read { session in
            guard let range = range(in: session) else { return nil }
            let before = Timestamp(microseconds: begin.microseconds - 1)
            let from = max(try session.lastSequence(clockAtMost: before).next, range.lowerBound)
            let to = min(try session.lastSequence(clockAtMost: end), range.upperBound)
            return from <= to ? from.rawValue...to.rawValue : nil
        }
    }
}

/// What stands around a text that was found.
enum FoundText {
    /// The characters before and behind it that are shown.
    private static let (before, behind) = (40, 80)

    /// Some text around the first place; the beginning of the payload where only an attribute or the key has the text.
    static func around(_ text: String, in payload: UnsafeRawBufferPointer) -> String {
        let plain = String(decoding: JSONEscapes.undone(in: payload), as: UTF8.self)
        guard let place = TextMatch(text, ignoresCase: true).range(in: plain) else {
            return String(plain.prefix(before + behind))
        }
        let start = plain.index(place.lowerBound, offsetBy: -before, limitedBy: plain.startIndex) ?? plain.startIndex
        let end = plain.index(place.upperBound, offsetBy: behind, limitedBy: plain.endIndex) ?? plain.endIndex
        return (start > plain.startIndex ? "…" : "") + plain[start..<end]
    }
}
#endif
