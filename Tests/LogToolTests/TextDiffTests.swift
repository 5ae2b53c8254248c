import Testing

@testable import logtool

@Suite struct TextDiffTests {
    @Test func linesAreKeptRemovedAndAdded() {
        let lines = TextDiff.lines(from: "one\ntwo\nthree", to: "one\n2\nthree\nfour")
        #expect(lines == [.kept("one"), .removed("two"), .added("2"), .kept("three"), .added("four")])
    }

    @Test(arguments: ["", "a", "a\nb", "\n", "a\n\nb"])
    func equalTextsHaveNoChange(text: String) {
        #expect(TextDiff.lines(from: text, to: text).allSatisfy { if case .kept = $0 { true } else { false } })
    }

    /// Removing the added lines gives the old text, removing the removed ones the new text.
    @Test(arguments: [("", "a"), ("a", ""), ("a\nb\nc", "c\nb\na"), ("x\nx\nx", "x"), ("a\nb", "b\nc\na\nb")])
    func bothTextsFollowFromTheLines(old: String, new: String) {
        let lines = TextDiff.lines(from: old, to: new)
        let before = lines.compactMap { line -> String? in if case .added = line { nil } else { line.text } }
        let after = lines.compactMap { line -> String? in if case .removed = line { nil } else { line.text } }
        #expect(before.joined(separator: "\n") == old)
        #expect(after.joined(separator: "\n") == new)
    }

    @Test func veryLongTextsAreShownWhole() {
        let old = (0..<3000).map(String.init).joined(separator: "\n")
        #expect(TextDiff.lines(from: old, to: "0").count == 3001)
    }
}

extension TextDiff.Line {
    fileprivate var text: String {
        switch self {
        case .kept(let text), .removed(let text), .added(let text): text
        }
    }
}
