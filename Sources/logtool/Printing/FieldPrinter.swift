import Projections

/// Prints how the fields of a thing changed. All values are escaped, and what is invisible in a changed text is written
/// out.
///
/// Escaping comes before colouring: a colour code in the text of a remote would otherwise be obeyed.
struct FieldPrinter {
    let output: StandardOutput

    /// Values longer than this, in UTF-8 bytes, are compared by words even if they are no sentences.
    private static let longValue = 60

    /// Prints one field's change; a side that is `nil` does not have the field. Objects are compared member by member,
    /// texts by words where that is shorter to read.
    func printChange(of name: String, from old: JSONValue?, to new: JSONValue?) throws {
        if let old = old?.object, let new = new?.object { return try printMembers(of: name, from: old, to: new) }
        if let pieces = Self.pieces(from: old, to: new) {
            let quotes = old?.string != nil && new?.string != nil
            return try print(name, WordDiffText(style: style).lines(of: pieces), isQuoted: quotes)
        }
        let texts = (old?.string, new?.string)
        if Self.hasLines(texts.0) || Self.hasLines(texts.1) {
            try printLines(of: name, texts.0, isAdded: false)
            return try printLines(of: name, texts.1, isAdded: true)
        }
        try output.line { line in
            line.add("  ")
            line.add(DisplayText.escaped(name))
            line.add(old == nil ? ": + " : new == nil ? ": - " : ": ")
            if let old { add(old, .removed, to: &line) }
            if old != nil && new != nil { line.add(" → ") }
            if let new { add(new, .added, to: &line) }
        }
    }

    /// Prints a field of a version that is no change; of an object only the members that are not as known.
    func printVersion(of name: String, _ value: JSONValue, known: JSONValue?) throws {
        if let value = value.object, let known = known?.object {
            for member in value.members where known[member.name] != member.value {
                try printVersion(of: "\(name).\(member.name)", member.value, known: known[member.name])
            }
            return
        }
        guard let text = value.string, Self.hasLines(text) else {
            return try output.line { line in
                line.add("  ")
                line.add(DisplayText.escaped(name))
                line.add(": ")
                add(value, .quiet, to: &line)
            }
        }
        try output.line("  \(DisplayText.escaped(name)):")
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            try output.line("      " + style.text(DisplayText.revealed(String(line)), .quiet))
        }
    }

    /// True if a text has more than one line, by any of Unicode's line ends.
    private static func hasLines(_ text: String?) -> Bool {
        guard let text, DisplayText.mayHaveLines(text) else { return false }
        return text.contains(where: \.isNewline)
    }

    /// Prints only the changed members, by their path, in the old object's order. A member that is an object is
    /// compared in the same way, at any depth.
    private func printMembers(of name: String, from old: JSONObject, to new: JSONObject) throws {
        let names = old.members.map(\.name) + new.members.map(\.name).filter { old[$0] == nil }
        for member in names where old[member] != new[member] {
            try printChange(of: "\(name).\(member)", from: old[member], to: new[member])
        }
    }

    /// The change by words; `nil` if the two have no word in common, or are short and no sentences, as ids and times
    /// are.
    ///
    /// Ids and times that differ by a digit are quicker to read whole. Cost: linear, by the limit of `EditScript`.
    private static func pieces(from old: JSONValue?, to new: JSONValue?) -> [WordDiff.Piece]? {
        guard let old, let new else { return nil }
        let (before, after) = (old.string ?? old.text, new.string ?? new.text)
        let isLong = max(before.utf8.count, after.utf8.count) > longValue
        if !isLong {
            let isSentence = [before, after].allSatisfy { $0.contains(where: \.isWhitespace) }
            guard isSentence, old.string != nil, new.string != nil else { return nil }
        }
        let pieces = WordDiff.pieces(from: before, to: after)
        // Common spaces and marks are no reason to mix two texts.
        let hasCommonWord = pieces.contains { $0.isKept && $0.text.contains { $0.isLetter || $0.isNumber } }
        return hasCommonWord ? pieces : nil
    }

    /// Prints a text line by line, for changes from or to a text of several lines.
    private func printLines(of name: String, _ text: String?, isAdded: Bool) throws {
        guard let text else { return }
        try output.line("  \(DisplayText.escaped(name)): \(isAdded ? "+" : "-")")
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            let shown = style.text(DisplayText.revealed(String(line)), isAdded ? .added : .removed)
            try output.line("      " + shown)
        }
    }

    /// Prints a change by words, on the line of the name if it is one line.
    private func print(_ name: String, _ lines: [String], isQuoted: Bool) throws {
        let quote = isQuoted ? "\"" : ""
        guard lines.count > 1 else {
            return try output.line("  \(DisplayText.escaped(name)): \(quote)\(lines.joined())\(quote)")
        }
        try output.line("  \(DisplayText.escaped(name)):")
        for line in lines { try output.line("      " + line) }
    }

    private var style: Style { output.style }

    /// Adds a value, a text in quotes.
    private func add(_ value: JSONValue, _ role: Style.Role, to line: inout TextLine) {
        line.add(role, style) { line in
            guard case .string(let text) = value else { return line.add(DisplayText.revealed(value.text)) }
            line.add("\"")
            line.add(DisplayText.revealed(text))
            line.add("\"")
        }
    }
}

