import EventLog
import JSON
import Testing

@testable import Projections

@Suite struct RowSlicesTests {
    private struct Stopped: Error {}

    @Test(arguments: [0, 1, 127, 128, 129, 20_000])
    func rowsComeInTheirOrder(count: Int) throws {
        var bytes: [UInt8] = []
        let slices = RowSlices(7..<7 + count) { row, writer in
            writer.number(UInt64(row))
            writer.raw("\n")
        }
        try slices.forEach { bytes.append(contentsOf: $0) }
        let expected = (7..<7 + count).map { "\($0)\n" }.joined()
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func aReaderThatFailsEndsIt() {
        var givenCount = 0
        let slices = RowSlices(0..<50_000) { row, writer in writer.number(UInt64(row)) }
        #expect(throws: Stopped.self) {
            try slices.forEach { _ in
                givenCount += 1
                if givenCount == 3 { throw Stopped() }
            }
        }
        #expect(givenCount == 3)
    }

    @Test(arguments: [0, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 99_999, 123_456_789, UInt64.max])
    func numbersAreWrittenWithAllTheirDigits(number: UInt64) {
        #expect(number.digitCount == String(number).utf8.count)
        #expect(Self.written { $0.number(number) } == String(number))
    }

    @Test func everyGroupOfFourDigitsIsWrittenRight() {
        for four in 0..<10_000 as Range<UInt64> {
            let digits = String(String(10_000 + four).dropFirst())
            let whole = (1 + 10_000 * 10_000 * 10_000) * four
            #expect(Self.written { $0.number(whole, digits: 16) } == digits + "00000000" + digits)
            #expect(Self.written { $0.number(10_000 * four, digits: 7) } == digits.dropFirst() + "0000")
        }
    }

    @Test(arguments: [
        (#"a\u0026b"#, "a&b"), (#"\\u0026"#, #"\\u0026"#), (#"\u0022\u005c\u002f\/"#, #"\"\\//"#),
        (#"\u007e\u007F\u0080\u00e9"#, "~\u{7F}\u{80}é"), (#"\u000a\u001F\n\t"#, #"\n\u001f\n\t"#),
        (#"\ud83c\udf70x\ud83c\u0041"#, "🍰x\u{FFFD}A"), (#"12345678\u003C12345678\u003e"#, "12345678<12345678>"),
    ])
    func escapesAreWrittenAsCanonicalJSONHasThem(text: String, canonical: String) {
        let written = Array(text.utf8).withUnsafeBytes { bytes in
            Self.written { $0.string(JSONText(bytes: bytes, hasEscapes: true)) }
        }
        #expect(written == "\"\(canonical)\"")
    }

    private static func written(_ body: (inout CanonicalWriter) -> Void) -> String {
        var writer = CanonicalWriter()
        body(&writer)
        return writer.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
