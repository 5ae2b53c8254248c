/// Takes files apart for replacing: the front matter's keys from its values.
enum FileText {
    /// Calls `body` with all pieces of a file's text in order, and where they stand. Only known keys of front matter
    /// stand where they stay.
    static func visit(_ text: String, _ body: (String, TextPlace) -> Void) {
        let lines = text.lines
        guard lines.count > 1, isFence(lines[0]) else { return body(text, .text) }
        body(lines[0], .verbatim)
        let end = lines.dropFirst().firstIndex(where: isFence) ?? lines.count
        for line in lines[1..<end] { visitLine(line, body) }
        for line in lines[end...] { body(line, .text) }
    }

    private static func isFence(_ line: String) -> Bool {
        line.hasPrefix("---") && line.dropFirst(3).allSatisfy(\.isWhitespace)
    }

    /// A line of front matter: what is before the key, the key, and the rest.
    private static func visitLine(_ line: String, _ body: (String, TextPlace) -> Void) {
        guard let colon = line.firstIndex(of: ":") else { return body(line, .text) }
        let key = line[..<colon].drop { " \t-?\"'{,".contains($0) }
        let end = key.lastIndex { !" \t\"'".contains($0) }.map { key.index(after: $0) }
        let name = key[..<(end ?? key.startIndex)]
        guard ProtocolWords.frontMatter.contains(String(name)) else { return body(line, .text) }
        body(String(line[..<key.startIndex]), .verbatim)
        body(String(name), .name)
        body(String(line[name.endIndex...]), .text)
    }
}

/// Takes apart texts that look like JSON and may be broken or within a text of JSON: names of members from values.
enum LooseJSON {
    /// Calls `body` with all pieces of a text in order, and where they stand.
    static func visit(_ text: String, _ body: (String, TextPlace) -> Void) {
        var rest = text[...]
        var place = TextPlace.text
        while let quote = rest.firstIndex(of: "\"") {
            plain(rest[..<quote], body)
            let start = rest.index(after: quote)
            let end = closing(rest[start...]) ?? rest.endIndex
            let string = String(rest[start..<end])
            let behind = end < rest.endIndex ? rest.index(after: end) : end
            let isName = rest[behind...].drop { $0.isWhitespace }.first == ":"
            body("\"", .verbatim)
            body(string, isName ? .name : place)
            if behind > end { body("\"", .verbatim) }
            place = isName ? TextPlace(ofMember: string, within: .text) : .text
            rest = rest[behind...]
        }
        plain(rest, body)
    }

    /// What stands between strings: signs, numbers and words of JSON.
    private static func plain(_ text: Substring, _ body: (String, TextPlace) -> Void) {
        if !text.isEmpty { body(String(text), .text) }
    }

    /// The quote that ends a string.
    private static func closing(_ text: Substring) -> String.Index? {
        var isEscaped = false
        for index in text.indices {
            if isEscaped {
                isEscaped = false
            } else if text[index] == "\\" {
                isEscaped = true
            } else if text[index] == "\"" {
                return index
            }
        }
        return nil
    }
}
