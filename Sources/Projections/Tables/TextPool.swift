/// Where a text lies in a `TextPool`, in one word: the number of the page, 18 bits of offset in it, 24 bits of length,
/// whether the text is escaped as in JSON, and whether an object goes with it.
struct PooledText: BitwiseCopyable, Sendable {
    private static let escapedBit: UInt64 = 1
    private static let objectBit: UInt64 = 2
    private static let countShift: UInt64 = 2
    private static let offsetShift: UInt64 = 26
    private static let pageShift: UInt64 = 44

    private let bits: UInt64

    static let empty = PooledText(bits: 0)

    private init(bits: UInt64) {
        self.bits = bits
    }

    /// - Parameters:
    ///   - offset: below `TextPool.pageSize`.
    ///   - count: at most `TextPool.countMax`.
    @inline(__always)
    fileprivate init(page: Int, offset: Int, count: Int, hasEscapes: Bool, hasObject: Bool) {
        bits =
            UInt64(page) << Self.pageShift | UInt64(offset) << Self.offsetShift | UInt64(count) << Self.countShift
            | (hasEscapes ? Self.escapedBit : 0) | (hasObject ? Self.objectBit : 0)
    }

    /// - Parameters:
    ///   - position: as `position`.
    ///   - count: at most `TextPool.countMax`.
    ///   - flags: as `flags`.
    init?(position: UInt64, count: UInt64, flags: UInt64) {
        guard position >> 18 < 1 << 20, count <= TextPool.countMax, flags < 4 else { return nil }
        bits = position << Self.offsetShift | count << Self.countShift | flags
    }

    /// The page and the offset in it, in one number that grows from one text to the next.
    var position: UInt64 { bits >> Self.offsetShift }

    fileprivate var page: Int { Int(bits >> Self.pageShift) }
    fileprivate var offset: Int { Int(bits >> Self.offsetShift) & (TextPool.pageSize - 1) }
    /// The bytes of the text, of the object that goes with it, and of the object's length.
    var count: Int { Int(bits >> Self.countShift) & TextPool.countMax }
    var hasEscapes: Bool { bits & Self.escapedBit != 0 }
    /// Whether the text of a JSON object stands behind it, and then its length in four bytes.
    var hasObject: Bool { bits & Self.objectBit != 0 }
    /// Whether it has escapes, and an object, as two bits.
    var flags: UInt64 { bits & (Self.escapedBit | Self.objectBit) }
}

/// The bytes of texts, one after another, as they stood between their quotes: unescaping waits until somebody reads.
///
/// A value that only grows; copies share all pages but the last.
struct TextPool: Sendable {
    /// A longer text has a page of its own.
    fileprivate static let pageSize = 1 << 18
    /// The longest text that the pool takes; of no longer payload anything comes here.
    static let countMax = 1 << 24 - 1

    private var pages: [[UInt8]] = []

    init() {}

    var byteCount: Int { pages.reduce(0) { $0 + $1.count } }

    /// Copies a text and the members that go with it, of at most `countMax` bytes together, four for a length included.
    mutating func add(_ text: JSONText, _ members: MemberRuns = .none) -> PooledText {
        let bytes = text.bytes
        let objectCount = members.byteCount
        let count = bytes.count + (objectCount > 0 ? objectCount + Self.lengthBytes : 0)
        if count == 0 { return .empty }
        if pages.last.map({ $0.count + count > Self.pageSize }) ?? true {
            pages.append([])
            pages[pages.count - 1].reserveCapacity(max(Self.pageSize, count))
        }
        let page = pages.count - 1
        let offset = pages[page].count
        pages[page].append(contentsOf: bytes)
        if objectCount > 0 {
            members.appendObject(to: &pages[page])
            withUnsafeBytes(of: UInt32(objectCount).littleEndian) { pages[page].append(contentsOf: $0) }
        }
        return PooledText(
            page: page,
            offset: offset,
            count: count,
            hasEscapes: text.hasEscapes,
            hasObject: objectCount > 0
        )
    }

    /// Lends a text to a closure.
    @inline(__always)
    func withText<Result>(_ text: PooledText, _ body: (JSONText) -> Result) -> Result {
        if text.count == 0 { return body(.empty) }
        return pages[text.page].withUnsafeBytes { page in
            var end = text.offset + text.count
            if text.hasObject { end -= Self.lengthBytes + Self.objectCount(in: page, before: end) }
            let bytes = UnsafeRawBufferPointer(rebasing: page[text.offset..<end])
            return body(JSONText(bytes: bytes, hasEscapes: text.hasEscapes))
        }
    }

