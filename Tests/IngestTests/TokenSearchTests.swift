import EventLog
import Foundation
import Logging
import TestSupport
import Testing

@testable import Ingest
@testable import JSON

#if Recorders
/// A recorder's own token, in whatever form a server sends it back.
@Suite struct TokenSearchTests {
    static let token = #"sk/9f+8"e=7d"#

    private static let percent = "sk%2F9f%2B8%22e%3D7d"
    private static let forms = [
        token, #"sk\/9f+8\"e=7d"#, #"sk\u002f9f\u002B8\u0022e\u003d7d"#, percent, percent.lowercased(),
        "%73k/%39f+8%22e=7d", token.utf8.map { String($0, radix: 16) }.joined(),
    ]

    private func redact(_ payload: [UInt8], kind: EventKind = .realtimeFrame, _ tokens: [String]) throws
        -> DraftEvent
    {
        let secrets = KnownSecrets()
        for token in tokens { secrets.note(token) }
        let draft = DraftEvent(
            recordedAt: Timestamp(seconds: 1),
            source: try SourceName("s"),
            kind: kind,
            key: try EventKey("c1/1"),
            attributes: ["content-type": "text/\(tokens[0])", "dir": "in"],
            payload: payload
        )
        var batch = SourceBatch([.draft(draft, bookmark: Array("b".utf8)), .draft(draft, bookmark: payload)])
        try batch.redact(secrets, .none)
        #expect(batch.drafts.count == 2 && batch.drafts.drafts.allSatisfy { $0 == batch.drafts.drafts[0] })
        return batch.drafts.drafts[0]
    }

    @Test(arguments: forms)
    func everyFormIsReplaced(_ form: String) throws {
        let draft = try redact(Array("{\"a\":\"x \(form) y\"}".utf8), [Self.token])
        #expect(String(decoding: draft.payload, as: UTF8.self) == #"{"a":"x [redacted] y"}"#)
        #expect(draft.attributes["content-type"] == "text/[redacted]" && draft.attributes["redacted"] == "2")
    }

    /// As in `Authorization: Basic` with a name before the token.
    @Test(arguments: ["", "a", "ab", "abc"], [true, false])
    func base64IsFoundWhereverTheTokenBegins(_ before: String, isURL: Bool) throws {
        var text = Data((before + ">>" + Self.token + "??>").utf8).base64EncodedString()
        if isURL { text = text.replacing("+", with: "-").replacing("/", with: "_") }
        let draft = try redact(Array("[\"\(text)\"]".utf8), [Self.token])
        let left = String(decoding: draft.payload, as: UTF8.self)
        #expect(left.contains("[redacted]") && left.utf8.count < text.utf8.count + 4)
    }

    @Test func binaryPayloadsKeepTheirLength() throws {
        let payload = [0x81, 0xA1, 0x61, 0xAC] + Array(Self.token.utf8)
        #expect(try redact(payload, [Self.token]).payload == [0x81, 0xA1, 0x61, 0xAC] + Array("[redacted]**".utf8))
    }

    @Test func utf16IsReplacedInUTF16() throws {
        let wide = { (text: String) -> [UInt8] in text.utf8.flatMap { [$0, 0] as [UInt8] } }
        let draft = try redact(wide("[\"sk-123456\"]"), ["sk-123456"])
        #expect(draft.payload == wide("[\"[redacted]\"]"))
    }

