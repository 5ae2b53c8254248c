/// Reads pages of an LMDB data file; several at once where they are asked for one behind the other.
///
/// By calls of the system, not by a map: a place of the disk that cannot be read is then an answer, and not the end of
/// the process.
final class PageReader {
    /// How many pages are read at once at most, and how far ahead a page may lie to be the next one.
    private static let pagesMax: UInt64 = 32
    private static let stepMax: UInt64 = 8

    private let file: DataFile
    private let pageBytes: UInt64
    private let room: UnsafeMutableRawBufferPointer
    /// Which pages are there.
    private var held: Range<UInt64> = 0..<0
    /// How many pages the next reading takes.
    private var step: UInt64 = 1

    init(_ file: DataFile, pageBytes: UInt64) {
        self.file = file
        self.pageBytes = pageBytes
        room = .allocate(byteCount: Int(clamping: Self.pagesMax * pageBytes), alignment: 16)
    }

    deinit {
        room.deallocate()
    }

    /// A page's bytes, valid until the next page is asked for; `nil` behind the end of the file or where it cannot be read.
    func page(_ number: UInt64) -> UnsafeRawBufferPointer? {
        if !held.contains(number) { read(from: number) }
        guard held.contains(number) else { return nil }
        let start = Int((number - held.lowerBound) * pageBytes)
        return UnsafeRawBufferPointer(rebasing: room[start..<start + Int(pageBytes)])
    }

    /// The first bytes of a page, copied; what `page` has lent stays valid.
    func header(of number: UInt64) -> [UInt8]? {
        if held.contains(number), let page = page(number) { return Array(page.prefix(DataPage.headerBytes)) }
        return bytes(DataPage.headerBytes, at: number * pageBytes)
    }

    /// Bytes from a place in the file, copied; what `page` has lent stays valid.
    func bytes(_ count: Int, at offset: UInt64) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            filled = file.readSome(UnsafeMutableRawBufferPointer(room), at: offset)
        }
        return bytes.count == count ? bytes : nil
    }

    private func read(from number: UInt64) {
        let isNext = number >= held.upperBound && number - held.upperBound <= Self.stepMax
        step = isNext ? min(step * 2, Self.pagesMax) : 1
        let part = UnsafeMutableRawBufferPointer(rebasing: room[..<Int(step * pageBytes)])
        let pages = UInt64(file.readSome(part, at: number * pageBytes)) / pageBytes
        held = number..<number + pages
    }
}
