package import EventLog

extension ReadingRules {
    /// How message files are read under the rules.
    var files: any MessageFileReader { (isEmpty ? nil : client?.files(self)) ?? CanonicalFiles() }
}

/// The canonical reading of message files: what the remote meant.
///
/// The front matter stands between the first line and the next line `---`. A delimiter may have trailing spaces and tabs,
/// like YAML's own document marker. A byte order mark at the start is skipped, as a YAML reader skips it. Lines end in LF
/// or CRLF. A file has no front matter if the closing delimiter is missing, the first line contains anything else
/// (`---json`, `----`), or a blank line comes first.
package struct CanonicalFiles: MessageFileReader {
    package init() {}

    /// Splits a file. Cost: O(bytes).
    package func file(_ text: String) -> MessageFile? {
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
                return MessageFile(frontMatter: String(text[top..<here]), content: Self.trimmed(body))
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

    /// The text without the spaces, tabs, CRs and LFs at its ends.
    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
        guard let first = text.utf8.firstIndex(where: { !isSpace($0) }),
            let last = text.utf8.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(text[first..<text.utf8.index(after: last)])
    }

    /// The fast reader goes first and leaves all doubtful text to YAML; both give the same members.
    package func members(of file: MessageFile) throws(MessageFile.Fault) -> JSONObject {
        if let plain = PlainFrontMatter.members(of: file.frontMatter[...]) { return plain }
        return try YAMLFrontMatter.members(of: file.frontMatter)
    }

    package func instant(_ value: JSONValue) -> Timestamp? { value.string.flatMap(RemoteTime.vibeChannelDate) }

    /// The elements of a list, or the parts of a text between commas; empty parts are left out.
    package func list(_ value: JSONValue) -> [JSONValue]? {
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

    /// The name without `.md`.
    package func parent(named name: String) -> String? {
        name.utf8.count > 3 && name.hasSuffix(".md") ? String(name.dropLast(3)) : name
    }

    package func id(ofFile name: Substring) -> String { String(name.dropLast(3)) }

    package func keeps(_ name: String) -> Bool { true }
}