    @Test func aTokenOfDigitsLeavesANumberParsing() throws {
        let draft = try redact(Array(#"{"a":12345678,"b":"12345678","c":{"12345678":1}}"#.utf8), ["12345678"])
        let expected = #"{"a":"[redacted]","b":"[redacted]","c":{"[redacted]":1}}"#
        #expect(String(decoding: draft.payload, as: UTF8.self) == expected)
    }

    @Test func aBookmarkWithATokenIsNotKept() throws {
        let secrets = KnownSecrets()
        secrets.note("sk-123456")
        var batch = SourceBatch(bookmark: Array("id sk-123456".utf8))
        try batch.redact(secrets, .none)
        #expect(batch.bookmark == nil)
    }

    @Test func tokensOfAQueryAreKnown() {
        let secrets = KnownSecrets()
        secrets.note(url: "https://h/p?a=plain-text&api%5Fkey=k%2Bey-123#sig=fragment")
        #expect(secrets.occur(in: Array("x k+ey-123 y".utf8)))
        #expect(!secrets.occur(in: Array("plain-text fragment".utf8)))
    }

    /// People are told of a token that is not searched for, once, and not which.
    @Test(arguments: [("teapots", true), ("t3a!", true), ("teapotse", false), ("t3a!5", false), ("", false)])
    func aTokenThatIsTooShortIsWarnedOf(token: String, isShort: Bool) {
        let lines = LogCatcher()
        let secrets = KnownSecrets(log: Logger(label: "test") { _ in lines })
        for _ in 0..<3 { secrets.note(token) }
        #expect(lines.all.count == (isShort ? 1 : 0))
        #expect(lines.all.allSatisfy { $0.contains("warning") && $0.contains("fewer than 5 bytes, or than 8 letters") })
        #expect(token.isEmpty || !lines.all.contains { $0.contains(token) })
        #expect(secrets.occur(in: Array("x \(token) y".utf8)) == (!isShort && !token.isEmpty))
    }

    /// A shorter word stands anywhere; the latest of many tokens are known.
    @Test func shortTokensAndOldOnesAreNotSearchedFor() {
        let secrets = KnownSecrets()
        for number in 0..<40 { secrets.note("token-number-\(number + 100)") }
        secrets.note("teapot")
        secrets.note("t3a")
        #expect(!secrets.occur(in: Array("teapot t3a token-number-101".utf8)))
        #expect(secrets.occur(in: Array("token-number-139".utf8)))
    }

    /// Thousands of tokens are found as one is, in every form, the longest first.
    @Test func manyTokensAreFoundAsOneIs() {
        var generator = SeededGenerator(seed: 20_261_129)
        let alphabet = Array("abAB1-/%é".utf8)
        let tokens = (0..<2_000).map { _ in
            String(
                decoding: (0..<Int.random(in: 3...24, using: &generator)).map { _ in
                    alphabet[Int.random(in: 0..<7, using: &generator)]
                },
                as: UTF8.self
            )
        }
        let search = TokenSearch(tokens)
        for token in tokens.prefix(200) {
            let single = TokenSearch([token])
            for form in [
                token, Data(token.utf8).base64EncodedString(), token.utf8.map { "%\(String($0, radix: 16))" }.joined(),
            ] {
                let bytes = Array(("..\n" + form + "\n..").utf8)
                bytes.withUnsafeBytes { bytes in
                    let alone = single.places(in: bytes)
                    #expect(search.occurs(in: bytes) || alone.isEmpty, "\(token) as \(form)")
                    let all = search.places(in: bytes)
                    #expect(alone.allSatisfy { place in all.contains { $0.overlaps(place) } }, "\(token) as \(form)")
                }
            }
        }
        let clear = Array("no such word here: zzzz yyyy".utf8)
        #expect(clear.withUnsafeBytes { !search.occurs(in: $0) })
    }

    /// The search steps over bytes, so every place and length is tried, beside a plain comparison.
    @Test func theSearchFindsWhatAPlainComparisonFinds() {
        var generator = SeededGenerator(seed: 20_260_301)
        for _ in 0..<400 {
            let alphabet = Array("abAB1-".utf8)
            let random = { (count: Int) in (0..<count).map { _ in alphabet[Int.random(in: 0..<6, using: &generator)] } }
            let token = String(decoding: random(Int.random(in: 6...9, using: &generator)), as: UTF8.self)
            let text = random(Int.random(in: 0..<40, using: &generator)) + Array(token.utf8) + random(7)
            let search = TokenSearch([token])
            for start in 0...text.count {
                let rest = Array(text[start...])
                let place = rest.withUnsafeBytes { search.plainPlaces(in: $0).first }
                #expect(
                    place == rest.firstRange(of: Array(token.utf8)),
                    "\(token) in \(String(decoding: rest, as: UTF8.self))"
                )
            }
        }
    }
}
#endif
