#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
package import Glibc
#elseif canImport(Darwin)
package import Darwin
#endif

/// A program to start with nothing of this process but three descriptors and the given environment.
///
/// No signal is blocked or ignored in it. It leads a process group of its own, so that it can be ended together with
/// everything that it starts (I28).
package struct SpawnedProgram {
    /// The absolute path; the search path is not used.
    package let executable: String
    /// The arguments after the program's own path.
    package let arguments: [String]
    /// The whole environment; nothing of this process's own is added.
    package let environment: [String: String]

    package init(executable: String, arguments: [String], environment: [String: String]) {
        (self.executable, self.arguments, self.environment) = (executable, arguments, environment)
    }

    /// Starts the program and returns its process id. The caller must reap it.
    ///
    /// - Parameters:
    ///   - input: the descriptor of the standard input; `nil` for an empty one.
    ///   - output: the descriptor of the standard output. All descriptors must be above 2 and stay the caller's to
    ///     close.
    /// - Throws: `IngestError` with code `io` if the system does not start it.
    package func start(input: Int32?, output: Int32, errors: Int32, subject: String) throws(IngestError) -> pid_t {
        // glibc's types are structs, Darwin's are pointers that the functions below fill in.
        #if os(Linux)
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        #if os(Linux)
        // A library may have opened a descriptor that programs inherit, and for a moment `pipe` gives such ones too; a
        // program that kept a pipe of another `git` open would delay that pipe's end. Closing a descriptor that is not
        // open is no error here. Darwin closes all others by a flag.
        for descriptor in Self.descriptors() { posix_spawn_file_actions_addclose(&actions, descriptor) }
        #else
        flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
        #endif
        posix_spawnattr_setflags(&attributes, Int16(flags))
        // 0 makes the program the leader of a new group, whose id is the program's.
        posix_spawnattr_setpgroup(&attributes, 0)
        Self.clearSignals(&attributes)
        var process: pid_t = 0
        let fault = Self.withCTexts([executable] + arguments) { arguments in
            // Sorted, so that the same environment is always the same bytes.
            Self.withCTexts(environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }) { environment in
                posix_spawn(&process, executable, &actions, &attributes, arguments, environment)
            }
        }
        guard fault == 0 else {
            let reason = "\(executable) cannot be started: \(String(cString: strerror(fault)))"
            throw IngestError(.io, operation: "start git for", object: subject, reason: reason)
        }
        return process
    }

    #if os(Linux)
    /// The descriptors of this process above the standard three, plus 256 that other threads may open before the
    /// program starts: a new descriptor gets the least free number.
    ///
    /// If `/proc` cannot be read, 1023 is taken for the greatest, the usual soft limit less one.
    private static func descriptors() -> ClosedRange<Int32> {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let greatest = names.map { $0.compactMap { Int32($0) }.max() ?? STDERR_FILENO } ?? 1023
        return STDERR_FILENO + 1...greatest + 256
    }

    private static func clearSignals(_ attributes: inout posix_spawnattr_t) {
        var (blocked, standard) = signalSets()
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setsigdefault(&attributes, &standard)
    }
    #else
    private static func clearSignals(_ attributes: inout posix_spawnattr_t?) {
        var (blocked, standard) = signalSets()
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setsigdefault(&attributes, &standard)
    }
    #endif

    /// The empty set of signals, and the set of all whose action can be changed.
    private static func signalSets() -> (blocked: sigset_t, standard: sigset_t) {
        var blocked = sigset_t()
        sigemptyset(&blocked)
        var standard = sigset_t()
        sigfillset(&standard)
        for signal in [SIGKILL, SIGSTOP] { sigdelset(&standard, signal) }
        return (blocked, standard)
    }

    /// Lends the texts as a C array that ends with a null pointer, as `posix_spawn` requires. The copies are valid only
    /// within `body`, which is enough: the system copies them when the program starts.
    private static func withCTexts<Result>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}