    /// Lends the text of the object that goes with a text to a closure; no bytes where none does.
    @inline(__always)
    func withObject<Result>(_ text: PooledText, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard text.hasObject else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return pages[text.page].withUnsafeBytes { page in
            let end = text.offset + text.count
            let count = Self.objectCount(in: page, before: end)
            return body(UnsafeRawBufferPointer(rebasing: page[end - Self.lengthBytes - count..<end - Self.lengthBytes]))
        }
    }

    private static let lengthBytes = 4

    @inline(__always)
    private static func objectCount(in page: UnsafeRawBufferPointer, before end: Int) -> Int {
        Int(UInt32(littleEndian: page.loadUnaligned(fromByteOffset: end - lengthBytes, as: UInt32.self)))
    }

    func string(_ text: PooledText) -> String {
        withText(text, \.string)
    }

    /// Whether two texts say the same, however they are escaped.
    func isSame(_ left: PooledText, _ right: PooledText) -> Bool {
        withText(left) { isSame(right, $0) }
    }

    /// Whether a text of the pool says the same as another.
    func isSame(_ left: PooledText, _ right: JSONText) -> Bool {
        withText(left) { left in
            if left.hasEscapes == right.hasEscapes, left.bytes.isSame(right.bytes) { return true }
            // Without escapes a text stands for itself.
            guard left.hasEscapes || right.hasEscapes else { return false }
            return left.saysSame(as: right)
        }
    }
}

extension TextPool {
    /// How far a pool is filled.
    struct Extent: BitwiseCopyable, Equatable, Sendable {
        fileprivate(set) var pageCount = 0
        /// How many bytes the last page holds.
        fileprivate(set) var lastCount = 0
    }

    var extent: Extent { Extent(pageCount: pages.count, lastCount: pages.last?.count ?? 0) }

    /// Lends what was added since the pool was filled so far: page by page, from the first byte on that was not there.
    func forEachPage(
        since extent: Extent,
        _ body: (_ page: Int, _ added: UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        for page in max(0, extent.pageCount - 1)..<max(pages.count, extent.pageCount) {
            let start = page == extent.pageCount - 1 ? extent.lastCount : 0
            try pages[page].withUnsafeBytes { bytes in
                if start < bytes.count { try body(page, UnsafeRawBufferPointer(rebasing: bytes[start...])) }
            }
        }
    }

    /// Adds bytes to the end of the last page, or as the next one; false where the page is neither.
    mutating func append(_ added: UnsafeRawBufferPointer, page: Int) -> Bool {
        guard page == pages.count - 1 || page == pages.count else { return false }
        if page == pages.count {
            pages.append([])
            pages[page].reserveCapacity(max(Self.pageSize, added.count))
        }
        pages[page].append(contentsOf: added)
        return true
    }

    /// Whether a place that was loaded lies in the pool, and what stands there has escapes as in JSON, if any.
    func holds(_ text: PooledText) -> Bool {
        if text.count == 0 { return true }
        guard text.page < pages.count, text.offset + text.count <= pages[text.page].count else { return false }
        guard !text.hasObject || holdsObject(text) else { return false }
        return !text.hasEscapes || withText(text, \.hasWholeEscapes)
    }

    private func holdsObject(_ text: PooledText) -> Bool {
        guard text.count >= Self.lengthBytes else { return false }
        let room = text.count - Self.lengthBytes
        let count = pages[text.page].withUnsafeBytes { Self.objectCount(in: $0, before: text.offset + text.count) }
        return count <= room && withObject(text, \.isWholeObject)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are the text of one JSON object, as a packed message keeps it.
    var isWholeObject: Bool {
        guard first == UInt8(ascii: "{"), last == UInt8(ascii: "}"), var scanner = ByteScanner(self) else {
            return false
        }
        return scanner.passValue() && scanner.isAtEnd
    }
}

extension JSONText {
    /// Whether every backslash begins an escape that is there to its end.
    var hasWholeEscapes: Bool {
        // An escape has at most six bytes: only one that begins among the last five can be cut short.
        if bytes.backslash(from: max(0, bytes.count - 5)) == bytes.count { return true }
        var index = bytes.backslash(from: 0)
        while index < bytes.count {
            guard bytes.count - index > 1 else { return false }
            let length = bytes[index + 1] == UInt8(ascii: "u") ? 6 : 2
            guard bytes.count - index >= length else { return false }
            index = bytes.backslash(from: index + length)
        }
        return true
    }

    /// The text without bytes.
    static var empty: JSONText { JSONText(bytes: UnsafeRawBufferPointer(start: nil, count: 0), hasEscapes: false) }
}
