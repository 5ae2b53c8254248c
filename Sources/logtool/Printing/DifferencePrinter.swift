import EventLog
import Projections

/// Prints the differences of two states for people.
///
/// `diff`, `replay --step` and `bisect` share it, so that a change looks the same wherever it is shown.
struct DifferencePrinter {
    let output: StandardOutput

    /// Prints all of them and a line that counts them.
    ///
    /// - Parameter responsible: The events that explain some of the things.
    func print(
        _ differences: [StateDifference],
        responsible: [EntityReference: [SequenceNumber]] = [:]
    ) throws {
        // By change, then those that the first state does not know.
        var counts: [StateDifference.Change: Int] = [:]
        var unseen = 0
        for difference in differences {
            try print(difference, events: responsible.isEmpty ? [] : responsible[difference.entity] ?? [])
            if Self.isDeleteOfTheUnseen(difference) { unseen += 1 } else { counts[difference.change, default: 0] += 1 }
        }
        let known = [StateDifference.Change.added, .removed, .changed, .deleted, .restored].map {
            (name: $0.rawValue, count: counts[$0] ?? 0)
        }
        // `1 added, 2 deleted`.
        let shown = (known + [("new among the deleted", unseen)]).filter { $0.count > 0 }
        let line = shown.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
        try output.line(differences.isEmpty ? "the states are the same" : line)
    }

    /// Prints one difference.
    ///
    /// - Parameter events: The events responsible; empty without `--explain`.
    func print(_ difference: StateDifference, events: [SequenceNumber] = []) throws {
        let isEnd = difference.change == .deleted || Self.isDeleteOfTheUnseen(difference)
        let (mark, role) = Self.mark(of: isEnd ? .deleted : difference.change)
        try output.line { line in
            line.add(role, style) { line in
                line.add(mark)
                line.add(" ")
                line.add(DisplayText.escaped(difference.entity.description))
            }
            if isEnd { add(Self.end(in: difference), to: &line) }
            if let responsible = Self.text(of: events) { add(responsible, to: &line) }
        }
        let printer = FieldPrinter(output: output)
        for field in difference.fields {
            if isEnd && Self.endMembers.contains(field.name) { continue }
            // A delete takes the last text away, whether or not the tombstone keeps it.
            let isLastText =
                isEnd && field.name == "content" && (field.a == nil || field.b == nil || field.a == field.b)
            let (a, b) = isLastText ? (field.b ?? field.a, nil) : (field.a, field.b)
            try printer.printChange(of: field.name, from: a, to: b)
        }
    }

    /// The first column: `+` comes, `-` goes without a trace, `×` is deleted and leaves a tombstone, `~` changes.
    private static func mark(of change: StateDifference.Change) -> (String, Style.Role) {
        switch change {
        case .added, .restored: ("+", .added)
        case .removed: ("-", .removed)
        case .deleted: ("×", .removed)
        case .changed: ("~", .changed)
        }
    }

    /// The members that the note beside the name shows.
    private static let endMembers: Set<String> = ["cause", "deletedAt", "deletedBy"]

    /// True if the second state lists a message as deleted that the first does not know. Its row is new, but to people
    /// it is a delete.
    private static func isDeleteOfTheUnseen(_ difference: StateDifference) -> Bool {
        difference.change == .added && difference.entity.kind == .message
            && difference.fields.contains { $0.name == "cause" && $0.b != nil }
    }

    /// `deleted 2026-01-19 09:45 by cyd`, as far as the remote tells. Side `b` has the members of the delete.
    private static func end(in difference: StateDifference) -> String {
        let value = { (name: String) in difference.fields.first { $0.name == name }?.b?.string }
        return DeletionText.text(cause: value("cause") ?? "deleted", time: value("deletedAt"), by: value("deletedBy"))
    }

    /// The events responsible, eight at most; `nil` for none.
    private static func text(of events: [SequenceNumber]) -> String? {
        if events.isEmpty { return nil }
        let shown = events.prefix(8).map(\.description).joined(separator: ", ")
        let more = events.count > 8 ? " and \(events.count - 8) more" : ""
        return "event\(events.count == 1 ? "" : "s") \(shown)\(more)"
    }

    /// Adds a note beside the name.
    private func add(_ note: String, to line: inout TextLine) {
        line.add("  ")
        line.add(.quiet, style) { line in
            line.add("(")
            line.add(DisplayText.escaped(note))
            line.add(")")
        }
    }

    private var style: Style { output.style }
}

/// The words for a delete: what deleted the message, when and who, as far as the remote tells. What the remote does not
/// tell is said, because a missing name could be taken for an oversight.
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
