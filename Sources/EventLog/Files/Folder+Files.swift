#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A regular file, open for as long as this object lives. Reads and writes name their offset, so threads may share it.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    private let isOwner: Bool

    fileprivate init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isOwner = true
    }

    /// An empty file without a name, which is gone once it is closed.
    ///
    /// - Throws: `EventLogError` with code `io` if none can be made in the folder.
    package convenience init(unnamedIn folder: String) throws {
        let descriptor = UnnamedFile.make(in: folder)
        guard descriptor >= 0 else { throw EventLogError.system("make a file in", folder) }
        self.init(descriptor)
    }

    /// Borrows a descriptor that the caller keeps open for at least as long as this object lives.
    init(lent descriptor: Int32) {
        self.descriptor = descriptor
        isOwner = false
    }

    deinit {
        if isOwner { close(descriptor) }
    }

    /// Takes the file's lock (`flock`) until the file is closed; false if it is taken.
    package func takeLock() -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    /// The file's size.
    package var byteCount: UInt64 {
        var information = stat()
        return fstat(descriptor, &information) == 0 ? UInt64(clamping: information.st_size) : 0
    }

    /// Makes the written bytes durable. `path` is for messages.
    package func sync(_ path: String) throws {
        guard fsync(descriptor) == 0 else { throw EventLogError.system("sync", path) }
    }

    /// Writes bytes over what is there, at the start of the file or at another offset. `path` is for messages.
    package func write(_ bytes: [UInt8], at offset: UInt64 = 0, _ path: String) throws {
        try bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = pwrite(
                    descriptor,
                    bytes.baseAddress.map { $0 + done },
                    bytes.count - done,
                    off_t(offset) + off_t(done)
                )
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw EventLogError.system("write", path) }
                done += count
            }
        }
    }

    /// The next range of the file at or after an offset that is not a hole; `nil` if only a hole follows. If the file
    /// system does not know its holes, everything from the offset on.
    func dataRange(from offset: UInt64) -> Range<UInt64>? {
        #if canImport(Darwin)
        let (data, hole) = (SEEK_DATA, SEEK_HOLE)
        #else
        // `SEEK_DATA` and `SEEK_HOLE` of Linux.
        let (data, hole): (Int32, Int32) = (3, 4)
        #endif
        let start = lseek(descriptor, off_t(clamping: offset), data)
        // `ENXIO`: no data from there on. Any other error means that the file system does not know its holes.
        guard start >= 0 else { return errno == ENXIO ? nil : offset..<UInt64.max }
        let end = lseek(descriptor, start, hole)
        return UInt64(start)..<(end > start ? UInt64(end) : .max)
    }

    /// Reads from a file offset until the buffer is full, the file ends or a read fails; returns the number of bytes
    /// read.
    package func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        var done = 0
        while done < buffer.count {
            guard let place = off_t(exactly: offset + UInt64(done)), let start = buffer.baseAddress else { break }
            let count = pread(descriptor, start + done, buffer.count - done, place)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            assert(count <= buffer.count - done, "a read stays within its buffer")
            done += count
        }
        return done
    }
}

// MARK: - Opening

extension Folder {
    /// Opens a file for reading; `nil` if there is none.
    package func file(_ name: String) throws -> OpenFile? {
        try openFile(name, O_RDONLY, isWritten: false)
    }

    /// Opens a file for reading and writing; `nil` if there is none.
    package func writableFile(_ name: String) throws -> OpenFile? {
        try openFile(name, O_RDWR, isWritten: true)
    }

    /// Makes a file that only its owner may read and write; throws if the name is taken.
    package func makeFile(_ name: String) throws -> OpenFile {
        let made = openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard made >= 0 else { throw EventLogError.system("make", path(of: name)) }
        // The umask may have taken rights away.
        _ = fchmod(made, 0o600)
        return OpenFile(made)
    }

    /// Opens a file for reading and writing, and makes it if it is missing.
    package func fileMadeIfMissing(_ name: String) throws -> OpenFile {
        if let there = try writableFile(name) { return there }
        do {
            return try makeFile(name)
        } catch {
            // Another process may have made it just now.
            guard let there = try writableFile(name) else { throw error }
            return there
        }
    }

