/// A commit as git stores it. Malformed parts are read as absent.
struct GitCommitObject {
    /// The author or committer, with the time.
    struct Person: Equatable {
        var name: [UInt8] = []
        var email: [UInt8] = []
        /// Seconds since 1970 UTC; `nil` if the commit has no time or the number does not fit in 64 bits.
        var time: Int64?
    }

    /// The ids in the commit's order, in lower case; not checked to be ids.
    private(set) var parents: [String] = []
    private(set) var author = Person()
    private(set) var committer = Person()
    /// The message as stored, in any encoding.
    private(set) var message: [UInt8] = []

    /// Reads the bytes of a commit object: headers, an empty line, the message.
    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        var mayBeParent = true
        while let end = rest.firstIndex(of: 0x0A) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if line.isEmpty { break }
            // Only `parent` lines directly after the tree count; git ignores one further down.
            mayBeParent = mayBeParent && (line.starts(with: "parent ".utf8) || line.starts(with: "tree ".utf8))
            readHeader(line, mayBeParent: mayBeParent)
        }
        message = Array(rest)
    }

    /// The message's first paragraph on one line, like git's `%s`.
    var subject: [UInt8] {
        var lines: [ArraySlice<UInt8>] = []
        for line in message.split(separator: 0x0A, omittingEmptySubsequences: false) {
            let trimmed = Self.trimmingEnd(line)
            if trimmed.isEmpty {
                if lines.isEmpty { continue }
                break
            }
            lines.append(trimmed)
        }
        return Array(lines.joined(separator: [0x20]))
    }

    /// Reads one header. Lines that continue a header (of `gpgsig`, `mergetag`) begin with a space, so their name is
    /// empty and they are passed over. Where a header is repeated, the last one counts.
    private mutating func readHeader(_ line: ArraySlice<UInt8>, mayBeParent: Bool) {
        guard let space = line.firstIndex(of: 0x20) else { return }
        let value = line[(space + 1)...]
        switch String(decoding: line[..<space], as: UTF8.self) {
        case "parent" where mayBeParent: parents.append(String(decoding: value, as: UTF8.self).lowercased())
        case "author": author = Self.person(value)
        case "committer": committer = Self.person(value)
        default: return
        }
    }

    /// Reads `NAME <EMAIL> SECONDS ZONE` by the rules of git's `split_ident_line`.
    private static func person(_ line: ArraySlice<UInt8>) -> Person {
        guard let mailStart = line.firstIndex(of: 0x3C) else { return Person(name: Array(trimmingEnd(line))) }
        var person = Person(name: Array(trimmingEnd(line[..<mailStart])))
        guard let mailEnd = line[mailStart...].firstIndex(of: 0x3E), let last = line.lastIndex(of: 0x3E) else {
            person.email = Array(line[(mailStart + 1)...])
            return person
        }
        person.email = Array(line[(mailStart + 1)..<mailEnd])
        let date = line[(last + 1)...].split(separator: 0x20).first
        person.time = date.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
        return person
    }

    /// Without the white space at its end: space, tab, line feed, vertical tab, form feed and carriage return.
    private static func trimmingEnd(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let last = line.last, last == 0x20 || (0x09...0x0D).contains(last) { line = line.dropLast() }
        return line
    }
}
