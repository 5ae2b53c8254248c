import CLMDB

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Folder {
    /// Room for 1,024 slots of 64 bytes and the head of the table.
    private static let readerTableBytes: off_t = 65_664
    /// LMDB writes the head of the table at each opening; the first 60 slots lie in the same page.
    private static let firstPageBytes: off_t = 4_096

    /// Gives the table of readers its blocks on disk; makes the file if it is missing.
    ///
    /// LMDB writes the table through a map. A file that LMDB made, or that a copy made sparse, has holes; on a full disk
    /// writing to a hole ends the process with SIGBUS. A file with blocks is left alone, and so is one whose file system
    /// cannot reserve any. The first page is enough: so on a full disk a log can be read whose table was in use.
    ///
    /// Call it only while this process has no environment open here: closing the file drops the locks of LMDB (I6).
    ///
    /// - Throws: `LMDBError` (`ENOSPC`) if the disk is full. Other trouble is left for LMDB to find.
    func reserveReaderTable() throws(LMDBError) {
        var before = stat()
        if fstatat(descriptor, Self.readerTableName, &before, AT_SYMLINK_NOFOLLOW) == 0, before.st_size > 0,
            off_t(before.st_blocks) * 512 >= before.st_size
        {
            return
        }
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let table = openat(descriptor, Self.readerTableName, flags, 0o600)
        if table < 0, DiskRoom.isLacking(errno) { throw fullDisk() }
        guard table >= 0 else { return }
        defer { close(table) }
        for byteCount in [Self.readerTableBytes, Self.firstPageBytes] {
            if clmdb_reserve(table, byteCount) == 0 || !DiskRoom.isLacking(errno) { return }
        }
        throw fullDisk()
    }

    private func fullDisk() -> LMDBError {
        LMDBError(ENOSPC, "make \(path(of: Self.readerTableName))")
    }
}
