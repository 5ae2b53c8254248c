#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads the file `data.mdb` without LMDB, so that its pages can be checked before LMDB maps and trusts them (I24).
final class DataFile {
    /// The file's path, for messages.
    let path: String
    private let file: OpenFile
    private var descriptor: Int32 { file.descriptor }

    /// Opens the data file of an environment.
    ///
    /// - Throws: `LMDBError` (`ENOENT`) if the file is missing; `EventLogError` with code `damaged` if the entry is not
    ///   a regular file, with code `io` if it cannot be opened.
    init(in folder: Folder) throws {
        path = folder.path(of: Folder.dataFileName)
        guard let file = try folder.file(Folder.dataFileName) else { throw LMDBError(ENOENT, "open \(path)") }
        self.file = file
    }

    /// Borrows the descriptor that LMDB has open. LMDB must keep it open for as long as this object lives.
    init(lent descriptor: Int32, _ path: String) {
        self.path = path
        file = OpenFile(lent: descriptor)
    }

    /// The two meta pages in order; `nil` for one that cannot be read as a meta page.
    func metaPages() -> [MetaPage?] {
        guard let first = metaPage(at: 0) else {
            // The page size is in the first meta page, so try the usual sizes to find the second. At a wrong size the
            // bytes are no meta page, because its magic number is elsewhere.
            let second = [4096, 16_384, 8192, 65_536].lazy.compactMap { self.metaPage(at: $0) }.first
            return [nil, second]
        }
        return [first, metaPage(at: Int(first.pageSize))]
    }

    /// The file's length in bytes.
    func byteCount() throws(LMDBError) -> UInt64 {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw LMDBError(errno, "look at \(path)") }
        return UInt64(clamping: information.st_size)
    }

    /// Whether the disk has as good as no room left for this user.
    func isDiskFull() -> Bool {
        var disk = statvfs()
        guard fstatvfs(descriptor, &disk) == 0 else { return false }
        return UInt64(disk.f_bavail) * UInt64(disk.f_frsize) < Self.leastRoomBytes
    }

    /// File systems keep some blocks back that no file gets.
    private static let leastRoomBytes: UInt64 = 1 << 20

    /// Identifies the file and its last change: each write gives it another stamp. `nil` if `fstat` fails.
    ///
    /// Any program can set the time of the last write, but only the kernel sets that of the last change.
    func stamp() -> FileStamp? {
        var file = stat()
        guard fstat(descriptor, &file) == 0 else { return nil }
        #if canImport(Darwin)
        let times = [file.st_mtimespec, file.st_ctimespec]
        #else
        let times = [file.st_mtim, file.st_ctim]
        #endif
        return FileStamp(
            device: UInt64(truncatingIfNeeded: file.st_dev),
            inode: UInt64(file.st_ino),
            byteCount: UInt64(clamping: file.st_size),
            times: times.flatMap { [UInt64(bitPattern: Int64($0.tv_sec)), UInt64(bitPattern: Int64($0.tv_nsec))] }
        )
    }

    /// The greater transaction number of the two meta pages; `nil` if one of them cannot be read.
    func newestTransaction() -> UInt64? {
        let metas = metaPages()
        guard let first = metas[0], let second = metas[1] else { return nil }
        return max(first.transaction, second.transaction)
    }

    /// Fills the buffer from a file offset; false at the end of the file or on an error.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Bool {
        readSome(buffer, at: offset) == buffer.count
    }

    /// Reads from a file offset until the buffer is full, the file ends or a read fails; returns the number of bytes
    /// read.
    func readSome(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        file.read(buffer, at: offset)
    }

    /// The next range of the file at or after an offset that is not a hole; `nil` if only a hole follows. If the file
    /// system does not know its holes, everything from the offset on.
    func dataRange(from offset: UInt64) -> Range<UInt64>? {
        file.dataRange(from: offset)
    }

    private func metaPage(at offset: Int) -> MetaPage? {
        withUnsafeTemporaryAllocation(byteCount: MetaPage.byteCount, alignment: 8) { buffer in
            read(buffer, at: UInt64(offset)) ? MetaPage(UnsafeRawBufferPointer(buffer)) : nil
        }
    }
}

/// A file's identity, its length, and the times of its last write and last change.
struct FileStamp: Equatable {
    let device: UInt64
    let inode: UInt64
    let byteCount: UInt64
    /// Seconds and nanoseconds of the last write, then of the last change of the file or its inode.
    let times: [UInt64]
}
