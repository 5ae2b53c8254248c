import JSON
import TestSupport
import Testing

@testable import Projections

@Suite struct JSONReaderTests {
    /// Each element costs itself, not the elements before it: in quadratic time, this would take minutes.
    @Test func aLongListIsReadInLinearTime() throws {
        let count = 200_000
        let text = "{\"a\":[" + String(repeating: "{\"b\":[]},", count: count) + "0]}"
        #expect(try JSONValue.parse(text)["a"]?.array?.count == count + 1)
    }

    /// A known value is passed only where all its bytes come next; the reader goes on behind it, or where it was.
    @Test func passesAKnownValue() throws {
        let known = Array(#"[{"a":1}]"#.utf8)
        for (text, isKnown) in [
            (#"{"k": [{"a":1}] ,"x":2}"#, true), (#"{"k":[{"a":2}],"x":2}"#, false),
            (#"{"k":[{"a":1},0],"x":2}"#, false), (#"{"k":[],"x":2}"#, false),
        ] {
            try withReader(text) { reader in
                try reader.enterObject()
                _ = try reader.nextMember()
                #expect(known.withUnsafeBytes { reader.take(known: $0) } == isKnown, "\(text)")
                if !isKnown { try reader.skip() }
                let name = try #require(try reader.nextMember())
                #expect(name.string == "x")
                #expect(try reader.number().int64 == 2)
                #expect(try reader.nextMember() == nil)
                try reader.finish()
            }
        }
    }

    @Test func findsMembersWithoutBuildingTheRest() throws {
        let text = #" {"skip":[1,{"op":9},"}"],"op" : 10,"t":"A\u0042\n","big":18446744073709551615,"no":-1.5e3} "#
        try withReader(text) { reader in
            var found: [String] = []
            try reader.enterObject()
            while let name = try reader.nextMember() {
                if name == "op" {
                    found.append("op \(try reader.number().int64 ?? 0)")
                } else if name == "t" {
                    found.append(try reader.string().string)
                } else if name == "big" {
                    let digits = try reader.number()
                    found.append("\(digits.uint64 ?? 0) \(digits.int64 == nil)")
                } else {
                    try reader.skip()
                }
            }
            try reader.finish()
            #expect(found == ["op 10", "AB\n", "18446744073709551615 true"])
        }
    }

    @Test func escapedNamesAreTheNamesTheyMean() throws {
        try withReader(#"{"\u006f\u0070":true,"opp":null,"o":1}"#) { reader in
            try reader.enterObject()
            let first = try #require(try reader.nextMember())
            #expect(first == "op")
            #expect(try reader.bool())
            let second = try #require(try reader.nextMember())
            #expect(!(second == "op"))
            try reader.null()
            let third = try #require(try reader.nextMember())
            #expect(!(third == "op"))
        }
    }

    @Test(arguments: [
        (#""\ud83d\ude00""#, "😀"), (#""\ud83d""#, "\u{FFFD}"), (#""\ude00x""#, "\u{FFFD}x"),
        (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"), (#""\ud83d\n""#, "\u{FFFD}\n"),
        (#""\/\b\f\r\t\\\"""#, "/\u{8}\u{C}\r\t\\\""),
        (#""é – 😀 and then some more""#, "é – 😀 and then some more"),
    ])
    func textsAreUnescaped(json: String, text: String) throws {
        try withReader(json) { reader in
            let read = try reader.string()
            #expect(read.string == text)
            #expect(read.withUTF8 { Array($0) } == Array(text.utf8))
        }
    }

    @Test(arguments: [
        ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min), ("-0", Int64(0)),
        ("9223372036854775808", nil), ("-9223372036854775809", nil), ("99999999999999999999999", nil), ("1.0", nil),
        ("1e2", nil),
    ])
    func wholeNumbersNeedNoFloatingPoint(json: String, value: Int64?) throws {
        try withReader(json) { reader in
            let digits = try reader.number()
            #expect(digits.int64 == value)
            #expect(digits.number.int64 == value)
            #expect(digits.uint64 == digits.number.uint64)
        }
    }

    @Test(arguments: [
        ("{\"a\":1,}", 7, "a member's name is missing"), ("[1 2]", 3, "a comma or a closing bracket is missing"),
        ("[1]x", 3, "something follows the text"), ("\"a\nb\"", 2, "a control character stands unescaped in a text"),
        ("[\"abcdefgh\\x\"]", 11, "no such escape"), ("", 0, "the text ends too early"),
        ("[1,", 3, "the text ends too early"),
        ("-", 1, "a digit is missing"), ("nul", 0, "no value begins like this"),
        ("\u{FEFF}1", 0, "no value begins with this byte"),
    ])
    func faultsSayWhere(json: String, offset: Int, reason: String) {
        #expect(throws: JSONError(offset: offset, reason: reason)) { try JSONValue.parse(json) }
    }

    @Test func nestingEndsAtTheLimit() throws {
        let deepest = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(throws: Never.self) { try JSONValue.parse(deepest) }
        #expect(throws: JSONError(offset: 512, reason: "more than 512 levels")) { try JSONValue.parse("[\(deepest)]") }
        let mixed = String(repeating: "[{\"a\":", count: 200) + "1" + String(repeating: "}]", count: 200)
        #expect(throws: Never.self) { try JSONValue.parse(mixed) }
        #expect(throws: JSONError.self) { try JSONValue.parse(String(repeating: "[{\"a\":", count: 100_000)) }
        try withReader(deepest) { reader in
            try reader.skip()
            try reader.finish()
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func skippingAcceptsWhatParsingAccepts(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let alphabet = Array(#"{}[]",:\u0dtrue-1.eE nulls"#.utf8) + [0xC3, 0xA9, 0xED, 0xA0, 0xF0, 0x9F, 0x98, 0]
        for _ in 0..<2000 {
            var bytes = Array(Self.corpus.utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                case 1: bytes.remove(at: place)
                default: bytes = Array(bytes[..<place])
                }
                if bytes.isEmpty { break }
            }
            let isSkipped = bytes.withUnsafeBytes { buffer in
                var reader = JSONReader(buffer)
                return (try? reader.skip()) != nil && (try? reader.finish()) != nil
            }
            let value = try? JSONValue.parse(bytes)
            #expect(isSkipped == (value != nil))
            if let value { #expect(try JSONValue.parse(value.canonicalBytes).canonicalBytes == value.canonicalBytes) }
        }
    }

    private static let corpus =
        #"{"op":0,"s":17,"d":{"id":"42","content":"é \u00e9 \ud83d\ude00 \"x\"","n":[-1.5e+3,0,true,null,[],{}]}} "#

    private func withReader(_ text: String, _ body: (inout JSONReader) throws -> Void) throws {
        try Array(text.utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            try body(&reader)
        }
    }
}
