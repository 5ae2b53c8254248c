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
        ("-0.0", "0"), ("1.0", "1"), ("1e2", "100"), ("1E400", "1E400"), ("1e-400", "0"), ("1e21", "1e+21"),
        ("123e18", "123000000000000000000"), ("0.000001", "0.000001"), ("1e-7", "1e-7"), ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"), ("0.1e1", "1"), ("-12.50", "-12.5"),
    ])
    func numbersAreWrittenAsECMAScriptDoes(json: String, text: String) throws {
        #expect(try JSONValue.parse(json).canonicalText == text)
    }

    @Test func namesAreSortedByUTF16CodeUnits() throws {
        let value = try JSONValue.parse(#"{"\ufb33":1,"\ud83d\ude00":2,"b":3,"":4,"ba":5,"é":6}"#)
        #expect(value.canonicalText == #"{"":4,"b":3,"ba":5,"é":6,"😀":2,"דּ":1}"#)
    }
}
