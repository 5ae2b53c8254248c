/// An archive that is being read: what one compaction dropped, as `compact` wrote it.
public struct Archive {
    /// What errors call it.
    public let name: String
    /// Its first line.
    public let header: LogHeader
    /// The next piece; `nil` after the last.
    public let next: () throws -> LogPiece?

    /// Makes one of a header and what gives the pieces behind it.
    public init(name: String, header: LogHeader, next: @escaping () throws -> LogPiece?) {
        (self.name, self.header, self.next) = (name, header, next)
    }
}

/// Brings back what the newest compactions of a log dropped, from their archives.
///
/// Believes nothing of an archive (C17): each event must have the leaf hash that its compaction kept of it, a substitute must be
/// named by an act, and the facts must be those that the rewrite before the compaction names. Use a value once, from one thread.
final class Restoration {
    /// The head at which the compaction before was decided; zero without one.
    let decidedAt: UInt64
    /// The facts from before the compactions.
    let facts: [String: [UInt8]]
    /// The acts of the rewrites before the compactions.
    let acts: [UInt64]
    /// The acts of the compactions, the newest first.
    let undone: [UInt64]
    /// The events that the compactions dropped.
    let sequences: SequenceRanges
    /// How many events that are.
    let count: UInt64

    private var inputs: [Input]
    private var restored: UInt64 = 0
    private var laneNumbers: [[UInt8]: UInt32] = [:]
    private var lastLane: (lane: Lane, number: UInt32)?
    private let path: String

    /// One archive and the event in it that comes next.
    private struct Input {
        let archive: Archive
        /// The number of the rewrite that it is of.
        let rewrite: UInt32
        var last: UInt64 = 0
        var event: RecordedEvent?
        /// The run of dropped events that the last event lies in.
        var run: GapRun?
        var isAtEnd = false
    }

    /// - Parameters:
    ///   - archives: in any order.
    ///   - kinds: acts of these kinds behind a compaction forbid to bring back what it dropped.
    /// - Throws: `EventLogError` with code `invalidArgument` unless they are those of the newest compactions.
    init(_ archives: [Archive], into reader: LogReader, barredBy kinds: Set<EventKind>, path: String) throws {
        self.path = path
        var counts: [UInt32: UInt64] = [:]
        try reader.forEachGapRun(in: 1...UInt64.max) { run in
            counts[run.rewrite, default: 0] += run.count
            return true
        }
        let known = try reader.acts()
        var (decidedAt, inputs, undone) = (try reader.decidedAt().rawValue, [Input](), [UInt64]())
        var facts = try reader.values(of: reader.tables.facts)
        for archive in archives.sorted(by: { $0.header.size > $1.header.size }) {
            let header = archive.header
            try Self.checkLog(archive, reader, path)
            let rewrite = counts.keys.max().map { Int($0) } ?? 0
            guard header.size == decidedAt, rewrite > 0, rewrite <= known.count,
                header.acts.map(\.rawValue) == Array(known[..<(rewrite - 1)])
            else { throw Self.misplaced(archive, decidedAt, path) }
            try Self.check(known[(rewrite - 1)...], archive, barredBy: kinds, reader, path)
            facts = try Self.facts(of: archive, against: facts, path)
            try Self.check(facts, of: archive, before: known[..<(rewrite - 1)].last, reader, path)
            counts[UInt32(rewrite)] = nil
            decidedAt = header.decidedAt.rawValue
            inputs.append(Input(archive: archive, rewrite: UInt32(rewrite)))
            undone.append(known[rewrite - 1])
        }
        guard let oldest = inputs.last else { throw Self.refused(path, "no archive is given") }
        var (sequences, count) = (SequenceRanges(), UInt64(0))
        let rewrites = Set(inputs.map(\.rewrite))
        try reader.forEachGapRun(in: 1...UInt64.max) { run in
            guard rewrites.contains(run.rewrite) else { return true }
            sequences.append(run.first...run.last)
            count += run.count
            return true
        }
        (self.decidedAt, self.inputs, self.undone) = (decidedAt, inputs, undone)
        (self.sequences, self.count) = (sequences, count)
        self.facts = facts
        acts = Array(known[..<(Int(oldest.rewrite) - 1)])
    }
}

