import EventLog
import Projections

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

/// A command line that judges a state document: the document comes on standard input, the answer is the exit code.
///
/// The document is in an unnamed file, so the command may read it slowly, in part or not at all. The command runs in
/// its own process group, which is killed at the time limit; its standard output goes to standard error, because ours
/// is for the result. Several may run at once. The document is given as it is, however large; nothing of it is on the
/// command line or in the environment.
package struct TestCommand: Sendable {
    /// The command that `sh -c` runs.
    package let line: String
    /// How long one run may take.
    package let timeout: Duration
    /// True if the command's own output is discarded.
    package let isQuiet: Bool
    /// Environment variables beside those of this process; they replace those with their names.
    package var variables: [String: String] = [:]

    package init(line: String, timeout: Duration, isQuiet: Bool) {
        (self.line, self.timeout, self.isQuiet) = (line, timeout, isQuiet)
    }

    /// How a run ended. What an ending means is up to the caller: `bisect` and `shrink` have different rules.
    package enum Ending: Hashable {
        case code(Int32)
        case signal(Int32)
        case timedOut
    }

    /// The program that a command line begins with, if no shell finds it; `nil` if one does, or if the line does not show
    /// which it is.
    package static func missingProgram(in line: String) throws -> String? {
        let words = line.split(whereSeparator: \.isWhitespace).drop {
            $0.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*=.*/) != nil
        }
        // Quotes, variables and signs of the shell could mean anything.
        guard let word = words.first, word.wholeMatch(of: /[A-Za-z0-9_.\/+-]+/) != nil else { return nil }
        let question = TestCommand(line: "command -v -- \(word)", timeout: .seconds(10), isQuiet: true)
        // Shells end with 1 or 127.
        if case .code(1...127) = try question.run(on: []) { return String(word) }
        return nil
    }

    /// Runs the command once and waits for it. Blocks its thread. An interrupt of this process kills the command, too.
    ///
    /// - Throws: `EngineError` if it cannot be started. How it ends is no error.
    func run(on document: [UInt8]) throws -> Ending {
        let input = try Self.unnamedFile(holding: document)
        defer { close(input) }
        return try ProcessGroups.ending(group: { try spawn(input: input) }, during: { try wait(for: $0) })
    }

    /// Starts the command in a group of its own.
    private func spawn(input: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t.make()
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        if isQuiet {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        } else {
            posix_spawn_file_actions_adddup2(&actions, 2, 1)
        }
        var attributes = posix_spawnattr_t.make()
        defer { posix_spawnattr_destroy(&attributes) }
        // `ProcessGroups` blocks signals while the group starts; the command would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // SIGPIPE is ignored in this process; the command would inherit that.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var child: pid_t = 0
        // The copies are freed after `posix_spawn`, which does not keep them.
        let words = ["sh", "-c", line].map { (word: String) in strdup(word) } + [nil]
        defer { words.forEach { free($0) } }
        let more = variables.map { strdup("\($0.key)=\($0.value)") }
        defer { more.forEach { free($0) } }
        let environment = Self.environment(without: Set(variables.keys)) + more + [nil]
        let code = posix_spawn(&child, "/bin/sh", &actions, &attributes, words, environment)
        guard code == 0 else { throw EngineError("run \"\(line)\": \(String(cString: strerror(code)))") }
        return child
    }

    /// The entries of this process's environment, not copied, but those of some variables: of two entries with one name,
    /// shells take different ones.
    private static func environment(without names: Set<String>) -> [UnsafeMutablePointer<CChar>?] {
        var entries: [UnsafeMutablePointer<CChar>?] = []
        // The list ends with a null pointer.
        while let entry = environ[entries.count] { entries.append(entry) }
        return entries.filter { entry in
            let name = entry.map { String(cString: $0).prefix { $0 != "=" } } ?? ""
            return !names.contains(String(name))
        }
    }

    /// Waits until the command ends or its time is over.
    private func wait(for child: pid_t) throws -> Ending {
        let end = ContinuousClock.now + timeout
        guard let ending = ProcessGroups.wait(for: child, killingIf: { ContinuousClock.now >= end }) else {
            throw EngineError("run \"\(line)\": \(String(cString: strerror(errno)))")
        }
        return ending
    }

    /// A file without a name that holds these bytes, read from its start. A pipe would fill up with a command that does
    /// not read.
    private static func unnamedFile(holding bytes: [UInt8]) throws -> Int32 {
        let descriptor = UnnamedFile.make(in: FileManager.default.temporaryDirectory.path)
        let trouble = { EngineError("keep a state for the test: \(DiskRoom.text(errno))") }
        guard descriptor >= 0 else { throw trouble() }
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done) }
            if written < 0 && errno != EINTR {
                defer { close(descriptor) }
                throw trouble()
            }
            done += max(written, 0)
        }
        lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }
}

// The two types are pointers on Darwin and structures on Linux.
extension posix_spawn_file_actions_t {
    fileprivate static func make() -> Self {
        #if canImport(Darwin)
        var actions: Self = nil
        #else
        var actions = Self()
        #endif
        posix_spawn_file_actions_init(&actions)
        return actions
    }
}

extension posix_spawnattr_t {
    fileprivate static func make() -> Self {
        #if canImport(Darwin)
        var attributes: Self = nil
        #else
        var attributes = Self()
        #endif
        posix_spawnattr_init(&attributes)
        return attributes
    }
}
