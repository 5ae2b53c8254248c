import EventLog
import JSON

/// The usual names of members, without case, `_` and `-`. The first that a payload has counts.
enum InferenceNames {
    static let naming = [
        "type", "event", "op", "t", "kind", "action", "subtype", "method", "cmd", "command", "verb", "eventtype",
    ]
    static let id = [
        "id", "messageid", "msgid", "mid", "key", "uuid", "guid", "postid", "eventid", "ts", "nid", "no", "num",
    ]
    static let content = [
        "text", "content", "body", "message", "msg", "txt", "markdown", "plaintext", "html", "note", "line", "comment",
    ]
    static let author = [
        "authorid", "senderid", "userid", "author", "sender", "user", "by", "from", "creator", "createdby",
        "posteduid", "uid", "who", "nick", "username", "login", "account", "actor", "owner",
    ]
    static let authorName = [
        "authorname", "displayname", "globalname", "sendername", "name", "fullname", "username", "nick", "nickname",
        "login",
    ]
    static let createdAt = [
        "createdat", "created", "timestamp", "time", "at", "ts", "date", "sentat", "sent", "originserverts", "postedat",
        "when", "datetime", "insertedat",
    ]
    static let editedAt = [
        "editedat", "edited", "editedtimestamp", "modifiedat", "modified", "lastedited", "updatedat", "updated",
    ]
    static let channel = [
        "channelid", "channel", "roomid", "room", "chatid", "chat", "conversationid", "conversation", "dialog",
        "groupid",
        "group", "streamid", "stream", "spaceid", "space", "itemid", "projectid", "topic", "target", "to",
    ]
    /// Parts of paths behind which an id stands.
    static let containers = [
        "channels", "channel", "rooms", "room", "chats", "chat", "conversations", "conversation", "groups", "group",
        "streams", "spaces", "dialogs", "projects", "join", "c", "r",
    ]
    static let people = ["users", "user", "members", "member", "people", "participants", "accounts", "collaborators"]
    static let reply = [
        "replyto", "replytoid", "inreplyto", "inreplytoid", "parentid", "parent", "answers", "answerto", "quote",
        "quoted",
        "quoteid", "re", "threadts", "threadid", "thread", "replyid", "replied", "ref", "messagereference", "reference",
    ]
    static let name = ["name", "title", "label", "displayname", "fullname", "username", "topic"]
    static let emoji = ["emoji", "reaction", "emoticon", "shortcode", "icon"]
    static let deletedFlag = ["deleted", "isdeleted", "deletedat", "removed", "tombstone"]
    static let done = ["checked", "done", "completed", "iscompleted", "isdone"]
    /// Objects that show an earlier message again.
    static let earlier = ["previous", "referenced", "quoted", "old", "before", "prev", "reply", "parent", "original"]

    static let edits: Set<String> = [
        "edit", "edited", "update", "updated", "change", "changed", "modify", "modified", "patch", "revise", "revised",
        "amend", "amended",
    ]
    static let deletes: Set<String> = [
        "delete", "deleted", "remove", "removed", "gone", "del", "redact", "redacted", "redaction", "retract",
        "retracted",
        "destroy", "destroyed", "unsend", "unsent", "erase", "erased", "revoke", "revoked", "recall", "rm",
    ]
    /// What happens to a message and neither makes, changes nor deletes it.
    static let others: Set<String> = [
        "read", "seen", "ack", "typing", "pin", "pinned", "unpin", "star", "starred", "mark", "marked", "receipt",
        "reaction", "reactions", "react", "like", "delivered", "presence",
    ]

    /// A name without case, `_` and `-`.
    static func plain(_ name: String) -> String {
        String(decoding: name.utf8.filter { $0 != 0x5f && $0 != 0x2d }, as: UTF8.self).lowercased()
    }

    /// The words of texts such as `MESSAGE_CREATE`, `messageDeleted` and `chat.edit`.
    static func words(of texts: [String]) -> Set<String> {
        var words: Set<String> = []
        for text in texts {
            var (word, wasLower) = ("", false)
            for unit in text.unicodeScalars {
                let isUpper = ("A"..."Z").contains(unit)
                let isLetter = isUpper || ("a"..."z").contains(unit)
                if !isLetter || (isUpper && wasLower) {
                    if !word.isEmpty { words.insert(word.lowercased()) }
                    word = ""
                }
                if isLetter { word.unicodeScalars.append(unit) }
                wasLower = isLetter && !isUpper
            }
            if !word.isEmpty { words.insert(word.lowercased()) }
        }
        return words
    }
}

extension DecoderTimeForm {
    /// The form in which a value is a time between 2001 and 2096; `nil` if it is none.
    static func plausible(_ value: JSONValue) -> DecoderTimeForm? {
        let text: String
        switch value {
        case .string(let string): text = string
        case .number(let number): text = number.text
        default: return nil
        }
        guard text.utf8.count <= 40 else { return nil }
        if let whole = Int64(text) {
            switch whole {
            case 1_000_000_000..<4_000_000_000: return .seconds
            case 1_000_000_000_000..<4_000_000_000_000: return .milliseconds
            case 1_000_000_000_000_000..<4_000_000_000_000_000: return .microseconds
            default: return nil
            }
        }
        if value.string != nil, rfc3339.instant(of: text) != nil { return .rfc3339 }
        let whole = Int64(text.prefix { $0 != "." }) ?? 0
        return (1_000_000_000..<4_000_000_000).contains(whole) && secondsText.instant(of: text) != nil
            ? .secondsText : nil
    }
}
