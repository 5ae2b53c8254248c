import TestSupport
import Testing

@testable import JSON

/// Escapes are written and read by words, some hundred bytes at a time; byte by byte they come out the same.
@Suite struct JSONEscapeTests {
    /// Bytes that are escaped, and some that are not, among them the neighbours of those that are.
    private static let bytes: [UInt8] = [
        0x00, 0x07, 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x75, 0x7F, 0x80,
        0xFF,
    ]

    /// Texts in which one byte of `rarity` is out of the ordinary, of all lengths up to 40 and around that of a piece.
    private static func texts(rarity: Int) -> [[UInt8]] {
        var random = SeededGenerator(seed: UInt64(rarity))
        return (Array(0...40) + Array(150...170) + Array(310...330)).map { count in
            (0..<count).map { _ in
                Int.random(in: 0..<rarity, using: &random) == 0 ? bytes.randomElement(using: &random) ?? 0 : 0x78
            }
        }
    }

    private static func written(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            guard byte < 0x20 || byte == 0x22 || byte == 0x5C else { return [byte] }
            let (word, count) = JSONEscape.written(byte)
            return (0..<count).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
    }

    @Test(arguments: [1, 2, 9, 100])
    func escapesAreWrittenAndReadAtEveryPlace(rarity: Int) throws {
        for text in Self.texts(rarity: rarity) {
            var writer = JSONWriter()
            writer.string(text)
            let expected = Self.written(text)
            #expect(writer.bytes == [0x22] + expected + [0x22])
            #expect(text.withUnsafeBufferPointer { JSONWriter.length(ofString: $0) } == writer.bytes.count)
            let decoded = try expected.withUnsafeBytes { bytes in
                try JSONText(bytes: bytes, hasEscapes: expected.contains(0x5C)).decoded()
            }
            #expect(decoded == text)
        }
    }

    /// Half a pair among escapes that are none, whole pairs, and escaped backslashes before what looks like one.
    @Test func whatDoesNotDecodeIsFoundWithoutDecoding() {
        let pieces = [
            #"\\"#, #"\\ud800"#, #"\ud800"#, #"\udc00"#, #"\ud83c\udf70"#, #"\u00e9"#, #"\""#, "u", "xxxxxxx", "é",
        ]
        var random = SeededGenerator(seed: 5)
        var faults = 0
        for round in 0..<4_000 {
            let text = (0...round % 6).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            func fault(_ body: (JSONText) throws(JSONError) -> Void) -> Int? {
                Array(text.utf8).withUnsafeBytes { bytes in
                    do throws(JSONError) {
                        try body(JSONText(bytes: bytes, hasEscapes: text.contains("\\")))
                        return nil
                    } catch {
                        return error.offset
                    }
                }
            }
            let decoding = fault { text throws(JSONError) in _ = try text.decoded() }
            #expect(fault { text throws(JSONError) in try text.checkDecodes() } == decoding, "\(text)")
            faults += decoding == nil ? 0 : 1
        }
        #expect((1_000..<3_500).contains(faults))
    }
}
