#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A cache that is replaced as a whole: FILE is a symbolic link to `FILE.d/NNN.sqlite`, and the link is renamed.
///
/// Renaming over a SQLite file that somebody has open gives old rows or damage; a reader of the old link keeps the old
/// file until it opens the link again.
struct CacheFile {
    /// Where readers open the cache.
    let path: String

    private var directory: String { path + ".d" }
    private var linkDirectoryName: String { (path.split(separator: "/").last.map(String.init) ?? path) + ".d" }

    /// What stands at the path before a rebuild.
    enum Occupant {
        case nothing, ours, foreign
    }

    /// What stands at the path.
    ///
    /// - Throws: `Failure` where it is a directory or cannot be looked at.
    func occupant() throws -> Occupant {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return .nothing }
            throw Self.trouble("look at", path)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: throw Failure("rebuild \"\(path)\": it is a directory; name a file")
        case S_IFLNK: return isOwnLink ? .ours : .foreign
        case S_IFREG: return Self.isOwnDatabase(path) ? .ours : .foreign
        default: return .foreign
        }
    }

    /// Builds a new file by `build`, which gets the path of an empty place, syncs it and swaps it in. The old file goes.
    ///
    /// - Throws: `Failure` with exit code 11 while another rebuild of the same cache runs; what `build` throws, after which
    ///   the old cache stands as it did.
    func replace<Result>(_ build: (String) throws -> Result) throws -> Result {
        guard mkdir(directory, 0o777) == 0 || errno == EEXIST else { throw Self.trouble("make", directory) }
        let lock = try RebuildLock(directory: directory, cache: path)
        defer { lock.release() }
        let old = try numberedFiles()
        let name = Self.name((old.map(\.number).max() ?? 0) + 1)
        let unfinished = "\(directory)/\(name).unfinished"
        unlink(unfinished)
        let result: Result
        do {
            result = try build(unfinished)
            try Self.sync(unfinished)
        } catch {
            unlink(unfinished)
            throw error
        }
        guard rename(unfinished, "\(directory)/\(name)") == 0 else { throw Self.trouble("rename", unfinished) }
        try swapLink(to: name)
        for file in old where Self.isOwnDatabase("\(directory)/\(file.name)") { unlink("\(directory)/\(file.name)") }
        return result
    }

    private var isOwnLink: Bool {
        var target = [CChar](repeating: 0, count: 4096)
        let length = readlink(path, &target, target.count - 1)
        guard length > 0 else { return false }
        let text = String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let parts = text.split(separator: "/").suffix(2)
        return parts.count == 2 && parts.first.map(String.init) == linkDirectoryName
            && parts.last.flatMap { Self.number(of: String($0)) } != nil
    }

    private func swapLink(to name: String) throws {
        let link = "\(directory)/link"
        unlink(link)
        guard symlink("\(linkDirectoryName)/\(name)", link) == 0 else { throw Self.trouble("link", link) }
        guard rename(link, path) == 0 else {
            let error = Self.trouble("swap in", path)
            unlink(link)
            throw error
        }
        try Self.sync(directory)
        try Self.sync(parentDirectory)
    }

    private var parentDirectory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The finished files, and leftovers of a rebuild that was killed are removed on the way.
    private func numberedFiles() throws -> [(name: String, number: Int)] {
        guard let entries = opendir(directory) else { throw Self.trouble("list", directory) }
        defer { closedir(entries) }
        var files: [(name: String, number: Int)] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".sqlite.unfinished") { unlink("\(directory)/\(name)") }
            if let number = Self.number(of: name) { files.append((name, number)) }
        }
        return files
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
    private static func isOwnDatabase(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 72)
        guard read(descriptor, &header, 72) == 72, header.starts(with: "SQLite format 3\0".utf8) else { return false }
        return header[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == CacheSchema.applicationID
    }

    private static func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw trouble("open", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw trouble("sync", path) }
    }

    fileprivate static func trouble(_ operation: String, _ path: String) -> Failure {
        Failure("\(operation) \"\(path)\": \(String(cString: strerror(errno)))")
    }
}

/// Held while a cache is rebuilt.
private struct RebuildLock {
    private let descriptor: Int32

    init(directory: String, cache: String) throws {
        descriptor = open("\(directory)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw CacheFile.trouble("open", "\(directory)/lock") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw Failure("rebuild \"\(cache)\": another rebuild of it is running", exitCode: Outcome.locked)
        }
    }

    func release() {
        close(descriptor)
    }
}
