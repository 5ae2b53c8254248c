import Dispatch
import EventLog
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// One running `git`: a reader of its standard output, a writer to its standard input, and its error output.
///
/// Releasing it before `finish` kills the program and everything that the program started, and waits for the end. Used
/// by one thread at a time; only `GitChildren.end` may end the program from another thread.
final class GitProcess {
    /// How a program ended.
    struct Ending {
        /// The exit status, or 128 plus the number of the signal.
        let status: Int32
        /// What went wrong, in our own words, because git's may quote private files (I28).
        let reason: String

        /// Whether the program was still writing when its output was closed, which says nothing of what it wrote before.
        var isCutOff: Bool { status == 128 + SIGPIPE }
    }

    /// The program's standard output. A read returns the end early when the program is killed, so a caller that meets
    /// an early end must look at `finish()` for the cause.
    let output: PipeReader
    private let name: String
    private let child: GitChildren.Child
    /// `nil` if the program's standard input is `/dev/null`.
    private let input: PipeWriter?
    private let complaints: ComplaintReader
    /// Set by the first `finish`; until then `deinit` kills the program.
    private var ending: Ending?

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - name: the program's name, for people.
    ///   - children: keeps the process id, so that another thread can end the program.
    ///   - subject: the repository or directory that errors name.
    /// - Throws: `IngestError` with code `io` if no pipe can be made, the program cannot start, or `children` was
    ///   ended.
    init(_ command: SpawnedProgram, name: String, takesInput: Bool, among children: GitChildren, subject: String)
        throws(IngestError)
    {
        self.name = name
        let pipes = try GitPipes(takesInput: takesInput, subject: subject)
        // Only the program may hold the far ends: as long as this process keeps one of them open, a read never sees the
        // end of the output.
        defer { pipes.closeTheirs() }
        do {
            child = try children.start(subject) { () throws(IngestError) in
                try command.start(
                    input: pipes.input?.read,
                    output: pipes.output.write,
                    errors: pipes.errors.write,
                    subject: subject
                )
            }
        } catch {
            pipes.closeOurs()
            throw error
        }
        output = PipeReader(owning: pipes.output.read)
        complaints = ComplaintReader(owning: pipes.errors.read)
        input = pipes.input.map { PipeWriter(owning: $0.write) }
    }

    deinit {
        guard ending == nil else { return }
        // Nobody reads its output any more, so it is not left to finish.
        child.kill()
        finish()
    }

    /// Queues bytes for its standard input and returns at once. The queue has no limit, so callers bound what they send
    /// ahead of the answers. Does nothing for a program without input.
    func submit(_ bytes: [UInt8]) {
        input?.submit(bytes)
    }

    /// Closes the standard input once everything queued is written, so that the program prints the rest and ends.
    func finishInput() {
        input?.finish()
    }

    /// Closes both pipes and waits for the end. Later calls return the same ending.
    ///
    /// Output that was not read is lost: the program gets SIGPIPE at its next write. Callers that need a status of 0
    /// therefore read to the end first.
    @discardableResult
    func finish() -> Ending {
        if let ending { return ending }
        input?.finish()
        // Closed before the wait: a program that blocks on a full pipe nobody reads would never end.
        output.close()
        let status = child.wait()
        let ending = Ending(status: status, reason: Self.reason(name, status, complaint: complaints.lastLine()))
        self.ending = ending
        return ending
    }

    /// The reason in our own words; only an object's id is taken from `complaint`. A complaint that contains an id
    /// counts as a missing or damaged object, whatever else git wrote.
    private static func reason(_ name: String, _ status: Int32, complaint: String) -> String {
        let words = complaint.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map(String.init)
        if status != 0, let id = words.first(where: GitRepository.isObjectID) {
            return "\(name): object \(id) is missing or damaged"
        }
        return status > 128 && status < 128 + 65
            // `GitChildren.wait` returns 128 plus the signal; Linux has the signals 1 to 64.
            ? "\(name) was ended by signal \(status - 128)" : "\(name) ended with status \(status)"
    }
}

/// The pipes to and from a program.
///
/// No other program inherits our ends, so when this process dies, in any way, the program reads the end of its input
/// and cannot write. "Ours" are the write end of the input and the read ends of the others; "theirs" is the rest.
private struct GitPipes {
    typealias Ends = (read: Int32, write: Int32)

    let input: Ends?
    let output: Ends
    let errors: Ends

    init(takesInput: Bool, subject: String) throws(IngestError) {
        var made: [Ends] = []
        // The order of `made`: output, errors, input.
        for _ in 0..<(takesInput ? 3 : 2) {
            guard let ends = Self.make() else {
                let reason = "no pipe can be made: \(String(cString: strerror(errno)))"
                for ends in made { for end in [ends.read, ends.write] { _ = close(end) } }
                throw IngestError(.io, operation: "start git for", object: subject, reason: reason)
            }
            made.append(ends)
        }
        (output, errors, input) = (made[0], made[1], takesInput ? made[2] : nil)
    }

    func closeTheirs() {
        for end in [input?.read, output.write, errors.write] { if let end { _ = close(end) } }
    }

    func closeOurs() {
        for end in [input?.write, output.read, errors.read] { if let end { _ = close(end) } }
    }

    /// Makes a pipe whose ends are above the standard three descriptors, even if this process has closed one of those.
    ///
    /// `SpawnedProgram` duplicates the ends onto 0, 1 and 2. An end that had one of these numbers already would be
    /// overwritten by another, or keep its close-on-exec flag and be closed when the program starts.
    private static func make() -> Ends? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        let moved = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        for end in ends { _ = close(end) }
        if moved[0] >= 0, moved[1] >= 0 { return (moved[0], moved[1]) }
        for end in moved where end >= 0 { _ = close(end) }
        return nil
    }
}

/// Reads a program's error output on a thread of its own, so that a full pipe never blocks the program.
///
/// Keeps the first 64 KiB and drops the rest.
private final class ComplaintReader: Sendable {
    private static let sizeMax = 64 << 10
    /// Signalled once, when `text` has its final value. Each `lastLine` takes the signal and gives it back.
    private let done = DispatchSemaphore(value: 0)
    private let text = Mutex<[UInt8]>([])

    init(owning descriptor: Int32) {
        DetachedThread.start { self.run(descriptor) }
    }

    /// The last line that is not empty, of the first 64 KiB. Blocks until everything that holds the program's error
    /// output open has closed it; may be called again.
    func lastLine() -> String {
        done.wait()
        done.signal()
        let lines = text.withLock { $0 }.split(separator: 0x0A)
        return lines.last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private func run(_ descriptor: Int32) {
        let reader = PipeReader(owning: descriptor, capacity: 4096)
        // A failed read loses only the words of an error; the program's status still reports the failure.
        let bytes = (try? reader.readToEnd(limit: Self.sizeMax)) ?? []
        text.withLock { $0 = bytes }
        reader.close()
        done.signal()
    }
}
