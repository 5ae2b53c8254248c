import EventLog
import JSON

extension FrameKey {
    /// The hash of an object without its members of one name. Equal for objects that are the same as JSON, and with the
    /// certainty of `hash(_:)` for no others: the order of members and the spelling of texts and numbers do not count, and of a
    /// repeated name the last member does.
    ///
    /// Cost: O(bytes). An unusual spelling takes a canonical text, too.
    ///
    /// - Parameter passed: the bytes of an omitted array or object, which are then passed over at once.
    /// - Throws: `JSONError` for bytes that are no object.
    func hash(
        ofObject bytes: UnsafeRawBufferPointer,
        without omitted: StaticString,
        passing passed: UnsafeRawBufferPointer? = nil
    ) throws(JSONError) -> UInt128 {
        var plain = ValueHash(key: self, bytes)
        if let hash = try plain.object(without: omitted, passing: passed) { return hash }
        var text = CanonicalText(byteCount: bytes.count)
        try text.write(object: bytes, without: omitted)
        return try text.withBytes { canonical throws(JSONError) in
            var hash = ValueHash(key: self, canonical, isCanonical: true)
            // A canonical text has no unusual spelling.
            return try hash.object(without: nil) ?? self.hash(canonical)
        }
    }
}

/// Hashes one JSON text that is known to be valid, value by value.
///
/// A member with a scalar is hashed as its bytes, and one with an array or object as its name and the hash of that. An
/// array is a polynomial of its elements. An object is the product of its members, each plus the key's secret point, so
/// that their order does not count: two products are equal for different members under about one key in 2^120. Not
/// copyable, as copies would cost more than hashes.
private struct ValueHash: ~Copyable {
    private let key: FrameKey
    private let bytes: UnsafeRawBufferPointer
    private let isCanonical: Bool
    private var reader: JSONReader
    /// What tells the names of all open objects apart, outermost first.
    private var names: [UInt64] = []

    /// The most members whose names are compared with one another.
    private static let comparedCountMax = 24
    private static let mask: UInt128 = 1 << 126 - 1

    /// - Parameter isCanonical: whether the text is in canonical form, where every spelling is the usual one.
    init(key: FrameKey, _ bytes: UnsafeRawBufferPointer, isCanonical: Bool = false) {
        self.key = key
        self.bytes = bytes
        self.isCanonical = isCanonical
        reader = JSONReader(bytes, allowsAnyBytes: true)
    }

    /// The hash of the next value, an object; `nil` if something in it may be spelled in another way than in canonical form, but
    /// for the order of members.
    mutating func object(
        without omitted: StaticString?,
        passing passed: UnsafeRawBufferPointer? = nil
    ) throws(JSONError) -> UInt128? {
        var product: UInt128 = 1
        var count = 0
        let first = names.count
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if let omitted, name == omitted {
                if passed.map({ !reader.take(known: $0) }) ?? true { try reader.skip() }
                continue
            }
            guard isUsual(name), isNew(name, from: first), let member = try member(name) else { return nil }
            product = FrameKey.product(product, key.point &+ member)
            count += 1
        }
        names.removeLast(names.count - first)
        return FrameKey.reduced(key.multiplied(product) &+ UInt128(count) &+ 1 << 64)
    }

    /// The hash of a member whose name was read.
    private mutating func member(_ name: JSONText) throws(JSONError) -> UInt128? {
        // From the opening quote to the colon.
        let start = reader.offset(of: name) - 1
        let head = start..<start + name.bytes.count + 3
        let kind = try reader.kind()
        // White space around the colon is no canonical form.
        guard reader.offset == head.upperBound else { return nil }
        switch kind {
        case .object, .array:
            guard let value = try value() else { return nil }
            return FrameKey.reduced(key.multiplied(hash(head)) &+ value) & Self.mask
        default:
            guard try passUsualScalar() else { return nil }
            return hash(start..<reader.offset)
        }
    }

    /// Recursive: the reader limits the depth.
    private mutating func value() throws(JSONError) -> UInt128? {
        switch try reader.kind() {
        case .object: return try object(without: nil)
        case .array: return try array()
        default:
            let start = reader.offset
            return try passUsualScalar() ? hash(start..<reader.offset) : nil
        }
    }

    private mutating func array() throws(JSONError) -> UInt128? {
        var hash: UInt128 = 2 << 64
        try reader.enterArray()
        while try reader.nextElement() {
            guard let value = try value() else { return nil }
            hash = FrameKey.reduced(key.multiplied(hash) &+ value)
        }
        return hash
    }

    /// Passes a scalar; false if it may be spelled in another way than in canonical form.
    private mutating func passUsualScalar() throws(JSONError) -> Bool {
        switch try reader.kind() {
        case .string: return isUsual(try reader.string())
        case .number:
            let number = try reader.number()
            return isCanonical || number.isWhole && !number.isNegativeZero
        default:
            try reader.skip()
            return true
        }
    }

    /// Whether every escape of a text is one that the canonical form has, too: a letter's, but not that of a slash.
    private func isUsual(_ text: JSONText) -> Bool {
        if isCanonical || !text.hasEscapes { return true }
        var index = text.bytes.backslash(from: 0)
        while index < text.bytes.count {
            let letter = text.bytes[index + 1]
            if letter == UInt8(ascii: "u") || letter == UInt8(ascii: "/") { return false }
            index = text.bytes.backslash(from: index + 2)
        }
        return true
    }

    /// Whether a name differs from those before it in its object, for certain. Names of canonical texts do.
    private mutating func isNew(_ name: JSONText, from first: Int) -> Bool {
        if isCanonical { return true }
        let (bytes, count) = (name.bytes, name.bytes.count)
        let word = bytes.partialWord(0) ^ bytes.partialWord(max(0, count - 8)) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(count)
        guard names.count - first < Self.comparedCountMax, !names[first...].contains(word) else { return false }
        names.append(word)
        return true
    }

    /// The hash of a stretch of the text, below 2^126.
    private func hash(_ range: Range<Int>) -> UInt128 {
        if range.count > FrameKey.stretchBytes {
            return key.hash(UnsafeRawBufferPointer(rebasing: bytes[range])) & Self.mask
        }
        let text = UnsafeRawBufferPointer(rebasing: bytes[range])
        return (key.sum(text, 0..<range.count) &+ UInt128(range.count) &* UInt128(key.lengthKey)) & Self.mask
    }
}

extension JSONDigits {
    /// Whether this is `-0`, the only whole number that the canonical form writes in another way.
    fileprivate var isNegativeZero: Bool {
        bytes.count == 2 && bytes[0] == UInt8(ascii: "-") && bytes[1] == UInt8(ascii: "0")
    }
}
