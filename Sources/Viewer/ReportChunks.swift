package import EventLog
import JSON
import Kinds
package import Projections

/// Writes a log, or events of it that follow each other, into a page as chunks, each of which can be shown without the ones before it.
/// `docs/steps.md` describes them.
///
/// The block `log` has the lines of an export in their order; the lines of the steps between them begin with a space. The
/// block `index` says where each chunk is, and what an axis needs of every step.
package struct ReportChunks {
    /// So many lines of an export stand before those of their steps: near enough that a text which both have is compressed
    /// once.
    private static let stretchMax = 32
    /// The last messages of a channel that a chunk begins with, and the first rows of any other place.
    private static let rows = 12
    /// A chunk has at least so many events, and so many for each row that it begins with: all chunks together begin with
    /// less than the events of the file.
    private static let (eventsMin, eventsOfARow): (UInt64, UInt64) = (512, 4)

    private let range: ClosedRange<SequenceNumber>
    private let options: ReplayOptions
    private let steps: Steps
    private let report: Report
    private var log: Report.BlockWriter
    private var walk: StepWalk?
    /// The state at the end of the chunk, folded to know the rows that it touches.
    private var ahead = LogState()
    private var chunkEnd = SequenceNumber.zero
    /// Events whose lines were written, and whose steps were not.
    private var waiting: [RecordedEvent] = []
    private var index = ChunkIndex()

    /// - Parameters:
    ///   - report: Begun, without a block yet.
    ///   - range: The first and the last event that is a step. The log has all events between them.
    ///   - options: How the states are folded; no event is left out.
    package init(
        in report: Report,
        title: String,
        reading: String,
        range: ClosedRange<SequenceNumber>,
        options: ReplayOptions
    ) {
        (self.report, self.range, self.options) = (report, range, options)
        steps = Steps(title: title, range: range, options: options, reading: reading)
        log = report.block(.log)
    }

    /// Adds the next line of the export.
    ///
    /// Cost: of an event that is a step, folding it three times and telling what it changed; of the first one of a chunk
    /// also a window of the state.
    ///
    /// - Parameter piece: What the line tells; `nil` for the header.
    /// - Throws: as `Replay.logState`; what the report throws.
    package mutating func add(_ line: [UInt8], _ piece: LogPiece?, of session: borrowing ReadSession) throws {
        guard case .event(let event)? = piece, range.contains(event.envelope.sequence) else {
            try endStretch(session)
            return try log.add(line)
        }
        if event.envelope.sequence > chunkEnd {
            try endStretch(session)
            try beginChunk(event.envelope.sequence, session)
        }
        try log.add(line)
        waiting.append(event)
        if waiting.count == Self.stretchMax { try endStretch(session) }
    }

    /// Writes what is left, and the block `index`.
    package mutating func end(of session: borrowing ReadSession) throws {
        try endStretch(session)
        try log.end()
        index.endChunk(at: log.pieceCount)
        var members = try steps.header(of: session)
        index.write(to: &members)
        let gaps = walk.map { $0.withState { $0.gaps } } ?? []
        for member in try steps.ending(of: session, gaps: gaps).members { members[member.name] = member.value }
        var block = report.block(.index)
        try block.add(Steps.line(members))
        try block.end()
    }

    private mutating func beginChunk(_ first: SequenceNumber, _ session: borrowing ReadSession) throws {
        let before = SequenceNumber(max(first.rawValue, 1) - 1)
        let known: StepWalk
        if let walk {
            known = walk
        } else {
            ahead = try Replay.logState(of: session, through: before, options: options)
            known = StepWalk(from: ahead)
        }
        let places = known.withState { $0.window(around: [:], in: [], StateWindow.Size(rows: 0, tail: 0, reach: 0)) }
            .places
        let begins = places.reduce(UInt64(0)) { $0 + UInt64(min($1.count, Self.rows)) }
        let length = max(Self.eventsMin, begins * Self.eventsOfARow)
        let end = SequenceNumber(min(range.upperBound.rawValue, first.rawValue + length - 1))
        var touched: [EntityReference: String?] = [:]
        ahead = try Replay.advance(ahead, over: session, through: end, options: options) { event, state in
            for thing in state.touched(by: event) { touched.updateValue(nil, forKey: thing) }
            return true
        }
        // The first one has all rows: what the others leave out is folded from it.
        let rows = walk == nil ? Int.max : Self.rows
        let size = StateWindow.Size(rows: rows, tail: rows, reach: 0)
        let window = known.withState { $0.window(around: touched, in: Set(places.map(\.name)), size) }
        try log.endPiece()
        index.endChunk(at: log.pieceCount)
        index.beginChunk(first...end, at: log.pieceCount)
        var header: JSONObject = ["format": .string(Steps.format)]
        window.describe(in: &header)
        try addStep(header)
        try addStep(Steps.step(before, window.rows, orders: window.orders))
        (walk, chunkEnd) = (known, end)
    }

    /// Writes the steps of the events whose lines were written.
    private mutating func endStretch(_ session: borrowing ReadSession) throws {
        guard let last = waiting.last, var steps = walk else { return }
        // Held by nobody else while it is folded, or it would be copied.
        walk = nil
        let found = try steps.stretch(through: last.envelope.sequence, over: session, options: options) { _, _ in }
            .steps
        walk = steps
        for (event, step) in zip(waiting, found) {
            index.add(event, step.differences)
            try addStep(Steps.step(step.event.sequence, step.differences, orders: step.orders))
        }
        waiting = []
    }

    private mutating func addStep(_ members: JSONObject) throws { try log.add([0x20] + Steps.line(members)) }
}

