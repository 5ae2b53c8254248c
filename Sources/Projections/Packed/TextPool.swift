/// Where a text lies in a `TextPool`.
struct PooledText: BitwiseCopyable, Sendable {
    /// The number of the page and the offset in it, 24 bits of it.
    fileprivate let start: UInt64
    /// The number of bytes and, in the top bit, whether they are escaped as in JSON.
    fileprivate let length: UInt32

    static let empty = PooledText(start: 0, length: 0)

    fileprivate init(start: UInt64, length: UInt32) {
        self.start = start
        self.length = length
    }
}

extension PooledText {
    init(from decoder: StateDecoder) throws {
        self.init(start: try decoder.readNumber(UInt64.self), length: try decoder.readNumber(UInt32.self))
    }

    func write(to encoder: StateEncoder) {
        encoder.writeNumber(start)
        encoder.writeNumber(length)
    }
}

/// The bytes of texts, one after another, as they stood between their quotes: unescaping waits until somebody reads.
///
/// A value that only grows; copies share all pages but the last.
struct TextPool: Sendable {
    private static let pageSize = 1 << 18
    private static let offsetBits: UInt64 = 25
    private static let escapedBit: UInt32 = 1 << 31
    /// The longest text that the pool takes: more than a payload may have.
    static let countMax = 1 << 24

    private var pages: [[UInt8]] = []

    init() {}

    var byteCount: Int { pages.reduce(0) { $0 + $1.count } }

    /// Copies a text of at most `countMax` bytes.
    mutating func add(_ text: JSONText) -> PooledText {
        let bytes = text.bytes
        if bytes.isEmpty { return .empty }
        if pages.last.map({ $0.count + bytes.count > Self.pageSize }) ?? true {
            pages.append([])
            pages[pages.count - 1].reserveCapacity(max(Self.pageSize, bytes.count))
        }
        let page = pages.count - 1
        let start = UInt64(page) << Self.offsetBits | UInt64(pages[page].count)
        pages[page].append(contentsOf: bytes)
        return PooledText(start: start, length: UInt32(bytes.count) | (text.hasEscapes ? Self.escapedBit : 0))
    }

    /// Lends a text to a closure.
    @inline(__always)
    func withText<Result>(_ text: PooledText, _ body: (JSONText) -> Result) -> Result {
        let count = Int(text.length & ~Self.escapedBit)
        if count == 0 { return body(.empty) }
        let offset = Int(text.start & (1 << Self.offsetBits - 1))
        return pages[Int(text.start >> Self.offsetBits)].withUnsafeBytes { page in
            let bytes = UnsafeRawBufferPointer(rebasing: page[offset..<offset + count])
            return body(JSONText(bytes: bytes, hasEscapes: text.length & Self.escapedBit != 0))
        }
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
    init(from decoder: StateDecoder) throws {
        self.init()
        for _ in 0..<(try decoder.readNumber(UInt32.self)) { pages.append(try decoder.readBlock()) }
    }

    func write(to encoder: StateEncoder) {
        encoder.writeNumber(UInt32(pages.count))
        for page in pages { encoder.writeBlock(page) }
    }

    /// Whether a place that was loaded lies in the pool, and what stands there has escapes as in JSON, if any.
    func holds(_ text: PooledText) -> Bool {
        let count = Int(text.length & ~Self.escapedBit)
        if count == 0 { return true }
        let page = text.start >> Self.offsetBits
        let offset = Int(text.start & (1 << Self.offsetBits - 1))
        guard page < pages.count, offset + count <= pages[Int(page)].count else { return false }
        return text.length & Self.escapedBit == 0 || withText(text, \.hasWholeEscapes)
    }
}

extension JSONText {
    /// Whether every backslash begins an escape that is there to its end.
    var hasWholeEscapes: Bool {
        var index = 0
        while index < bytes.count {
            defer { index += 1 }
            guard bytes[index] == UInt8(ascii: "\\") else { continue }
            index += 1
            guard index < bytes.count else { return false }
            guard bytes[index] == UInt8(ascii: "u") else { continue }
            guard bytes.count - index > 4 else { return false }
            index += 4
        }
        return true
    }

    /// The text without bytes.
    static var empty: JSONText { JSONText(bytes: UnsafeRawBufferPointer(start: nil, count: 0), hasEscapes: false) }
}