// MARK: - Events

extension Restoration {
    /// The sequence of the event that comes next; `nil` after the last.
    func nextSequence(_ reader: LogReader) throws -> UInt64? {
        try nextInput(reader).flatMap { inputs[$0].event?.envelope.sequence.rawValue }
    }

    /// The record of the event that comes next, which is then passed; `nil` after the last.
    func takeRecord(_ reader: LogReader) throws -> [UInt8]? {
        guard let place = try nextInput(reader), let event = inputs[place].event else { return nil }
        inputs[place].event = nil
        restored += 1
        guard let bytes = Record.bytes(of: event, lane: try number(of: event.envelope, reader, inputs[place].archive))
        else {
            throw Self.refused(
                inputs[place].archive,
                path,
                "sequence \(event.envelope.sequence) has no salt of 16 bytes"
            )
        }
        return bytes
    }

    /// - Throws: `EventLogError` with code `invalidArgument` unless every event came.
    func finish() throws {
        guard restored < count else { return }
        throw Self.refused(path, "the archives hold \(restored) of the \(count) events that the compactions dropped")
    }

    /// The place of the archive whose next event is the first of all; `nil` after the last.
    private func nextInput(_ reader: LogReader) throws -> Int? {
        var first: (place: Int, sequence: UInt64)?
        for place in inputs.indices {
            try fill(place, reader)
            guard let sequence = inputs[place].event?.envelope.sequence.rawValue else { continue }
            if sequence < first?.sequence ?? .max { first = (place, sequence) }
        }
        return first?.place
    }

    /// Reads the next event of an archive, unless there is one already.
    private func fill(_ place: Int, _ reader: LogReader) throws {
        while inputs[place].event == nil, !inputs[place].isAtEnd {
            guard let piece = try inputs[place].archive.next() else {
                inputs[place].isAtEnd = true
                return
            }
            guard case .event(let event) = piece, try isDropped(event, place, reader) else { continue }
            inputs[place].event = event
        }
    }

    /// Whether an event is one that the archive's compaction dropped; false for an act, which the log holds.
    private func isDropped(_ event: RecordedEvent, _ place: Int, _ reader: LogReader) throws -> Bool {
        let (archive, sequence) = (inputs[place].archive, event.envelope.sequence.rawValue)
        guard sequence > inputs[place].last else {
            throw Self.refused(archive, path, "its events do not ascend at sequence \(sequence)", at: sequence)
        }
        inputs[place].last = sequence
        if inputs[place].run.map({ !($0.first...$0.last).contains(sequence) }) ?? true {
            inputs[place].run = try reader.gapRun(at: sequence)
        }
        guard let run = inputs[place].run else { return false }
        guard run.level == 0, run.rewrite == inputs[place].rewrite,
            run.hashes[Int(sequence - run.first)] == event.leafHash
        else {
            throw Self.refused(archive, path, "sequence \(sequence) is not the event that was dropped", at: sequence)
        }
        // The leaf hash covers the commitment of a redacted event, and an act its substitute.
        if event.envelope.holding == .redacted {
            let hash = Hasher256.hash(event.payload)
            guard try reader.act(naming: SubstituteNames.Name(sequence: sequence, hash: hash)) != nil else {
                throw Self.refused(
                    archive,
                    path,
                    "sequence \(sequence) has a substitute that no act names",
                    at: sequence
                )
            }
        }
        return true
    }

    /// The number of the event's lane, which its compaction left in the log.
    private func number(of envelope: Envelope, _ reader: LogReader, _ archive: Archive) throws -> UInt32 {
        if let lastLane, lastLane.lane.isSame(as: envelope) { return lastLane.number }
        if laneNumbers.isEmpty {
            try reader.lanes.load(from: reader)
            for (number, lane) in reader.lanes.known.enumerated() { laneNumbers[lane.bytes] = UInt32(number) }
        }
        let lane = Lane(source: envelope.source, kind: envelope.kind, attributes: envelope.attributes)
        guard let number = laneNumbers[lane.bytes] else {
            throw Self.refused(archive, path, "the log never had the lane of sequence \(envelope.sequence)")
        }
        lastLane = (lane, number)
        return number
    }
}

