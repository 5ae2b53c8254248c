import EventLog
import JSON

/// The place of a text in a `TextPool`, in one word: 20 bits of page number, 18 bits of offset in the page, 24 bits of
/// length, a bit for escapes as in JSON, and a bit for an object behind the text. Means nothing without its pool.
struct PooledText: BitwiseCopyable, Codable, Hashable, Sendable {
    private static let escapedBit: UInt64 = 1
    private static let objectBit: UInt64 = 2
    private static let countShift: UInt64 = 2
    private static let offsetShift: UInt64 = 26
    private static let pageShift: UInt64 = 44

    private let bits: UInt64

    /// The empty text without an object, in any pool.
    static let empty = PooledText(bits: 0)

    private init(bits: UInt64) {
        self.bits = bits
    }

    /// - Parameters:
    ///   - page: below 2^20; so a pool holds some 256 GiB.
    ///   - offset: below `TextPool.pageSize`.
    ///   - count: at most `TextPool.countMax`.
    @inline(__always)
    fileprivate init(page: Int, offset: Int, count: Int, hasEscapes: Bool, hasObject: Bool) {
        assert(offset < TextPool.pageSize && count <= TextPool.countMax, "offset and count fit their bits")
        bits =
            UInt64(page) << Self.pageShift | UInt64(offset) << Self.offsetShift | UInt64(count) << Self.countShift
            | (hasEscapes ? Self.escapedBit : 0) | (hasObject ? Self.objectBit : 0)
    }

    /// Makes a place of saved parts; `nil` if one is out of range.
    ///
    /// - Parameters:
    ///   - position: a saved `position`.
    ///   - count: at most `TextPool.countMax`.
    ///   - flags: a saved `flags`.
    init?(position: UInt64, count: UInt64, flags: UInt64) {
        guard position >> 18 < 1 << 20, count <= TextPool.countMax, flags < 4 else { return nil }
        bits = position << Self.offsetShift | count << Self.countShift | flags
    }

    /// The page and the offset in it, as one number that grows from one text to the next.
    var position: UInt64 { bits >> Self.offsetShift }

    fileprivate var page: Int { Int(bits >> Self.pageShift) }
    fileprivate var offset: Int { Int(bits >> Self.offsetShift) & (TextPool.pageSize - 1) }
    /// The length in bytes of the text, its object and the object's length together.
    var count: Int { Int(bits >> Self.countShift) & TextPool.countMax }
    var hasEscapes: Bool { bits & Self.escapedBit != 0 }
    /// True if the text of a JSON object follows the text, and after it the object's length in four bytes.
    var hasObject: Bool { bits & Self.objectBit != 0 }
    /// `hasEscapes` and `hasObject` as two bits.
    var flags: UInt64 { bits & (Self.escapedBit | Self.objectBit) }
}

/// The bytes of texts, one after another, as they stood between their quotes. Texts are unescaped only when they are
/// read.
///
/// A value that only grows; copies share all pages but the last. A text lies whole in one page, so it is lent without
/// being joined. Loaded places must pass `holds` before any text is lent.
struct TextPool: Codable, Sendable {
    /// The bytes of a page. A text longer than this has a page of its own, at offset 0.
    fileprivate static let pageSize = 1 << 18
    /// The length of the longest text. The scanner of plain frames refuses longer payloads, so nothing longer comes
    /// here.
    static let countMax = 1 << 24 - 1

    private var pages: [[UInt8]] = []

    init() {}

    var byteCount: Int { pages.reduce(0) { $0 + $1.count } }

    /// Copies a text and its members, together at most `countMax` bytes, including four bytes for the members' length.
    /// The length comes last: the text's length follows from it, so that texts without an object need no room for one.
    mutating func add(_ text: JSONText, _ members: MemberRuns = .none) -> PooledText {
        let bytes = text.bytes
        let objectCount = members.byteCount
        let count = bytes.count + (objectCount > 0 ? objectCount + Self.lengthBytes : 0)
        if count == 0 { return .empty }
        if pages.last.map({ $0.count + count > Self.pageSize }) ?? true {
            pages.append([])
            // The first page grows with its texts: many pools hold only a few.
            if pages.count > 1 { pages[pages.count - 1].reserveCapacity(max(Self.pageSize, count)) }
        }
        let page = pages.count - 1
        let offset = pages[page].count
        pages[page].append(contentsOf: bytes)
        if objectCount > 0 {
            members.appendObject(to: &pages[page])
            withUnsafeBytes(of: UInt32(objectCount).littleEndian) { pages[page].append(contentsOf: $0) }
        }
        assert(pages[page].count == offset + count, "a text takes the bytes that were counted for it")
        return PooledText(
            page: page,
            offset: offset,
            count: count,
            hasEscapes: text.hasEscapes,
            hasObject: objectCount > 0
        )
    }

    /// Copies bytes that are no text of JSON; `nil` if they are more than `countMax`.
    mutating func add(packed bytes: [UInt8]) -> PooledText? {
        guard bytes.count <= Self.countMax else { return nil }
        return bytes.withUnsafeBytes { add(JSONText(bytes: $0, hasEscapes: false)) }
    }

    /// Lends bytes that are no text of JSON to a closure; they are valid only during the call.
    @inline(__always)
    func withPacked<Result>(_ text: PooledText, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withText(text) { try body($0.bytes) }
    }

