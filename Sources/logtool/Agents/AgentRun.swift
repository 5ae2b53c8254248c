import EventLog
import Ingest
import Reduction

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// One command of this program, run in a process of its own: it can be ended, and what it takes is given back.
struct AgentRun {
    /// What a command has written.
    struct Output {
        /// Its standard output.
        let answer: AgentFile
        /// Its standard error, cut.
        let errors: String
        let code: Int32
    }

    /// The longest answer, in bytes.
    private static let answerBytesMax = 256 << 20
    /// How much of standard error an agent gets, in bytes.
    private static let errorBytesMax = 4 << 10

    let arguments: [String]
    /// What it reads on standard input; nothing if `nil`.
    let input: String?
    let timeout: Duration
    /// Whether nobody waits for the answer any more.
    let isCancelled: () -> Bool

    /// Runs the command and waits for it.
    ///
    /// - Throws: `AgentFault` if it takes too long, writes too much, is cancelled or cannot be started.
    func run() throws -> Output {
        let (answer, errors) = (try AgentFile(), try AgentFile())
        let input = try input.map { try AgentFile(holding: $0) }
        defer { withExtendedLifetime(input) {} }
        let program = SpawnedProgram(
            executable: ProgramIdentity.path,
            arguments: arguments,
            environment: ProcessInfo.processInfo.environment.merging(["NO_COLOR": "1"]) { _, new in new }
        )
        let code = try ProcessGroups.ending {
            do throws(IngestError) {
                return try program.start(
                    input: input?.descriptor,
                    output: answer.descriptor,
                    errors: errors.descriptor,
                    subject: "an agent's call"
                )
            } catch {
                throw AgentFault("the command cannot be started: \(error)")
            }
        } during: {
            try wait(for: $0, answer)
        }
        let said = errors.text(from: 0, bytes: Self.errorBytesMax).text
        return Output(answer: answer, errors: said, code: code)
    }

    /// Waits until the process ends, and returns its exit code.
    private func wait(for child: pid_t, _ answer: AgentFile) throws -> Int32 {
        let end = ContinuousClock.now + timeout
        var reason: String?
        let ending = ProcessGroups.wait(for: child) {
            reason = reasonToEnd(end, answer)
            return reason != nil
        }
        switch ending {
        case .code(let code)?: return code
        case .signal(let signal)?: throw AgentFault("the command was ended by signal \(signal)")
        case .timedOut?: throw AgentFault(reason ?? "the command was ended")
        case nil: throw AgentFault("the command is lost: \(String(cString: strerror(errno)))")
        }
    }

    private func reasonToEnd(_ end: ContinuousClock.Instant, _ answer: AgentFile) -> String? {
        if isCancelled() { return "cancelled" }
        if ContinuousClock.now >= end { return "it took longer than \(timeout.components.seconds) s; ask for less" }
        if answer.count > Self.answerBytesMax {
            return "the answer is longer than \(Self.answerBytesMax) bytes; ask for less"
        }
        return nil
    }
}

/// A file without a name that holds what a command has written.
final class AgentFile {
    let descriptor: Int32

    init() throws {
        descriptor = UnnamedFile.make(in: FileManager.default.temporaryDirectory.path)
        guard descriptor >= 0 else { throw AgentFault("no file for the answer: \(String(cString: strerror(errno)))") }
    }

    /// A file that holds a text, to be read from its start.
    convenience init(holding text: String) throws {
        try self.init()
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw AgentFault("no file for the text: \(String(cString: strerror(errno)))")
        }
        lseek(descriptor, 0, SEEK_SET)
    }

    deinit {
        close(descriptor)
    }

    /// Its length in bytes.
    var count: Int {
        var information = stat()
        return fstat(descriptor, &information) == 0 ? Int(information.st_size) : 0
    }

    /// A piece of the text. It ends with the last whole line of so many bytes; where one line is longer, within that, at the end of
    /// a character.
    ///
    /// - Returns: the piece, and where the next one begins; `nil` at the end.
    func text(from start: Int, bytes most: Int) -> (text: String, next: Int?) {
        var bytes = [UInt8](repeating: 0, count: most)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, most, off_t(start)) }
        var piece = bytes[..<max(0, count)]
        guard start + piece.count < self.count, !piece.isEmpty else {
            return (String(decoding: piece, as: UTF8.self), nil)
        }
        if let end = piece.lastIndex(of: UInt8(ascii: "\n")) {
            piece = piece[...end]
        } else {
            while piece.count > 1, let next = self.byte(at: start + piece.count), next & 0xC0 == 0x80 {
                piece.removeLast()
            }
        }
        return (String(decoding: piece, as: UTF8.self), start + piece.count)
    }

    private func byte(at offset: Int) -> UInt8? {
        var byte: UInt8 = 0
        return pread(descriptor, &byte, 1, off_t(offset)) == 1 ? byte : nil
    }
}
