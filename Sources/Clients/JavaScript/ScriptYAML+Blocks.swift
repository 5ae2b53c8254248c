extension ScriptYAML {
    /// Which line breaks at a block scalar's end stay: one, none, or all.
    private enum Chomping {
        case clip, strip, keep
    }

    /// The text of a block scalar so far.
    private struct Block {
        var isFolded: Bool
        var chomping = Chomping.clip
        /// The number of columns that are no part of the text: given in the header, else that of the first line with
        /// content.
        var indent: Int
        var isIndentKnown = false
        /// The empty lines since the last line with content.
        var emptyLines = 0
        /// Whether the last line began with a blank. Folding leaves such lines as they are.
        var isBehindIndented = false
        var hasContent = false
        var text: [UInt8] = []

        mutating func breaks(_ count: Int) { text += repeatElement(0x0A, count: count) }

        /// Appends the breaks, or the space of folding, before a line that begins with `byte`.
        mutating func join(_ byte: UInt8) {
            let all = hasContent ? 1 + emptyLines : emptyLines
            if !isFolded {
                breaks(all)
            } else if ScriptYAML.isBlank(byte) {
                isBehindIndented = true
                breaks(all)
            } else if isBehindIndented {
                isBehindIndented = false
                breaks(emptyLines + 1)
            } else if emptyLines > 0 {
                breaks(emptyLines)
            } else if hasContent {
                text.append(0x20)
            }
            hasContent = true
            isIndentKnown = true
            emptyLines = 0
        }

        /// Appends the breaks that stay at the end, once the block is over.
        mutating func chomp() {
            switch chomping {
            case .keep: breaks(hasContent ? 1 + emptyLines : emptyLines)
            case .clip: breaks(hasContent ? 1 : 0)
            case .strip: break
            }
        }
    }

    /// Reads a block scalar: `|` or `>` and its lines, up to the first line that is indented less. (js-yaml's
    /// `readBlockScalar`.)
    mutating func readBlockScalar(_ nodeIndent: Int) throws(ScriptFault) -> Bool {
        guard byte == UInt8(ascii: "|") || byte == UInt8(ascii: ">") else { return false }
        var block = Block(isFolded: byte == UInt8(ascii: ">"), indent: nodeIndent)
        try readHeader(&block, nodeIndent)
        while byte != 0 {
            try readBreak()
            lineIndent = 0
            while !block.isIndentKnown || lineIndent < block.indent, byte == 0x20 {
                lineIndent += 1
                place += 1
            }
            // Empty lines count here too: they may be indented deeper than the first line with content, which is then
            // the end.
            if !block.isIndentKnown { block.indent = max(block.indent, lineIndent) }
            if Self.isBreak(byte) {
                block.emptyLines += 1
                continue
            }
            if lineIndent < block.indent {
                block.chomp()
                break
            }
            block.join(byte)
            let start = place
            skipLine()
            try append(start..<place, to: &block.text)
        }
        setScalar(block.text)
        return true
    }

    /// Reads the indicators behind `|` or `>`: chomping and an indentation from 1 to 9, each at most once, and a
    /// comment.
    private mutating func readHeader(_ block: inout Block, _ nodeIndent: Int) throws(ScriptFault) {
        place += 1
        while byte != 0 {
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") {
                guard block.chomping == .clip else { throw .invalid }
                block.chomping = byte == UInt8(ascii: "+") ? .keep : .strip
            } else if (0x30...0x39).contains(byte) {
                guard byte > 0x30, !block.isIndentKnown else { throw .invalid }
                block.indent = nodeIndent + Int(byte - 0x30) - 1
                block.isIndentKnown = true
            } else {
                break
            }
            place += 1
        }
        guard Self.isBlank(byte) else { return }
        while Self.isBlank(byte) { place += 1 }
        if byte == UInt8(ascii: "#") { skipLine() }
    }
}