    /// Lends a text to a closure; it is valid only during the call.
    @inline(__always)
    func withText<Result>(_ text: PooledText, _ body: (JSONText) throws -> Result) rethrows -> Result {
        if text.count == 0 { return try body(.empty) }
        return try pages[text.page].withUnsafeBytes { page in
            var end = text.offset + text.count
            assert(end <= page.count, "a text lies within its page")
            if text.hasObject { end -= Self.lengthBytes + Self.objectCount(in: page, before: end) }
            let bytes = UnsafeRawBufferPointer(rebasing: page[text.offset..<end])
            return try body(JSONText(bytes: bytes, hasEscapes: text.hasEscapes))
        }
    }

    /// Lends the object behind a text to a closure, only during the call; no bytes if the text has none.
    @inline(__always)
    func withObject<Result>(
        _ text: PooledText,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        guard text.hasObject else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return try pages[text.page].withUnsafeBytes { page in
            let end = text.offset + text.count
            let count = Self.objectCount(in: page, before: end)
            return try body(
                UnsafeRawBufferPointer(rebasing: page[end - Self.lengthBytes - count..<end - Self.lengthBytes])
            )
        }
    }

    /// Lends a text and the object behind it to a closure, only during the call; no bytes if the text has none.
    @inline(__always)
    func withText<Result>(
        _ text: PooledText,
        _ body: (JSONText, _ object: UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        if text.count == 0 { return try body(.empty, none) }
        return try pages[text.page].withUnsafeBytes { page in
            var (end, object) = (text.offset + text.count, none)
            assert(end <= page.count, "a text lies within its page")
            if text.hasObject {
                let count = Self.objectCount(in: page, before: end)
                end -= Self.lengthBytes + count
                object = UnsafeRawBufferPointer(rebasing: page[end..<end + count])
            }
            let bytes = UnsafeRawBufferPointer(rebasing: page[text.offset..<end])
            return try body(JSONText(bytes: bytes, hasEscapes: text.hasEscapes), object)
        }
    }

    /// Asks the processor for a text and its object, which are read soon.
    @inline(__always)
    func prefetch(_ text: PooledText) {
        if text.count == 0 { return }
        pages[text.page].withUnsafeBytes {
            UnsafeRawBufferPointer(rebasing: $0[text.offset..<text.offset + text.count]).prefetch()
        }
    }

    private static let lengthBytes = 4

    /// The length of the object, from the four bytes before a text's end.
    @inline(__always)
    private static func objectCount(in page: UnsafeRawBufferPointer, before end: Int) -> Int {
        Int(UInt32(littleEndian: page.loadUnaligned(fromByteOffset: end - lengthBytes, as: UInt32.self)))
    }

    func string(_ text: PooledText) -> String {
        withText(text, \.string)
    }

    /// Whether two texts are equal once unescaped.
    func isSame(_ left: PooledText, _ right: PooledText) -> Bool {
        withText(left) { isSame(right, $0) }
    }

    /// Whether a text of the pool equals another text once both are unescaped.
    func isSame(_ left: PooledText, _ right: JSONText) -> Bool {
        withText(left) { left in
            if left.hasEscapes == right.hasEscapes, left.bytes.isSame(right.bytes) { return true }
            // Two texts without escapes are equal only if their bytes are.
            guard left.hasEscapes || right.hasEscapes else { return false }
            return left.saysSame(as: right)
        }
    }
}

extension TextPool {
    /// How far a pool is filled.
    struct Extent: BitwiseCopyable, Equatable, Sendable {
        fileprivate(set) var pageCount = 0
        /// The length of the last page in bytes.
        fileprivate(set) var lastCount = 0
    }

    var extent: Extent { Extent(pageCount: pages.count, lastCount: pages.last?.count ?? 0) }

    /// Gives the bytes that were added since an extent of this pool, page by page, without a copy; only the extent's last page can
    /// have grown.
    func forEachPage(
        since extent: Extent,
        _ body: (_ page: Int, _ added: ArraySlice<UInt8>) throws -> Void
    ) rethrows {
        for page in max(0, extent.pageCount - 1)..<max(pages.count, extent.pageCount) {
            let start = page == extent.pageCount - 1 ? extent.lastCount : 0
            if start < pages[page].count { try body(page, pages[page][start...]) }
        }
    }

    /// Appends saved bytes to the last page, or adds them as the next page; false if `page` is neither.
    mutating func append(_ added: UnsafeRawBufferPointer, page: Int) -> Bool {
        guard page == pages.count - 1 || page == pages.count else { return false }
        if page == pages.count {
            pages.append([])
            pages[page].reserveCapacity(max(Self.pageSize, added.count))
        }
        pages[page].append(contentsOf: added)
        return true
    }

    /// Whether a loaded place is valid: it lies in the pool, its object is one, and its escapes are complete. Then no
    /// method reads outside the page.
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
    /// Whether the bytes are exactly one JSON object.
    var isWholeObject: Bool {
        guard first == UInt8(ascii: "{"), last == UInt8(ascii: "}") else { return false }
        var scanner = JSONScanner(self)
        return scanner.passValue() && scanner.isAtEnd
    }
}

extension JSONText {
    /// Whether every backslash begins a complete escape. The escape's letters are not checked.
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

    /// The empty text.
    static var empty: JSONText { JSONText(bytes: UnsafeRawBufferPointer(start: nil, count: 0), hasEscapes: false) }
}
