import Foundation

/// A chat branch as VibeChannel writes it, as a stream for `git fast-import`: messages of eight people in four channels, a commit
/// each; one commit in twenty deletes one of the last messages. Paths, times and texts are drawn, so that no two messages have the
/// same file. The same on every machine.
struct GeneratedCommits {
    private var random = SplitMix(state: 0x6769_7443)
    /// Seconds since 1970 (UTC).
    private var time = 1_741_064_400
    /// The paths and authors of the last messages that are not deleted.
    private var recent: [(path: String, author: String)] = []
    private var text = ""

    /// So many commits, each after those of the calls before.
    mutating func stream(_ count: Int) -> String {
        text = ""
        for number in 0..<count {
            time += 1 + random.below(60)
            if number % 20 == 13 { delete() } else { write() }
            text += "\n"
        }
        return text
    }

    private mutating func write() {
        let author = pick(Self.people)
        let date = Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)
        let name = date.filter { $0.isNumber || $0 == "T" } + "-\(author)-\(digits(6))"
        let path = "channel-\(random.below(4))/\(name).md"
        if recent.count < 200 { recent.append((path, author)) } else { recent[random.below(200)] = (path, author) }
        commit("Message from \(author)", by: author)
        let tags = "[\(pick(Self.tags)), \(pick(Self.tags))]"
        let file = "---\nfrom: \(author)\ndate: \(date)\ntags: \(tags)\n---\n\n\(body())\n"
        text += "M 100644 inline \(path)\n" + data(file)
    }

    private mutating func delete() {
        let message = recent.remove(at: random.below(recent.count))
        commit("Delete message by \(message.author)", by: message.author)
        text += "D \(message.path)\n"
    }

    private mutating func commit(_ subject: String, by author: String) {
        text +=
            "commit refs/heads/vibechannel\ncommitter \(author) <\(author)@example.org> \(time) +0000\n" + data(subject)
    }

    /// 20 to 59 words, some 210 bytes in the middle.
    private mutating func body() -> String {
        var words: [String] = []
        for _ in 0..<20 + random.below(40) { words.append(pick(Self.words)) }
        return words.joined(separator: " ")
    }

    private mutating func digits(_ count: Int) -> String {
        var text = ""
        for _ in 0..<count { text += String(random.below(16), radix: 16) }
        return text
    }

    private mutating func pick(_ texts: [String]) -> String { texts[random.below(texts.count)] }

    private func data(_ text: String) -> String { "data \(text.utf8.count)\n\(text)\n" }

    private static let people = ["ann", "bob", "cy", "dora", "emil", "fay", "gus", "hana"]
    private static let tags = ["bug", "ci", "doc", "ios", "mac", "ui", "api", "q"]
    private static let words = [
        "the", "build", "broke", "again", "after", "merge", "of", "branch", "please", "look", "at", "this", "issue",
        "when",
        "you", "find", "time", "agent", "says", "that", "tests", "pass", "on", "main", "but", "not", "here", "we",
        "should",
        "keep", "list", "short", "and", "move", "rest", "into", "channel", "message", "sync", "tomorrow",
    ]
}
