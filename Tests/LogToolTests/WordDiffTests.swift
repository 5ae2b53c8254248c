import TestSupport
import Testing

@testable import logtool

@Suite struct WordDiffTests {
    @Test func wordsAreKeptRemovedAndAdded() {
        let pieces = WordDiff.pieces(from: "one two three", to: "one 2 three four")
        #expect(pieces == [.kept("one "), .removed("two"), .added("2"), .kept(" three"), .added(" four")])
    }

    @Test func neighboursAreOneChange() {
        let pieces = WordDiff.pieces(from: "and an edit is gone", to: "and two edits are gone")
        #expect(pieces == [.kept("and "), .removed("an edit is"), .added("two edits are"), .kept(" gone")])
    }

    @Test(arguments: ["", "a", "a b", "\n", "a\n\nb", "漢字", "👨‍👩‍👧 🙂"])
    func equalTextsHaveNoChange(text: String) {
        #expect(WordDiff.pieces(from: text, to: text).allSatisfy { $0.isKept })
    }

    /// Leaving out what was added gives the old text, leaving out what was removed the new one, to the byte.
    @Test(arguments: [
        ("", "a"), ("a", ""), ("a b c", "c b a"), ("x x x", "x"), ("a b", "b c a b"), ("a\nb\nc", "c\nb"),
        ("e\u{301}t", "ét"), ("fo\u{200B}o", "foo"), ("a\r\nb", "a\nb"), ("a  b", "a b"), ("漢字と仮名", "漢字の仮名"),
        (String(repeating: "x", count: 50) + "a", String(repeating: "x", count: 50) + "b"),
    ])
    func bothTextsFollowFromThePieces(old: String, new: String) {
        let pieces = WordDiff.pieces(from: old, to: new)
        #expect(Array(Self.side(pieces) { if case .added = $0 { false } else { true } }.utf8) == Array(old.utf8))
        #expect(Array(Self.side(pieces) { if case .removed = $0 { false } else { true } }.utf8) == Array(new.utf8))
    }

    /// Random texts of few words, so that they have much in common.
    @Test(arguments: 0..<200)
    func bothTextsFollowFromThePiecesOfRandomTexts(seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        func text() -> String {
            (0..<next(40)).map { _ in ["a", "b", "cc", " ", " ", "\n", ".", "é"][Int(next(8))] }.joined()
        }
        bothTextsFollowFromThePieces(old: text(), new: text())
    }

    /// The tokens of an end, then those of the rest: the same as of the whole text, so no change reads otherwise for it.
    @Test(arguments: 0..<50)
    func commonEndsAreCutWhereTokensEnd(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let letters = ["a", "b", "_", " ", "\t", "\n", "\r", "\r\n", ".", ",", "é", "e\u{301}", "漢", "👍🏽", "\u{200D}"]
        func text() -> String {
            (0..<Int.random(in: 0...12, using: &random)).map { _ in letters.randomElement(using: &random) ?? "" }
                .joined()
        }
        var cut = 0
        for _ in 0..<200 {
            let (start, end) = (text(), text())
            let (old, new) = (start + text() + end, start + text() + end)
            let ends = WordTokens.commonEnds(old, new)
            for (text, middle) in [(old, ends.old), (new, ends.new)] {
                let parts = [text[..<middle.lowerBound], text[middle], text[middle.upperBound...]]
                #expect(parts.flatMap { WordTokens.split($0) } == WordTokens.split(text[...]), "\(Array(text.utf8))")
            }
            #expect(old[..<ends.old.lowerBound].utf8.elementsEqual(new[..<ends.new.lowerBound].utf8))
            #expect(old[ends.old.upperBound...].utf8.elementsEqual(new[ends.new.upperBound...].utf8))
            cut += ends.old == old.startIndex..<old.endIndex ? 0 : 1
        }
        #expect(cut > 50)
    }

    /// What ASCII is, the properties of Unicode say the same way.
    @Test func kindsOfASCIIAreThoseOfUnicode() {
        for byte in UInt8(0)..<0x80 {
            let character = Character(Unicode.Scalar(byte))
            let isWord = character.isLetter || character.isNumber || character == "_"
            let isSpace = character.isWhitespace && !character.isNewline
            let pair = String([character, character])
            #expect(WordTokens.split(pair[...]).count == (isWord || isSpace ? 1 : 2), "\(byte)")
            #expect(WordTokens.split("\(character)a"[...]).count == (isWord ? 1 : 2), "\(byte)")
        }
    }

    @Test func veryDifferentTextsAreReplacedWhole() {
        let old = (0..<3000).map { "a\($0)" }.joined(separator: " ")
        let new = (0..<3000).map { "b\($0)" }.joined(separator: "\n")
        #expect(WordDiff.pieces(from: old, to: new).filter(\.isKept).map(\.text).joined().count < 10)
    }

    @Test func aLongTextWithTwoChangesFarApartIsCheap() {
        var words = (0..<20_000).map { "w\($0)" }
        let old = words.joined(separator: " ")
        (words[1], words[19_998]) = ("x", "y")
        let pieces = WordDiff.pieces(from: old, to: words.joined(separator: " "))
        #expect(pieces.filter { !$0.isKept } == [.removed("w1"), .added("x"), .removed("w19998"), .added("y")])
    }

    @Test func whatLooksAlikeIsSpelledOut() {
        let lines = WordDiffText(style: .plain).lines(of: WordDiff.pieces(from: "an e\u{301}t", to: "an ét"))
        #expect(lines == ["an [-e\\u{301}t-]{+\\u{e9}t+}"])
    }

    @Test func linesThatWereAddedEndWithAMark() {
        let lines = WordDiffText(style: .plain).lines(of: WordDiff.pieces(from: "one\ntwo", to: "one\nand \ntwo"))
        #expect(lines == ["one", "{+and\\u{20}⏎", "+}two"])
    }

    private static func side(_ pieces: [WordDiff.Piece], _ isMeant: (WordDiff.Piece) -> Bool) -> String {
        pieces.filter(isMeant).map(\.text).joined()
    }
}

@Suite struct JSONEscapesTests {
    @Test(arguments: [
        (#"a\n\"\\\/b"#, "a\n\"\\/b"), (#"\u00e9\ud83d\ude42"#, "é🙂"), (#"\q \u12 \"#, #"\q \u12 \"#),
        (#"\ud83d x"#, "\u{FFFD} x"), ("plain", "plain"),
    ])
    func escapesAreUndone(text: String, plain: String) {
        let bytes = Array(text.utf8).withUnsafeBytes { JSONEscapes.undone(in: $0) }
        #expect(String(decoding: bytes, as: UTF8.self) == plain)
    }
}