    private func openFile(_ name: String, _ flags: Int32, isWritten: Bool) throws -> OpenFile? {
        assert(!name.utf8.contains(UInt8(ascii: "/")), "a plain name leads nowhere but into this folder")
        // Looked at before it is opened, because to open some devices has an effect.
        guard let before = try status(of: name) else { return nil }
        try check(before, name, isWritten: isWritten)
        let opened = openat(descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else {
            if errno == ENOENT { return nil }
            throw EventLogError.system("open", path(of: name))
        }
        // Checked once more as it was opened: the entry may have been exchanged since the first look.
        let file = OpenFile(opened)
        var information = stat()
        guard fstat(opened, &information) == 0 else { throw EventLogError.system("look at", path(of: name)) }
        try check(information, name, isWritten: isWritten)
        return file
    }
}

// MARK: - Small files

extension Folder {
    static let smallFileBytesMax = 65_536

    /// The bytes of a small file, at most its first 64 KiB; `nil` if there is none.
    func bytes(of name: String) throws -> [UInt8]? {
        guard let file = try file(name) else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.smallFileBytesMax)
        let count = bytes.withUnsafeMutableBytes { pread(file.descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw EventLogError.system("read", path(of: name)) }
        return Array(bytes.prefix(count))
    }

    /// Replaces a small file at a path that the caller names; only its owner may read it. A link at the path stays.
    package static func replaceFile(at path: String, with bytes: [UInt8]) throws {
        let place = Directory.split(Directory.resolved(path) ?? path)
        try Folder(at: place.parent).replaceFile(place.name, with: bytes)
    }

    /// Writes a small file under another name, syncs it, renames it into place and syncs the directory. Readers see the
    /// old file or the new one.
    func replaceFile(_ name: String, with bytes: [UInt8]) throws {
        let draft = name + ".new"
        // A process that was cut off may have left one.
        try removeFile(draft)
        try write(draft, bytes)
        try move(draft, to: name)
        try sync()
    }

    private func write(_ name: String, _ bytes: [UInt8]) throws {
        let file = try makeFile(name)
        try file.write(bytes, path(of: name))
        guard fsync(file.descriptor) == 0 else { throw EventLogError.system("write", path(of: name)) }
    }
}

// MARK: - What LMDB opens

/// Identifies a file among all that exist at the same time: device and inode.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    init(_ information: stat) {
        device = UInt64(truncatingIfNeeded: information.st_dev)
        number = UInt64(truncatingIfNeeded: information.st_ino)
    }

    /// The identity of an open file; `nil` if `fstat` fails.
    init?(of descriptor: Int32) {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { return nil }
        self.init(information)
    }
}

extension Folder {
    /// The names of LMDB's two files.
    static let dataFileName = "data.mdb"
    static let readerTableName = "lock.mdb"

    /// The reader table has 64 bytes for each of at most 1,024 readers. LMDB trusts whatever length it finds.
    private static let readerTableBytesMax: off_t = 1 << 20

    /// A path of this directory for LMDB, which opens files by path alone.
    ///
    /// It goes through the descriptor if the system allows that, so that no directory on the way can be exchanged.
    /// Elsewhere, as on macOS or without `/proc`, it is the plain path.
    var pathForLibraries: String {
        #if os(Linux)
        let through = "/proc/self/fd/\(descriptor)"
        var there = stat()
        if stat(through, &there) == 0, FileIdentity(there) == FileIdentity(of: descriptor) { return through }
        #endif
        return path
    }

    /// Checks the files that LMDB is about to open or make, because LMDB follows links, waits at FIFOs and writes to
    /// what it finds (I22).
    ///
    /// Between this check and LMDB's own `open`, whoever may write to this directory can exchange a file in it. The
    /// identity that this returns reveals that for the data file. It cannot for the table of readers, which is never
    /// opened here: closing it would drop LMDB's locks.
    ///
    /// - Returns: the data file's identity; `nil` if there is none.
    @discardableResult
    func checkEnvironment() throws -> FileIdentity? {
        if let table = try status(of: Self.readerTableName) {
            try check(table, Self.readerTableName, isWritten: true)
            guard table.st_size <= Self.readerTableBytesMax else { throw oversized(table) }
        }
        guard let data = try status(of: Self.dataFileName) else { return nil }
        try check(data, Self.dataFileName, isWritten: true)
        return FileIdentity(data)
    }

    private func oversized(_ table: stat) -> EventLogError {
        EventLogError(
            .damaged,
            operation: "open",
            object: path(of: Self.readerTableName),
            reason: "the table of readers has \(table.st_size) bytes, more than it can need",
            advice: "remove it while nobody uses the log; it is made anew"
        )
    }
}
