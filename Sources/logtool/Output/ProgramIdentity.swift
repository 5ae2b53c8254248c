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

/// Identifies this build of the program.
enum ProgramIdentity {
    /// Printed by `--version`.
    static let version = "logtool \(number)"
    static let number = "0.1.0"

    /// The version, and the size and modification time of the program's file. States that one build kept are useless to
    /// another, even if its version was not raised (I19). The version alone if the file cannot be examined.
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

    /// The program's own file. Not `arguments[0]` on Linux, which a caller may set to anything.
    static var path: String {
        #if canImport(Darwin)
        Bundle.main.executablePath ?? CommandLine.arguments[0]
        #else
        "/proc/self/exe"
        #endif
    }
}
