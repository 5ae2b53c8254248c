#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A directory that is held open. Its entries are reached from its descriptor by plain names, so nothing leads out of
/// it (I22).
///
/// A log may come from somebody else, with anything in the place of its files. So an entry is opened without following
/// a link and without waiting, and is used only if it is a regular file or a directory. A file that will be written to
/// must also have no second name. Any other entry is an error that names it, and stays as it is.
package final class Folder: Sendable {
    /// The directory's path, for messages.
    package let path: String
    /// Open for as long as this object lives; valid also after the directory was renamed.
    package let descriptor: Int32

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Opens a directory that the caller names; follows links.
    package convenience init(at path: String) throws {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw EventLogError.system("open directory", path) }
        self.init(descriptor: descriptor, path: path)
    }

    /// Opens a directory that the caller names; `nil` if there is none.
    static func existing(at path: String) throws -> Folder? {
        Directory.kind(of: path) == .directory ? try Folder(at: path) : nil
    }

    /// The path of an entry, for messages.
    package func path(of name: String) -> String {
        path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }
}

// MARK: - Looking

extension Folder {
    /// The kind of an entry; links are not followed.
    package enum Kind: Hashable, Sendable {
        case nothing, file, folder
        /// Anything else, named in words.
        case foreign(String)
    }

    /// The kind of the entry with this name.
    package func kind(of name: String) throws -> Kind {
        try status(of: name).map { Self.kind($0) } ?? .nothing
    }

    /// The bytes that a file occupies on disk, without holes; 0 if there is no file. The system counts them in units of
    /// 512, whatever the size of its blocks.
    func allocatedBytes(of name: String) -> UInt64 {
        ((try? status(of: name)) ?? nil).map { UInt64(clamping: $0.st_blocks) * 512 } ?? 0
    }

    /// The names in the directory, sorted by their bytes, without `.` and `..`.
    package func names() throws -> [String] {
        // Opened anew, because listings that share a descriptor share its place.
        let listed = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard listed >= 0, let stream = fdopendir(listed) else { throw EventLogError.system("list", path) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // An entry ends with its name, and may be shorter than its type.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The system's information on an entry, links not followed; `nil` if there is none.
    func status(of name: String) throws -> stat? {
        var information = stat()
        if fstatat(descriptor, name, &information, AT_SYMLINK_NOFOLLOW) == 0 { return information }
        guard errno == ENOENT else { throw EventLogError.system("look at", path(of: name)) }
        return nil
    }

    static func kind(_ information: stat) -> Kind {
        switch information.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFLNK: .foreign("a symbolic link")
        case S_IFIFO: .foreign("a FIFO")
        case S_IFSOCK: .foreign("a socket")
        case S_IFCHR, S_IFBLK: .foreign("a device")
        default: .foreign("neither a file nor a folder")
        }
    }

    /// Throws if the entry may not be used as a file.
    ///
    /// - Parameter isWritten: whether bytes will be written to the file; then it must have no second name, under which
    ///   they would show elsewhere.
    func check(_ information: stat, _ name: String, isWritten: Bool) throws {
        switch Self.kind(information) {
        case .file where isWritten && information.st_nlink > 1:
            throw foreign(name, "it is a file that has another name elsewhere (\(information.st_nlink) hard links)")
        case .file: return
        case .folder: throw foreign(name, "a folder is where a file belongs")
        case .foreign(let words): throw foreign(name, "\(words) is where a file belongs")
        case .nothing: return
        }
    }

    private func foreign(_ name: String, _ reason: String) -> EventLogError {
        EventLogError(
            .damaged,
            operation: "open",
            object: path(of: name),
            reason: reason,
            advice: "it was left as it is; look where it comes from, and take it away"
        )
    }
}

// MARK: - Folders

extension Folder {
    /// Opens a folder in this one; `nil` if nothing has the name.
    package func folder(_ name: String) throws -> Folder? {
        guard let information = try status(of: name) else { return nil }
        switch Self.kind(information) {
        case .folder: break
        case .foreign(let words): throw foreign(name, "\(words) is where a folder belongs")
        case .file, .nothing: throw foreign(name, "a file is where a folder belongs")
        }
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if opened >= 0 { return Folder(descriptor: opened, path: path(of: name)) }
        guard errno == ENOENT else { throw EventLogError.system("open directory", path(of: name)) }
        return nil
    }

