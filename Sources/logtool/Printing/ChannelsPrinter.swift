import Projections

/// Prints the channels of a state: messages as reply trees, then what was deleted. One channel is in memory at a time.
///
/// Columns and marks are for people and may change. Everything that a remote wrote is escaped on its way
/// (`DisplayText`).
struct ChannelsPrinter {
    let output: StandardOutput
    let view: ViewOptions
    let channels: [StateChannel]
    /// Whether the state lists channels at all: if not, a missing row does not mean that the channel is gone.
    let tellsOfChannels: Bool

    /// Prints each channel.
    ///
    /// - Returns: Whether one has messages or deleted messages.
    @discardableResult
    func print() throws -> Bool {
        var hasMessages = false
        var printer = MessagePrinter(output: output, view: view)
        for channel in channels {
            try printHeading(of: channel)
            try printThreads(of: channel, with: &printer)
            try printDeleted(of: channel, with: &printer)
            hasMessages =
                hasMessages || channel.count(in: .messages) > 0 || channel.count(in: .deletedMessages) > 0
        }
        return hasMessages
    }

    /// Prints a channel's name, counts, kind and topic. A channel without a row is gone from its source, if the state
    /// has channels at all.
    private func printHeading(of channel: StateChannel) throws {
        let name = channel.row?["name"]?.string ?? channel.id
        var notes = [counted(channel.count(in: .messages), "message")]
        let deletedCount = channel.count(in: .deletedMessages)
        if deletedCount > 0 { notes.append("\(deletedCount) deleted") }
        if channel.row == nil && tellsOfChannels {
            notes.append("gone from \(channel.source)")
        } else {
            notes.append("\(channel.row?["kind"]?.string ?? "channel") in \(channel.source)")
        }
        if let topic = channel.row?["topic"]?.string, !topic.isEmpty {
            notes.append(DisplayText.firstLine(of: topic).line)
        }
        // Of a channel without a name the heading shows the id already.
        let id = view.ids && name != channel.id ? "\(channel.id)  " : ""
        let heading = style.text(DisplayText.escaped(name), .heading)
        try output.line()
        try output.line("\(heading)  \(quiet(id))\(quiet(notes.joined(separator: ", ")))")
    }

    /// Prints the last `--tail` messages as trees. Earlier ones are known as parents only.
    ///
    /// Cost: linear in the shown messages. Only a missing parent makes it read the ids of the others (`LastWords`).
    private func printThreads(of channel: StateChannel, with printer: inout MessagePrinter) throws {
        let count = channel.count(in: .messages)
        let earlier = max(0, count - (view.tail ?? count))
        if earlier > 0 { try output.line(quiet("  … \(counted(earlier, "earlier message"))")) }
        // Without replies each message is a tree of its own.
        guard (earlier..<count).contains(where: channel.isReply) else {
            for index in earlier..<count {
                try channel.withRow(in: .messages, at: index) { try printer.print($0, prefix: "") }
            }
            return
        }
        // Made for the first missing parent, and kept for the others of the channel.
        var lastWords: LastWords?
        for line in ThreadTree.lines(of: nodes(of: channel, in: earlier..<count)) {
            switch line.content {
            case .message(let index):
                // The tree counts from the first message that is shown.
                try channel.withRow(in: .messages, at: earlier + index) {
                    try printer.print($0, prefix: line.prefix, opensCircle: line.opensCircle)
                }
            case .lostParent(let id, let state):
                let words = lastWords ?? LastWords(of: channel, earlier: earlier)
                lastWords = words
                // A live parent is missing only because `--tail` leaves it out.
                let word = state == "live" ? "earlier" : state
                try printLostParent(id: id, state: word, lastWords: words[id])
            }
        }
    }

    /// The messages of a range as nodes; a node's index is the message's place in the range.
    private func nodes(of channel: StateChannel, in range: Range<Int>) -> [ThreadTree.Node] {
        range.map { index in
            channel.withRow(in: .messages, at: index) {
                ThreadTree.Node(
                    id: $0.text(.id) ?? "",
                    replyTo: $0.parentID,
                    parentState: $0.parent?.state
                )
            } ?? ThreadTree.Node(id: "", replyTo: nil, parentState: nil)
        }
    }

    /// Prints a line in a missing parent's place. Without last words the id is shown even without `--ids`: nothing else
    /// names the message.
    private func printLostParent(id: String, state: String, lastWords: LastWords.Words?) throws {
        let said = lastWords?.content.map { DisplayText.firstLine(of: $0).line }
        let name = view.ids || said == nil ? " \(id)" : ""
        let what = "\(state) message\(name)" + (said.map { ": \($0)" } ?? "")
        let time = lastWords?.createdAt.map(TimeText.minute) ?? ""
        try output.line(
            "  \(quiet(DisplayText.padded(time, to: 16)))  \(style.text(style.fitted(what, used: 20), .quiet))"
        )
    }

    /// Prints the last `--tail` deleted messages with who deleted them, as far as the remote tells. In the document's
    /// order, as `newestDeleted` gives them.
    private func printDeleted(of channel: StateChannel, with printer: inout MessagePrinter) throws {
        let shown = newestDeleted(channel)
        let earlier = channel.count(in: .deletedMessages) - shown.count
        if earlier > 0 { try output.line(quiet("  … \(earlier) deleted earlier")) }
        for index in shown {
            try channel.withRow(in: .deletedMessages, at: index) { try printer.print(deleted: $0) }
        }
    }

    /// The indexes of the last `--tail` deleted messages by the sequence of their delete, in the document's order.
    /// `--tail` means the last deletes here, not the deletes of the last messages: a recent delete of an old message is
    /// news.
    private func newestDeleted(_ channel: StateChannel) -> [Int] {
        let count = channel.count(in: .deletedMessages)
        guard let tail = view.tail, tail < count else { return Array(0..<count) }
        let sequences = (0..<count).map { index in
            channel.withRow(in: .deletedMessages, at: index) { $0.text(.sequence) }?.flatMap { UInt64($0) } ?? 0
        }
        return (0..<count).sorted { (sequences[$0], $0) < (sequences[$1], $1) }.suffix(tail).sorted()
    }

    private var style: Style { output.style }

    /// Escapes a text and greys it.
    private func quiet(_ text: String) -> String {
        style.text(DisplayText.escaped(text), .quiet)
    }
}

/// What missing parents said, as far as the state still knows it. Texts are read when they are asked for; of each
/// message only id and place are kept.
private struct LastWords {
    struct Words {
        let content: String?
        let createdAt: String?
    }

    private let channel: StateChannel
    private var places: [String: (section: Section, index: Int)] = [:]

    /// Finds deleted messages first, then those before `earlier`.
    init(of channel: StateChannel, earlier: Int) {
        self.channel = channel
        let counts = [(Section.deletedMessages, channel.count(in: .deletedMessages)), (.messages, earlier)]
        for (section, count) in counts {
            for index in 0..<count {
                let id = channel.withRow(in: section, at: index) { $0.text(.id) ?? "" } ?? ""
                if places[id] == nil { places[id] = (section, index) }
            }
        }
    }

    /// What the message with an id said; `nil` for an unknown one.
    subscript(id: String) -> Words? {
        places[id].flatMap { place in
            channel.withRow(in: place.section, at: place.index) {
                Words(content: $0.text(.content), createdAt: $0.text(.createdAt))
            }
        }
    }
}
