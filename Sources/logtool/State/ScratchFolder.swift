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

/// A folder of one run's own among the system's temporary ones (`TMPDIR`).
struct ScratchFolder: ~Copyable {
    let path: String

    /// Makes one.
    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "logtool-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        } catch {
            throw Failure(
                "make the folder \"\(url.path)\" for a dry run: it cannot be made; set TMPDIR to one that can"
            )
        }
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