/// Where the chunks of a file are, and what an axis shows of each step.
private struct ChunkIndex {
    private struct Chunk {
        let range: ClosedRange<SequenceNumber>
        let pieces: Range<Int>
    }

    private var chunks: [Chunk] = []
    private var open: (range: ClosedRange<SequenceNumber>, begin: Int)?
    /// Of each step the milliseconds since the one before it; of the first one, since 1970.
    private var times: [JSONValue] = []
    private var latest: Int64 = 0
    private var count = 0
    /// For each mark the steps that have it, each as the distance from the one before it.
    private var marks: [String: (distances: [JSONValue], last: Int)] = [:]

    mutating func beginChunk(_ range: ClosedRange<SequenceNumber>, at piece: Int) { open = (range, piece) }

    mutating func endChunk(at piece: Int) {
        if let open { chunks.append(Chunk(range: open.range, pieces: open.begin..<piece)) }
        open = nil
    }

    mutating func add(_ event: RecordedEvent, _ differences: [StateDifference]) {
        let time = event.envelope.recordedAt.microseconds / 1000
        times.append(.int(Int(time - latest)))
        latest = time
        count += 1
        guard let mark = Self.mark(of: event, differences) else { return }
        marks[mark, default: ([], 0)].distances.append(.int(count - (marks[mark]?.last ?? 0)))
        marks[mark]?.last = count
    }

    func write(to members: inout JSONObject) {
        members["chunks"] = .array(
            chunks.map { chunk in
                .object([
                    "from": .string(chunk.range.lowerBound.description),
                    "to": .string(chunk.range.upperBound.description),
                    "piece": .int(chunk.pieces.lowerBound), "pieces": .int(chunk.pieces.count),
                ])
            }
        )
        members["times"] = .array(times)
        var lists = JSONObject()
        for (mark, list) in marks.sorted(by: { $0.key < $1.key }) { lists[mark] = .array(list.distances) }
        members["marks"] = .object(lists)
    }

    /// What a step is marked as; the page has the same rule for steps that it holds.
    private static func mark(of event: RecordedEvent, _ differences: [StateDifference]) -> String? {
        func has(_ changes: Set<StateDifference.Change>, _ kind: EntityReference.Kind) -> Bool {
            differences.contains { changes.contains($0.change) && $0.entity.kind == kind }
        }
        if has([.added], .issue) { return "issue" }
        if has([.deleted], .message) { return "delete" }
        if has([.changed, .restored], .message) { return "edit" }
        switch KnownKind(event.envelope.kind) {
        case .recorderGap: return "gap"
        case .recorderLink: return "link"
        default: return nil
        }
    }
}
