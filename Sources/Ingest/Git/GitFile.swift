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

/// Looks at files of a repository that is not trusted (I28): opening one follows no link and waits for nothing, and
/// reading has a limit.
enum GitFile {
    /// The kind of thing at a path; `none` if nothing can be found there.
    enum Kind {
        case none, file, folder, link, other
    }

    /// The kind of thing at a path; a symbolic link is not followed. Paths that cannot be reached give `none`, too.
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

    /// The path with all links resolved; `nil` if nothing exists there.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The bytes of a regular file; `nil` if it is something else, larger than `sizeMax`, or cannot be read.
    static func bytes(_ path: String, sizeMax: Int) -> [UInt8]? {
        // O_NONBLOCK: opening a FIFO would otherwise wait for a writer.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let reader = PipeReader(owning: descriptor, capacity: 64 << 10)
        var status = stat()
        // Checked on the descriptor, because the path may have changed since it was opened.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) <= sizeMax,
            let bytes = try? reader.readToEnd(limit: sizeMax)
        else { return nil }
        return bytes
    }

    /// The names in a folder, in no order; `nil` if it cannot be read.
    static func names(in folder: String) -> [String]? {
        try? FileManager.default.contentsOfDirectory(atPath: folder)
    }
}
