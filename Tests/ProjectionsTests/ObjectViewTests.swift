import JSON
import Testing

@testable import Projections

/// A view has the members that a value of the same text has, repeated names included.
@Suite struct ObjectViewTests {
    /// Few members, whose names are compared with each other, and many, which go through a table.
    @Test(arguments: [3, 40])
    func aRepeatedNameKeepsItsFirstPlaceAndItsLastValue(_ count: Int) throws {
        let names = (0..<count).map { "n\($0)" } + ["n1", #"n\u0030"#, "n1"]
        let text = "{\(names.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ","))}"
        let bytes = Array(text.utf8)
        let members = try bytes.withUnsafeBytes { bytes -> [JSONObject.Member] in
            var members: [JSONObject.Member] = []
            let view = try #require(try ObjectView(bytes))
            view.forEach { members.append(JSONObject.Member(name: $0.string, value: $1.value)) }
            #expect(view["n1"]?.value == .int(count + 2))
            return members
        }
        #expect(members == (try JSONValue.parse(bytes)).object?.members)
        #expect(members.count == count)
    }

    @Test func noOtherValueIsAnObject() throws {
        for text in ["[1]", "null", #""{}""#] {
            let isObject = try Array(text.utf8).withUnsafeBytes { try ObjectView($0) != nil }
            #expect(!isObject, "\(text)")
        }
        for text in ["{", #"{"a":1,}"#, "{} 1", "", #"{"a" 1}"#] {
            #expect(throws: JSONError.self) { try Array(text.utf8).withUnsafeBytes { _ = try ObjectView($0) } }
        }
    }
}
