import ArgumentParser

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Paths at which a command makes a log.
enum NewLogTarget {
    /// Refuses a path that names anything: the result must not mix with what is there.
    static func refuseExisting(_ path: String, operation: String, exitCode: ExitCode = Outcome.trouble) throws {
        var information = stat()
        // A link that leads nowhere counts as something, too.
        guard lstat(path, &information) == 0 else { return }
        throw Failure(
            "\(operation) to \"\(path)\": something is there already; name a path where nothing is",
            exitCode: exitCode
        )
    }
}
