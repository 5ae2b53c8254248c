import Foundation

/// Other programs, run without anything in between that would add to the time.
enum Child {
    /// Runs a program to its end; its exit status.
    static func run(_ program: String, _ arguments: [String], output: String) -> Int32 {
        start(program, arguments, output: output).map { wait(for: $0) } ?? -1
    }

    /// Starts a program; `nil` where that fails.
    static func start(_ program: String, _ arguments: [String], output: String) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        var copies: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        var child: pid_t = 0
        return posix_spawnp(&child, program, &actions, nil, &copies, environ) == 0 ? child : nil
    }

    /// Waits for the end of a program; its exit status.
    static func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {}
        return status
    }
}
