import Projections

/// Prints how the fields of a thing changed.
struct FieldPrinter {
    let output: StandardOutput

    /// One field from one value to another; a side that is `nil` does not have it.
    func printChange(of name: String, from old: JSONValue?, to new: JSONValue?) throws {
        if case .string(let before)? = old, case .string(let after)? = new,
            before.contains(where: \.isNewline) || after.contains(where: \.isNewline)
        {
            try output.line("  \(DisplayText.escaped(name)):")
            try print(TextDiff.lines(from: before, to: after))
        } else {
            let sides = [old.map { style.text(shown($0), .removed) }, new.map { style.text(shown($0), .added) }]
            let arrow = old != nil && new != nil ? " → " : ""
            let mark = old == nil ? "+ " : (new == nil ? "- " : "")
            try output.line(
                "  \(DisplayText.escaped(name)): \(mark)\(sides.compactMap { $0 }.joined(separator: arrow))"
            )
        }
    }

    private func print(_ lines: [TextDiff.Line]) throws {
        for line in lines {
            switch line {
            case .kept(let text): try output.line("      " + DisplayText.escaped(text))
            case .removed(let text): try output.line("    " + style.text("- " + DisplayText.escaped(text), .removed))
            case .added(let text): try output.line("    " + style.text("+ " + DisplayText.escaped(text), .added))
            }
        }
    }

    private var style: Style { output.style }

    private func shown(_ value: JSONValue) -> String {
        if case .string(let text) = value { return "\"\(DisplayText.escaped(text))\"" }
        return DisplayText.escaped(value.text)
    }
}
