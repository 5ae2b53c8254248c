import TestSupport
import Testing

@testable import logtool

@Suite struct DisplayTextTests {
    @Test(arguments: [
        ("plain", "plain"),
        ("\u{1B}[31mred", "\\u{1b}[31mred"),
        ("a\tb\u{7}", "a\\u{9}b\\u{7}"),
        ("c1\u{9B}2J", "c1\\u{9b}2J"),
        ("turn\u{202E}ed", "turn\\u{202e}ed"),
        ("isolate\u{2067}", "isolate\\u{2067}"),
        ("é 漢字 🙂 👨‍👩‍👧", "é 漢字 🙂 👨‍👩‍👧"),
        ("del\u{7F}", "del\\u{7f}"),
        ("two\r\nlines", "two\\u{d}\\u{a}lines"),
    ])
    func noControlCharacterStaysRaw(text: String, shown: String) {
        #expect(DisplayText.escaped(text) == shown)
    }

    /// The quick answers for texts that need no look at Unicode's tables are the tables' answers.
    @Test func everyCharacterThatIsCalledVisibleIs() {
        for value in 0...0x10FFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value), DisplayText.isVisible(scalar) else { continue }
            let properties = scalar.properties
            let isHidden =
                properties.isDefaultIgnorableCodePoint || properties.generalCategory == .format
                || (properties.generalCategory == .spaceSeparator && scalar != " ")
            #expect(!isHidden && DisplayText.escaped(String(scalar)) == String(scalar), "U+\(String(value, radix: 16))")
        }
    }

    @Test(arguments: [("abc", 3), ("漢字", 4), ("e\u{301}", 1), ("🙂", 2), ("👨‍👩‍👧", 2), ("", 0)])
    func widthCountsColumns(text: String, columns: Int) {
        #expect(DisplayText.width(of: text) == columns)
    }

    @Test func aLongErrorKeepsItsBeginningAndItsEnd() throws {
        let name = String(repeating: "é", count: 60_000)
        let run = try ToolRun.run(["replay", "L", "--channel", name], in: TemporaryDirectory())
        #expect(run.exitCode == 10)
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 1)
        let found = try ToolRun.run(["replay", "L", "--channel", name], in: folder)
        #expect(found.exitCode == 1)
        #expect(found.errors.hasPrefix("logtool: ") && found.errors.count < 4_000, "\(found.errors.count)")
        #expect(DisplayText.shortened("short; do this") == "short; do this")
    }

    @Test func cuttingKeepsWithinTheColumns() {
        #expect(DisplayText.cut("abcdef", to: 6) == "abcdef")
        #expect(DisplayText.cut("abcdefg", to: 6) == "abcde…")
        #expect(DisplayText.cut("漢字漢字", to: 6) == "漢字…")
    }

    @Test func theFirstLineThatSaysSomethingIsShown() {
        #expect(DisplayText.firstLine(of: "\n\n  \nhello\nworld") == (line: "hello", isCut: true))
        #expect(DisplayText.firstLine(of: "hello\n") == (line: "hello", isCut: false))
        #expect(DisplayText.firstLine(of: "") == (line: "", isCut: false))
    }
}

@Suite struct ByteCountTextTests {
    @Test(arguments: [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_500_000, "1.4 MiB"), (1 << 34, "16.0 GiB")])
    func sizesAreWrittenForPeople(count: Int, text: String) {
        #expect(ByteCountText.text(count) == text)
    }
}
