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
        /// The time of creation in seconds since 1970, from which a policy counts its age.
        var seconds: Int64 = 0
        /// The texts by the time of their edit, the original under an empty text.
        var versions: [String: Version] = [:]
        /// Why it is gone; `nil` while it is live.
        var cause: String?
        /// Whether a compaction dropped what was before.
        var isKnownInPart = false
        /// Whether the tip has, or deleted, what a compaction dropped.
        var isHidden = false
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

    /// What is known of a message that a compaction dropped.
    struct Dropped {
        var isDeletedForGood = false
        /// The version that was current, as `Message.versions` names it; `nil` if none was known.
        var version: String?
    }

    /// What an event says of a message.
    enum Statement {
        case version(String)
        case file
        case deletion
        case deletionForGood
        /// Anything else, of a message that is known.
        case other
    }

    /// How messages of one channel are ordered: `true` if the first comes before the second.
    let precedes: (Message, Message) -> Bool
    private(set) var messages: [Message] = []
    /// The messages that a compaction dropped, by channel and id, those that are live again among them.
    private(set) var dropped: [[String]: Dropped] = [:]
    /// The channels that are gone for good.
    var goneChannels: Set<String> = []

    init(orderedBy precedes: @escaping (Message, Message) -> Bool) {
        self.precedes = precedes
    }

    func index(_ channel: String, _ id: String) -> Int? {
        messages.firstIndex { $0.channel == channel && $0.id == id }
    }

    /// Changes a message, which comes into being where it is not known. One that a compaction dropped does only where it is
    /// stated whole.
    mutating func change(
        _ channel: String,
        _ id: String,
        created: String,
        seconds: Int64 = 0,
        by statement: Statement = .other,
        _ body: (inout Message) -> Void
    ) {
        let known = index(channel, id)
        if let drop = dropped[[channel, id]] {
            if case .version(let version) = statement, let last = drop.version, version <= last { return }
            if known == nil {
                switch statement {
                case .version, .file:
                    if drop.isDeletedForGood || goneChannels.contains(channel) { return }
                case .deletionForGood:
                    dropped[[channel, id]]?.isDeletedForGood = true
                    return
                case .deletion, .other: return
                }
            }
        }
        let place =
            known
            ?? {
                messages.append(Message(channel: channel, id: id, created: created, seconds: seconds))
                messages[messages.count - 1].isKnownInPart = dropped[[channel, id]] != nil
                return messages.count - 1
            }()
        body(&messages[place])
    }

    /// What a policy says of one channel.
    struct Rule {
        var keep: Int
        /// Messages created before are too old.
        var oldest: Int64?
        var deleted: Int
        var isPinned = false
        var pins: Set<String> = []
        var keepsParents = true

        /// As many messages as `keep`, and no more for any other reason.
        init(keep: Int) { (self.keep, deleted) = (keep, keep) }
    }

    /// Keeps of each channel what its rule says, and what the kept live messages answer, as long as it lives.
    ///
    /// - Parameter deletesForGood: Whether a deletion by name is one for good.
    mutating func compact(deletesForGood: Bool, _ rule: (_ channel: String) -> Rule) {
        var kept: [Message] = []
        for channel in Set(messages.map(\.channel)).sorted() {
            let rule = rule(channel)
            let all = messages.filter { $0.channel == channel }.sorted(by: precedes)
            let hidden = all.filter(\.isHidden)
            let live = all.filter { !$0.isHidden && $0.cause == nil }
            let deleted = all.filter { !$0.isHidden && $0.cause != nil }
            var ids = Set((live.suffix(rule.keep) + deleted.suffix(rule.deleted)).map(\.id)).union(rule.pins)
            ids.formUnion(hidden.suffix(rule.keep).map(\.id))
            for message in live where rule.oldest.map({ message.seconds >= $0 }) ?? false { ids.insert(message.id) }
            if rule.isPinned { ids = Set(all.map(\.id)) }
            let answered = live.filter { ids.contains($0.id) }.compactMap { $0.current?.replyTo }
            if rule.keepsParents {
                for message in live where answered.contains(message.id) { ids.insert(message.id) }
            }
            kept += all.filter { ids.contains($0.id) }
        }
        for message in messages where !kept.contains(where: { ($0.channel, $0.id) == (message.channel, message.id) }) {
            let key = [message.channel, message.id]
            let earlier = dropped[key]
            dropped[key] = Dropped(
                isDeletedForGood: message.cause == "deleted" && deletesForGood,
                version: [message.versions.keys.max(), earlier?.version].compactMap { $0 }.max()
            )
        }
        messages = kept
    }

    private func stateOfReply(_ message: Message, to id: String) -> String {
        let drop = dropped[[message.channel, id]]
        guard let index = index(message.channel, id), !messages[index].isHidden else {
            return drop.map { $0.isDeletedForGood ? "deleted" : "compacted" } ?? "unknown"
        }
        return messages[index].cause == nil ? "live" : "deleted"
    }

    /// The rows of all messages, live and deleted, as `lines(of:)` gives them for a state document.
    func lines(revisions: (Message) -> Int) -> [String] {
        messages.filter { !$0.isHidden }.map { message in
            let mark = message.isKnownInPart ? " known in part" : ""
            let version = message.cause.flatMap { _ in message.last } ?? message.current
            let text = "\(version?.author ?? "-")|\(version?.content ?? "-")"
            if let cause = message.cause { return "\(message.channel)/\(message.id) \(cause) \(text)\(mark)" }
            let reply = version?.replyTo.map { "\($0) \(stateOfReply(message, to: $0))" } ?? "-"
            return
                "\(message.channel)/\(message.id) live \(text)|\(version?.edited ?? "-")|\(revisions(message))|\(reply)\(mark)"
        }.sorted()
    }
}
