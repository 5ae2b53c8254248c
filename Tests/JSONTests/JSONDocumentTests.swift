import TestSupport
import Testing

@testable import JSON

/// A text that is read in place says what the values say that are made of it.
@Suite struct JSONDocumentTests {
    private static let names = [
        "a", "op", "data", "content", "channel_id", "created_at", "author_id", "", "é", "n\\u006fnce", "nonce",
        "\\u0061", "x\\ny",
        "a-name-of-many-bytes-1", "a-name-of-many-bytes-2",
    ]

    private static func text(_ random: inout SeededGenerator, depth: Int = 0) -> String {
        func some(_ counts: [Int]) -> [String] {
            let count = counts.randomElement(using: &random) ?? 0
            return (0..<count).map { _ in text(&random, depth: depth + 1) }
        }
        switch Int.random(in: 0...(depth > 3 ? 4 : 8), using: &random) {
        case 0: return ["null", "true", "false", " true "].randomElement(using: &random) ?? "null"
        case 1: return ["0", "-1.50e+3", "12345678901234567890"].randomElement(using: &random) ?? "0"
        case 2: return "\"plain é\""
        case 3: return #""a\n\ud800\u00e9\ud83d\ude00""#
        case 4:
            return ["nul", "01", "\"", "[1,]"].randomElement(using: &random).flatMap { depth > 2 ? nil : $0 } ?? "7"
        case 5, 6: return "[" + some([0, 1, 3, 16, 17, 40]).joined(separator: " ,") + "]"
        default:
            let members = some([0, 1, 4, 16, 17, 40]).map {
                "\"\(names.randomElement(using: &random) ?? "")\" :\($0)"
            }
            return "{" + members.joined(separator: ",") + "}"
        }
    }

    private func compare(_ view: JSONView, _ value: JSONValue) {
        #expect(view.value == value)
        #expect(view.isNull == value.isNull)
        #expect(view.text?.string == value.string)
        #expect(view.digits.map { String(decoding: $0, as: UTF8.self) } == value.number?.text)
        #expect(view.isObject == (value.object != nil))
        #expect(view.elements?.count == value.array?.count)
        for (number, element) in (value.array ?? []).enumerated() {
            guard let inner = view.element(number) else {
                Issue.record("an element is missing")
                continue
            }
            compare(inner, element)
        }
        #expect(view.element(value.array?.count ?? 0) == nil)
        #expect(view.element(-1) == nil)
        #expect(view.members?.map(\.name) == value.object?.members.map(\.name))
        for (found, member) in zip(view.members ?? [], value.object?.members ?? []) {
            compare(found.value, member.value)
            guard let inner = view.member(JSONName(member.name)) else {
                Issue.record("a member is missing")
                continue
            }
            #expect(inner.value == member.value)
        }
        for name in ["a", "nonce", "none", "a-name-of-many-bytes-3"] {
            #expect(view.member(JSONName(name))?.value == value[name])
        }
    }

    @Test(arguments: 1...8)
    func aTextReadInPlaceSaysWhatItsValueSays(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let text = Self.text(&random)
            let bytes = Array(text.utf8)
            let value = Result { () throws(JSONError) in try JSONValue.parse(bytes) }
            let document = Result { () throws(JSONError) in try JSONDocument(copying: bytes) }
            switch (document, value) {
            case (.success(let document), .success(let value)):
                withExtendedLifetime(document) { compare(document.root, value) }
                let again = try JSONDocument(value)
                withExtendedLifetime(again) { compare(again.root, value) }
            case (.failure(let fault), .failure(let other)): #expect(fault == other)
            default: Issue.record("one of the two reads \(text)")
            }
        }
    }

    /// A loop over a list that asks for members of a large object, or for late elements, does not go through them each time.
    @Test func lookUpsOfLargeValuesAreFast() throws {
        let members = (0..<10_000).map { "\"m\($0)\":\($0)" }
        let text = "[{\(members.joined(separator: ","))},[\((0..<10_000).map { "\($0)" }.joined(separator: ","))]]"
        let document = try JSONDocument(copying: text.utf8)
        try withExtendedLifetime(document) {
            let counter = Steps.Counter()
            try Steps.$counter.withValue(counter) {
                let (object, list) = (try #require(document.root.element(0)), try #require(document.root.element(1)))
                for number in 0..<10_000 {
                    #expect(object.member(JSONName("m\(number)"))?.value == .int(number))
                    #expect(list.element(number)?.value == .int(number))
                }
            }
            #expect(counter.count < 50_000)
        }
    }
}
