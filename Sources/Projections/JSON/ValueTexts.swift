import JSON

/// The texts of some JSON values in one piece of memory: one allocation, and four bytes a value beside the texts.
///
/// The owner knows how many there are, and tells so whenever it asks for one.
struct ValueTexts: Sendable {
    /// A word for each value, little-endian: where its text ends, counted from the first one, and whether it is known to be
    /// canonical (`ValueText`). Behind them the texts, with nothing in between.
    private let bytes: [UInt8]

    fileprivate static let wordByteCount = 4
    /// In a value's word, the bit of a canonical value. The lower ones say where the text ends.
    fileprivate static let canonicalBit: UInt32 = 1 << 31

    /// No values.
    init() {
        bytes = []
    }

    /// - Parameter values: valid JSON values, together less than 16 MiB.
    @inline(__always)
    init(_ values: some Collection<ValueText>) {
        let head = values.count * Self.wordByteCount
        let count = values.reduce(head) { $0 + $1.bytes.count }
        bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            let room = UnsafeMutableRawBufferPointer(buffer)
            var end = head
            for (place, value) in values.enumerated() {
                UnsafeMutableRawBufferPointer(rebasing: room[end..<end + value.bytes.count]).copyMemory(
                    from: value.bytes
                )
                end += value.bytes.count
                let word = UInt32(truncatingIfNeeded: end - head) | (value.isCanonical ? Self.canonicalBit : 0)
                room.storeBytes(of: word.littleEndian, toByteOffset: place * Self.wordByteCount, as: UInt32.self)
            }
            initializedCount = end
        }
    }

    /// The memory of all texts.
    var byteCount: Int { bytes.count }

    /// The value at a place. Shares the memory of all.
    func stored(at place: Int, of count: Int) -> StoredJSON {
        withValues(count) { StoredJSON(bytes, $0.range(at: place)) }
    }

    /// Lends the values to a closure, only during the call.
    @inline(__always)
    func withValues<Result>(_ count: Int, _ body: (Lent) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { try body(Lent($0, count: count)) }
    }

    /// The values, by their places. Borrows them.
    struct Lent {
        private let bytes: UnsafeRawBufferPointer
        /// Where the texts begin.
        private let head: Int

        @inline(__always)
        fileprivate init(_ bytes: UnsafeRawBufferPointer, count: Int) {
            self.bytes = bytes
            head = count * ValueTexts.wordByteCount
        }

        @inline(__always)
        subscript(place: Int) -> ValueText {
            ValueText(
                bytes: UnsafeRawBufferPointer(rebasing: bytes[range(at: place)]),
                isCanonical: word(place) & ValueTexts.canonicalBit != 0
            )
        }

        /// Where the value at a place lies in all bytes.
        @inline(__always)
        fileprivate func range(at place: Int) -> Range<Int> { (place == 0 ? head : end(place - 1))..<end(place) }

        @inline(__always)
        private func end(_ place: Int) -> Int { head + Int(word(place) & ~ValueTexts.canonicalBit) }

        @inline(__always)
        private func word(_ place: Int) -> UInt32 {
            let offset = place * ValueTexts.wordByteCount
            return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
    }
}
