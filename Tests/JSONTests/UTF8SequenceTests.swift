import Testing

@testable import JSON

/// Texts are passed sixteen bytes at a time from the first scalar beyond ASCII on, so each sequence comes at every offset.
@Suite struct UTF8SequenceTests {
    /// The first and the last well-formed sequences of each row of table 3-7 of the Unicode standard.
    private static let wellFormed: [[UInt8]] = [
        [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xE0, 0xBF, 0xBF], [0xE1, 0x80, 0x80], [0xEC, 0xBF, 0xBF],
        [0xED, 0x80, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF], [0xF0, 0x90, 0x80, 0x80],
        [0xF0, 0xBF, 0xBF, 0xBF], [0xF1, 0x80, 0x80, 0x80], [0xF3, 0xBF, 0xBF, 0xBF], [0xF4, 0x80, 0x80, 0x80],
        [0xF4, 0x8F, 0xBF, 0xBF],
    ]

    /// Sequences just beyond those, cut ones, and bytes that begin none.
    private static let malformed: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x7F], [0xC2, 0xC2], [0xE0, 0x80, 0x80],
        [0xE0, 0x9F, 0xBF], [0xE1, 0x80], [0xE1, 0x80, 0x7F], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
        [0xF0, 0x80, 0x80, 0x80],
        [0xF0, 0x8F, 0xBF, 0xBF], [0xF1, 0x80], [0xF1, 0x80, 0x80], [0xF1, 0x80, 0x80, 0xC0], [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xC2, 0x80, 0x80], [0xF1, 0x80, 0x80, 0x80, 0x80],
    ]

    /// Reads a text of these bytes; the offset in them at which it is refused, or `nil`.
    private func refusal(_ bytes: [UInt8]) -> Int? {
        ([0x22] + bytes + [0x22]).withUnsafeBytes { text in
            var reader = JSONReader(text)
            do throws(JSONError) {
                return try reader.string().bytes.elementsEqual(bytes) ? nil : -1
            } catch {
                return error.offset - 1
            }
        }
    }

    /// Each sequence behind a scalar and 0 to 20 other bytes, and before none or 20 more.
    private func texts(_ sequence: [UInt8]) -> [(bytes: [UInt8], offset: Int)] {
        ["é", "日", "🍰", "日🍰日"].flatMap { scalar in
            (0...20).flatMap { count in
                [0, 20].map { behind in
                    let before = Array(scalar.utf8) + Array(repeating: UInt8(ascii: "a"), count: count)
                    return (before + sequence + Array(repeating: UInt8(ascii: "z"), count: behind), before.count)
                }
            }
        }
    }

    @Test(arguments: wellFormed)
    func everyScalarIsReadAtEveryOffset(sequence: [UInt8]) {
        for text in texts(sequence) + texts(sequence + sequence) {
            #expect(refusal(text.bytes) == nil, "\(text.bytes)")
        }
    }

    @Test(arguments: malformed)
    func aTextIsRefusedAtTheFirstByteThatIsNoUTF8(sequence: [UInt8]) {
        let whole = sequence.withUnsafeBufferPointer { UTF8Sequence.firstFault(in: $0) }
        for text in texts(sequence) { #expect(refusal(text.bytes) == text.offset + whole, "\(text.bytes)") }
    }

    @Test func aTextEndsAtItsQuoteAndAtNoControlCharacter() {
        for (bytes, offset) in texts([0x1F]) { #expect(refusal(bytes) == offset, "\(bytes)") }
        for (bytes, _) in texts([0x5C, 0x22]) { #expect(refusal(bytes) == nil, "\(bytes)") }
        for (bytes, _) in texts([0x22]) { #expect(refusal(bytes) == -1, "\(bytes)") }
    }
}
