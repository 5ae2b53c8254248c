import EventLog

/// A message file, split into its front matter (between the first line and the next line `---`) and the body below.
///
/// A delimiter may have trailing spaces and tabs, like YAML's own document marker. A byte order mark at the start is
/// skipped, as a YAML reader skips it. Lines end in LF or CRLF. A file has no front matter if the closing delimiter is
/// missing, the first line contains anything else (`---json`, `----`), or a blank line comes first.
///
/// That is the canonical reading. The clients split in two other ways (`MessageFile+Clients.swift`).
struct MessageFile {
    /// The lines between the delimiters, as written.
    let frontMatter: String
    /// The body below, trimmed: canonically of space, tab, CR and LF.
    let content: String
    /// The language named after the first `---`; empty unless the rules read it.
    var language = ""

    /// Splits a file; `nil` if it has no front matter.
    init?(_ text: String, rules: ReadingRules) {
        if rules.contains(.fileIsCutAtDashes) {
            self.init(cutAtDashes: text, rules: rules)
        } else if rules.contains(.openFrontMatterIsWhole) {
            self.init(openEnded: text, rules: rules)
        } else {
            self.init(betweenLines: text, rules: rules)
        }
    }

    init(frontMatter: some StringProtocol, body: some StringProtocol, rules: ReadingRules) {
        self.frontMatter = String(frontMatter)
        content = Self.trimmed(body, rules: rules)
    }

    /// Splits a file canonically. Cost: O(bytes).
    private init?(betweenLines text: String, rules: ReadingRules) {
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
                let body = text[(line.next ?? bytes.endIndex)...]
                self.init(frontMatter: text[top..<here], body: body, rules: rules)
                return
            }
            // The last line was no delimiter, so the front matter never closes.
            guard let next = line.next else { return nil }
            here = next
        }
        return nil
    }

    /// The end of a line, before its line feed, and the start of the next line; `next` is `nil` without a line feed.
    private static func line(
        in bytes: String.UTF8View,
        from start: String.Index
    ) -> (end: String.Index, next: String.Index?)? {
        guard start < bytes.endIndex else { return nil }
        guard let feed = bytes[start...].firstIndex(of: 0x0A) else { return (bytes.endIndex, nil) }
        return (feed, bytes.index(after: feed))
    }

    /// Whether a line is `---`, with optional spaces, tabs and the CR of a CRLF after it.
    private static func isDelimiter(_ line: String.UTF8View.SubSequence) -> Bool {
        guard line.starts(with: "---".utf8) else { return false }
        var rest = line.dropFirst(3)
        if rest.last == 0x0D { rest = rest.dropLast() }
        return rest.allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }

    private static func trimmed(_ text: some StringProtocol, rules: ReadingRules) -> String {
        if rules.contains(.bodyIsTrimmedBySwift) { return String(text.trimmed(of: { $0.isSwiftSpace })) }
        if rules.contains(.bodyIsTrimmedByJavaScript) { return String(text.trimmed(of: { $0.isJavaScriptSpace })) }
        return String(text.trimmed(of: { [0x20, 0x09, 0x0D, 0x0A].contains($0.value) }))
    }
}

/// The contents of a message file: its front matter's members and its body.
struct FrontMatter: Hashable, Sendable {
    /// `from`, as written.
    var from: String
    var date: Timestamp
    /// The name of the file that this one replies to, without `.md`.
    var replyTo: String?
    /// `nil` if the key is absent, like the lists below. The elements are in the file's order.
    var tags: [String]?
    var files: [String]?
    var images: [String]?
    var attachments: [JSONValue]?
    /// `nil` if the key is absent or its value is no known date.
    var edited: Timestamp?
    /// All other keys, and an `edited` or `reply_to` whose value has the wrong form.
    var extra = JSONObject()
    var content: String
    /// Hash of the front matter as written, without its delimiters: a date rewritten in another form is a change.
    var fingerprint: UInt64

    /// Why a file is no message; contains none of its text.
    struct Fault: Error, Hashable {
        let reason: String
    }

    /// The longest front matter that is read, in bytes: people and clients write far less.
    static let bytesMax = 256 << 10

    /// Reads a message file.
    ///
    /// - Parameter key: that of the fingerprint.
    /// - Throws: `Fault` if the front matter is missing, too long or malformed, or lacks `from` or a readable `date`.
    init(file text: String, rules: ReadingRules = [], key: FrameKey = .none) throws(Fault) {
        guard let file = MessageFile(text, rules: rules) else {
            throw Fault(reason: "it has no front matter between two lines ---")
        }
        guard file.frontMatter.utf8.count <= Self.bytesMax else { throw Fault(reason: "its front matter is too long") }
        try self.init(members: Self.members(of: file, rules: rules), content: file.content, rules: rules)
        var frontMatter = file.frontMatter
        fingerprint = frontMatter.withUTF8 { UInt64(truncatingIfNeeded: key.hash(UnsafeRawBufferPointer($0))) }
    }