    /// Makes a folder that only its owner may enter.
    package func makeFolder(_ name: String) throws -> Folder {
        guard mkdirat(descriptor, name, 0o700) == 0 else {
            throw EventLogError.system("make directory", path(of: name))
        }
        guard let made = try folder(name) else { throw EventLogError.system("open directory", path(of: name)) }
        // The umask may have taken rights away.
        _ = fchmod(made.descriptor, 0o700)
        return made
    }

    /// Opens a folder, and makes it if it is missing.
    package func folderMadeIfMissing(_ name: String) throws -> Folder {
        if let there = try folder(name) { return there }
        do {
            return try makeFolder(name)
        } catch {
            // Another process may have made it just now.
            guard let there = try folder(name) else { throw error }
            return there
        }
    }

    /// Renames an entry. A file replaces a file; a folder replaces nothing, or an empty folder. Not synced.
    package func move(_ name: String, to target: String) throws {
        // Only a folder may take the place of a folder. Whatever else is replaced must be a plain file.
        if let there = try status(of: target), try Self.kind(there) != .folder || kind(of: name) != .folder {
            try check(there, target, isWritten: false)
        }
        guard renameat(descriptor, name, descriptor, target) == 0 else {
            throw EventLogError.system("rename", path(of: name))
        }
    }

    /// Makes the directory's entries durable.
    package func sync() throws {
        // Some file systems cannot sync directories and return EINVAL; nothing can be done about that.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw EventLogError.system("sync", path) }
    }

    /// Takes the directory's own lock (`flock`) until this object is destroyed; false if it is taken.
    func takeLock() -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
}

// MARK: - Removing

extension Folder {
    /// Removes a file, if there is one.
    package func removeFile(_ name: String) throws {
        guard let information = try status(of: name) else { return }
        try check(information, name, isWritten: false)
        try unlink(name, flags: 0)
    }

    /// Removes a folder with the files in it, and with folders of files down to `depth` levels below it. Follows
    /// nothing.
    ///
    /// - Throws: `EventLogError` with code `damaged` if it contains anything else; then nothing of it is removed.
    package func removeFolder(_ name: String, depth: Int = 0) throws {
        assert(depth >= 0, "a removal goes down as many levels as it is told, and no further")
        guard let inner = try folder(name) else { return }
        try inner.checkRemovable(depth: depth)
        for attempt in 0... {
            do {
                try inner.removeEntries(depth: depth)
                return try unlink(name, flags: AT_REMOVEDIR)
            } catch {
                // A process that has just opened the folder may have put a file into it.
                guard attempt < 3, try !inner.names().isEmpty else { throw error }
            }
        }
    }

    /// Checks that everything in the folder may be removed with it.
    func checkRemovable(depth: Int = 0) throws {
        for name in try names() {
            guard let information = try status(of: name) else { continue }
            if depth > 0, Self.kind(information) == .folder {
                try folder(name)?.checkRemovable(depth: depth - 1)
            } else {
                try check(information, name, isWritten: false)
            }
        }
    }

    private func removeEntries(depth: Int) throws {
        for name in try names() {
            if depth > 0, try kind(of: name) == .folder {
                try removeFolder(name, depth: depth - 1)
            } else {
                try removeFile(name)
            }
        }
    }

    /// No error if another process has removed the entry already.
    private func unlink(_ name: String, flags: Int32) throws {
        guard unlinkat(descriptor, name, flags) == 0 || errno == ENOENT else {
            throw EventLogError.system("remove", path(of: name))
        }
    }
}
