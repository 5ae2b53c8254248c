import Projections

/// Prints the differences of two states for people. Each difference comes as the object that `diff --json` gives.
struct DifferencePrinter {
    let output: StandardOutput

    /// Prints all of them and a line that counts them.
    func print(_ differences: [JSONValue]) throws {
        for difference in differences { try print(difference) }
        let counts = ["added", "removed", "changed"].compactMap { change -> String? in
            let count = differences.filter { $0.text("change") == change }.count
            return count == 0 ? nil : "\(count) \(change)"
        }
        try output.line(counts.isEmpty ? "the states are the same" : counts.joined(separator: ", "))
    }

    /// Prints one difference.
    func print(_ difference: JSONValue) throws {
        let change = difference.text("change")
        let (mark, role): (String, Style.Role) =
            switch change {
            case "added": ("+", .added)
            case "removed": ("-", .removed)
            default: ("~", .changed)
            }
        let events = (difference["sequences"]?.array ?? []).compactMap(\.string)
        let notes =
            events.isEmpty ? "" : "  " + style.text("(event\(events.count == 1 ? "" : "s") \(listed(events)))", .quiet)
        try output.line("\(style.text("\(mark) \(DisplayText.escaped(difference.text("entity")))", role))\(notes)")
        for field in difference["fields"]?.object?.members ?? [] {
            try FieldPrinter(output: output).printChange(of: field.name, from: field.value["a"], to: field.value["b"])
        }
    }

    private func listed(_ events: [String]) -> String {
        let shown = events.prefix(8).map(DisplayText.escaped).joined(separator: ", ")
        return events.count > 8 ? "\(shown) and \(events.count - 8) more" : shown
    }

    private var style: Style { output.style }
}
