/// Scans all pages of an LMDB data file in the order of the file, ignoring the trees. Finds everything in leaf pages
/// that can still be an entry, also in pages that no tree reaches any more.
struct PageScan {
    private static let headerBytes = 16
    private static let nodeHeaderBytes = 8
    private static let pagesBetweenReports: UInt64 = 4_096
    private let file: DataFile
    /// From the first meta page that can be read; 4,096 if none can.
    private let pageBytes: Int
    private let fileBytes: UInt64

    init(_ file: DataFile) throws {
        self.file = file
        pageBytes = Int(file.metaPages().compactMap { $0 }.first?.pageSize ?? 4096)
        fileBytes = try file.byteCount()
    }

    /// Passes everything that may be an entry to `body`. The caller decides whether it is one, and of which table.
    ///
    /// - Parameter progress: Receives the number of bytes scanned so far and the total, about every 4,096 pages and at
    ///   the end.
    func forEachEntry(
        progress: (_ done: UInt64, _ total: UInt64) -> Void,
        _ body: (_ key: [UInt8], _ value: [UInt8]) -> Void
    ) {
        var page = [UInt8](repeating: 0, count: pageBytes)
        forEachPage { number in
            if number.isMultiple(of: Self.pagesBetweenReports) { progress(number * UInt64(pageBytes), fileBytes) }
            guard page.withUnsafeMutableBytes({ file.read($0, at: number * UInt64(pageBytes)) }) else { return false }
            // Only leaf pages. No other field of the header is required: it may be damaged.
            guard word(page, 10) == 2 else { return true }
            let lower = Int(word(page, 12))
            // The bound of the offsets may be damaged. Then nothing of the page is taken.
            let end = (Self.headerBytes...pageBytes).contains(lower) ? lower : Self.headerBytes
            for slot in stride(from: Self.headerBytes, to: end - 1, by: 2) {
                if let entry = entry(of: page, at: Int(word(page, slot))) { body(entry.key, entry.value) }
            }
            return true
        }
        progress(fileBytes, fileBytes)
    }

    /// Passes the numbers of the pages that contain data to `body`, without holes, until `body` returns false.
    private func forEachPage(_ body: (UInt64) -> Bool) {
        let (size, end) = (UInt64(pageBytes), fileBytes / UInt64(pageBytes))
        // Pages 0 and 1 are the meta pages.
        var number: UInt64 = 2
        while number < end, let data = file.dataRange(from: number * size) {
            number = max(number, data.lowerBound / size)
            while number < end, number * size < data.upperBound {
                guard body(number) else { return }
                number += 1
            }
        }
    }

    /// An entry of a leaf page (`MDB_node`); `nil` if it leaves the page or the file. A flag of 1 means that the value
    /// has pages of its own.
    private func entry(of page: [UInt8], at offset: Int) -> (key: [UInt8], value: [UInt8])? {
        guard offset >= Self.headerBytes, offset + Self.nodeHeaderBytes <= pageBytes else { return nil }
        let size = Int(word(page, offset)) | Int(word(page, offset + 2)) << 16
        let flags = word(page, offset + 4)
        let valueStart = offset + Self.nodeHeaderBytes + Int(word(page, offset + 6))
        guard valueStart <= pageBytes else { return nil }
        let key = Array(page[(offset + Self.nodeHeaderBytes)..<valueStart])
        if flags & 1 == 0 {
            guard size <= pageBytes - valueStart else { return nil }
            return (key, Array(page[valueStart..<valueStart + size]))
        }
        guard valueStart + 8 <= pageBytes else { return nil }
        let number = page.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: valueStart, as: UInt64.self) }
        return largeValue(at: number, size).map { (key, $0) }
    }

    /// A value in overflow pages; `nil` if it does not lie within the file or cannot be read.
    private func largeValue(at number: UInt64, _ size: Int) -> [UInt8]? {
        let (start, overflow) = number.multipliedReportingOverflow(by: UInt64(pageBytes))
        guard !overflow, start < fileBytes, fileBytes - start >= UInt64(size + Self.headerBytes) else { return nil }
        var value = [UInt8](repeating: 0, count: size)
        let isRead = value.withUnsafeMutableBytes { file.read($0, at: start + UInt64(Self.headerBytes)) }
        return isRead ? value : nil
    }

    private func word(_ page: [UInt8], _ offset: Int) -> UInt16 {
        precondition(offset >= 0 && offset + 2 <= page.count, "a word lies within its page")
        return page.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt16.self) }
    }
}
