import EventLog
import Projections

/// Prints messages as lines: time, branches, id, author and text.
///
/// Prints logs of a million messages, so the usual message takes a short way: its bytes go from the store into one line
/// that is used again. The general way, for cut, escaped and coloured texts, prints the same bytes for a text that
/// needs none of these.
struct MessagePrinter {
    let output: StandardOutput
    let view: ViewOptions
    private let style: Style
    /// The line that is put together; empty between messages.
    private var line = TextLine()
    /// Remembers the last day's text.
    private var clock = MinuteClock()

    init(output: StandardOutput, view: ViewOptions) {
        (self.output, self.view, style) = (output, view, output.style)
    }

    /// Prints a live message; `prefix` is the branches before it.
    mutating func print(_ message: LentMessage, prefix: String, opensCircle: Bool = false) throws {
        var marks = message[.editedAt].exists ? ["edited"] : []
        if opensCircle { marks.append("replies run in a circle") }
        if let reactions = message[.reactions].json?.array, !reactions.isEmpty {
            marks.append(Self.summary(of: reactions))
        }
        // VibeChannel's messages have files and images, those of gateways attachments.
        let attached = [LentMessage.Member.files, .images, .attachments].reduce(0) {
            $0 + (message[$1].json?.array?.count ?? 0)
        }
        if attached > 0 { marks.append(counted(attached, "attachment")) }
        try print(message, prefix: prefix, text: message[.content], marks: marks)
    }

    /// Prints a deleted message with when and by whom it was deleted.
    mutating func print(deleted message: LentMessage) throws {
        var end = message.text(.cause) ?? ""
        if let time = message.text(.deletedAt) { end += " \(TimeText.minute(time))" }
        if let by = message.text(.deletedBy) { end += " by \(by)" }
        // Without a known text the id is the only thing to show, unless `--ids` shows it anyway.
        let content = message[.content]
        let text = content.isText ? content : view.ids ? .none : message[.id]
        try print(message, prefix: "× ", text: text, marks: [end])
    }

    /// Prints the lines of a message. Further lines of its text are indented below the branches.
    ///
    /// - Parameter marks: Notes behind the text, in parentheses. They are never cut: the text gives way.
    private mutating func print(
        _ message: LentMessage,
        prefix: String,
        text: LentValue,
        marks: [String]
    ) throws {
        let end = marks.isEmpty ? "" : "  (" + DisplayText.escaped(marks.joined(separator: ", ")) + ")"
        let role: Style.Role? = prefix == "× " ? .quiet : nil
        begin(message, prefix: prefix)
        if !addPlain(text, role) {
            let lines = lines(of: text, behind: [prefix, id(of: message), speaker(of: message), end])
            line.add(role, style) { $0.add(lines.first ?? "") }
            // Below the text of the first line: time and the spaces around it, then the branches that go on.
            let margin = String(repeating: " ", count: 20) + style.text(ThreadTree.stem(below: prefix), .quiet)
            for further in lines.dropFirst() {
                try output.line(trimming: &line)
                line.add(margin)
                line.add(role, style) { $0.add(further) }
            }
        }
        line.add(.quiet, style) { $0.add(end) }
        try output.line(trimming: &line)
    }

    /// Begins the line with everything before the text. Without an author there is no colon.
    private mutating func begin(_ message: LentMessage, prefix: String) {
        line.add("  ")
        let time = message[.createdAt]
        if let minute = clock.text(of: time) {
            line.add(.quiet, style) { line in minute.withUnsafeBytes { line.add($0) } }
        } else {
            let text = DisplayText.escaped(time.json?.string.map(TimeText.minute) ?? "")
            line.add(.quiet, style) { $0.add(DisplayText.padded(text, to: 16)) }
        }
        line.add("  ")
        line.add(.quiet, style) { $0.add(prefix) }
        let (id, author) = (id(of: message), message.speaker)
        line.add(.quiet, style) { $0.add(id) }
        line.add(.author, style) { line in
            author.withText { name in
                if name.isEmpty { return }
                if DisplayText.isPlainLine(name) { line.add(name) } else { line.add(Self.escaped(author)) }
                line.add(": ")
            }
        }
    }

    /// Adds a text that is shown as it is; false, without adding, for others. Not with a width, because the text might
    /// have to be cut, nor with `--full`, because it might have more lines.
    private mutating func addPlain(_ text: LentValue, _ role: Style.Role?) -> Bool {
        if view.full || style.width != nil { return false }
        let style = style
        return text.withText { bytes in
            guard DisplayText.isPlainLine(bytes) else { return false }
            line.add(role, style) { $0.add(bytes) }
            return true
        }
    }

    /// The escaped lines of a text that is cut to the rest of a line. The time and the spaces around it take 20 columns.
    private func lines(of text: LentValue, behind others: [String]) -> [String] {
        let used = 20 + others.reduce(0) { $0 + DisplayText.width(of: $1) }
        return view.lines(of: text.json?.string ?? "", style: style, used: used)
    }

    /// The id and the space behind it; empty without `--ids`.
    private func id(of message: LentMessage) -> String {
        view.ids ? DisplayText.escaped(message.text(.id) ?? "") + "  " : ""
    }

    /// What `begin` writes for the author, to measure it.
    private func speaker(of message: LentMessage) -> String {
        let author = Self.escaped(message.speaker)
        return author.isEmpty ? "" : author + ": "
    }

    private static func escaped(_ text: LentValue) -> String { DisplayText.escaped(text.json?.string ?? "") }

    /// `👍 3 🎉 1`: how many users each emoji has.
    private static func summary(of reactions: [JSONValue]) -> String {
        reactions.map { "\($0.text("emoji")) \($0["users"]?.array?.count ?? 0)" }.joined(separator: " ")
    }

}

/// Makes the texts of `TimeText.minute` from instants. Messages printed together mostly share their day.
private struct MinuteClock {
    private var day = Int64.min
    /// `2026-01-19 08:30`; the first eleven bytes are those of the day.
    private var text: [UInt8] = []

    /// The text of an instant, 16 bytes; `nil` for a value that is none.
    mutating func text(of value: LentValue) -> [UInt8]? {
        guard case .time(let time) = value else { return nil }
        // Towards the past, also before 1970, where `%` alone is negative.
        let second = ((time.seconds % 86_400) + 86_400) % 86_400
        let day = (time.seconds - second) / 86_400
        if day != self.day {
            self.day = day
            text = Array(TimeText.minute(time.description).utf8)
        }
        guard text.count == 16 else { return nil }
        for (place, number) in [(11, second / 3600), (14, second / 60 % 60)] {
            text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
            text[place + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
        }
        return text
    }
}
