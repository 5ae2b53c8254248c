import EventLog
import Projections

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A cache file that is replaced as a whole; the previous one is kept beside it.
///
/// FILE is a symbolic link to `FILE.d/NNN.sqlite`, and a rebuild renames a new link over it: readers keep the old file
/// until they open FILE again. If FILE is itself a database, the new pages are copied into it in one transaction, so
/// each reader sees the old rows or the new ones (I30). Nothing is renamed over a database that may be open, because
/// its readers would get old rows or damage.
///
/// Files and folder are readable by their owner alone, whatever the umask; an existing folder keeps its mode.
///
/// Numbers grow with each rebuild. At most two of our files are kept, the one in use and the one before; a killed
/// rebuild leaves an unfinished one, which the next removes.
package struct CacheFile {
    /// Where readers open the cache.
    let path: String

    /// The parent directory and the name of the link or database.
    private var place: (parent: String, name: String) { Directory.split(path) }
    private var folderName: String { place.name + ".d" }

    /// True if the path names anything that can be examined.
    package static func exists(at path: String) -> Bool {
        ((try? CacheFile(path: path).occupant()) ?? .nothing) != .nothing
    }

    /// What the path names before a rebuild.
    enum Occupant: Equatable {
        case nothing
        /// A link that a rebuild made.
        case ours
        /// A SQLite file where the link would be, and whether a rebuild filled it.
        case database(isOurs: Bool)
        /// A file or link that no rebuild made, and no database.
        case foreign

        /// True if a rebuild may replace it without `--yes`.
        var isOurs: Bool { self != .foreign && self != .database(isOurs: false) }
    }

    /// What the path names now. Links are examined, not followed. Only a file with SQLite's header is opened as a
    /// database.
    ///
    /// - Throws: `EngineError` if the path is neither a file nor a link, or cannot be examined.
    func occupant() throws -> Occupant {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return .nothing }
            throw Self.trouble("look at", path)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: throw EngineError("rebuild \"\(path)\": it is a directory; name a file")
        case S_IFLNK: return isOwnLink ? .ours : .foreign
        case S_IFREG:
            let folder = try Folder(at: place.parent)
            guard let header = Self.header(of: place.name, in: folder) else { return .foreign }
            return .database(isOurs: header.isOwn || isFilledByRebuild(path))
        default: throw EngineError("rebuild \"\(path)\": a device, FIFO or socket is there; name a file")
        }
    }

    /// The page size of the database at the path; `nil` if the new file may have any. SQLite cannot copy pages into a
    /// WAL database of another page size.
    func pageSize() throws -> Int? {
        guard case .database = try occupant() else { return nil }
        return try Self.header(of: place.name, in: Folder(at: place.parent))?.pageSize
    }

    /// Builds a new file with `build`, which gets the path of an empty file, and swaps it in.
    ///
    /// - Parameters:
    ///   - held: The locked folder, if the caller has locked it already.
    ///   - redactedAt: The log's last redaction; a cache from before it is not kept.
    ///   - isWanted: Called with the new file's path before the swap; false keeps the old file.
    /// - Throws: `EngineError` with code `locked` while another rebuild of the same cache runs; what `build` throws. The old
    ///   cache is then unchanged.
    @discardableResult
    func replace<Result>(
        holding held: CacheFolder? = nil,
        redactedAt: SequenceNumber = .zero,
        isWanted: (String) throws -> Bool = { _ in true },
        _ build: (String) throws -> Result
    ) throws -> Result {
        let place = try held ?? lock()
        let old = try place.numberedFiles()
        let name = try place.nextName(after: old)
        let isDatabase = if case .database = try occupant() { true } else { false }
        let result: Result
        do {
            // SQLite takes an empty file for an empty database and keeps its mode.
            result = try place.make(name) { try build($0) }
            guard try isWanted(place.folder.path(of: name)) else {
                try place.folder.removeFile(name)
                return result
            }
        } catch {
            try? place.folder.removeFile(name)
            throw error
        }
        // The file that was in use stays for `--back`; older ones go. Files that no rebuild filled are never removed.
        let before = linkedName
        if isDatabase {
            try copyIn(name, place, keptAs: place.nextName(after: place.numberedFiles()))
        } else {
            try place.link(name, at: path)
            try place.removeAll(old.map(\.name).filter { $0 != before && isFilledByRebuild(place.folder.path(of: $0)) })
        }
        if redactedAt > .zero {
            let now = linkedName
            let others = try place.numberedFiles().map(\.name).filter { $0 != now }
            try place.removeAll(others.filter { isMade(place.folder.path(of: $0), before: redactedAt) })
        }
        return result
    }

    /// Swaps the previous cache in again. The one in use is kept, so that another call returns to it: each call takes
    /// the greatest number that is not in use.
    ///
    /// - Throws: `EngineError` with code `no` if there is no earlier cache.
    func goBack() throws {
        let place = try lock()
        let now = linkedName
        let other = try place.numberedFiles().filter { $0.name != now }.max { $0.number < $1.number }
        guard let other, try occupant() != .nothing else {
            throw EngineError("rebuild \"\(path)\": there is no earlier cache to go back to", code: .no)
        }
        if case .database = try occupant() {
            try copyIn(other.name, place, keptAs: place.nextName(after: place.numberedFiles()))
        } else {
            try place.link(other.name, at: path)
        }
    }

    /// The file behind the path: the linked file, or the database itself.
    var target: String { linkedName.map { path + ".d/" + $0 } ?? path }

    /// Saves the pages at the path under the name `kept`, copies another database over them, then removes that
    /// database. The saved pages come first, so that a kill in between loses nothing.
    ///
    /// Readers of the database see one transaction of SQLite's backup interface.
    private func copyIn(_ name: String, _ place: CacheFolder, keptAs kept: String) throws {
        try place.make(kept) { saved in
            try SQLiteConnection.copyPages(from: path, to: saved)
        }
        try SQLiteConnection.copyPages(from: place.folder.path(of: name), to: path)
        let others = try place.numberedFiles().map(\.name).filter { $0 != kept }
        try place.removeAll(others.filter { $0 == name || isFilledByRebuild(place.folder.path(of: $0)) })
    }

    /// Locks the cache against other rebuilds until the result is released.
    ///
    /// - Throws: `EngineError` with code `locked` while another rebuild of the same cache runs.
    func lock() throws -> CacheFolder {
        try CacheFolder(self, parent: place.parent, folderName: folderName)
    }

    /// Returns true if a rebuild filled the database: it has our application id, or a meta table where the schema sets
    /// another id. Opens the file.
    private func isFilledByRebuild(_ path: String) -> Bool {
        let place = Directory.split(path)
        guard let folder = try? Folder(at: place.parent), let header = Self.header(of: place.name, in: folder) else {
            return false
        }
        if header.isOwn { return true }
        guard let connection = try? SQLiteConnection(path, .reading, .reading) else { return false }
        return (try? CacheOrigin(of: connection)) != nil
    }

    /// Whether a rebuild filled the database from a log before an event of it. Opens the file.
    private func isMade(_ path: String, before event: SequenceNumber) -> Bool {
        guard let connection = try? SQLiteConnection(path, .reading, .reading),
            let sequence = (try? CacheOrigin(of: connection))?.values["sequence"].flatMap({ UInt64($0) })
        else { return false }
        return sequence < event.rawValue
    }

    /// The numbered file that the link names; `nil` if the path is no link of ours.
    private var linkedName: String? {
        // `readlink` writes no zero byte and cuts longer targets, which are then none of ours.
        var target = [CChar](repeating: 0, count: 4096)
        let length = readlink(path, &target, target.count - 1)
        guard length > 0 else { return nil }
        let text = String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let parts = text.split(separator: "/").suffix(2)
        guard parts.count == 2, parts.first.map(String.init) == folderName, let name = parts.last.map(String.init),
            CacheFolder.number(of: name) != nil
        else { return nil }
        return name
    }

    /// True if the path is a link that a rebuild made. A link to anything else is foreign, and stays.
    private var isOwnLink: Bool { linkedName != nil }

    /// Reads the header of a SQLite database (SQLite file format, section 1.3); `nil` if the file has none. Read
    /// without SQLite, which would open a journal or WAL beside the file and act on it.
    private static func header(of name: String, in folder: Folder) -> (isOwn: Bool, pageSize: Int)? {
        guard let file = (try? folder.file(name)) ?? nil else { return nil }
        var header = [UInt8](repeating: 0, count: 72)
        guard read(file.descriptor, &header, 72) == 72, header.starts(with: "SQLite format 3\0".utf8) else {
            return nil
        }
        // Big-endian; the value 1 stands for 65,536.
        let pageSize = Int(header[16]) << 8 | Int(header[17])
        let isOwn = header[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == MappedSchema.applicationID
        return (isOwn, pageSize == 1 ? 65_536 : pageSize)
    }

    /// An error with the reason in `errno`; to be called before anything else changes that.
    fileprivate static func trouble(_ operation: String, _ path: String) -> EngineError {
        EngineError("\(operation) \"\(path)\": \(DiskRoom.text(errno))")
    }
}

