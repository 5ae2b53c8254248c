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

/// A new bare repository and the `git fast-import` that writes into it.
///
/// git runs as it does for a recording: found on the search path by its full path, without this user's configuration,
/// hooks or templates (I28). It ends when the last reference is released. Used by one thread at a time.
package final class GitFastImport {
    /// The running `git fast-import`.
    private let process: GitProcess
    /// The repository's path, which errors name.
    private let directory: String
    /// Lines that are not submitted yet; small lines are many.
    private var buffer: [UInt8] = []
    /// The bytes submitted since git last confirmed that it had read everything.
    private var unreadBytes = 0
    /// The number of `progress` commands sent.
    private var questions = 0

    /// The buffered bytes from which `line` submits them.
    private static let bufferBytesMax = 256 << 10
    /// The number of submitted bytes after which the end of a commit waits for git to read them.
    private static let unreadBytesMax = 16 << 20
    private static let operation = "play git into"

    /// Makes the repository and starts git.
    ///
    /// - Parameters:
    ///   - directory: the repository's path; created if it does not exist.
    ///   - branch: the branch that HEAD names.
    ///   - environment: the environment whose `PATH` contains git.
    /// - Throws: `IngestError` with code `gitMissing`, or `io` if git cannot make the repository or start.
    package init(
        directory: String,
        branch: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(IngestError) {
        let executable = try GitProgram.executable(in: environment, operation: Self.operation, object: directory)
        let closed = GitProgram.closed(environment, executable: executable, directory: directory)
        let children = GitChildren()
        func start(_ arguments: [String], takesInput: Bool) throws(IngestError) -> GitProcess {
            // What git makes is closed to others, like all that this program makes. A file that another thread makes
            // meanwhile is closed, too.
            let mask = umask(0o077)
            defer { umask(mask) }
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

    /// Writes one line of fast-import's input format. Never waits for git: that takes a `progress` command, which would
    /// end a commit that is still open. `text` must contain no line feed of outside origin: it would begin another
    /// command.
    package func line(_ text: String) {
        buffer.append(contentsOf: text.utf8)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.bufferBytesMax { submit() }
    }

    /// Writes a `data` command with any bytes: the count comes first, so the bytes need no escape.
    package func data(_ bytes: [UInt8]) {
        line("data \(bytes.count)")
        buffer.append(contentsOf: bytes)
        line("")
    }

    /// Ends a commit. Waits for git if much is unread, which bounds memory by `unreadBytesMax` and one commit.
    ///
    /// - Throws: `IngestError` with code `io` if git has ended.
    package func endCommit() throws(IngestError) {
        line("")
        if unreadBytes >= Self.unreadBytesMax { try waitUntilRead() }
    }

    /// Puts a file into the current commit.
    ///
    /// - Parameters:
    ///   - path: the path in fast-import's quoted form.
    ///   - mode: the mode of an executable file or a symbolic link. Any other text means a plain file, because it comes
    ///     from a log: a line feed in it would begin another command.
    package func file(_ path: String, mode: String, _ bytes: [UInt8]) {
        line("M \(["100755", "120000"].contains(mode) ? mode : "100644") inline \(path)")
        data(bytes)
    }

    /// Puts a submodule into the current commit, if `id` is an object's full id.
    ///
    /// - Returns: true if the submodule was added.
    package func link(_ path: String, to id: String) -> Bool {
        guard GitRepository.isObjectID(id) else { return false }
        line("M 160000 \(id) \(path)")
        return true
    }

    /// Makes everything written so far visible in the repository, and waits until git has done so.
    ///
    /// - Throws: as `endCommit`.
    package func show() throws(IngestError) {
        // git answers `progress` after `checkpoint` is done, so the wait also proves that the branches moved.
        line("checkpoint\n")
        try waitUntilRead()
    }

    /// Ends git once it has written everything.
    ///
    /// - Throws: `IngestError` with code `io` if git failed.
    package func finish() throws(IngestError) {
        line("done")
        submit()
        let ending = process.finish()
        guard ending.status == 0 else { throw Self.failure(ending.reason, directory) }
    }

    private func submit() {
        unreadBytes += buffer.count
        process.submit(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Makes git print a number back, which it does only after it has read everything before it.
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
