import TestSupport
import Testing

@testable import JSON

/// A search by blocks of bytes finds what a search byte by byte finds.
@Suite struct TextSearchTests {
    /// Few characters, so that most searches meet many beginnings and ends; all lengths around one block and two.
    private static func text(_ random: inout SeededGenerator) -> [UInt8] {
        let pieces = ["a", "b", "A", "B", "é", "n", "\\n", "\\u0061", "\\u00e9", "\\", "\\\\", "\\ud83d\\ude00", " "]
        var text: [UInt8] = []
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            text += (pieces.randomElement(using: &random) ?? "").utf8
        }
        return text
    }

    private static func occurs(_ wanted: [UInt8], in text: [UInt8]) -> Bool {
        guard wanted.count <= text.count else { return false }
        return (0...text.count - wanted.count).contains { text[$0...].starts(with: wanted) }
    }

    private static func small(_ text: [UInt8]) -> [UInt8] {
        text.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }

    private static func unescaped(_ text: [UInt8]) -> [UInt8] {
        text.withUnsafeBytes { text in
            var (decoded, index) = ([UInt8](), 0)
            while index < text.count {
                if text[index] == UInt8(ascii: "\\") {
                    index = JSONEscape.appendDecoded(text, at: index, to: &decoded)
                } else {
                    decoded.append(text[index])
                    index += 1
                }
            }
            return decoded
        }
    }

    @Test("Texts of all lengths are found where they stand, and nowhere else", arguments: 0..<20)
    func agrees(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var found = (plain: 0, unescaped: 0, ignoringCase: 0)
        for _ in 0..<400 {
            let text = Self.text(&random)
            let letters = ["a", "b", "A", "é", "n", "\n", "\\", "😀"]
            let wanted = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                letters.randomElement(using: &random) ?? "a"
            }
            .joined()
            let bytes = Array(wanted.utf8)
            let search = try #require(TextSearch(wanted, ignoresCase: false))
            let isPlain = Self.occurs(bytes, in: text)
            #expect(text.withUnsafeBytes(search.occurs(in:)) == isPlain, "\(wanted) in \(text)")
            let isUnescaped = isPlain || Self.occurs(bytes, in: Self.unescaped(text))
            #expect(text.withUnsafeBytes(search.occursUnescaped(in:)) == isUnescaped, "\(wanted) in \(text)")
            found.plain += isPlain ? 1 : 0
            found.unescaped += isUnescaped && !isPlain ? 1 : 0
            // Without regard to case, bytes tell only where a text of other letters than ASCII's cannot be.
            let piece = Self.small(bytes.filter { $0 == UInt8(ascii: "a") || $0 == UInt8(ascii: "A") })
            guard let loose = TextSearch(String(decoding: piece, as: UTF8.self), ignoresCase: true) else { continue }
            let isLoose = Self.occurs(piece, in: Self.small(text))
            #expect(text.withUnsafeBytes(loose.occurs(in:)) == isLoose, "\(piece) in \(text)")
            found.ignoringCase += isLoose ? 1 : 0
        }
        #expect(found.plain > 20 && found.unescaped > 5 && found.ignoringCase > 20, "\(found)")
    }
}
