/// Builds the bytes of keys, values and leaves: numbers big-endian, texts after a 16-bit length in bytes.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: The bytes that are expected.
    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Writes a number, big-endian.
    mutating func write<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ raw: some Sequence<UInt8>) {
        bytes.append(contentsOf: raw)
    }

    mutating func write(_ hash: Hash256) {
        hash.withBytes { bytes.append(contentsOf: $0) }
    }

    /// Writes a text after its length in bytes. Every text of an envelope is shorter than 65,536 bytes (I3).
    mutating func write(text: String) {
        precondition(text.utf8.count <= Int(UInt16.max), "the length of a text has 16 bits")
        write(UInt16(clamping: text.utf8.count))
        write(text.utf8)
    }
}

/// Reads the bytes that `ByteWriter` wrote. Every read is checked, because the bytes may be damaged: it gives `nil`
/// past the end. The buffer must outlive the reader.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }
    var remainingCount: Int { bytes.count - offset }

    /// The next number, big-endian.
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        guard let number = bytes.bigEndian(at: offset, as: Number.self) else { return nil }
        offset += MemoryLayout<Number>.size
        return number
    }

    /// The next `count` bytes, borrowed from the buffer.
    mutating func raw(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, remainingCount >= count else { return nil }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// A text after its length; `nil` also if its bytes are no UTF-8.
    mutating func text() -> String? {
        guard let count = number(UInt16.self), let raw = raw(Int(count)) else { return nil }
        return String(validating: raw, as: UTF8.self)
    }

    mutating func hash() -> Hash256? {
        guard let raw = raw(32), let start = raw.baseAddress else { return nil }
        return Hash256(loading: start)
    }
}