/// The folder beside a cache: numbered files, greatest number newest. It stays locked against other rebuilds as long as
/// this object lives.
///
/// The lock is on an open file, so the system releases it when the process ends, however it ends.
final class CacheFolder {
    let folder: Folder
    /// Where the link is, and the folder's name there; `nil` for a folder without a link.
    private let place: (parent: Folder, folderName: String)?
    /// The open lock file; closing it releases the lock.
    private let lock: OpenFile

    /// - Throws: `EngineError` with code `locked` while another rebuild of the same cache runs.
    fileprivate init(_ cache: CacheFile, parent: String, folderName: String) throws {
        let parent = try Folder(at: parent)
        place = (parent, folderName)
        folder = try parent.folderMadeIfMissing(folderName)
        lock = try folder.fileMadeIfMissing("lock")
        guard lock.takeLock() else {
            throw EngineError("rebuild \"\(cache.path)\": another rebuild of it is running", code: .locked)
        }
    }

    /// A folder of others, in which the file with the greatest number is the one in use. Waits until the lock is free.
    ///
    /// - Parameter waiting: Called once if another process has the lock.
    init(_ folder: Folder, lockName: String, waiting: () -> Void) throws {
        (self.folder, place) = (folder, nil)
        lock = try folder.fileMadeIfMissing(lockName)
        var isWaiting = false
        while !lock.takeLock() {
            if !isWaiting { waiting() }
            isWaiting = true
            usleep(20_000)
        }
    }

