import TestSupport
import Testing

@testable import Projections

/// A list that is read by what differs from the last text is the list that is read whole.
@Suite struct NextListTests {
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func readingOnGivesTheListOfTheWholeText(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (text, last) = (Self.list(&random), ItemsText?.none)
        var readOnCount = 0
        for _ in 0..<300 {
            let bytes = Array(text.utf8)
            let whole = try? bytes.withUnsafeBytes { try ItemsText($0) }
            let next = bytes.withUnsafeBytes { last?.next($0) }
            if let next {
                readOnCount += 1
                #expect(next.elements == whole?.elements, "\(text)")
                #expect(next.project == whole?.project, "\(text)")
                // Places are right, too: the next text is read by them.
                #expect(next.places == whole?.places, "\(text)")
            }
            if let whole { last = Bool.random(using: &random) ? next ?? whole : whole }
            text = Self.changed(text, &random)
        }
        #expect(readOnCount > 20, "seed \(seed)")
    }

    private static func list(_ random: inout SeededGenerator) -> String {
        let elements = (0..<Int.random(in: 1...8, using: &random)).map { #" {"id":"\#($0)","n":\#($0 * 11)} "# }
        let array = "[\(elements.joined(separator: ","))]"
        return Bool.random(using: &random) ? array : #"{"project":"p","items":\#(array),"rest":[1,2]}"#
    }

    /// Another text: with a piece of it left out, repeated or replaced, mostly a small one.
    private static func changed(_ text: String, _ random: inout SeededGenerator) -> String {
        if Int.random(in: 0...12, using: &random) == 0 || text.count > 400 { return list(&random) }
        var characters = Array(text)
        guard let start = characters.indices.randomElement(using: &random) else { return list(&random) }
        let end = min(characters.count, start + Int.random(in: 0...6, using: &random))
        let pieces = [
            "", "1", "12", " ", ",", "]", "[", #"],"items":["#, #"],"x":["#, #""a""#, "{}", #"{"id":"x"}"#,
            #"1,{"id":"é"},2"#, "e5",
        ]
        let piece = pieces.randomElement(using: &random) ?? ""
        switch Int.random(in: 0...3, using: &random) {
        case 0: characters.removeSubrange(start..<end)
        case 1: characters.insert(contentsOf: characters[start..<end], at: start)
        default: characters.replaceSubrange(start..<end, with: Array(piece))
        }
        let next = String(characters)
        // Mostly texts that are lists, which are what the next text is compared with.
        let isList = (try? Array(next.utf8).withUnsafeBytes { try ItemsText($0) }) != nil
        return isList || Int.random(in: 0...4, using: &random) == 0 ? next : text
    }
}
