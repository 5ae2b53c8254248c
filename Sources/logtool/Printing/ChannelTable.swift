import Projections

/// The table that precedes a log of many channels on a terminal: a line for each, and how to show one.
///
/// `ReplayCommand` prints it on terminals alone: in a file or pipe it would stand before the text that another program
/// reads.
struct ChannelTable {
    let output: StandardOutput
    /// The log as the command line names it.
    let log: String
    private let rows: [Row]

    /// From this many channels on, nobody finds one by scrolling.
    private static let channelCountMin = 8

    /// What the table shows of a channel, read once, so that no channel stays in memory for the widths of the columns.
    private struct Row {
        let source: String
        let id: String
        let name: String?
        let messages: Int
        let deleted: Int
        /// When the last message was written, in RFC 3339; empty if no message says. Texts in UTC sort like their
        /// times.
        let last: String

        init(_ channel: StateChannel) {
            (source, id) = (channel.source, channel.id)
            name = channel.row?["name"]?.string
            (messages, deleted) = (channel.count(in: .messages), channel.count(in: .deletedMessages))
            // The remote's order need not be that of its times, so all messages are read.
            last = (0..<messages).reduce("") { last, index in
                max(last, channel.withRow(in: .messages, at: index) { $0.text(.createdAt) ?? "" } ?? "")
            }
        }
    }

    /// The table of a state's channels; `nil` if it has few. Reads all messages, one channel after another.
    init?(output: StandardOutput, log: String, channels: [StateChannel]) {
        guard channels.count >= Self.channelCountMin else { return nil }
        self.output = output
        self.log = log
        rows = channels.map(Row.init)
    }

    /// Prints the table.
    func print() throws {
        // Cut before they are measured: one long name must not push the other columns off the screen.
        let names = rows.map { DisplayText.cut(DisplayText.escaped($0.name ?? $0.id), to: 32) }
        let width = names.map { DisplayText.width(of: $0) }.max() ?? 0
        try output.line()
        let heading = output.style.text(counted(rows.count, "channel"), .heading)
        let hint = "see one with: logtool replay \(log) --channel \(example)"
        try output.line("\(heading)  \(output.style.text(DisplayText.escaped(hint), .quiet))")
        for (row, name) in zip(rows, names) { try print(row, name: DisplayText.padded(name, to: width)) }
    }

    /// Prints one line. The widths fit `99999 messages`, `9999 deleted` and a time to the minute; longer texts shift
    /// what follows.
    private func print(_ row: Row, name: String) throws {
        var notes = [DisplayText.padded(counted(row.messages, "message"), to: 14)]
        notes.append(DisplayText.padded(row.deleted == 0 ? "" : "\(row.deleted) deleted", to: 12))
        notes.append(DisplayText.padded(row.last.isEmpty ? "" : TimeText.minute(row.last), to: 16))
        notes.append(Self.reference(of: row))
        let line = DisplayText.escaped(notes.joined(separator: "  "))
        try output.line("  \(output.style.text(name, .author))  \(output.style.text(line, .quiet))")
    }

    /// A real channel in the hint, so that it can be copied.
    private var example: String { rows.first.map(Self.reference) ?? "" }

    /// The channel as `--channel` takes it. Without `channel:`, which the option supplies.
    private static func reference(of row: Row) -> String {
        let text = EntityReference(kind: .channel, parts: [row.source, row.id]).description
        return String(text.dropFirst("channel:".count))
    }
}