    /// The members by the reader that the rules choose. Canonically the fast reader goes first and leaves all doubtful
    /// text to YAML; both give the same members.
    private static func members(of file: MessageFile, rules: ReadingRules) throws(Fault) -> JSONObject {
        if rules.contains(.keysAreReadByLine) { return LineFrontMatter.members(of: file.frontMatter, rules: rules) }
        if rules.contains(.scalarsHaveTypes) { return try TypedFrontMatter.members(of: file) }
        if let plain = PlainFrontMatter.members(of: file.frontMatter[...]) { return plain }
        return try YAMLFrontMatter.members(of: file.frontMatter)
    }

    /// The message as a fold keeps it.
    func saying(names: inout Names) -> MessageSaying {
        MessageSaying(
            text: MessageText(content),
            author: from,
            createdAt: date,
            editedAt: edited,
            replyTo: replyTo.map { names.id($0) },
            tags: tags,
            files: files,
            images: images,
            attachments: attachments,
            extra: extra,
            form: fingerprint
        )
    }

    /// Takes the members. The caller sets the fingerprint.
    private init(members: JSONObject, content: String, rules: ReadingRules) throws(Fault) {
        guard let from = members["from"]?.string else {
            throw Fault(reason: "its front matter has no from")
        }
        guard let dateValue = members["date"] else { throw Fault(reason: "its front matter has no date") }
        guard let date = Self.instant(dateValue, rules: rules) else {
            throw Fault(reason: "its date is in no known form")
        }
        self.from = from
        self.date = date
        self.content = content
        fingerprint = 0
        for member in members.members { take(member.name, member.value, rules: rules) }
    }

    /// Takes one member: a field if its value has a form that the field can have, else an extra.
    private mutating func take(_ name: String, _ value: JSONValue, rules: ReadingRules) {
        switch (name, value) {
        case ("from", _), ("date", _), (_, .null): break
        case ("reply_to", .string(let name)): replyTo = Self.replyID(name, rules: rules)
        case ("tags", _): tags = Self.list(value, rules: rules)?.map(Self.text)
        case ("files", _): files = Self.list(value, rules: rules)?.map(Self.text)
        case ("images", _): images = Self.list(value, rules: rules)?.map(Self.text)
        case ("attachments", _): attachments = Self.list(value, rules: rules)
        case ("edited", _):
            edited = Self.instant(value, rules: rules)
            if edited == nil { keep(name, value, rules: rules) }
        default: keep(name, value, rules: rules)
        }
    }

    /// Keeps a member as written. `github_issue` is a key that the clients know, though no field here.
    private mutating func keep(_ name: String, _ value: JSONValue, rules: ReadingRules) {
        if rules.contains(.unknownKeysAreIgnored) && name != "github_issue" { return }
        extra[name] = value
    }

    /// The instant of a date by the reader that the rules choose; `nil` if it is none.
    private static func instant(_ value: JSONValue, rules: ReadingRules) -> Timestamp? {
        if rules.contains(.datesAreOfAnyValue) { return RemoteTime.javaScriptDate(value) }
        guard let text = value.string else { return nil }
        return rules.contains(.datesAreISOAlone) ? RemoteTime.upperCaseRFC3339(text) : RemoteTime.vibeChannelDate(text)
    }

    /// The id of the message that `reply_to` names: the name without `.md`. `nil` if a client takes the name for none.
    private static func replyID(_ name: String, rules: ReadingRules) -> String? {
        if rules.contains(.replyNamesAWholeFile), name.isEmpty { return nil }
        if rules.contains(.replyNamesAWholeFile), !name.hasSuffix(".md") {
            // No message file has such a name. An id contains no slash, so this one matches no message.
            return "./" + name
        }
        if rules.contains(.suffixIsCutEverywhere) { return name.isEmpty ? nil : name.cut(at: ".md").joined() }
        return name.utf8.count > 3 && name.hasSuffix(".md") ? String(name.dropLast(3)) : name
    }

    /// The elements of a list, or the parts of a text between commas; empty parts are left out.
    private static func list(_ value: JSONValue, rules: ReadingRules) -> [JSONValue]? {
        if rules.contains(.listsKeepEmptyParts) { return TypedFrontMatter.list(value) }
        switch value {
        case .array(let elements): return elements.filter { !$0.isNull && $0 != .string("") }
        case .string(let text):
            let parts = text.utf8.split(separator: 0x2C).map { part in
                part.drop { $0 == 0x20 || $0 == 0x09 }
            }
            return parts.compactMap { part in
                // A block scalar ends with a line feed, which belongs to no part.
                let end = part.lastIndex { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A }
                return end.map { .string(String(Substring(part[...$0]))) }
            }
        default: return [value]
        }
    }

    /// A list element as text: a text itself, anything else as canonical JSON.
    private static func text(_ element: JSONValue) -> String {
        element.string ?? element.canonicalText
    }
}
