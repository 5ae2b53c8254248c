#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The few calls on files and directories that a log needs, with errors that name the path.
enum Directory {
    /// Makes a directory that only its owner may enter; its parents must be there.
    static func make(_ path: String) throws {
        guard mkdir(path, 0o700) == 0 else { throw EventLogError.system("make directory", path) }
    }

    /// Makes a directory and those above it that are missing, and syncs each new entry.
    static func makeWithParents(_ path: String) throws {
        if kind(of: path) == .directory { return }
        let parent = Self.parent(of: path)
        if parent != path { try makeWithParents(parent) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw EventLogError.system("make directory", path) }
        try sync(parent)
    }

    /// The path of what holds the path.
    static func parent(of path: String) -> String {
        let trimmed = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }

    /// What stands at a path.
    enum Kind {
        case nothing, directory, file
    }

    static func kind(of path: String) -> Kind {
        var information = stat()
        guard stat(path, &information) == 0 else { return .nothing }
        return information.st_mode & S_IFMT == S_IFDIR ? .directory : .file
    }

    /// The size of a file in bytes, or `nil` where there is none.
    static func fileSize(_ path: String) -> UInt64? {
        var information = stat()
        guard stat(path, &information) == 0 else { return nil }
        return UInt64(clamping: information.st_size)
    }

    /// The bytes that a file occupies on its disk, holes not counted; 0 where there is none.
    static func allocatedBytes(_ path: String) -> UInt64 {
        var information = stat()
        guard stat(path, &information) == 0 else { return 0 }
        return UInt64(clamping: information.st_blocks) * 512
    }

    /// The names in a directory, sorted by their bytes, without `.` and `..`.
    static func names(in path: String) throws -> [String] {
        guard let stream = opendir(path) else { throw EventLogError.system("list", path) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Makes the entries of a directory durable.
    static func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw EventLogError.system("open", path) }
        defer { close(descriptor) }
        // Some file systems know no sync of directories and say EINVAL; there is nothing to be done about it.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw EventLogError.system("sync", path) }
    }

    /// The path with links resolved, or `nil` where nothing is there.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Renames, replacing what stands at the new path.
    static func move(_ path: String, to target: String) throws {
        guard rename(path, target) == 0 else { throw EventLogError.system("rename", path) }
    }

    /// Removes a directory and the files directly in it.
    static func removeFlat(_ path: String) throws {
        for name in try names(in: path) {
            guard unlink("\(path)/\(name)") == 0 else { throw EventLogError.system("remove", "\(path)/\(name)") }
        }
        guard rmdir(path) == 0 else { throw EventLogError.system("remove", path) }
    }
}

/// Small files that are read and written as a whole.
enum SmallFile {
    static let bytesMax = 65_536

    /// The bytes of a file, at most 64 KiB of them; `nil` where there is none.
    static func read(_ path: String) throws -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw EventLogError.system("open", path)
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw EventLogError.system("read", path) }
        return Array(bytes.prefix(count))
    }

    /// Writes a file beside its place, syncs it, and puts it there by a rename that is synced too.
    static func replace(_ path: String, with bytes: [UInt8]) throws {
        let draft = path + ".new"
        try write(draft, bytes)
        try Directory.move(draft, to: path)
        try Directory.sync(Directory.parent(of: path))
    }

    private static func write(_ path: String, _ bytes: [UInt8]) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw EventLogError.system("make", path) }
        defer { close(descriptor) }
        let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == bytes.count, fsync(descriptor) == 0 else { throw EventLogError.system("write", path) }
    }
}

extension EventLogError {
    /// An error of a system call that has just failed.
    static func system(_ operation: String, _ path: String) -> EventLogError {
        let code = errno
        let advice =
            switch code {
            case ENOSPC, EDQUOT: "make room on the disk and try again"
            case EACCES, EPERM: "check the permissions of the path"
            case EROFS: "the file system is read-only"
            default: ""
            }
        return EventLogError(
            .io,
            operation: operation,
            object: path,
            reason: String(cString: strerror(code)),
            advice: advice
        )
    }
}
