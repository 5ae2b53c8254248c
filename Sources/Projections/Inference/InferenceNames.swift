import EventLog
import JSON

/// The usual names of members, without case, `_` and `-`. The first that a payload has counts.
enum InferenceNames {
    static let naming = [
        "type", "event", "op", "t", "kind", "action", "subtype", "method", "cmd", "command", "verb", "eventtype",
        "collection", "typename", "model", "resource", "entity", "table",
    ]
    /// What may name kinds of events, where the same few words come again and again.
    static let rareNaming = ["msg", "target"]
    /// Members that hold a path which says what an event is about.
    static let path = ["path", "p", "pointer", "ref", "topic", "eventname", "resource", "uri", "key", "destination"]
    static let id = [
        "id", "messageid", "msgid", "mid", "key", "uuid", "guid", "postid", "eventid", "ts", "nid", "no", "num",
        "$id", "objectid", "commentid", "noteid", "uid",
    ]
    /// The names of ids beside an object that holds the other members.
    static let outerID = ["id", "messageid", "msgid", "mid", "key", "uuid", "guid", "postid", "commentid", "objectid"]
    static let content = [
        "text", "content", "body", "message", "msg", "txt", "markdown", "plaintext", "html", "note", "line", "comment",
    ]
    static let author = [
        "authorid", "senderid", "userid", "author", "sender", "user", "by", "from", "creator", "createdby",
        "posteduid", "uid", "who", "nick", "username", "login", "account", "actor", "owner",
        "pubkey", "u",
    ]
    static let authorName = [
        "authorname", "displayname", "globalname", "sendername", "name", "fullname", "username", "nick", "nickname",
        "login",
    ]
    static let createdAt = [
        "createdat", "created", "timestamp", "time", "at", "ts", "date", "sentat", "sent", "originserverts", "postedat",
        "when", "datetime", "insertedat", "createddatetime", "createddate", "datecreated",
    ]
    static let editedAt = [
        "editedat", "edited", "editedtimestamp", "modifiedat", "modified", "lastedited", "updatedat", "updated",
        "editat", "editdate", "edittimestamp", "lastedittimestamp", "updateat", "lastediteddatetime",
        "lastmodifieddatetime",
        "lastmodified",
    ]
    static let channel = [
        "channelid", "channel", "roomid", "room", "chatid", "chat", "conversationid", "conversation", "dialog",
        "groupid",
        "group", "streamid", "stream", "spaceid", "space", "itemid", "projectid", "topic", "target", "to",
        "rid", "issueid", "taskid", "documentid",
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
        "tmid", "rootid", "replytomessage", "replytomessageid", "parentmessageid", "parentmessage", "inreplytostatusid",
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

    /// Whether a text may name a kind of events: letters, digits, `.`, `:`, `_`, `-` and backslashes. What looks like an id is none.
    static func isWord(_ text: String) -> Bool {
        (1...48).contains(text.utf8.count) && !looksLikeID(text)
            && text.utf8.allSatisfy {
                (0x30...0x3a).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                    || "_.-\\".utf8.contains($0)
            }
    }

    /// Whether a text has the look of an id: many digits, or digits among letters without anything between words.
    private static func looksLikeID(_ text: String) -> Bool {
        let digits = text.utf8.count { (0x30...0x39).contains($0) }
        if digits >= 5 { return true }
        return digits >= 2 && text.utf8.count >= 9 && !text.utf8.contains { "_.-:\\".utf8.contains($0) }
    }

    /// Whether a member of the name tells of whom or where, which says nothing of what happens.
    static func isOfWhom(_ name: String) -> Bool {
        author.contains(name) || authorName.contains(name) || channel.contains(name) || people.contains(name)
            || id.contains(name) || reply.contains(name) || createdAt.contains(name) || self.name.contains(name)
    }

    /// Whether a member says what is answered, or lies in an object that shows it.
    static func isReply(_ place: InferenceMembers) -> Bool {
        reply.contains(plain(place[place.count - 1]))
            || place.dropLast().contains { name in earlier.contains { plain(name).hasPrefix($0) } }
            || earlier.contains { plain(place[place.count - 1]).hasPrefix($0) }
    }

    /// Whether a text is an emoji or a mark, or a name in colons: what a reaction may be.
    static func isSign(_ text: String) -> Bool {
        guard (1...48).contains(text.utf8.count) else { return false }
        if text.utf8.count > 2, text.hasPrefix(":"), text.hasSuffix(":") { return !text.utf8.contains(0x20) }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: false
            case 0x21...0x7e, 0x200d, 0x2010...0x2bff, 0xfe0f, 0x1f000...0x1faff: true
            default: false
            }
        }
    }

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