    /// Makes a file with `build` and syncs it. It gets its name only once it is complete. So a file with a number is
    /// always whole.
    func make<Result>(_ name: String, _ build: (String) throws -> Result) throws -> Result {
        let unfinished = name + ".unfinished"
        do {
            _ = try folder.makeFile(unfinished)
            let result = try build(folder.path(of: unfinished))
            guard let file = try folder.writableFile(unfinished), fsync(file.descriptor) == 0 else {
                throw CacheFile.trouble("sync", folder.path(of: unfinished))
            }
            try folder.move(unfinished, to: name)
            return result
        } catch {
            try? removeAll([unfinished])
            throw error
        }
    }

    /// Points the path at a file of the folder, by renaming a new link over it. Readers see the old target or the new
    /// one, at every instant.
    fileprivate func link(_ name: String, at path: String) throws {
        guard let (parent, folderName) = place else { return assertionFailure("only a cache file has a link") }
        let link = folder.path(of: "link")
        // A rebuild that was killed here left its link. It is removed, not followed (I22).
        unlink(link)
        guard symlink("\(folderName)/\(name)", link) == 0 else { throw CacheFile.trouble("link", link) }
        guard rename(link, path) == 0 else {
            let error = CacheFile.trouble("swap in", path)
            unlink(link)
            throw error
        }
        // A rename is durable once both directories are synced.
        try folder.sync()
        try parent.sync()
    }

    /// Removes databases together with their WAL, shared-memory and journal files. Failures are ignored.
    func removeAll(_ names: [String]) throws {
        for name in names {
            for suffix in ["", "-wal", "-shm", "-journal"] { try? folder.removeFile(name + suffix) }
        }
    }

    /// The finished files, in the order of their names. Removes leftovers of killed rebuilds on the way; the lock shows
    /// that none of them is in use.
    func numberedFiles() throws -> [(name: String, number: Int)] {
        try folder.names().compactMap { name in
            if name.hasSuffix(".sqlite.unfinished") { try removeAll([name]) }
            return Self.number(of: name).map { (name, $0) }
        }
    }

    /// The name of the next file, with a number behind those of some files.
    ///
    /// - Throws: `EngineError` if no number is left behind them: a file of another name would not be found again.
    func nextName(after files: [(name: String, number: Int)]) throws -> String {
        let last = files.max { $0.number < $1.number }
        let name = Self.name((last?.number ?? 0) + 1)
        if Self.number(of: name) != nil { return name }
        let path = folder.path(of: last?.name ?? name)
        throw EngineError("rebuild: \"\(path)\" leaves no number for the next file; remove it")
    }

    /// `001.sqlite`; more digits from 1000 on.
    private static func name(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits + ".sqlite"
    }

    /// The number in a file's name; `nil` for other names.
    fileprivate static func number(of name: String) -> Int? {
        guard name.hasSuffix(".sqlite") else { return nil }
        let digits = name.dropLast(7)
        return digits.utf8.allSatisfy { (0x30...0x39).contains($0) } && (3...12).contains(digits.count)
            ? Int(digits) : nil
    }
}
