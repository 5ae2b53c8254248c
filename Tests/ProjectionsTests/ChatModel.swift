/// The state of a chat as `docs/semantics.md` describes it, written without any code of the program: lists that are
/// searched from end to end, and no message that is ever packed, kept or condensed.
///
/// Covers what a compaction may harm: messages, their versions, deletions and answers, and which of them a policy keeps.
struct ChatModel {
    /// The versions and the deletion of one message.
    struct Message {
        var channel: String
        var id: String
        var created: String
        /// The texts by the time of their edit, the original under an empty text.
        var versions: [String: Version] = [:]
        /// Why it is gone; `nil` while it is live.
        var cause: String?
        /// The text that a message that is gone shows, where it is not that of the current version.
        var last: Version?

        /// The version with the greatest time of an edit: an original has none, which is the least.
        var current: Version? { versions.max { $0.key < $1.key }?.value }
    }

    /// One version of a message.
    struct Version {
        var author: String
        var content: String
        var edited: String?
        var replyTo: String?
        /// How many versions there were up to this one, where the remote does not number them itself.
        var number = 0
    }

    /// How messages of one channel are ordered: `true` if the first comes before the second.
    let precedes: (Message, Message) -> Bool
    private(set) var messages: [Message] = []
    /// Channel and id of each message that a compaction dropped.
    private(set) var dropped: Set<[String]> = []

    init(orderedBy precedes: @escaping (Message, Message) -> Bool) {
        self.precedes = precedes
    }

    func index(_ channel: String, _ id: String) -> Int? {
        messages.firstIndex { $0.channel == channel && $0.id == id }
    }

    /// Changes a message, which comes into being where it is not known. One that a compaction dropped stays dropped.
    mutating func change(_ channel: String, _ id: String, created: String, _ body: (inout Message) -> Void) {
        guard !dropped.contains([channel, id]) else { return }
        let index =
            index(channel, id)
            ?? {
                messages.append(Message(channel: channel, id: id, created: created))
                return messages.count - 1
            }()
        body(&messages[index])
    }

    /// Keeps the newest live messages of each channel and as many of the newest deleted ones.
    mutating func compact(keep: Int) {
        var kept: [Message] = []
        for channel in Set(messages.map(\.channel)).sorted() {
            for isLive in [true, false] {
                let candidates = messages.filter { $0.channel == channel && ($0.cause == nil) == isLive }
                kept += candidates.sorted(by: precedes).suffix(keep)
            }
        }
        for message in messages where !kept.contains(where: { ($0.channel, $0.id) == (message.channel, message.id) }) {
            dropped.insert([message.channel, message.id])
        }
        messages = kept
    }

    private func stateOfReply(_ message: Message, to id: String) -> String {
        if dropped.contains([message.channel, id]) { return "compacted" }
        guard let index = index(message.channel, id) else { return "unknown" }
        return messages[index].cause == nil ? "live" : "deleted"
    }

    /// The rows of all messages, live and deleted, as `lines(of:)` gives them for a state document.
    func lines(revisions: (Message) -> Int) -> [String] {
        messages.map { message in
            let version = message.cause.flatMap { _ in message.last } ?? message.current
            let text = "\(version?.author ?? "-")|\(version?.content ?? "-")"
            if let cause = message.cause { return "\(message.channel)/\(message.id) \(cause) \(text)" }
            let reply = version?.replyTo.map { "\($0) \(stateOfReply(message, to: $0))" } ?? "-"
            return
                "\(message.channel)/\(message.id) live \(text)|\(version?.edited ?? "-")|\(revisions(message))|\(reply)"
        }.sorted()
    }
}
