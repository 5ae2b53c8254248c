import Foundation
import TestSupport
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

    /// The members of an object or the elements of an array as `JSONReader` reads them; `nil` for any other text.
    private func members(readFrom bytes: UnsafeRawBufferPointer) -> [String]? {
        var reader = JSONReader(bytes)
        func value() throws(JSONError) -> String {
            _ = try reader.kind()
            return String(decoding: try reader.slice(), as: UTF8.self)
        }
        var found: [String] = []
        do throws(JSONError) {
            switch try reader.kind() {
            case .object:
                try reader.enterObject()
                while let name = try reader.nextMember() {
                    found.append(String(decoding: name.bytes, as: UTF8.self) + "=" + (try value()))
                }
            case .array:
                try reader.enterArray()
                while try reader.nextElement() { found.append("=" + (try value())) }
            default: return nil
            }
            try reader.finish()
        } catch {
            return nil
        }
        return found
    }

    /// What `JSONReader` reads has the same members here, in other people's vectors and in what becomes of them by small
    /// changes. The opposite does not hold: values are passed unread.
    @Test func whatTheReaderReadsHasTheSameMembers() throws {
        var random = SeededGenerator(seed: 44)
        var (wholeCount, unreadCount) = (0, 0)
        func check(_ bytes: [UInt8]) throws {
            let text = String(decoding: bytes, as: UTF8.self)
            guard let expected = bytes.withUnsafeBytes({ members(readFrom: $0) }) else {
                // Neither crashes nor runs on.
                if (try? members(text)) != nil { unreadCount += 1 }
                return
            }
            wholeCount += 1
            #expect(try members(text) == expected, "\(text.debugDescription)")
        }
        guard let folder = PackageRoot.shared("conformance/json/test_parsing") else { return }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        for file in names.map({ folder.appending(path: $0) }) {
            let vector = Array(try Data(contentsOf: file))
            try check(vector)
            guard vector.count < 2000 else { continue }
            for _ in 0..<50 {
                var bytes = vector
                for _ in 0..<Int.random(in: 1...2, using: &random) where !bytes.isEmpty {
                    let place = Int.random(in: bytes.indices, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes.remove(at: place)
                    case 1: bytes.insert(Array(#"{}[],:"\0 e-"#.utf8).randomElement(using: &random) ?? 0, at: place)
                    default: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                    }
                }
                try check(bytes)
            }
        }
        #expect(wholeCount > 1000 && unreadCount > 1000)
    }
}
