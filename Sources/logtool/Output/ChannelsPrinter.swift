import Projections

/// Prints the channels of a state document: messages as reply trees, then what was deleted.
struct ChannelsPrinter {
    let output: StandardOutput
    private let channels: [ChannelContents]
    /// Whether the document tells of channels at all: if not, one that it does not name need not be gone.
    private let tellsOfChannels: Bool

    /// What stands in one channel.
    private struct ChannelContents {
        let source: String
        let id: String
        var channel: JSONValue?
        var messages: [JSONValue] = []
        var deleted: [JSONValue] = []
    }

    init(output: StandardOutput, document: JSONValue) {
        self.output = output
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
        try output.line()
        try output.line("\(style.text(DisplayText.escaped(name), .heading))  \(quiet(notes.joined(separator: ", ")))")
    }

    private func printThreads(of contents: ChannelContents) throws {
        let nodes = contents.messages.map {
            ThreadTree.Node(
                id: $0.text("id"),
                replyTo: $0["replyTo"]?["id"]?.string,
                parentState: $0["replyTo"]?["state"]?.string
            )
        }
        let lastWords = Dictionary(
            contents.deleted.map { ($0.text("id"), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for line in ThreadTree.lines(of: nodes) {
            switch line.content {
            case .message(let index):
                try printMessage(contents.messages[index], prefix: line.prefix, opensCircle: line.opensCircle)
            case .lostParent(let id, let state):
                try printLostParent(id: id, state: state, lastWords: lastWords[id])
            }
        }
    }

    private func printMessage(_ message: JSONValue, prefix: String, opensCircle: Bool) throws {
        var marks = message["editedAt"] == nil ? [] : ["edited"]
        if opensCircle { marks.append("replies run in a circle") }
        if let reactions = message["reactions"]?.array, !reactions.isEmpty { marks.append(Self.summary(of: reactions)) }
        let attached = ["files", "images", "attachments"].reduce(0) { $0 + (message[$1]?.array?.count ?? 0) }
        if attached > 0 { marks.append(counted(attached, "attachment")) }
        try printLine(
            time: message["createdAt"]?.string,
            prefix: prefix,
            author: Self.author(of: message),
            text: message.text("content"),
            marks: marks
        )
    }

    private func printLostParent(id: String, state: String, lastWords: JSONValue?) throws {
        let said = lastWords.flatMap { $0["content"]?.string }.map { DisplayText.firstLine(of: $0).line }
        let what = said.map { "\(state) message: \($0)" } ?? "\(state) message \(id)"
        let time = lastWords?["createdAt"]?.string.map(TimeText.minute) ?? ""
        try output.line(
            "  \(quiet(DisplayText.padded(time, to: 16)))  \(style.text(style.fitted(what, used: 20), .quiet))"
        )
    }

    private func printDeleted(of contents: ChannelContents) throws {
        for message in contents.deleted {
            var end = message.text("cause") == "deleted" ? "deleted" : message.text("cause")
            if let time = message["deletedAt"]?.string { end += " \(TimeText.minute(time))" }
            if let by = message["deletedBy"]?.string { end += " by \(by)" }
            let text = message["content"]?.string ?? message.text("id")
            try printLine(
                time: message["createdAt"]?.string,
                prefix: "× ",
                author: Self.author(of: message),
                text: text,
                marks: [end]
            )
        }
    }

    private func printLine(time: String?, prefix: String, author: String, text: String, marks: [String]) throws {
        let (line, isCut) = DisplayText.firstLine(of: text)
        let clock = DisplayText.padded(DisplayText.escaped(time.map(TimeText.minute) ?? ""), to: 16)
        let speaker = author.isEmpty ? "" : DisplayText.escaped(author) + ": "
        let end = marks.isEmpty ? "" : "  (" + DisplayText.escaped(marks.joined(separator: ", ")) + ")"
        let used = 20 + [prefix, speaker, end].reduce(0) { $0 + DisplayText.width(of: $1) }
        let words = style.fitted(line + (isCut ? " …" : ""), used: used)
        let isGone = prefix == "× "
        try output.line(
            "  \(style.text(clock, .quiet))  \(style.text(prefix, .quiet))\(style.text(speaker, .author))"
                + (isGone ? style.text(words, .quiet) : words) + style.text(end, .quiet)
        )
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
