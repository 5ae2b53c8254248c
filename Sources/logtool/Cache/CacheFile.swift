import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A cache that is replaced as a whole: FILE is a symbolic link to `FILE.d/NNN.sqlite`, and the link is renamed.
///
/// Renaming over a SQLite file that somebody has open gives old rows or damage; a reader of the old link keeps the old
/// file until it opens the link again. Files and folder are made for their owner alone, whatever the umask; a folder that is
/// there keeps its mode.
struct CacheFile {
    /// Where readers open the cache.
    let path: String

    private var place: (parent: String, name: String) { Directory.split(path) }
    private var folderName: String { place.name + ".d" }

    /// What stands at the path before a rebuild.
    enum Occupant {
        case nothing, ours, foreign
    }

    /// What stands at the path.
    ///
    /// - Throws: `Failure` where it is neither a file nor a link, or cannot be looked at.
    func occupant() throws -> Occupant {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return .nothing }
            throw Self.trouble("look at", path)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: throw Failure("rebuild \"\(path)\": it is a directory; name a file")
        case S_IFLNK: return isOwnLink ? .ours : .foreign
        case S_IFREG: return try Self.isOwnDatabase(place.name, in: Folder(at: place.parent)) ? .ours : .foreign
        default: throw Failure("rebuild \"\(path)\": a device, FIFO or socket is there; name a file")
        }
    }

    /// Builds a new file by `build`, which gets the path of an empty place, syncs it and swaps it in. The old file goes.
    ///
    /// - Throws: `Failure` with exit code 11 while another rebuild of the same cache runs; what `build` throws, after which
    ///   the old cache stands as it did.
    func replace<Result>(_ build: (String) throws -> Result) throws -> Result {
        let parent = try Folder(at: place.parent)
        let folder = try parent.folderMadeIfMissing(folderName)
        let lock = try RebuildLock(folder, cache: path)
        defer { lock.release() }
        let old = try numberedFiles(in: folder)
        let name = Self.name((old.map(\.number).max() ?? 0) + 1)
        let unfinished = name + ".unfinished"
        let result: Result
        do {
            // SQLite takes an empty file for an empty database and keeps its mode.
            _ = try folder.makeFile(unfinished)
            result = try build(folder.path(of: unfinished))
            try Self.sync(unfinished, in: folder)
        } catch {
            try? folder.removeFile(unfinished)
            throw error
        }
        try folder.move(unfinished, to: name)
        try swapLink(to: name, folder, parent)
        for file in old where Self.isOwnDatabase(file.name, in: folder) { try? folder.removeFile(file.name) }
        return result
    }

    private var isOwnLink: Bool {
        var target = [CChar](repeating: 0, count: 4096)
        let length = readlink(path, &target, target.count - 1)
        guard length > 0 else { return false }
        let text = String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let parts = text.split(separator: "/").suffix(2)
        return parts.count == 2 && parts.first.map(String.init) == folderName
            && parts.last.flatMap { Self.number(of: String($0)) } != nil
    }

    private func swapLink(to name: String, _ folder: Folder, _ parent: Folder) throws {
        let link = folder.path(of: "link")
        // A link that a rebuild left which was killed here; it is removed, not followed.
        unlink(link)
        guard symlink("\(folderName)/\(name)", link) == 0 else { throw Self.trouble("link", link) }
        guard rename(link, path) == 0 else {
            let error = Self.trouble("swap in", path)
            unlink(link)
            throw error
        }
        try folder.sync()
        try parent.sync()
    }

    /// The finished files, and leftovers of a rebuild that was killed are removed on the way.
    private func numberedFiles(in folder: Folder) throws -> [(name: String, number: Int)] {
        try folder.names().compactMap { name in
            if name.hasSuffix(".sqlite.unfinished") { try folder.removeFile(name) }
            return Self.number(of: name).map { (name, $0) }
        }
    }

    private static func name(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits + ".sqlite"
    }

    private static func number(of name: String) -> Int? {
        guard name.hasSuffix(".sqlite") else { return nil }
        let digits = name.dropLast(7)
        return digits.utf8.allSatisfy { (0x30...0x39).contains($0) } && (3...12).contains(digits.count)
            ? Int(digits) : nil
    }

    /// Whether a file is a SQLite database with our application id (SQLite file format, section 1.3: offset 68).
    private static func isOwnDatabase(_ name: String, in folder: Folder) -> Bool {
        guard let file = (try? folder.file(name)) ?? nil else { return false }
        var header = [UInt8](repeating: 0, count: 72)
        guard read(file.descriptor, &header, 72) == 72, header.starts(with: "SQLite format 3\0".utf8) else {
            return false
        }
        return header[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == CacheSchema.applicationID
    }

    private static func sync(_ name: String, in folder: Folder) throws {
        guard let file = try folder.writableFile(name), fsync(file.descriptor) == 0 else {
            throw trouble("sync", folder.path(of: name))
        }
    }

    fileprivate static func trouble(_ operation: String, _ path: String) -> Failure {
        Failure("\(operation) \"\(path)\": \(String(cString: strerror(errno)))")
    }
}

/// Held while a cache is rebuilt.
private struct RebuildLock {
    private let file: OpenFile

    init(_ folder: Folder, cache: String) throws {
        file = try folder.fileMadeIfMissing("lock")
        guard file.takeLock() else {
            throw Failure("rebuild \"\(cache)\": another rebuild of it is running", exitCode: Outcome.locked)
        }
    }

    func release() {
        _ = flock(file.descriptor, LOCK_UN)
    }
}
