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

/// Tells this build of the program from every other.
enum ProgramIdentity {
    static let version = "logtool 0.1.0"

    /// The version, and the size and time of the program's own file: what one build kept of a log's states is nothing to
    /// another, even if nobody thought of giving it another version.
    static let build: String = {
        var information = stat()
        guard stat(path, &information) == 0 else { return version }
        #if canImport(Darwin)
        let time = information.st_mtimespec
        #else
        let time = information.st_mtim
        #endif
        return "\(version) \(information.st_size) \(time.tv_sec).\(time.tv_nsec)"
    }()

    /// The program's own file.
    private static var path: String {
        #if canImport(Darwin)
        Bundle.main.executablePath ?? CommandLine.arguments[0]
        #else
        "/proc/self/exe"
        #endif
    }
}
