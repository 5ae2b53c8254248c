import Projections

/// The table that precedes a log of many channels on a terminal: a line for each, and how to show one.
struct ChannelTable {
    let output: StandardOutput
    /// The log as the command line names it.
    let log: String
    private let rows: [Row]

    /// With this many channels, nobody finds one by scrolling.
    private static let channelCountMin = 8

    private struct Row {
        let source: String
        let id: String
        var name: String?
        var messages = 0
        var deleted = 0
        var last = ""
    }

    /// The table of a state document; `nil` if it has few channels.
    init?(output: StandardOutput, log: String, document: JSONValue) {
        self.output = output
        self.log = log
        rows = Self.rows(of: document)
        if rows.count < Self.channelCountMin { return nil }
    }

    /// Prints the table.
    func print() throws {
        let names = rows.map { DisplayText.cut(DisplayText.escaped($0.name ?? $0.id), to: 32) }
        let width = names.map { DisplayText.width(of: $0) }.max() ?? 0
        try output.line()
        let heading = output.style.text(counted(rows.count, "channel"), .heading)
        let hint = "see one with: logtool replay \(log) --channel \(example)"
        try output.line("\(heading)  \(output.style.text(DisplayText.escaped(hint), .quiet))")
        for (row, name) in zip(rows, names) { try print(row, name: DisplayText.padded(name, to: width)) }
    }

    private func print(_ row: Row, name: String) throws {
        var notes = [DisplayText.padded(counted(row.messages, "message"), to: 14)]
        notes.append(DisplayText.padded(row.deleted == 0 ? "" : "\(row.deleted) deleted", to: 12))
        notes.append(DisplayText.padded(row.last.isEmpty ? "" : TimeText.minute(row.last), to: 16))
        notes.append(Self.reference(of: row))
        let line = DisplayText.escaped(notes.joined(separator: "  "))
        try output.line("  \(output.style.text(name, .author))  \(output.style.text(line, .quiet))")
    }

    private var example: String { rows.first.map(Self.reference) ?? "" }

    /// The channel as `--channel` takes it.
    private static func reference(of row: Row) -> String {
        let text = EntityReference(kind: .channel, parts: [row.source, row.id]).description
        return String(text.dropFirst("channel:".count))
    }

    private static func rows(of document: JSONValue) -> [Row] {
        var rows: [Row] = []
        var places: [[String]: Int] = [:]
        func place(_ source: String, _ id: String) -> Int {
            if let place = places[[source, id]] { return place }
            places[[source, id]] = rows.count
            rows.append(Row(source: source, id: id))
            return rows.count - 1
        }
        for channel in document["channels"]?.array ?? [] {
            rows[place(channel.text("source"), channel.text("id"))].name = channel["name"]?.string
        }
        for message in document["messages"]?.array ?? [] {
            let place = place(message.text("source"), message.text("channel"))
            rows[place].messages += 1
            rows[place].last = max(rows[place].last, message.text("createdAt"))
        }
        for message in document["deletedMessages"]?.array ?? [] {
            rows[place(message.text("source"), message.text("channel"))].deleted += 1
        }
        return rows
    }
}
