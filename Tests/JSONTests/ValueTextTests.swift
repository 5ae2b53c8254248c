import JSON
import Testing

@Suite struct ValueTextTests {
    @Test(arguments: [
        ("\"tea\"", true), ("\"größer\"", true), ("\"\\u0061\"", false), ("\"\\\"\"", false), ("\"\"", true),
        ("1", true),
        ("-5", true), ("-0", false), ("1.0", false), ("1e3", false), ("123456789012345678901234567890", true),
        ("true", true), ("false", true), ("null", true), ("{}", false), ("[1]", false),
    ])
    func theReaderKnowsCanonicalScalars(text: String, isCanonical: Bool) throws {
        try Array("[ \(text) ,2]".utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            func hasNext() throws -> Bool { try reader.nextElement() }
            try reader.enterArray()
            #expect(try hasNext())
            let value = try reader.valueText()
            #expect(Array(value.bytes) == Array(text.utf8) && value.isCanonical == isCanonical)
            let isPlain = isCanonical && text.first == "\""
            #expect(
                value.plainString.map { Array($0.bytes) } == (isPlain ? Array(text.utf8.dropFirst().dropLast()) : nil)
            )
            // The next value is read as behind any other.
            #expect(try hasNext())
            _ = try reader.valueText()
            #expect(try !hasNext())
            try reader.finish()
        }
    }

    @Test(arguments: ["", "nul", "tru", "-", "\"a", "{", "[1,]", "\"\u{1}\"", "x", "1."])
    func aTextThatIsNoValueIsRefused(text: String) {
        Array(text.utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            #expect(throws: JSONError.self) {
                _ = try reader.valueText()
                try reader.finish()
            }
        }
    }

    /// A name is taken only as it stands, and the reader goes on behind it.
    @Test func aMemberIsTakenByItsBytes() throws {
        try Array("{\"a\":1, \"b\" : 2,\"c\":3 }".utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            func take(_ member: String) -> Bool {
                Array(member.utf8).withUnsafeBytes { reader.take(member: $0) }
            }
            func number() throws -> Int64? { try reader.number().int64 }
            try reader.enterObject()
            var isAtEnd = reader.takeObjectEnd()
            #expect(!isAtEnd && !take(",\"b\":") && take(",\"a\":"))
            #expect(try number() == 1)
            #expect(!take(",\"b\":"))
            let name = try reader.nextMember()
            #expect(name.map(\.string) == "b")
            #expect(try number() == 2)
            #expect(take(",\"c\":"))
            #expect(try number() == 3)
            isAtEnd = reader.takeObjectEnd()
            #expect(isAtEnd)
            try reader.finish()
        }
    }
}
