import Dispatch
import Synchronization

/// Takes the pieces of a log and makes a generation of them, which nobody sees before it is whole and checked.
///
/// While one batch is written, the caller makes the pieces of the next; no more than the two are in memory.
public final class LogImport {
    private let header: LogHeader
    private let writer: ImportWriter
    private let behind = WorkBehind()
    private var waiting: [LogPiece] = []
    private var waitingBytes = 0

    /// Bounds one write transaction.
    private static let batchPieces = 10_000
    private static let batchBytes = 16 << 20

    /// Gives the pieces to write in place of one that came.
    private let replacing: (LogPiece) throws -> [LogPiece]

    init(
        _ target: Generation,
        header: LogHeader,
        replacing: @escaping (LogPiece) throws -> [LogPiece] = { [$0] }
    ) throws {
        self.header = header
        self.replacing = replacing
        writer = ImportWriter(target, isPart: header.isPart)
        try writer.begin(header)
    }

    deinit {
        // Whoever removes what was written so far must not meet one who still writes.
        try? behind.finish()
    }

    /// Takes the next piece.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` where it, or one not long before, does not follow on the one
    ///   before.
    public func add(_ piece: LogPiece) throws {
        for piece in try replacing(piece) {
            waiting.append(piece)
            if case .event(let event) = piece { waitingBytes += event.payload.count }
            if waiting.count >= Self.batchPieces || waitingBytes >= Self.batchBytes { try flush() }
        }
    }

    /// How many events are missing in what was written, once all of it is.
    var missing: UInt64 { writer.missing }

    /// Writes what waits, and checks all of what was written against the header and the acts.
    ///
    /// - Returns: whether acts name by hash what lies beside the events.
    func finish() throws -> Bool {
        try flush()
        try behind.finish()
        return try writer.check(header)
    }

    private func flush() throws {
        guard !waiting.isEmpty else { return }
        let pieces = waiting
        let writer = writer
        waiting = []
        waitingBytes = 0
        try behind.run { try writer.write(pieces) }
    }
}

/// Work that is done on another thread while the caller goes on, one piece at a time.
private final class WorkBehind: Sendable {
    private let queue = DispatchQueue(label: "eventlog.import")
    private let group = DispatchGroup()
    private let failure = Mutex<(any Error)?>(nil)

    /// Waits for the work before, and begins the next.
    ///
    /// - Throws: what the work before has thrown; the next is not begun then.
    func run(_ work: @escaping @Sendable () throws -> Void) throws {
        try finish()
        queue.async(group: group) {
            do {
                try work()
            } catch {
                self.failure.withLock { $0 = error }
            }
        }
    }

    /// Waits for the work.
    ///
    /// - Throws: what it has thrown.
    func finish() throws {
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
