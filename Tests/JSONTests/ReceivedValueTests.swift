import Testing

@testable import JSON

/// The limits of `JSONValue(received:)`, which differ from those of `JSONValue.parse`.
@Suite struct ReceivedValueTests {
    private func read(_ text: String) -> JSONValue? { JSONValue(received: Array(text.utf8)) }

    @Test func aByteOrderMarkIsPassedOver() throws {
        #expect(read("\u{FEFF}{\"a\":1}")?["a"]?.number?.int64 == 1)
        #expect(throws: JSONError.self) { try JSONValue.parse("\u{FEFF}{}") }
    }

    @Test func bytesThatAreNotUTF8AreReplaced() {
        let bytes = [0x22, 0x61, 0xFF, 0x22] as [UInt8]
        #expect(JSONValue(received: bytes)?.string == "a\u{FFFD}")
        #expect(throws: JSONError.self) { try JSONValue.parse(bytes) }
    }

    @Test(arguments: [#""\ud800""#, #"{"\udc00":1}"#, #"["\ud800\ud800"]"#])
    func halfASurrogatePairIsRefused(_ text: String) throws {
        #expect(read(text) == nil)
        _ = try JSONValue.parse(text)
        #expect(read(#""\ud83c\udf70""#)?.string == "🍰")
    }

    @Test func nestingHasALimit() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(read(nested(JSONValue.receivedDepthMax)) != nil)
        #expect(read(nested(JSONValue.receivedDepthMax + 1)) == nil)
    }

    @Test func theLastOfRepeatedMembersCounts() {
        #expect(read(#"{"a":1,"b":2,"a":3}"#)?["a"]?.number?.int64 == 3)
    }

    /// A name is its bytes: the sign for kelvin is another name than `K`, with which Unicode makes it equal.
    @Test func namesAreComparedByBytes() {
        #expect(read("{\"\u{212A}\":1}")?["K"] == nil)
    }

    @Test func idsAndElements() {
        let value = read(#"{"ids":["7",7,7.5,null]}"#)?["ids"]
        #expect(value?[0]?.identifier == "7" && value?[1]?.identifier == "7" && value?[2]?.identifier == "7.5")
        #expect(value?[3]?.identifier == nil && value?[4] == nil && value?[-1] == nil)
        #expect(value?[1]?.number?.int64 == 7 && value?[2]?.number?.int64 == nil)
    }

    @Test(arguments: ["", " ", "{} x", "01", "nul", "\"a\u{0}\"", "\u{FEFF}\u{FEFF}1", "[1,]", "1\u{0}"])
    func whatIsNoTextIsRefused(_ text: String) {
        #expect(read(text) == nil)
    }
}
