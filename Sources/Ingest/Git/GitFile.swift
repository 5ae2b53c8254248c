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

/// Looks at files of a repository without believing them: nothing is followed, waited for or read without a limit.
enum GitFile {
    /// What lies at a path.
    enum Kind {
        case none, file, folder, link, other
    }

    /// What lies at a path; a link is one.
    static func kind(_ path: String) -> Kind {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .none }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        case S_IFLNK: return .link
        default: return .other
        }
    }

    /// The path with all links resolved; `nil` where nothing lies there.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The bytes of a regular file; `nil` where it is something else, larger, or cannot be read.
    static func bytes(_ path: String, sizeMax: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let reader = PipeReader(owning: descriptor, capacity: 64 << 10)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) <= sizeMax,
            let bytes = try? reader.readToEnd(limit: sizeMax)
        else { return nil }
        return bytes
    }

    /// The names in a folder; `nil` where it cannot be read.
    static func names(in folder: String) -> [String]? {
        try? FileManager.default.contentsOfDirectory(atPath: folder)
    }
}
