import TestSupport
import Testing

@testable import Projections

/// `PlainObject` writes the same bytes as the values of `PackedRest`.
@Suite struct PlainObjectTests {
    private static func written(_ text: String) -> String? {
        Array(text.utf8).withUnsafeBytes { object in
            PlainObject.with(object) { plain in
                var writer = CanonicalWriter()
                guard let plain else { return nil }
                let hasWritten = plain.writeExtra(behind: "=", to: &writer)
                let text = writer.withBytes { String(decoding: $0, as: UTF8.self) }
                #expect(hasWritten == !text.isEmpty)
                return text
            }
        }
    }

    private static func expected(_ text: String) -> String {
        let rest = Array(text.utf8).withUnsafeBytes { PackedRest($0) }
        #expect(rest.attachments == nil, "\(text)")
        return rest.extra.members.isEmpty ? "" : "=" + JSONValue.object(rest.extra).canonicalText
    }

    @Test(arguments: [
        #"{"b":1,"a":"x","ab":true,"aa":false,"c":null}"#, #"{ "nonce" : "12" , "flags" : 0 }"#, #"{"a":-1,"":""}"#,
        #"{"attachments":null,"a":0}"#, #"{"attachments":3}"#, #"{"c":null}"#, #"{"z":123456789012345}"#,
        #"{"z":12345678901234567890123}"#, #"{"a":"é"}"#, #"{"é":1,"e":2}"#, "{\"\u{FB01}\":1,\"\u{1F600}\":2}",
    ])
    func plainObjectsAreWritten(_ text: String) {
        #expect(Self.written(text) == Self.expected(text))
    }

    @Test(arguments: [
        "", "{}", "[]", "null", #"{"a":01}"#, #"{"a":-0}"#, #"{"a":1.5}"#, #"{"a":1e3}"#, #"{"a":-}"#,
        #"{"a":[]}"#, #"{"a":{}}"#, #"{"a":"\n"}"#, #"{"\u0061":1}"#, #"{"a":1,"a":2}"#, #"{"a":1,}"#,
        #"{"a":1} x"#,
        #"{"a":tru}"#, #"{"a" 1}"#, #"{"attachments":[]}"#, "{\"a\":\"\u{1}\"}", #"{"a":nul"#,
    ])
    func othersAreNot(_ text: String) {
        #expect(Self.written(text) == nil)
    }

    /// `PlainObject` writes a mutated object as its values, or refuses it.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func whateverIsWrittenIsWhatTheValuesGive(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "{", "}", ",", ":", "\"a\"", "\"b\"", "\"attachments\"", "\"\"", "0", "-", "12", "true", "null", " ", ".",
            "e", "\\", "é",
            "[", "]", "\"x y\"",
        ]
        var count = 0
        for _ in 0..<20_000 {
            var parts = ["{"]
            for place in 0..<Int.random(in: 1...4, using: &random) {
                if place > 0 { parts.append(",") }
                parts += ["\"\(["a", "b", "ab", "attachments", "c"].randomElement(using: &random) ?? "")\"", ":"]
                parts.append(["1", "-7", "\"t\"", "null", "false", "\"\"", "0"].randomElement(using: &random) ?? "")
            }
            parts.append("}")
            if Bool.random(using: &random) {
                parts[Int.random(in: parts.indices, using: &random)] = pieces.randomElement(using: &random) ?? ""
            }
            let text = parts.joined()
            guard let written = Self.written(text) else { continue }
            count += 1
            #expect(written == Self.expected(text), "\(text)")
        }
        #expect(count > 2000)
    }
}
