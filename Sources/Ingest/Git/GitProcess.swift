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
/// Ends the program when it is released. Used by one thread at a time.
final class GitProcess {
    /// How a program ended.
    struct Ending {
        /// The exit status, or 128 plus the number of the signal.
        let status: Int32
        /// What went wrong, in our own words, because git's may quote private files (I28).
        let reason: String
    }

    let output: PipeReader
    private let name: String
    private let child: GitChildren.Child
    private let input: PipeWriter?
    private let complaints: ComplaintReader
    private var ending: Ending?

    /// Starts the program.
    ///
    /// - Parameter name: the program's name, for people.
    init(_ command: SpawnedProgram, name: String, takesInput: Bool, among children: GitChildren, subject: String)
        throws(IngestError)
    {
        self.name = name
        let pipes = try GitPipes(takesInput: takesInput, subject: subject)
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

    /// Queues bytes for its standard input.
    func submit(_ bytes: [UInt8]) {
        input?.submit(bytes)
    }

    /// Closes the standard input once everything queued is written, so that the program prints the rest and ends.
    func finishInput() {
        input?.finish()
    }

    /// Closes both pipes and waits for the end. Later calls return the same ending.
    @discardableResult
    func finish() -> Ending {
        if let ending { return ending }
        input?.finish()
        output.close()
        let status = child.wait()
        let ending = Ending(status: status, reason: Self.reason(name, status, complaint: complaints.lastLine()))
        self.ending = ending
        return ending
    }

    /// The reason in our own words; only an object's id is taken from `complaint`.
    private static func reason(_ name: String, _ status: Int32, complaint: String) -> String {
        let words = complaint.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map(String.init)
        if status != 0, let id = words.first(where: GitRepository.isObjectID) {
            return "\(name): object \(id) is missing or damaged"
        }
        return status > 128 && status < 128 + 65
            ? "\(name) was ended by signal \(status - 128)" : "\(name) ended with status \(status)"
    }
}

/// The pipes to and from a program. No other program inherits our ends, so when this process dies, in any way, the
/// program reads the end of its input and cannot write.
private struct GitPipes {
    typealias Ends = (read: Int32, write: Int32)

    let input: Ends?
    let output: Ends
    let errors: Ends

    init(takesInput: Bool, subject: String) throws(IngestError) {
        var made: [Ends] = []
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
private final class ComplaintReader: Sendable {
    private static let sizeMax = 64 << 10
    private let done = DispatchSemaphore(value: 0)
    private let text = Mutex<[UInt8]>([])

    init(owning descriptor: Int32) {
        DetachedThread.start { self.run(descriptor) }
    }

    /// The last line that is not empty. Blocks until the program has closed its error output; may be called again.
    func lastLine() -> String {
        done.wait()
        done.signal()
        let lines = text.withLock { $0 }.split(separator: 0x0A)
        return lines.last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private func run(_ descriptor: Int32) {
        let reader = PipeReader(owning: descriptor, capacity: 4096)
        let bytes = (try? reader.readToEnd(limit: Self.sizeMax)) ?? []
        text.withLock { $0 = bytes }
        reader.close()
        done.signal()
    }
}
