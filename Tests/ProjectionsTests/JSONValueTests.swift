import TestSupport
import Testing

@testable import Projections

@Suite struct JSONValueTests {
    @Test func theOrderOfMembersDoesNotCount() throws {
        let first = try JSONValue.parse(#"{"a":1,"b":{"x":null,"y":[1,2]}}"#)
        let second = try JSONValue.parse(#"{"b":{"y":[1,2],"x":null},"a":1}"#)
        #expect(first == second)
        #expect(Set([first, second]).count == 1)
        #expect(first != (try JSONValue.parse(#"{"a":1,"b":{"x":null,"y":[2,1]}}"#)))
        #expect(first != (try JSONValue.parse(#"{"a":1}"#)))
    }

    @Test func textsAreTheSameByTheirBytesOnly() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(JSONValue.string(composed) != .string(decomposed))
        let object = try JSONValue.parse("{\"\(composed)\":1,\"\(decomposed)\":2}")
        #expect(object.object?.members.count == 2)
        #expect(object[decomposed] == .int(2))
    }

    @Test(arguments: [1, 16, 17, 18, 40])
    func namesAreFoundInSmallAndLargeObjects(count: Int) {
        var object = JSONObject()
        for number in 0..<count { object["n\(number)"] = .int(number) }
        object["n0"] = .string("again")
        #expect(object.members.count == count)
        #expect(object.members.first?.value == .string("again"))
        object["n\(count - 1)"] = nil
        object["n0"] = nil
        #expect(object["n0"] == nil)
        for number in 1..<max(1, count - 1) { #expect(object["n\(number)"] == .int(number)) }
        #expect(object.members.count == max(0, count - 2))
    }

    @Test(arguments: [2, 30])
    func ofRepeatedNamesTheLastValueStandsAtTheFirstPlace(count: Int) throws {
        let others = (0..<count).map { "\"n\($0)\":0" }.joined(separator: ",")
        let object = try #require(try JSONValue.parse("{\"a\":1,\(others),\"a\":2}").object)
        #expect(object.members.first?.name == "a")
        #expect(object["a"] == .int(2))
        #expect(object.members.count == count + 1)
    }

    @Test func largeObjectsAreReadInLinearTime() throws {
        let text = "{" + (0..<200_000).map { "\"name \($0)\":\($0)" }.joined(separator: ",") + "}"
        let object = try #require(try JSONValue.parse(text).object)
        #expect(object.members.count == 200_000)
        #expect(object["name 199999"] == .int(199_999))
    }

    @Test(arguments: [
        ("9007199254740993", "9007199254740993"), ("-18446744073709551616", "-18446744073709551616"), ("-0", "0"),
        ("-0.0", "0"), ("1.0", "1"), ("1e2", "100"), ("1e21", "1e+21"), ("0e9", "0"), ("-0e400", "0"),
        ("123e18", "123000000000000000000"), ("0.000001", "0.000001"), ("1e-7", "1e-7"), ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"), ("0.1e1", "1"), ("-12.50", "-12.5"),
    ])
    func numbersAreWrittenAsECMAScriptDoes(json: String, text: String) throws {
        #expect(try JSONValue.parse(json).canonicalText == text)
    }

    /// A number that the nearest `Double` does not spell keeps its digits.
    @Test(arguments: [
        ("0.12345678901234567891", "0.12345678901234567891"), ("0.12345678901234567892", "0.12345678901234567892"),
        ("12345678901234567890.12", "12345678901234567890.12"), ("12345678901234567890.0", "12345678901234567890"),
        ("1234567890123456789012345.50", "1234567890123456789012345.5"),
        ("-1.2345678901234567890123e30", "-1234567890123456789012300000000"),
        ("1E400", "1e+400"), ("10e399", "1e+400"), ("1e-400", "1e-400"), ("-0.10e-399", "-1e-400"),
        ("0.00000012345678901234567891", "1.2345678901234567891e-7"), ("333333333.33333329", "333333333.33333329"),
        ("1.5e12345678901234567", "1.5e+12345678901234567"), ("1e123456789012345678", "1e123456789012345678"),
        ("1e0000000000000000000000002", "100"),
    ])
    func numbersKeepTheirDigits(json: String, text: String) throws {
        #expect(try JSONValue.parse(json).canonicalText == text)
        #expect(try JSONValue.parse(text).canonicalText == text, "the form is its own")
        let stored = StoredJSON(try JSONValue.parse(json))
        #expect(stored.isSame(as: StoredJSON(try JSONValue.parse(text))))
        var written = CanonicalText()
        Array(json.utf8).withUnsafeBytes { written.value($0) }
        #expect(written.withBytes { String(decoding: $0, as: UTF8.self) } == text)
    }

    /// Two numbers have one canonical text only if they are one, whatever their digits and exponents.
    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func differentNumbersHaveDifferentTexts(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var known: [String: DecimalNumber] = [:]
        for _ in 0..<3000 {
            let digits = (0..<Int.random(in: 1...24, using: &random)).map { _ in
                String(["0", "1", "9"].randomElement(using: &random) ?? "0")
            }.joined()
            let sign = Bool.random(using: &random) ? "-" : ""
            let text = "\(sign)0.\(digits)e\(Int.random(in: -30...30, using: &random))"
            let number = try #require(DecimalNumber(text))
            let canonical = try JSONValue.parse(text).canonicalText
            #expect(DecimalNumber(canonical) == number, "\(text) \(canonical)")
            #expect(known.updateValue(number, forKey: canonical) ?? number == number)
        }
    }

    @Test func numbersHaveAnExactOrder() throws {
        let texts = [
            "-1e400", "-12345678901234567890.12", "-1", "-0.5", "0", "1e-400", "0.12345678901234567891",
            "0.12345678901234567892", "0.5", "1", "10", "9223372036854775807", "9223372036854775807.5", "1e400",
        ]
        let numbers = try texts.map { try #require(DecimalNumber($0)) }
        for (left, right) in zip(numbers, numbers.dropFirst()) {
            #expect(left < right && !(right < left), "\(left.text) \(right.text)")
        }
        #expect(DecimalNumber("-0") == DecimalNumber("0.0e5"))
    }

    @Test func namesAreSortedByUTF16CodeUnits() throws {
        let value = try JSONValue.parse(#"{"\ufb33":1,"\ud83d\ude00":2,"b":3,"":4,"ba":5,"é":6}"#)
        #expect(value.canonicalText == #"{"":4,"b":3,"ba":5,"é":6,"😀":2,"דּ":1}"#)
    }
}
