/// The changes between two texts, word by word. Joined, the kept and removed pieces are the old text, the kept and
/// added ones the new text.
enum WordDiff {
    /// A run of words, and whether it was kept, removed or added.
    enum Piece: Equatable {
        case kept(String)
        case removed(String)
        case added(String)
    }

    /// A replacement with a side longer than this is compared letter by letter at its ends: base64, or a text without
    /// spaces.
    private static let wordMax = 40

    /// Both texts in pieces, in order. In each change the removed text comes first. Neighbouring kept pieces are
    /// joined.
    ///
    /// Only what lies between the common ends is split into words: of a long text mostly a small part changes.
    static func pieces(from old: String, to new: String) -> [Piece] {
        let ends = WordTokens.commonEnds(old, new)
        let (before, after) = (WordTokens.split(old[ends.old]), WordTokens.split(new[ends.new]))
        let blocks = EditScript.blocks(from: before, to: after)
        let middle = joined(blocks).flatMap { block -> [Piece] in
            switch block {
            case .kept(let text): [.kept(text)]
            case .changed(let removed, let added): refined(removed, added)
            }
        }
        let (start, end) = (old[..<ends.old.lowerBound], old[ends.old.upperBound...])
        let pieces = [.kept(String(start))] + middle + [.kept(String(end))]
        return pieces.reduce(into: []) { result, piece in
            if piece.text.isEmpty { return }
            guard case .kept(let text) = piece, case .kept(let earlier)? = result.last else {
                return result.append(piece)
            }
            result[result.count - 1] = .kept(earlier + text)
        }
    }

    /// A stretch of both texts, or a replacement.
    private enum Block {
        case kept(String)
        case changed(removed: String, added: String)
    }

    /// The blocks as texts. Spaces between two changes belong to one joined change, which reads better than many small
    /// ones.
    private static func joined(_ blocks: [EditScript.Block]) -> [Block] {
        var result: [Block] = []
        for (index, block) in blocks.enumerated() {
            let removed = block.removed.map(\.text).joined()
            let added = block.added.map(\.text).joined()
            let kept = block.kept.map(\.text).joined()
            if !removed.isEmpty || !added.isEmpty { append(.changed(removed: removed, added: added), to: &result) }
            guard !kept.isEmpty else { continue }
            // Spaces before the first change or after the last one are kept.
            let isBetween = index + 1 < blocks.count && !(removed.isEmpty && added.isEmpty)
            let isBlank = isBetween && kept.allSatisfy { $0 == " " }
            append(isBlank ? .changed(removed: kept, added: kept) : .kept(kept), to: &result)
        }
        return result
    }

    /// Appends a block, joined with the last one if both are changes.
    private static func append(_ block: Block, to blocks: inout [Block]) {
        guard case .changed(let removed, let added) = block, case .changed(let earlier, let later)? = blocks.last else {
            return blocks.append(block)
        }
        blocks[blocks.count - 1] = .changed(removed: earlier + removed, added: later + added)
    }

    /// Splits a replacement. The common start and end of long runs become kept pieces; the middle is not compared
    /// further.
    private static func refined(_ removed: String, _ added: String) -> [Piece] {
        var (left, right) = (Array(removed.unicodeScalars)[...], Array(added.unicodeScalars)[...])
        var (start, end) = ("", "")
        if !removed.isEmpty, !added.isEmpty, max(left.count, right.count) > wordMax {
            let prefix = zip(left, right).prefix { $0 == $1 }.count
            start = text(left.prefix(prefix))
            (left, right) = (left.dropFirst(prefix), right.dropFirst(prefix))
            let suffix = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
            end = text(left.suffix(suffix))
            (left, right) = (left.dropLast(suffix), right.dropLast(suffix))
        }
        let pieces: [Piece] = [.kept(start), .removed(text(left)), .added(text(right)), .kept(end)]
        return pieces.filter { !$0.text.isEmpty }
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}

extension WordDiff.Piece {
    /// The words themselves.
    var text: String {
        switch self {
        case .kept(let text), .removed(let text), .added(let text): text
        }
    }

    /// True if both texts have the piece.
    var isKept: Bool { if case .kept = self { true } else { false } }
}

/// Splits a text into words, runs of spaces and single marks. Joined, the tokens are the text.
enum WordTokens {
    /// One token. Tokens are compared as bytes, because `String` takes a composed and a decomposed accent for equal.
    struct Token: Hashable {
        let text: Substring

        static func == (left: Token, right: Token) -> Bool {
            left.text.utf8.elementsEqual(right.text.utf8)
        }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private enum Kind {
        case word, space, mark
    }

    /// What remains of two texts between their common ends, both cut where a token ends by what bytes alone tell. So the tokens of
    /// an end and of the rest are those of the whole text. Cost: O(bytes).
    static func commonEnds(_ old: String, _ new: String) -> (old: Range<String.Index>, new: Range<String.Index>) {
        var (left, right) = (old, new)
        let (prefix, suffix) = left.withUTF8 { left in
            right.withUTF8 { right in
                func isEnd(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
                    place == 0 || place == text.count || isTokenEnd(between: text[place - 1], text[place])
                }
                let least = min(left.count, right.count)
                var prefix = 0
                while prefix < least, left[prefix] == right[prefix] { prefix += 1 }
                while !isEnd(left, prefix) || !isEnd(right, prefix) { prefix -= 1 }
                var suffix = 0
                while suffix < least - prefix, left[left.count - 1 - suffix] == right[right.count - 1 - suffix] {
                    suffix += 1
                }
                while !isEnd(left, left.count - suffix) || !isEnd(right, right.count - suffix) { suffix -= 1 }
                return (prefix, suffix)
            }
        }
        func range(_ text: String) -> Range<String.Index> {
            text.utf8.index(text.startIndex, offsetBy: prefix)..<text.utf8.index(text.endIndex, offsetBy: -suffix)
        }
        return (range(old), range(new))
    }

    /// Whether a token ends between two bytes that follow each other. False where one of them is not ASCII: the next scalar may
    /// belong to the character before it.
    private static func isTokenEnd(between first: UInt8, _ second: UInt8) -> Bool {
        guard first < 0x80, second < 0x80, !(first == 0x0D && second == 0x0A) else { return false }
        let kind = kind(ofASCII: second)
        return kind == .mark || kind != self.kind(ofASCII: first)
    }

    /// All of the text, in order.
    static func split(_ text: Substring) -> [Token] {
        var tokens: [Token] = []
        var start = text.startIndex
        var last = Kind.mark
        for index in text.indices {
            let kind = kind(of: text[index])
            if index > start, kind == .mark || kind != last {
                tokens.append(Token(text: text[start..<index]))
                start = index
            }
            last = kind
        }
        if start < text.endIndex { tokens.append(Token(text: text[start...])) }
        return tokens
    }

    /// The kind of a character of ASCII.
    private static func kind(ofASCII byte: UInt8) -> Kind {
        switch byte {
        case 0x20, 0x09: .space
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): .word
        default: .mark
        }
    }

    /// The kind of a character. In scripts without spaces between words, each character is a token.
    private static func kind(of character: Character) -> Kind {
        if let byte = character.asciiValue { return kind(ofASCII: byte) }
        if character.isNewline { return .mark }
        if character.isWhitespace { return .space }
        guard character.isLetter || character.isNumber || character == "_" else { return .mark }
        let isUnspaced = character.unicodeScalars.contains {
            $0.properties.isIdeographic || (0x0E00...0x0EFF).contains($0.value) || (0x3041...0x30FF).contains($0.value)
        }
        return isUnspaced ? .mark : .word
    }
}
