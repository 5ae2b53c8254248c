import Projections

/// Prints the differences of two states for people. Each difference comes as the object that `diff --json` gives.
struct DifferencePrinter {
    let output: StandardOutput

    /// Prints all of them and a line that counts them.
    func print(_ differences: [JSONValue]) throws {
        for difference in differences { try print(difference) }
        try output.line(differences.isEmpty ? "the states are the same" : Self.counts(of: differences))
    }

    /// `1 added, 2 deleted`.
    private static func counts(of differences: [JSONValue]) -> String {
        let counts = [
            ("added", differences.count { $0.text("change") == "added" && !isDeleteOfTheUnseen($0) }),
            ("removed", differences.count { $0.text("change") == "removed" }),
            ("changed", differences.count { $0.text("change") == "changed" }),
            ("deleted", differences.count { $0.text("change") == "deleted" }),
            ("restored", differences.count { $0.text("change") == "restored" }),
            ("new among the deleted", differences.count(where: isDeleteOfTheUnseen)),
        ]
        return counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
    }

    /// Prints one difference.
    func print(_ difference: JSONValue) throws {
        let isEnd = difference.text("change") == "deleted" || Self.isDeleteOfTheUnseen(difference)
        let (mark, role) = Self.mark(of: isEnd ? "deleted" : difference.text("change"))
        let name = style.text("\(mark) \(DisplayText.escaped(difference.text("entity")))", role)
        let notes = [isEnd ? Self.end(in: difference) : nil, events(of: difference)].compactMap { $0 }
        try output.line(name + notes.map { "  " + style.text("(\(DisplayText.escaped($0)))", .quiet) }.joined())
        let printer = FieldPrinter(output: output)
        for field in difference["fields"]?.object?.members ?? [] {
            let (a, b) = (field.value["a"], field.value["b"])
            if isEnd && Self.endMembers.contains(field.name) { continue }
            // A delete takes the last text away, whether or not the tombstone keeps it.
            let isLastText = isEnd && field.name == "content" && (a == nil || b == nil || a == b)
            try printer.printChange(of: field.name, from: isLastText ? b ?? a : a, to: isLastText ? nil : b)
        }
    }

    private static func mark(of change: String) -> (String, Style.Role) {
        switch change {
        case "added", "restored": ("+", .added)
        case "removed": ("-", .removed)
        case "deleted": ("×", .removed)
        default: ("~", .changed)
        }
    }

    /// The members that the note beside the name shows.
    private static let endMembers: Set<String> = ["cause", "deletedAt", "deletedBy"]

    /// True if the second state lists a message as deleted that the first does not know.
    private static func isDeleteOfTheUnseen(_ difference: JSONValue) -> Bool {
        difference.text("change") == "added" && difference.text("entity").hasPrefix("message:")
            && difference["fields"]?["cause"]?["b"] != nil
    }

    /// `deleted 2026-01-19 09:45 by cyd`, as far as the remote tells.
    private static func end(in difference: JSONValue) -> String {
        let value = { (name: String) in difference["fields"]?[name]?["b"]?.string }
        return DeletionText.text(cause: value("cause") ?? "deleted", time: value("deletedAt"), by: value("deletedBy"))
    }

    /// The events responsible, eight at most; `nil` without `--explain`.
    private func events(of difference: JSONValue) -> String? {
        let events = (difference["sequences"]?.array ?? []).compactMap(\.string)
        if events.isEmpty { return nil }
        let shown = events.prefix(8).joined(separator: ", ")
        let more = events.count > 8 ? " and \(events.count - 8) more" : ""
        return "event\(events.count == 1 ? "" : "s") \(shown)\(more)"
    }

    private var style: Style { output.style }
}

/// The words for a delete: what deleted the message, when and who, as far as the remote tells.
enum DeletionText {
    /// What deleted a message, by the word of the state document.
    static func cause(_ cause: String) -> String {
        switch cause {
        case "channel_deleted": "deleted with its channel"
        case "guild_deleted": "deleted with its guild"
        default: "deleted"
        }
    }

    /// - Parameters:
    ///   - cause: `deleted`, `channel_deleted` or `guild_deleted`.
    ///   - time: The remote's time in RFC 3339.
    static func text(cause: String, time: String?, by: String?) -> String {
        let what = Self.cause(cause)
        return switch (time.map(TimeText.minute), by) {
        case (let time?, let by?): "\(what) \(time) by \(by)"
        case (let time?, nil): "\(what) \(time), by whom is not told"
        case (nil, let by?): "\(what) by \(by), when is not told"
        case (nil, nil): "\(what), when and by whom is not told"
        }
    }
}
