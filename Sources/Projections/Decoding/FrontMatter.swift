import EventLog

/// A message file, taken apart: the lines between the first line `---` and the next line `---`, and the body below.
///
/// Trailing spaces and tabs of the two delimiters do not count, as in YAML's own document marker; a byte order mark
/// before the first is skipped, as a YAML reader skips it. Lines end in LF or CRLF. No closing delimiter, anything else
/// in the first line (`---json`, `----`) or a blank line before it: no front matter.
struct MessageFile {
    /// The lines between the delimiters, as written.
    let frontMatter: Substring
    /// What stands below, trimmed of space, tab, CR and LF.
    let content: Substring

    /// Takes a file apart; `nil` where it has no front matter.
    init?(_ text: String) {
        let bytes = text.utf8
        let start =
            text.unicodeScalars.first == "\u{FEFF}"
            ? text.unicodeScalars.index(after: text.startIndex) : text.startIndex
        guard let first = Self.line(in: bytes, from: start), Self.isDelimiter(bytes[start..<first.end]),
            let top = first.next
        else { return nil }
        var here = top
        while let line = Self.line(in: bytes, from: here) {
            if Self.isDelimiter(bytes[here..<line.end]) {
                frontMatter = text[top..<here]
                content = Self.trimmed(text[(line.next ?? bytes.endIndex)...])
                return
            }
            guard let next = line.next else { return nil }
            here = next
        }
        return nil
    }

    /// The end of a line, before its line feed, and where the next one starts, if there is a line feed.
    private static func line(
        in bytes: String.UTF8View,
        from start: String.Index
    ) -> (end: String.Index, next: String.Index?)? {
        guard start < bytes.endIndex else { return nil }
        guard let feed = bytes[start...].firstIndex(of: 0x0A) else { return (bytes.endIndex, nil) }
        return (feed, bytes.index(after: feed))
    }

    /// Whether a line is `---`, perhaps with spaces, tabs and the CR of a CRLF behind it.
    private static func isDelimiter(_ line: String.UTF8View.SubSequence) -> Bool {
        guard line.starts(with: "---".utf8) else { return false }
        var rest = line.dropFirst(3)
        if rest.last == 0x0D { rest = rest.dropLast() }
        return rest.allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let bytes = text.utf8
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return Substring(bytes[first...last])
    }
}

/// What a message file says, or why it says nothing.
struct FrontMatter: Hashable, Sendable {
    /// `from`, as written.
    var from: String
    var date: Timestamp
    /// The name of the file that this one answers, without `.md`.
    var replyTo: String?
    var tags: [String]?
    var files: [String]?
    var images: [String]?
    var attachments: [JSONValue]?
    var edited: Timestamp?
    /// The keys beyond those above, and `edited` or `reply_to` where it is nothing that they can be.
    var extra = JSONObject()
    var content: String
    /// Tells one front matter from another as written: rewriting a date in another form is a change.
    var fingerprint: Hash256

    /// Why a file is no message, in words that hold none of its text.
    struct Fault: Error, Hashable {
        let reason: String
    }

    /// The longest front matter that is read, in bytes: more is no front matter that a person or client wrote.
    static let bytesMax = 256 << 10

    /// Reads a message file.
    init(file text: String) throws(Fault) {
        guard let file = MessageFile(text) else { throw Fault(reason: "it has no front matter between two lines ---") }
        guard file.frontMatter.utf8.count <= Self.bytesMax else { throw Fault(reason: "its front matter is too long") }
        let members: JSONObject
        if let plain = PlainFrontMatter.members(of: file.frontMatter) {
            members = plain
        } else {
            members = try YAMLFrontMatter.members(of: String(file.frontMatter))
        }
        try self.init(members: members, content: String(file.content))
        fingerprint = Self.hash(file.frontMatter)
    }

    private init(members: JSONObject, content: String) throws(Fault) {
        guard let from = members["from"]?.string else { throw Fault(reason: "its front matter has no from") }
        guard let dateText = members["date"]?.string else { throw Fault(reason: "its front matter has no date") }
        guard let date = Self.instant(dateText) else { throw Fault(reason: "its date is in no known form") }
        self.from = from
        self.date = date
        self.content = content
        fingerprint = Hasher256.hash([])
        for member in members.members { take(member.name, member.value) }
    }

    private mutating func take(_ name: String, _ value: JSONValue) {
        switch (name, value) {
        case ("from", _), ("date", _), (_, .null): break
        case ("reply_to", .string(let name)): replyTo = Self.withoutSuffix(name)
        case ("tags", _): tags = Self.list(value).map(Self.text)
        case ("files", _): files = Self.list(value).map(Self.text)
        case ("images", _): images = Self.list(value).map(Self.text)
        case ("attachments", _): attachments = Self.list(value)
        case ("edited", .string(let text)):
            edited = Self.instant(text)
            if edited == nil { extra[name] = value }
        default: extra[name] = value
        }
    }

    private static func instant(_ text: String) -> Timestamp? {
        RemoteTime.vibeChannelDate(text)
    }

    private static func withoutSuffix(_ name: String) -> String {
        name.utf8.count > 3 && name.hasSuffix(".md") ? String(name.dropLast(3)) : name
    }

    /// A list, or text with commas; empty parts are absent.
    private static func list(_ value: JSONValue) -> [JSONValue] {
        switch value {
        case .array(let elements): return elements.filter { !$0.isNull && $0 != .string("") }
        case .string(let text):
            let parts = text.utf8.split(separator: 0x2C).map { part in
                part.drop { $0 == 0x20 || $0 == 0x09 }
            }
            return parts.compactMap { part in
                let end = part.lastIndex { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A }
                return end.map { .string(String(Substring(part[...$0]))) }
            }
        default: return [value]
        }
    }

    /// The text of a list's element; one that is no text stands as its JSON text.
    private static func text(_ element: JSONValue) -> String {
        element.string ?? element.canonicalText
    }

    private static func hash(_ text: Substring) -> Hash256 {
        var text = text
        var hasher = Hasher256()
        text.withUTF8 { hasher.update(UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }
}
