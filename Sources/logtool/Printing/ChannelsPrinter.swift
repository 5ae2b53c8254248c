import Projections

/// Prints the channels of a state: messages as reply trees, then what was deleted. One channel is in memory at a time.
struct ChannelsPrinter {
    let output: StandardOutput
    let view: ViewOptions
    let channels: ShownChannels

    /// Prints each channel.
    ///
    /// - Returns: Whether one has messages or deleted messages.
    @discardableResult
    func print() throws -> Bool {
        var hasMessages = false
        try channels.forEach { contents in
            try printHeading(of: contents)
            try printThreads(of: contents)
            try printDeleted(of: contents)
            hasMessages = hasMessages || !contents.messages.isEmpty || !contents.deleted.isEmpty
        }
        return hasMessages
    }

    /// Prints a channel's name, counts, kind and topic. A channel without a row is gone from its source, if the state
    /// has channels at all.
    private func printHeading(of contents: ShownChannels.Contents) throws {
        let name = contents.channel?["name"]?.string ?? contents.id
        var notes = [counted(contents.messages.count, "message")]
        if !contents.deleted.isEmpty { notes.append("\(contents.deleted.count) deleted") }
        if contents.channel == nil && channels.tellsOfChannels {
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

    /// Prints the last `--tail` messages as trees. Earlier ones are known as parents only.
    private func printThreads(of contents: ShownChannels.Contents) throws {
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
        // What a missing parent said, if the state still knows it.
        let lastWords = Dictionary(
            (contents.deleted + earlier).map { ($0.text("id"), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for line in ThreadTree.lines(of: nodes) {
            switch line.content {
            case .message(let index):
                try printMessage(shown[index], prefix: line.prefix, opensCircle: line.opensCircle)
            case .lostParent(let id, let state):
                // A live parent is missing only because `--tail` leaves it out.
                let word = state == "live" ? "earlier" : state
                try printLostParent(id: id, state: word, lastWords: lastWords[id])
            }
        }
    }

    private func printMessage(_ message: JSONValue, prefix: String, opensCircle: Bool) throws {
        var marks = message["editedAt"] == nil ? [] : ["edited"]
        if opensCircle { marks.append("replies run in a circle") }
        if let reactions = message["reactions"]?.array, !reactions.isEmpty { marks.append(Self.summary(of: reactions)) }
        // VibeChannel's messages have files and images, those of gateways attachments.
        let attached = ["files", "images", "attachments"].reduce(0) { $0 + (message[$1]?.array?.count ?? 0) }
        if attached > 0 { marks.append(counted(attached, "attachment")) }
        try printLine(of: message, prefix: prefix, text: message.text("content"), marks: marks)
    }

    /// Prints a line in a missing parent's place.
    private func printLostParent(id: String, state: String, lastWords: JSONValue?) throws {
        let said = lastWords.flatMap { $0["content"]?.string }.map { DisplayText.firstLine(of: $0).line }
        let name = view.ids || said == nil ? " \(id)" : ""
        let what = "\(state) message\(name)" + (said.map { ": \($0)" } ?? "")
        let time = lastWords?["createdAt"]?.string.map(TimeText.minute) ?? ""
        try output.line(
            "  \(quiet(DisplayText.padded(time, to: 16)))  \(style.text(style.fitted(what, used: 20), .quiet))"
        )
    }

    /// Prints the last `--tail` deleted messages with who deleted them, as far as the remote tells.
    private func printDeleted(of contents: ShownChannels.Contents) throws {
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

    /// Prints a message: time, branches, id, author and text. Further lines of the text are indented below the
    /// branches.
    private func printLine(of message: JSONValue, prefix: String, text: String, marks: [String]) throws {
        let time = message["createdAt"]?.string.map(TimeText.minute) ?? ""
        let clock = DisplayText.padded(DisplayText.escaped(time), to: 16)
        let id = view.ids ? DisplayText.escaped(message.text("id")) + "  " : ""
        let author = Self.author(of: message)
        let speaker = author.isEmpty ? "" : DisplayText.escaped(author) + ": "
        let end = marks.isEmpty ? "" : "  (" + DisplayText.escaped(marks.joined(separator: ", ")) + ")"
        // The time and the spaces around it take 20 columns.
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

    /// The name, else the id.
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
