import ArgumentParser
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

    /// The greatest anonymous memory of a program that is run to its end; `nil` where the system does not say.
    ///
    /// Looks every 100 µs, as what a digest takes besides the state is there for less than a millisecond. On a busy machine it may still
    /// be missed.
    ///
    /// - Throws: `ValidationError` where it fails.
    static func peakBytes(_ program: String, _ arguments: [String], output: String) throws -> Int? {
        let failure = ValidationError("\(program) \(arguments.first ?? "") failed")
        guard let child = start(program, arguments, output: output) else { throw failure }
        var (status, most): (Int32, Int?) = (0, nil)
        while waitpid(child, &status, WNOHANG) == 0 {
            if let bytes = Memory.anonymousBytes(of: String(child)) { most = max(most ?? 0, bytes) }
            usleep(100)
        }
        guard status == 0 else { throw failure }
        return most
    }

    /// What a program took.
    struct Usage {
        /// Of processor time.
        let seconds: Double
        /// Seconds by the clock.
        let wall: Double
        /// The most memory that it held, pages of files included; on Linux no less than this program itself held when it started it.
        let megabytes: Double
    }

    /// Runs a program to its end.
    ///
    /// - Parameter differs: whether exit code 1 is no failure, as with `diff`.
    /// - Throws: `ValidationError` where it fails.
    static func use(
        _ program: String,
        _ arguments: [String],
        output: String,
        differs: Bool = false
    ) throws -> Usage {
        let failure = ValidationError("\(program) \(arguments.first ?? "") failed")
        let clock = ContinuousClock()
        let begin = clock.now
        guard let child = start(program, arguments, output: output) else { throw failure }
        var (status, usage): (Int32, rusage) = (0, rusage())
        while wait4(child, &status, 0, &usage) < 0 {}
        let wall = (clock.now - begin) / .seconds(1)
        guard status == 0 || differs && status == 1 << 8 else { throw failure }
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        #if os(Linux)
        let unit = 1000.0
        #else
        let unit = 1_000_000.0
        #endif
        return Usage(
            seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            wall: wall,
            megabytes: Double(usage.ru_maxrss) / unit
        )
    }
}
