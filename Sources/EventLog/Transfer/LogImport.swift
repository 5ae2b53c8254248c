/// Makes a generation from the pieces of a log. Nothing refers to the generation before it is whole and checked (I9).
///
/// While one batch is written, the caller adds the pieces of the next; at most these two are in memory. Use it from one
/// thread at a time.
public final class LogImport {
    private let header: LogHeader
    private let writer: ImportWriter
    private let behind = WorkBehind()
    /// Pieces that are not handed to the writer yet, and the bytes of their payloads.
    private var waiting: [LogPiece] = []
    private var waitingBytes = 0

    /// Bounds one write transaction.
    private static let batchPieces = 10_000
    private static let batchBytes = 16 << 20

    /// Returns the pieces to write instead of the one that was added; `nil` if each is written as it came.
    private let replacing: ((LogPiece) throws -> [LogPiece])?

    init(
        _ target: Generation,
        header: LogHeader,
        replacing: ((LogPiece) throws -> [LogPiece])? = nil
    ) throws {
        self.header = header
        self.replacing = replacing
        writer = ImportWriter(target, isPart: header.isPart)
        try writer.begin(header)
    }

    deinit {
        // The caller may remove the files next, so nothing may still write to them.
        try? behind.finish()
    }

    /// Takes the next piece.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` if this piece, or one that was added earlier and written
    ///   only now, does not follow the one before it.
    public func add(_ piece: LogPiece) throws {
        guard let replacing else { return try wait(piece) }
        for piece in try replacing(piece) { try wait(piece) }
    }

    /// Adds a piece to the batch, and hands the batch on when it is full.
    private func wait(_ piece: LogPiece) throws {
        waiting.append(piece)
        if case .event(let event) = piece { waitingBytes += event.payload.count }
        if waiting.count >= Self.batchPieces || waitingBytes >= Self.batchBytes { try flush() }
    }

    /// How many events the part lacks; final once `finish` has returned.
    var missing: UInt64 { writer.missing }

    /// Writes the rest, then checks everything that was written against the header and the acts.
    ///
    /// - Returns: whether acts name by hash what lies beside the events (I25).
    func finish() throws -> Bool {
        try flush()
        try behind.finish()
        return try writer.check(header)
    }

    private func flush() throws {
        guard !waiting.isEmpty else { return }
        let pieces = waiting
        // The closure must not hold `self`: `deinit` waits for it.
        let writer = writer
        waiting = []
        waitingBytes = 0
        try behind.run { try writer.write(pieces) }
    }
}
