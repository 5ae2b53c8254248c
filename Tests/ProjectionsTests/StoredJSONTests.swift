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

    /// Two objects have one hash exactly if they are the same as JSON: spelling, the order of members and repeated names
    /// do not count, and neither does what is left out.
    @Test(arguments: [4, 5, 6] as [UInt64])
    func theHashIsThatOfTheValue(_ seed: UInt64) throws {
        print("seed \(seed)")
        var texts = Texts(random: SeededGenerator(seed: seed))
        let key = FrameKey([1, 2, 3])
        // Composed and decomposed letters are different texts, unlike for `String`.
        var known: [ExactText: UInt128] = [:]
        func note(_ text: String) throws {
            var object = try #require(try JSONValue.parse(text).object)
            object["columns"] = nil
            let hash = try Array(text.utf8).withUnsafeBytes { try key.hash(ofObject: $0, without: "columns") }
            let canonical = ExactText(JSONValue.object(object).canonicalText)
            #expect(known[canonical] ?? hash == hash, "\(text)")
            known[canonical] = hash
        }
        for _ in 0..<4000 {
            let (first, second) = (texts.value(3), texts.value(3))
            try note("{\"b\":\(first),\"columns\":[\(texts.value(1))],\"a\":\(second)}")
            let turned = try [first, second].map { try JSONValue.parse($0).turned.ownText }
            try note("{\"a\" : \(turned[1]), \"b\":0,\"b\":\(turned[0])}")
        }
        #expect(known.count > 3000)
        #expect(Set(known.values).count == known.count, "different objects have different hashes")
    }

    /// A change of a row is known again by the canonical text of its `data` without `columns`, whatever the order of the
    /// members, their spelling and repeated names.
    @Test(arguments: [7, 8] as [UInt64])
    func aChangeHasTheHashOfItsText(_ seed: UInt64) throws {
        print("seed \(seed)")
        var texts = Texts(random: SeededGenerator(seed: seed))
        var (shapes, names) = (RowShapes(), Names())
        let key = FrameKey([1, 2, 3])
        for number in 0..<3000 {
            var members = [
                "\"table\":\"t\"", "\"type\" : \"UPDATE\" ", "\"commit_timestamp\":\"2026-01-01T00:00:00Z\"",
                "\"record\":{\"a\":\(texts.value(3)), \"id\":\"1\",\"\(["b", "a"][number % 2])\":\(texts.value(2))}",
                "\"columns\":[\(texts.value(2))]", "\"errors\":\(texts.value(1))", "\"more\" :\(texts.value(3))",
            ]
            if number.isMultiple(of: 5) { members.append("\"more\":\(texts.value(1))") }
            let data = "{\(members.shuffled(using: &texts.random).joined(separator: ","))}"
            let frame = "{\"topic\":\"x\",\"event\":\"postgres_changes\",\"payload\":{\"data\":\(data)}}"
            let identity = try Array(frame.utf8).withUnsafeBytes { bytes in
                let frame = RealtimeFrame(bytes, key: key, &shapes)
                return switch frame.payload.change {
                case .some(let row): try RowChange(row, names: &names).identity
                case .none: try #require(nil as ChangeIdentity?)
                }
            }
            let hash = try Array(data.utf8).withUnsafeBytes { try key.hash(ofObject: $0, without: "columns") }
            #expect(identity == ChangeIdentity(hash), "\(data)")
        }
    }

    /// Members that change places with one another, or hand over bytes, make another object.
    @Test func theHashTellsNeighboursApart() throws {
        let texts = [
            #"{"a":"b","c":"d"}"#, #"{"a":"d","c":"b"}"#, #"{"a":["b"],"c":"d"}"#, #"{"a":"b"}"#, "{}", #"{"a":{}}"#,
            #"{"a":[]}"#, #"{"a":[[]]}"#, #"{"a":[1,2]}"#, #"{"a":[2,1]}"#, #"{"a":[12]}"#, #"{"a":{"b":{}},"c":{}}"#,
            #"{"a":{},"c":{"b":{}}}"#, #"{"a":"1"}"#, #"{"a":1}"#, #"{"a":null}"#, #"{"a":"\n"}"#, #"{"a":"\t"}"#,
        ]
        let hashes = try texts.map { text in
            try Array(text.utf8).withUnsafeBytes { try FrameKey([7]).hash(ofObject: $0, without: "columns") }
        }
        #expect(Set(hashes).count == texts.count)
    }

    /// A text longer than a stretch of the key, and one with more members than are compared with one another.
    @Test func theHashOfLargeObjectsIsThatOfTheValue() throws {
        let long = String(repeating: "tea ", count: 1000)
        let members = (0..<100).map { "\"m\($0)\":\($0)" }
        let texts = [
            "{\"a\":\"\(long)\",\"b\":{\(members.joined(separator: ","))}}",
            "{\"b\":{\(members.reversed().joined(separator: ","))},\"a\":\"\\u0074\(long.dropFirst())\"}",
            "{\"b\":{\(members.reversed().joined(separator: ","))},\"a\":\"\(long.dropFirst())\"}",
        ]
        let hashes = try texts.map { text in
            try Array(text.utf8).withUnsafeBytes { try FrameKey([7]).hash(ofObject: $0, without: "columns") }
        }
        #expect(hashes[0] == hashes[1] && hashes[0] != hashes[2])
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
