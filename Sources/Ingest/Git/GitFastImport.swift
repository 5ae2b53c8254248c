#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A new bare repository and the `git fast-import` that writes into it.
///
/// git runs as it does for a recording: found on the search path by its full path, with nothing of this user's configuration,
/// hooks or templates. It ends when this goes. Used by one thread at a time.
package final class GitFastImport {
    private let process: GitProcess
    private let directory: String
    private var buffer: [UInt8] = []
    /// What git may not have read yet.
    private var unreadBytes = 0
    private var questions = 0

    private static let bufferBytesMax = 256 << 10
    /// The most that waits in memory for git to read it.
    private static let unreadBytesMax = 16 << 20
    private static let operation = "play git into"

    /// Makes the repository and starts git.
    ///
    /// - Parameters:
    ///   - directory: is made where it is not there.
    ///   - branch: the one that HEAD names.
    ///   - environment: where to look for git.
    /// - Throws: `IngestError` with code `gitMissing`, or `io` where git cannot do it.
    package init(
        directory: String,
        branch: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(IngestError) {
        let executable = try GitProgram.executable(in: environment, operation: Self.operation, object: directory)
        let closed = GitProgram.closed(environment, executable: executable, directory: directory)
        let children = GitChildren()
        func start(_ arguments: [String], takesInput: Bool) throws(IngestError) -> GitProcess {
            let command = SpawnedProgram(executable: executable, arguments: arguments, environment: closed)
            let name = takesInput ? "git fast-import" : "git init"
            return try GitProcess(command, name: name, takesInput: takesInput, among: children, subject: directory)
        }
        let made = try start(["init", "-q", "--bare", "--template=", "-b", branch, directory], takesInput: false)
            .finish()
        guard made.status == 0 else { throw Self.failure(made.reason, directory) }
        process = try start(
            ["--git-dir=\(directory)", "fast-import", "--quiet", "--force", "--done", "--date-format=raw"],
            takesInput: true
        )
        self.directory = directory
    }

    /// Writes a line of fast-import's language.
    ///
    /// - Throws: `IngestError` with code `io` where git has ended.
    package func line(_ text: String) throws(IngestError) {
        buffer.append(contentsOf: text.utf8)
        buffer.append(UInt8(ascii: "\n"))
        guard buffer.count >= Self.bufferBytesMax else { return }
        submit()
        if unreadBytes >= Self.unreadBytesMax { try waitUntilRead() }
    }

    /// Writes a text of any bytes.
    ///
    /// - Throws: as `line`.
    package func data(_ bytes: [UInt8]) throws(IngestError) {
        try line("data \(bytes.count)")
        buffer.append(contentsOf: bytes)
        try line("")
    }

    /// Puts a file into the commit at hand.
    ///
    /// - Parameters:
    ///   - path: as fast-import reads it, in quotes.
    ///   - mode: that of an executable file or of a symbolic link; any other text stands for a plain file, for a log may
    ///     say anything, and a line's end in it would begin another command.
    /// - Throws: as `line`.
    package func file(_ path: String, mode: String, _ bytes: [UInt8]) throws(IngestError) {
        try line("M \(["100755", "120000"].contains(mode) ? mode : "100644") inline \(path)")
        try data(bytes)
    }

    /// Puts a submodule into the commit at hand, unless what it is to point to is no object's id.
    ///
    /// - Returns: whether it was.
    /// - Throws: as `line`.
    package func link(_ path: String, to id: String) throws(IngestError) -> Bool {
        guard GitRepository.isObjectID(id) else { return false }
        try line("M 160000 \(id) \(path)")
        return true
    }

    /// Lets everybody see what was written.
    ///
    /// - Throws: as `line`.
    package func show() throws(IngestError) {
        try line("checkpoint\n")
        try waitUntilRead()
    }

    /// Ends git once it has written everything.
    ///
    /// - Throws: `IngestError` with code `io` where it could not.
    package func finish() throws(IngestError) {
        try line("done")
        submit()
        let ending = process.finish()
        guard ending.status == 0 else { throw Self.failure(ending.reason, directory) }
    }

    private func submit() {
        unreadBytes += buffer.count
        process.submit(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Has git repeat a number, which it does once it has read what stands before.
    private func waitUntilRead() throws(IngestError) {
        questions += 1
        buffer.append(contentsOf: "progress \(questions)\n".utf8)
        submit()
        guard try process.output.read(upTo: UInt8(ascii: "\n")) != nil else {
            throw Self.failure(process.finish().reason, directory)
        }
        unreadBytes = 0
    }

    private static func failure(_ reason: String, _ directory: String) -> IngestError {
        IngestError(.io, operation: operation, object: directory, reason: reason)
    }
}
