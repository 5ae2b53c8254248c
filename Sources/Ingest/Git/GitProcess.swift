import Dispatch
import EventLog
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// One running `git`: a reader of what it prints, a writer of what it is asked, and what it complained about.
///
/// Ends the program when it goes. Used by one thread at a time.
final class GitProcess {
    /// How a program ended.
    struct Ending {
        /// The exit status, or 128 and the number of the signal.
        let status: Int32
        /// What went wrong, in words of ours: git's own words may quote files that are nobody's business.
        let reason: String
    }

    let output: PipeReader
    private let name: String
    private let child: GitChildren.Child
    private let input: PipeWriter?
    private let complaints: ComplaintReader
    private var ending: Ending?

    /// - Parameter name: what is run, for people.
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
        // Nobody reads what it would still print, and it only reads itself.
        child.kill()
        finish()
    }

    /// Queues bytes for its standard input.
    func submit(_ bytes: [UInt8]) {
        input?.submit(bytes)
    }

    /// Says that no more input comes, so that the program prints what it holds back and ends.
    func finishInput() {
        input?.finish()
    }

    /// Closes both pipes and waits for the end; later calls give the same ending.
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

    /// Of a complaint only the id of an object is passed on.
    private static func reason(_ name: String, _ status: Int32, complaint: String) -> String {
        let words = complaint.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map(String.init)
        if status != 0, let id = words.first(where: GitRepository.isObjectID) {
            return "\(name): object \(id) is missing or damaged"
        }
        return status > 128 && status < 128 + 65
            ? "\(name) was ended by signal \(status - 128)" : "\(name) ended with status \(status)"
    }
}

/// The pipes to and from a program. No other program inherits our ends, so its input ends and its output is refused
/// when this process goes, however that happens.
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

    /// Above the standard three descriptors, in case this process has closed one of them.
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

/// Reads what a program complains about on a thread of its own, so that complaining never blocks it.
private final class ComplaintReader: Sendable {
    private static let sizeMax = 64 << 10
    private let done = DispatchSemaphore(value: 0)
    private let text = Mutex<[UInt8]>([])

    init(owning descriptor: Int32) {
        DetachedThread.start { self.run(descriptor) }
    }

    /// The last line that is not empty, once the program has ended.
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
