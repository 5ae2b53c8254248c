#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file `data.mdb`, read past LMDB: what LMDB maps without looking must be looked at before it is opened.
final class DataFile {
    /// The file's path, for messages.
    let path: String
    private let file: OpenFile
    private var descriptor: Int32 { file.descriptor }

    /// Opens the data file of an environment.
    ///
    /// - Throws: `LMDBError` where it is missing or cannot be opened, `EventLogError` with code `damaged` where something
    ///   else is in its place.
    init(in folder: Folder) throws {
        path = folder.path(of: Folder.dataFileName)
        guard let file = try folder.file(Folder.dataFileName) else { throw LMDBError(ENOENT, "open \(path)") }
        self.file = file
    }

    /// The file that LMDB has open, which must stay open.
    init(lent descriptor: Int32, _ path: String) {
        self.path = path
        file = OpenFile(lent: descriptor)
    }

    /// The two meta pages; a place without one is `nil`.
    func metaPages() -> [MetaPage?] {
        guard let first = metaPage(at: 0) else {
            // The page size stands in the lost page: the other one says where it is.
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

    /// What changes whenever anybody writes to the file, or puts another in its place; `nil` where the system does not say.
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

    /// The greater transaction number of the two meta pages; `nil` where one of them cannot be read.
    func newestTransaction() -> UInt64? {
        let metas = metaPages()
        guard let first = metas[0], let second = metas[1] else { return nil }
        return max(first.transaction, second.transaction)
    }

    /// Fills the buffer from an offset; false at the end of the file or on an error.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Bool {
        readSome(buffer, at: offset) == buffer.count
    }

    /// Fills the buffer from an offset as far as the file reaches and can be read, and says how far.
    func readSome(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        file.read(buffer, at: offset)
    }

    /// Where the next bytes lie that are no hole, from an offset on; `nil` where there are none.
    func dataRange(from offset: UInt64) -> Range<UInt64>? {
        file.dataRange(from: offset)
    }

    private func metaPage(at offset: Int) -> MetaPage? {
        withUnsafeTemporaryAllocation(byteCount: MetaPage.byteCount, alignment: 8) { buffer in
            read(buffer, at: UInt64(offset)) ? MetaPage(UnsafeRawBufferPointer(buffer)) : nil
        }
    }
}

/// Which file something is, how long it is, and when it was last written and changed.
struct FileStamp: Equatable {
    let device: UInt64
    let inode: UInt64
    let byteCount: UInt64
    /// Seconds and nanoseconds of the last write, then of the last change of the file or its inode.
    let times: [UInt64]
}
