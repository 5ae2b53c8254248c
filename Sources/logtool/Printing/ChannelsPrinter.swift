import Projections

/// Prints the channels of a state document: messages as reply trees, then what was deleted.
struct ChannelsPrinter {
    let output: StandardOutput
    let view: ViewOptions
    private let channels: [ChannelContents]
    /// Whether the document lists channels at all: if not, a missing name does not mean that the channel is gone.
    private let tellsOfChannels: Bool

    /// The content of one channel.
    private struct ChannelContents {
        let source: String
        let id: String
        var channel: JSONValue?
        var messages: [JSONValue] = []
        var deleted: [JSONValue] = []
    }

    init(output: StandardOutput, document: JSONValue, view: ViewOptions) {
        self.output = output
        self.view = view
        channels = Self.contents(of: document)
        tellsOfChannels = document["channels"] != nil
    }

    /// Prints each channel that has a name or a message.
    func print() throws {
        for contents in channels {
            try printHeading(of: contents)
            try printThreads(of: contents)
            try printDeleted(of: contents)
        }
    }

    private static func contents(of document: JSONValue) -> [ChannelContents] {
        var result: [ChannelContents] = []
        var places: [[String]: Int] = [:]
        func place(_ source: String, _ id: String) -> Int {
            if let place = places[[source, id]] { return place }
            places[[source, id]] = result.count
            result.append(ChannelContents(source: source, id: id))
            return result.count - 1
        }
        for row in document["channels"]?.array ?? [] {
            result[place(row.text("source"), row.text("id"))].channel = row
        }
        for row in document["messages"]?.array ?? [] {
            result[place(row.text("source"), row.text("channel"))].messages.append(row)
        }
        for row in document["deletedMessages"]?.array ?? [] {
            result[place(row.text("source"), row.text("channel"))].deleted.append(row)
        }
        return result
    }

    private func printHeading(of contents: ChannelContents) throws {
        let name = contents.channel?["name"]?.string ?? contents.id
        var notes = [counted(contents.messages.count, "message")]
        if !contents.deleted.isEmpty { notes.append("\(contents.deleted.count) deleted") }
        if contents.channel == nil && tellsOfChannels {
            notes.append("gone from \(contents.source)")
        } else {
            notes.append("\(contents.channel?["kind"]?.string ?? "channel") in \(contents.source)")
        }
        if let topic = contents.channel?["topic"]?.string, !topic.isEmpty {
            notes.append(DisplayText.firstLine(of: topic).line)
        }
        let id = view.ids && name != contents.id ? "\(contents.id)  " : ""
        let heading = style.text(DisplayText.escaped(name), .heading)
        try output.line()
        try output.line("\(heading)  \(quiet(id))\(quiet(notes.joined(separator: ", ")))")
    }

