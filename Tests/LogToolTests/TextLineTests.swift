import Testing

@testable import logtool

/// Lines that are put together from bytes look as those of `DisplayText` do.
@Suite struct TextLineTests {
    /// Every kind of character that is written out, ends a line or is a space, behind texts of several lengths.
    @Test(arguments: ["", "tea", "größer 日本 🍰", "a text of more than sixteen bytes"])
    func aPlainLineIsShownAsItIs(start: String) {
        let others: [UInt32] = [0x7F, 0x85, 0x9F, 0xA0, 0x61C, 0x200E, 0x2028, 0x202E, 0x2069, 0xFEFF]
        let ends = ((0...0x20) + others).compactMap { Unicode.Scalar($0) }
        for end in ends + ["x", "~", "é", "日", "🍰"] {
            for text in [start, start + String(end), String(end) + start, start + String(end) + "x"] {
                let isPlain = Array(text.utf8).withUnsafeBytes { DisplayText.isPlainLine($0) }
                let line = DisplayText.firstLine(of: text)
                let isUnchanged = DisplayText.escaped(text) == text && line.line == text && !line.isCut
                if isPlain { #expect(isUnchanged, "\(text.debugDescription)") }
            }
        }
    }

    @Test(arguments: ["tea, cake 日本 größer 🍰", "x"])
    func usualTextsArePlain(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { DisplayText.isPlainLine($0) })
    }

    /// A space behind U+0600 is part of its character.
    @Test(arguments: ["", "  ", "tea  ", " tea", "日本 ", "\u{600} ", "a\u{600}  ", "é\u{301} "])
    func spacesAreTrimmedAsFromAText(text: String) {
        var line = TextLine()
        line.add(text)
        line.trimTrailingSpaces()
        #expect(String(decoding: line.bytes, as: UTF8.self) == text.trimmingTrailingSpaces())
    }

    @Test func aRoleColoursWhatIsAdded() {
        let style = Style(hasColor: true, width: nil)
        var line = TextLine()
        line.add(.quiet, style) { $0.add("tea") }
        line.add(.author, style) { _ in }
        #expect(String(decoding: line.bytes, as: UTF8.self) == style.text("tea", .quiet))
    }
}
