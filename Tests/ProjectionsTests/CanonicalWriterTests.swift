import EventLog
import JSON
import TestSupport
import Testing

@testable import Projections

/// What is written straight into bytes says what the value would.
@Suite struct CanonicalWriterTests {
    @Test func timesAreThoseOfTheirDescription() {
        var random = SeededGenerator(seed: 31)
        var writer = CanonicalWriter()
        for _ in 0..<2000 {
            // Now and then the same day again.
            let day = Int64.random(in: -98_000..<84_000, using: &random) / 50 * 50
            let seconds = day * 86_400 + Int64.random(in: 0..<86_400, using: &random)
            let time = Timestamp(seconds: seconds, nanoseconds: UInt32.random(in: 0..<1_000_000_000, using: &random))
            #expect(written(&writer) { $0.time(time) } == "\"\(time)\"")
        }
    }

    @Test func everyEscapeIsWrittenAsCanonicalJSONWritesIt() {
        var writer = CanonicalWriter()
        for unit in 0...0xFFFF {
            let digits = String(unit, radix: 16, uppercase: unit.isMultiple(of: 2))
            let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            expectCanonical("before \(escape) after", &writer)
        }
        let mixed = ["\\/", "a\\/b\\n\\\\u0026", "\\ud83c\\udf70", "\\ud83c\\u0026", "\\\"\\u0022\\u005c"]
        for text in mixed + ["12345678\\u00e9"] {
            expectCanonical(text, &writer)
        }
    }

    /// A byte that RFC 8785 escapes is found wherever it stands in a word of eight.
    @Test func everyByteIsEscapedOrNotAtEveryPlace() {
        let short = [0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r", 0x22: "\\\"", 0x5C: "\\\\"]
        for byte in 0..<0x80 {
            let hex = (byte < 16 ? "000" : "00") + String(byte, radix: 16)
            let character = String(decoding: [UInt8(byte)], as: UTF8.self)
            let escaped = short[byte] ?? (byte < 0x20 ? "\\u\(hex)" : character)
            for count in 0..<18 {
                let (before, after) = (String(repeating: "é", count: count), String(repeating: "!", count: 17 - count))
                let text = JSONValue.string(before + character + after + character).canonicalText
                #expect(text == "\"\(before)\(escaped)\(after)\(escaped)\"")
            }
        }
    }

    @Test(arguments: 1...20)
    func numbersHaveTheDigitsThatAreAskedFor(digits: Int) {
        var random = SeededGenerator(seed: UInt64(digits))
        var writer = CanonicalWriter()
        for _ in 0..<200 {
            let number = UInt64.random(in: .min ... .max, using: &random) >> UInt64.random(in: 0..<64, using: &random)
            let all = String(repeating: "0", count: 20) + String(number)
            #expect(written(&writer) { $0.number(number, digits: digits) } == String(all.suffix(digits)))
        }
    }

    private func expectCanonical(_ escaped: String, _ writer: inout CanonicalWriter) {
        Array(escaped.utf8).withUnsafeBytes { bytes in
            let text = JSONText(bytes: bytes, hasEscapes: true)
            let found = written(&writer) { $0.string(text) }
            #expect(found == JSONValue.string(text.string).canonicalText)
        }
    }

    private func written(_ writer: inout CanonicalWriter, _ write: (inout CanonicalWriter) -> Void) -> String {
        writer.reset()
        write(&writer)
        return writer.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
