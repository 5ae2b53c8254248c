import JSON
import TestSupport
import Testing

@testable import Projections

/// Comparing, hashing and taking apart stored texts gives the same as doing so with their values.
@Suite struct StoredJSONTests {
    /// Draws texts that differ in spelling, in order and in content, with repeated names, deep values and many members.
    private struct Texts {
        var random: SeededGenerator

        mutating func value(_ levels: Int) -> String {
            switch Int.random(in: 0..<(levels > 0 ? 9 : 6), using: &random) {
            case 0: ["null", "true", "false"].randomElement(using: &random) ?? "null"
            case 1:
                ["0", "-0", "1", "1.0", "10e-1", "-5", "123456789012345678901", "1e400"].randomElement(using: &random)
                    ?? "0"
            case 6: list("[", "]") { $0.value(levels - 1) }
            case 7, 8: list("{", "}") { texts in texts.string(of: 6) + texts.space() + ":" + texts.value(levels - 1) }
            default: string(of: 40)
            }
        }

        private mutating func list(_ open: String, _ close: String, _ part: (inout Texts) -> String) -> String {
            let count = Int.random(in: 0..<20, using: &random) == 0 ? 30 : Int.random(in: 0...4, using: &random)
            return open + (0..<count).map { _ in space() + part(&self) + space() }.joined(separator: ",") + close
        }

        private mutating func string(of count: Int) -> String {
            let texts = [
                "a", "b", "\\u0061", "c\\n", "c\\u000a", "é", "e\u{301}", "🍰", "\\ud83c\\udf70", "\u{FF00}", "\\ud800",
                "/", "\\/", "", "id", "timestamp",
            ]
            let number = Int.random(in: 0..<max(count, 1), using: &random)
            return "\"\(number < texts.count ? texts[number] : "text \(number)")\""
        }

        private mutating func space() -> String { Int.random(in: 0..<8, using: &random) == 0 ? " \n" : "" }

        mutating func stored(_ text: String) -> StoredJSON {
            let around = "[" + text + "]"
            return StoredJSON(Array(around.utf8), 1..<around.utf8.count - 1)
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func twoTextsAreTheSameIfTheirValuesAre(_ seed: UInt64) throws {
        print("seed \(seed)")
        var texts = Texts(random: SeededGenerator(seed: seed))
        var sameCount = 0
        for number in 0..<4000 {
            let left = texts.value(2)
            let right = number.isMultiple(of: 2) ? texts.value(2) : try JSONValue.parse(left).turned.ownText
            let (own, other) = (texts.stored(left), texts.stored(right))
            let isSame = try JSONValue.parse(left).isSameJSON(as: JSONValue.parse(right))
            #expect(own.isSame(as: other) == isSame, "\(left) \(right)")
            #expect(own.isSame(as: texts.stored(left)))
            if isSame { sameCount += 1 }
        }
        // Otherwise the texts would be too different to test anything.
        #expect(sameCount > 2000)
    }

    @Test(arguments: [4, 5, 6] as [UInt64])
    func theCanonicalTextIsThatOfTheValue(_ seed: UInt64) throws {
        print("seed \(seed)")
        var texts = Texts(random: SeededGenerator(seed: seed))
        for _ in 0..<4000 {
            let text = "{\"b\":\(texts.value(3)),\"columns\":\(texts.value(1)),\"a\":\(texts.value(3))}"
            var object = try #require(try JSONValue.parse(text).object)
            object["columns"] = nil
            let hash = try Array(text.utf8).withUnsafeBytes { bytes in
                var canonical = CanonicalText()
                return try canonical.hash(ofObject: bytes, without: "columns")
            }
            #expect(hash == JSONValue.object(object).canonicalHash, "\(text)")
        }
    }

    @Test(arguments: [7, 8] as [UInt64])
    func membersAreThoseOfTheObject(_ seed: UInt64) throws {
        print("seed \(seed)")
        var texts = Texts(random: SeededGenerator(seed: seed))
        for _ in 0..<5000 {
            let text = texts.value(1)
            let value = try JSONValue.parse(text)
            let found = texts.stored(text).withMembers { members -> JSONObject in
                var object = JSONObject()
                members.forEach { object[$0.string] = $1.value }
                #expect(members["id"]?.value == value["id"] && members["a"]?.string == value["a"]?.string)
                return object
            }
            #expect(found == value.object, "\(text)")
        }
    }

    @Test func aDetachedValueAndASavedOneAreTheSameValue() throws {
        let text = Array(#"{"a": [1, "x"] , "b":2}"#.utf8)
        let part = StoredJSON(text, 6..<14)
        #expect(part.value == .array([.int(1), .string("x")]) && part.detached.value == part.value)
        let saved = try StateEncoder.bytes(of: part)
        #expect(try StateDecoder.value(StoredJSON.self, from: saved).value == part.value)
    }

    @Test(arguments: ["", "{", "[1,]", "nul", "1 2", " 1"])
    func savedBytesThatAreNoValueAreRefused(_ text: String) {
        #expect(StoredJSON(unchecked: Array(text.utf8)) == nil)
    }
}

extension JSONValue {
    fileprivate var ownText: String {
        var bytes: [UInt8] = []
        append(to: &bytes, members: .own)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The same value with the members of all objects in another order.
    fileprivate var turned: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.turned))
        case .object(let object):
            .object(
                JSONObject(
                    distinct: object.members.reversed().map { JSONObject.Member(name: $0.name, value: $0.value.turned) }
                )
            )
        default: self
        }
    }
}
