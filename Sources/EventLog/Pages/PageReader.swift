/// Reads pages of an LMDB data file, several at once if they are requested in ascending order.
///
/// It uses read calls instead of a map, so that an unreadable disk block is an error and does not kill the process. Not
/// thread-safe.
final class PageReader {
    /// The most pages of one read, and how far ahead of the last read a page may lie to count as the next one.
    private static let pagesMax: UInt64 = 32
    private static let stepMax: UInt64 = 8

    private let file: DataFile
    private let pageBytes: UInt64
    /// Owned by this object, which lends parts of it until the next read.
    private let room: UnsafeMutableRawBufferPointer
    /// The pages that `room` holds, from its beginning.
    private var held: Range<UInt64> = 0..<0
    /// How many pages the last read requested.
    private var step: UInt64 = 1

    init(_ file: DataFile, pageBytes: UInt64) {
        self.file = file
        self.pageBytes = pageBytes
        room = .allocate(byteCount: Int(clamping: Self.pagesMax * pageBytes), alignment: 16)
    }

    deinit {
        room.deallocate()
    }

    /// A page's bytes, borrowed until the next call of `page`; `nil` past the end of the file or if the disk cannot be
    /// read.
    func page(_ number: UInt64) -> UnsafeRawBufferPointer? {
        if !held.contains(number) { read(from: number) }
        guard held.contains(number) else { return nil }
        let start = Int((number - held.lowerBound) * pageBytes)
        return UnsafeRawBufferPointer(rebasing: room[start..<start + Int(pageBytes)])
    }

    /// The header of a page, copied. Bytes that `page` has lent stay valid.
    func header(of number: UInt64) -> [UInt8]? {
        if held.contains(number), let page = page(number) { return Array(page.prefix(DataPage.headerBytes)) }
        return bytes(DataPage.headerBytes, at: number * pageBytes)
    }

    /// Bytes of the file from `offset` on, copied; `nil` if the file has fewer. Bytes that `page` has lent stay valid.
    func bytes(_ count: Int, at offset: UInt64) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            filled = file.readSome(UnsafeMutableRawBufferPointer(room), at: offset)
        }
        return bytes.count == count ? bytes : nil
    }

    /// Reads pages from `number` on into `room`. At the end of the file or an unreadable block there are fewer, or
    /// none.
    private func read(from number: UInt64) {
        // Reads more at a time as long as pages are requested in ascending order, and one page otherwise: a tree in no
        // order would waste the rest.
        let isNext = number >= held.upperBound && number - held.upperBound <= Self.stepMax
        step = isNext ? min(step * 2, Self.pagesMax) : 1
        let part = UnsafeMutableRawBufferPointer(rebasing: room[..<Int(step * pageBytes)])
        let pages = UInt64(file.readSome(part, at: number * pageBytes)) / pageBytes
        precondition(pages <= Self.pagesMax, "the room holds every page that was read")
        held = number..<number + pages
    }
}