/// Writes a change by words: `Yes, [-an edit is-]{+two edits are+} gone`, as `git diff --word-diff` does.
struct WordDiffText {
    let style: Style

    /// How many kept characters are shown on each side of a change.
    private static let context = 40

    /// The lines, safe for a terminal. Invisible characters are written out where they changed.
    func lines(of pieces: [WordDiff.Piece]) -> [String] {
        var lines = [""]
        for (index, piece) in pieces.enumerated() {
            let parts = parts(of: piece, at: index, in: pieces)
            for (place, part) in parts.enumerated() {
                if place > 0 { lines.append("") }
                lines[lines.count - 1] += part
            }
        }
        return lines
    }

    /// A piece as the parts of lines: each but the first begins a new line. Kept text is only escaped; in changed text
    /// the invisible is written out, too.
    private func parts(of piece: WordDiff.Piece, at index: Int, in pieces: [WordDiff.Piece]) -> [String] {
        let isLast = index == pieces.count - 1
        switch piece {
        case .kept(let text):
            let shown = Self.shortened(text, keepsStart: index > 0, keepsEnd: !isLast)
            return Self.split(shown).map { DisplayText.escaped($0) }
        case .removed(let text):
            let isLookalike = Self.twin(of: index, in: pieces) == text
            return changed(text, "[-", "-]", .removed, isLookalike: isLookalike, isLast: isLast)
        case .added(let text):
            let isLookalike = Self.twin(of: index, in: pieces) == text
            return changed(text, "{+", "+}", .added, isLookalike: isLookalike, isLast: isLast)
        }
    }

    /// One side of a change, by lines. A line end within it is shown as `⏎`. Spaces at the end of a line are written
    /// out, since they may be the change.
    ///
    /// - Parameters:
    ///   - isLookalike: Whether the two halves differ only in how their letters are encoded. Everything beyond ASCII is
    ///     then written out.
    ///   - isLast: Whether the change ends the text, so that trailing spaces end a line.
    private func changed(
        _ text: String,
        _ open: String,
        _ close: String,
        _ role: Style.Role,
        isLookalike: Bool,
        isLast: Bool
    ) -> [String] {
        let lines = Self.split(text)
        return lines.enumerated().map { place, line in
            let hasBreak = place < lines.count - 1
            let words =
                isLookalike
                ? DisplayText.spelledOut(line)
                : DisplayText.revealed(line, keepsEmoji: false, isLineEnd: hasBreak || isLast)
            return style.text((place == 0 ? open : "") + words + (hasBreak ? "⏎" : close), role)
        }
    }

    /// The other half of a change; `nil` if nothing takes its place. `==` compares characters, so composed and
    /// decomposed accents are equal.
    private static func twin(of index: Int, in pieces: [WordDiff.Piece]) -> String? {
        switch pieces[index] {
        case .kept: nil
        case .removed:
            if index + 1 < pieces.count, case .added(let text) = pieces[index + 1] { text } else { nil }
        case .added: if index > 0, case .removed(let text) = pieces[index - 1] { text } else { nil }
        }
    }

    /// A kept text without its middle, or without the side that borders on no change. Up to 20 characters more are
    /// kept, because an `…` in place of a word saves nothing.
    private static func shortened(_ text: String, keepsStart: Bool, keepsEnd: Bool) -> String {
        let start = keepsStart ? context : 0
        let end = keepsEnd ? context : 0
        let most = max(start + end, context) + 20
        // Not by the count, which takes as long as the text is.
        guard text.index(text.startIndex, offsetBy: most + 1, limitedBy: text.endIndex) != nil else { return text }
        return text.prefix(start) + "…" + text.suffix(end)
    }

    /// The lines of a text, empty ones included.
    private static func split(_ text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }
}
