#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Directories at paths that the caller names, with errors that name the path. `Folder` reaches what lies within a log.
package enum Directory {
    /// Makes a directory and its missing parents, and syncs each new entry.
    static func makeWithParents(_ path: String) throws {
        if kind(of: path) == .directory { return }
        let parent = Self.parent(of: path)
        if parent != path { try makeWithParents(parent) }
        // Another process may have made it just now.
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw EventLogError.system("make directory", path) }
        try Folder(at: parent).sync()
    }

    /// The parent directory.
    static func parent(of path: String) -> String { split(path).parent }

    /// The parent directory and the last name of the path; slashes at the end are ignored.
    package static func split(_ path: String) -> (parent: String, name: String) {
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.last == "/" { trimmed.removeLast() }
        guard let slash = trimmed.lastIndex(of: "/") else { return (".", String(trimmed)) }
        let name = String(trimmed[trimmed.index(after: slash)...])
        return (slash == trimmed.startIndex ? "/" : String(trimmed[..<slash]), name)
    }

    /// The kind of entry that a path names.
    enum Kind {
        case nothing, directory, file
    }

    /// Follows links; whatever is not a directory counts as a file.
    static func kind(of path: String) -> Kind {
        var information = stat()
        guard stat(path, &information) == 0 else { return .nothing }
        return information.st_mode & S_IFMT == S_IFDIR ? .directory : .file
    }

    /// The absolute path with links resolved; `nil` if nothing exists there.
    package static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// A disk without room, in the words that every command uses.
package enum DiskRoom {
    /// Whether an `errno` means that the disk, or the user's share of it, is full.
    package static func isLacking(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }

    /// The next step for a person.
    package static let advice = "make room on it and try again"

    /// What an `errno` means: for a full disk with the next step, else the system's own words.
    package static func text(_ code: Int32) -> String {
        isLacking(code) ? "\(reason(code)); \(advice)" : reason(code)
    }

    /// The same without the next step.
    package static func reason(_ code: Int32) -> String {
        let words = String(cString: strerror(code))
        return isLacking(code) ? "the disk is full (\(words))" : words
    }
}

extension EventLogError {
    /// The error of a system call that has just failed. Reads `errno`, so call it before any other call of the system.
    package static func system(_ operation: String, _ path: String) -> EventLogError {
        let code = errno
        let advice =
            switch code {
            case _ where DiskRoom.isLacking(code): DiskRoom.advice
            case EACCES, EPERM: "check the permissions of the path"
            case EROFS: "the file system is read-only"
            default: ""
            }
        return EventLogError(
            .io,
            operation: operation,
            object: path,
            reason: DiskRoom.reason(code),
            advice: advice
        )
    }
}
