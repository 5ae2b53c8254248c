import JSON

/// One JSON value, kept as the text that the remote wrote and read as a value when somebody needs it.
///
/// A row has many columns of which most replays read none, so making values of all of them would cost more than anything
/// else. Several values may share the text that contains them, which stays in memory as long as one of them does;
/// `detached` gives a value a text of its own. The text is valid JSON: it comes from a reader that has checked it.
struct StoredJSON: Sendable {
    private let text: [UInt8]
    private let start: UInt32
    private let count: UInt32

    /// - Parameter range: where the value lies in `text`, without the white space around it; a text has less than 16 MiB.
    init(_ text: [UInt8], _ range: Range<Int>) {
        assert(range.lowerBound >= 0 && range.upperBound <= text.count && !range.isEmpty, "a value lies in its text")
        self.text = text
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        count = UInt32(truncatingIfNeeded: range.count)
    }

    /// Checks saved bytes; `nil` if they are not one JSON text. It must begin without white space, as a stored value does.
    init?(unchecked text: [UInt8]) {
        let isWhole = text.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            guard let first = bytes.first, first > 0x20 else { return false }
            return (try? reader.skip()) != nil && (try? reader.finish()) != nil
        }
        guard isWhole else { return nil }
        self.init(text, 0..<text.count)
    }

    /// Makes the text of a value, with the members of objects in their own order.
    init(_ value: JSONValue) {
        var text: [UInt8] = []
        value.append(to: &text, members: .own)
        self.init(text, 0..<text.count)
    }

    /// The length of the text.
    var byteCount: Int { Int(count) }

    /// The value. Cost: O(bytes).
    var value: JSONValue {
        // The text was checked when it was stored.
        withBytes { (try? JSONValue.parse($0)) ?? .null }
    }

    /// The text, if the value is a string.
    var string: String? {
        withBytes { bytes in
            guard bytes.first == UInt8(ascii: "\"") else { return nil }
            var reader = JSONReader(bytes)
            return (try? reader.string())?.string
        }
    }

    /// Whether the value is `null`. No other value begins with this letter.
    var isNull: Bool { withBytes { $0.first == UInt8(ascii: "n") } }

    /// Lends the members of an object to a closure, only during the call; `nil` for other values.
    func withMembers<Result>(_ body: (ObjectView) throws -> Result) rethrows -> Result? {
        try withBytes { bytes in
            guard bytes.first == UInt8(ascii: "{"), let members = try? ObjectView(bytes) else { return nil }
            return try body(members)
        }
    }

    /// Whether both values have the same text. Cost: O(1) for copies of one value, else O(bytes).
    func hasSameText(as other: StoredJSON) -> Bool {
        withBytes { own in
            other.withBytes { own.count == $0.count && (own.baseAddress == $0.baseAddress || own.isSame($0)) }
        }
    }

    /// A part of the value's text, which is a value itself and shares the text.
    func part(_ range: Range<Int>) -> StoredJSON {
        StoredJSON(text, Int(start) + range.lowerBound..<Int(start) + range.upperBound)
    }

    /// Whether the value shares its text with nothing else.
    var ownsText: Bool { text.count == Int(count) }

    /// The same value with a text of its own.
    var detached: StoredJSON {
        ownsText ? self : StoredJSON(withBytes { Array($0) }, 0..<Int(count))
    }

    /// Lends the value's text to a closure, only during the call.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try text.withUnsafeBytes { bytes in
            try body(UnsafeRawBufferPointer(rebasing: bytes[Int(start)..<Int(start) + Int(count)]))
        }
    }
}

extension StoredJSON: Codable {
    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode([UInt8].self)
        guard let value = StoredJSON(unchecked: text) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "a stored value is no JSON")
            )
        }
        self = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(withBytes { Array($0) })
    }
}

extension JSONReader {
    /// Passes one value and returns where it lies in the reader's bytes, without the white space before it.
    mutating func range() throws(JSONError) -> Range<Int> {
        _ = try kind()
        let start = offset
        try skip()
        return start..<offset
    }
}