    private func printThreads(of contents: ChannelContents) throws {
        let shown = Array(contents.messages.suffix(view.tail ?? contents.messages.count))
        let earlier = contents.messages.dropLast(shown.count)
        if !earlier.isEmpty { try output.line(quiet("  … \(counted(earlier.count, "earlier message"))")) }
        let nodes = shown.map {
            ThreadTree.Node(
                id: $0.text("id"),
                replyTo: $0["replyTo"]?["id"]?.string,
                parentState: $0["replyTo"]?["state"]?.string
            )
        }
        let lastWords = Dictionary(
            (contents.deleted + earlier).map { ($0.text("id"), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for line in ThreadTree.lines(of: nodes) {
            switch line.content {
            case .message(let index):
                try printMessage(shown[index], prefix: line.prefix, opensCircle: line.opensCircle)
            case .lostParent(let id, let state):
                let word = state == "live" ? "earlier" : state
                try printLostParent(id: id, state: word, lastWords: lastWords[id])
            }
        }
    }

    private func printMessage(_ message: JSONValue, prefix: String, opensCircle: Bool) throws {
        var marks = message["editedAt"] == nil ? [] : ["edited"]
        if opensCircle { marks.append("replies run in a circle") }
        if let reactions = message["reactions"]?.array, !reactions.isEmpty { marks.append(Self.summary(of: reactions)) }
        let attached = ["files", "images", "attachments"].reduce(0) { $0 + (message[$1]?.array?.count ?? 0) }
        if attached > 0 { marks.append(counted(attached, "attachment")) }
        try printLine(of: message, prefix: prefix, text: message.text("content"), marks: marks)
    }

    private func printLostParent(id: String, state: String, lastWords: JSONValue?) throws {
        let said = lastWords.flatMap { $0["content"]?.string }.map { DisplayText.firstLine(of: $0).line }
        let name = view.ids || said == nil ? " \(id)" : ""
        let what = "\(state) message\(name)" + (said.map { ": \($0)" } ?? "")
        let time = lastWords?["createdAt"]?.string.map(TimeText.minute) ?? ""
        try output.line(
            "  \(quiet(DisplayText.padded(time, to: 16)))  \(style.text(style.fitted(what, used: 20), .quiet))"
        )
    }

    private func printDeleted(of contents: ChannelContents) throws {
        let shown = newest(contents.deleted)
        let earlier = contents.deleted.count - shown.count
        if earlier > 0 { try output.line(quiet("  … \(earlier) deleted earlier")) }
        for message in shown {
            var end = message.text("cause") == "deleted" ? "deleted" : message.text("cause")
            if let time = message["deletedAt"]?.string { end += " \(TimeText.minute(time))" }
            if let by = message["deletedBy"]?.string { end += " by \(by)" }
            let text = message["content"]?.string ?? (view.ids ? "" : message.text("id"))
            try printLine(of: message, prefix: "× ", text: text, marks: [end])
        }
    }

    /// The last `--tail` of the deleted messages by the sequence of their delete, in the document's order.
    private func newest(_ deleted: [JSONValue]) -> [JSONValue] {
        guard let tail = view.tail, tail < deleted.count else { return deleted }
        let sequences = deleted.map { UInt64($0.text("sequence")) ?? 0 }
        let places = deleted.indices.sorted { (sequences[$0], $0) < (sequences[$1], $1) }.suffix(tail)
        return places.sorted().map { deleted[$0] }
    }

    private func printLine(of message: JSONValue, prefix: String, text: String, marks: [String]) throws {
        let time = message["createdAt"]?.string.map(TimeText.minute) ?? ""
        let clock = DisplayText.padded(DisplayText.escaped(time), to: 16)
        let id = view.ids ? DisplayText.escaped(message.text("id")) + "  " : ""
        let author = Self.author(of: message)
        let speaker = author.isEmpty ? "" : DisplayText.escaped(author) + ": "
        let end = marks.isEmpty ? "" : "  (" + DisplayText.escaped(marks.joined(separator: ", ")) + ")"
        let used = 20 + [prefix, id, speaker, end].reduce(0) { $0 + DisplayText.width(of: $1) }
        let lines = view.lines(of: text, style: style, used: used)
        let role: Style.Role? = prefix == "× " ? .quiet : nil
        let words = lines.map { line in role.map { style.text(line, $0) } ?? line }
        let start = style.text(clock, .quiet) + "  " + style.text(prefix, .quiet) + style.text(id, .quiet)
        let margin = String(repeating: " ", count: 20) + style.text(ThreadTree.stem(below: prefix), .quiet)
        for (index, line) in words.enumerated() {
            let isLast = index == words.count - 1
            let mark = isLast ? style.text(end, .quiet) : ""
            let begin = index == 0 ? "  \(start)\(style.text(speaker, .author))" : margin
            try output.line((begin + line + mark).trimmingTrailingSpaces())
        }
    }

    private static func author(of message: JSONValue) -> String {
        message["authorName"]?.string ?? message.text("author")
    }

    private static func summary(of reactions: [JSONValue]) -> String {
        reactions.map { "\($0.text("emoji")) \($0["users"]?.array?.count ?? 0)" }.joined(separator: " ")
    }

    private var style: Style { output.style }

    private func quiet(_ text: String) -> String {
        style.text(DisplayText.escaped(text), .quiet)
    }
}
