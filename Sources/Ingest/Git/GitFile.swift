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

/// Looks at files of a repository that is not trusted (I28): none is opened through a
/// link (`InputFile.untrustedBytes`).
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

    /// The names in a folder, in no order; `nil` if it cannot be read.
    static func names(in folder: String) -> [String]? {
        try? FileManager.default.contentsOfDirectory(atPath: folder)
    }
}