// MARK: - Whether the archives fit

extension Restoration {
    /// Checks that the log once was what the archive's header says.
    private static func checkLog(_ archive: Archive, _ reader: LogReader, _ path: String) throws {
        let header = archive.header
        guard header.what == .archive else { throw refused(archive, path, "it is no archive") }
        guard try reader.meta(MetaName.identity) == header.identity else {
            throw refused(archive, path, "it belongs to a log of another identity")
        }
        guard try header.size > 0 && header.size <= reader.head() && reader.root(over: 0..<header.size) == header.root
        else {
            throw refused(archive, path, "the log there has another root at \(header.size)")
        }
    }

    /// Checks that nothing behind a compaction forbids to bring back what it dropped: a redaction may have removed the same texts
    /// from the rest of the log.
    private static func check(
        _ acts: ArraySlice<UInt64>,
        _ archive: Archive,
        barredBy kinds: Set<EventKind>,
        _ reader: LogReader,
        _ path: String
    ) throws {
        for act in acts {
            guard let event = try reader.event(at: act) else { throw reader.damaged("the act at \(act) is missing") }
            guard kinds.contains(event.envelope.kind) else { continue }
            let reason =
                "the log was redacted since, by the act at \(act), and what is archived may hold the same texts"
            throw refused(archive, path, reason, at: act)
        }
    }

    /// The facts from before a compaction, by those that it left.
    private static func facts(
        of archive: Archive,
        against left: [String: [UInt8]],
        _ path: String
    ) throws -> [String: [UInt8]] {
        do {
            return try Dictionary(
                uniqueKeysWithValues: archive.header.factPatches.map { name, patch in
                    (name, try Zstandard.patched(patch, against: left[name] ?? [], bytesMax: factBytesMax))
                }
            )
        } catch let error as EventLogError {
            throw refused(archive, path, "its facts do not fit those of the log: \(error.reason)")
        }
    }

    private static let factBytesMax = 1 << 30

    /// Checks the facts and the deciding sequence against the act of the rewrite before, which names them (I25).
    private static func check(
        _ facts: [String: [UInt8]],
        of archive: Archive,
        before act: UInt64?,
        _ reader: LogReader,
        _ path: String
    ) throws {
        let decidedAt = archive.header.decidedAt
        guard let act else {
            guard facts.isEmpty, decidedAt == .zero else {
                throw refused(archive, path, "it has facts, and no compaction came before it")
            }
            return
        }
        guard let payload = try reader.event(at: act)?.payload else {
            throw reader.damaged("the act at \(act) is missing")
        }
        let sorted = facts.map { (name: Array($0.key.utf8), value: $0.value) }
            .sorted { $0.name.lexicographicallyPrecedes($1.name) }
        let names = [Remains.opening(decidedAt.rawValue), Remains.naming(facts: Remains.hash(facts: sorted))]
        guard names.allSatisfy({ payload.contains(Array($0.utf8)) }) else {
            throw refused(archive, path, "its facts are not those that the act at \(act) names", at: act)
        }
    }

    private static func misplaced(_ archive: Archive, _ decidedAt: UInt64, _ path: String) -> EventLogError {
        let newest =
            decidedAt == 0
            ? "the log lacks nothing that a compaction dropped"
            : "the newest compaction that is left was decided at \(decidedAt)"
        return refused(
            archive,
            path,
            "it is of the compaction that was decided at \(archive.header.size), and \(newest); archives go back newest first"
        )
    }

    private static func refused(
        _ archive: Archive,
        _ path: String,
        _ reason: String,
        at sequence: UInt64? = nil
    ) -> EventLogError {
        refused(path, "\"\(archive.name)\": \(reason)", at: sequence)
    }

    private static func refused(_ path: String, _ reason: String, at sequence: UInt64? = nil) -> EventLogError {
        EventLogError(
            .invalidArgument,
            operation: "restore archives into",
            object: path,
            reason: reason,
            sequence: sequence.map { SequenceNumber($0) }
        )
    }
}
