import Testing

@testable import JSON

@Suite struct JSONMembersTests {
    /// Names and values as texts.
    private func members(_ text: String) throws -> [String] {
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBufferPointer { buffer in
            var members = JSONMembers(buffer)
            var found: [String] = []
            while let member = try members.next() {
                let name = String(decoding: buffer[member.name], as: UTF8.self)
                found.append(name + "=" + String(decoding: buffer[member.value], as: UTF8.self))
            }
            return found
        }
    }

    @Test func outerMembersAreFoundWhateverStandsWithin() throws {
        let text = #" { "op" : 0 ,"d":{"a":"}]\"{","b":[[{}],"\\"]},"t":"A\"B", "s":-1.5e3,"n":null }  "#
        #expect(
            try members(text) == ["op=0", #"d={"a":"}]\"{","b":[[{}],"\\"]}"#, #"t="A\"B""#, "s=-1.5e3", "n=null"]
        )
    }

    @Test func elementsOfAnArrayHaveNoNames() throws {
        #expect(try members(#"[null,"1", {"a":[]},[]]"#) == ["=null", #"="1""#, #"={"a":[]}"#, "=[]"])
        #expect(try members("[ ]").isEmpty)
        #expect(try members("{}").isEmpty)
    }

    @Test func aTextThatEndsTooEarlyIsRefusedWhereverItEnds() throws {
        let text = Array(#"{"op":0,"d":{"a":["long enough \" for words",1]},"t":"READY"}"#.utf8)
        for length in 0..<text.count {
            let start = String(decoding: text[..<length], as: UTF8.self)
            #expect(throws: JSONError.self, "\(start)") { try members(start) }
        }
    }

    @Test(arguments: ["1", #""a""#, "{} x", "[1,]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1 "b":2}"#, "[1 2]", #"["\"#])
    func whatIsNoContainerIsRefused(_ text: String) {
        #expect(throws: JSONError.self) { try members(text) }
    }
}
