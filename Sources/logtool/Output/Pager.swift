import Synchronization

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

/// The program that shows long output page by page; chosen and started as git does it. A process has at most one.
struct Pager {
    /// The command line that the shell runs.
    let command: String

    /// False if `--no-pager` was given before the command.
    static var isAllowed: Bool {
        get { allowed.load(ordering: .relaxed) }
        set { allowed.store(newValue, ordering: .relaxed) }
    }

    private static let allowed = Atomic(true)
    /// The running pager's process id; 0 for none. Atomic, because a signal handler reads it.
    private static let process = Atomic<Int32>(0)

    /// The pager that the environment chooses: `LOGTOOL_PAGER`, else `PAGER`, else `less`. `nil` if standard output is
    /// not a terminal that can page, or if the pager is empty, `cat` or not installed.
    static var chosen: Pager? {
        guard isAllowed, Terminal.knowsEscapes(1) else { return nil }
        let command = Terminal.environment("LOGTOOL_PAGER") ?? Terminal.environment("PAGER") ?? "less"
        guard !["", "cat"].contains(command), isInstalled(command) else { return nil }
        return Pager(command: command)
    }

    /// Starts the pager and redirects standard output into it, and standard error if it is a terminal. If the pager
    /// cannot be started, the output goes to the terminal. Called once, before anything is written.
    func start() {
        var ends: [Int32] = [-1, -1]
        // Without a pipe there is no pager, and the output goes to the terminal.
        guard pipe(&ends) == 0 else { return }
        // The pager must not inherit the writing end, or it would wait for its own input to end.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        if let child = spawn(reading: ends[0]) {
            dup2(ends[1], 1)
            if Terminal.isTerminal(2) { dup2(ends[1], 2) }
            Self.process.store(child, ordering: .sequentiallyConsistent)
        }
        close(ends[0])
        close(ends[1])
    }

    /// Ends the pager's input and waits until the pager exits. Safe to call in a signal handler, and more than once:
    /// only the first call waits.
    static func waitUntilItEnds() {
        let child = process.exchange(0, ordering: .sequentiallyConsistent)
        guard child > 0 else { return }
        // Redirected, not closed: another thread could open a file under a closed number and have output written to it.
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        // No array: a signal handler must not allocate.
        dup2(nothing, 1)
        dup2(nothing, 2)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
    }

    /// Runs the command by the shell; `nil` if it cannot be started.
    private func spawn(reading input: Int32) -> pid_t? {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        // We ignore SIGPIPE; a pager that is itself a pipeline relies on it.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var child: pid_t = 0
        // The arrays of pointers live until `posix_spawn` has returned.
        let status = Self.withPointers(["sh", "-c", command]) { arguments in
            Self.withPointers(Self.environment) { environment in
                posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environment)
            }
        }
        return status == 0 ? child : nil
    }

    /// Our environment. Unless they are set already, `LESS` and `LV` make the pagers show colours, and less quit for
    /// short output.
    private static var environment: [String] {
        var environment = ProcessInfo.processInfo.environment
        environment["LESS"] = environment["LESS"] ?? "FRX"
        environment["LV"] = environment["LV"] ?? "-c"
        return environment.map { "\($0.key)=\($0.value)" }
    }

    /// Lends copies of texts as C strings, with a null pointer at the end as `posix_spawn` wants it.
    private static func withPointers<Result>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }

    /// True if the shell would find the command. Commands with shell syntax are left to the shell.
    private static func isInstalled(_ command: String) -> Bool {
        guard !command.contains(where: { "|&;<>()$`\\\"'*?[#~=%\n".contains($0) }) else { return true }
        guard let program = command.split(separator: " ").first.map(String.init) else { return false }
        if program.contains("/") { return access(program, X_OK) == 0 }
        let folders = (Terminal.environment("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        return folders.contains { access("\($0)/\(program)", X_OK) == 0 }
    }
}
