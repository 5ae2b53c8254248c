import EventLog
import Projections
import TestSupport

/// Twelve people in two hundred folders of message files: fewer than a thousand files each, more are not listed to every client.
struct VibeChannelTraffic: AppTraffic {
    private struct File {
        let path: String
        let author: String
        let date: String
        var blob = ""
        var replyTo: String?
        /// Who answers a message that is gone is shown otherwise by some clients.
        var isAnswered = false
    }

    private struct Change {
        var file: File
        var text: String?
        var before: String?
    }

    private static let authors = [
        "ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hal", "ida", "jo", "kim", "lou",
    ]
    private static let rooms = 200

    private var tip: String?
    private var files: [File] = []

    mutating func next(
        _ number: Int,
        at time: Timestamp,
        isAfterBug: Bool,
        using random: inout SeededGenerator
    ) throws -> TrafficEvent {
        let kind = files.count < 10 ? 0 : random.draw([70, 14, 4, 3, 2])
        switch kind {
        case 1: return edit("Edit message", #"edited: \#(time.shortened)"#, at: time, using: &random)
        case 2: return delete(at: time, using: &random)
        case 3:
            let link = "github_issue: 'https://github.com/o/r/issues/\(number % 90)'"
            return edit("Link message to GitHub issue", link, at: time, using: &random)
        case 4:
            let two = [0, 1].map { create(number, $0, at: time, using: &random) }
            return commit("Messages", two, at: time, using: &random)
        default: return commit("Message", [create(number, 0, at: time, using: &random)], at: time, using: &random)
        }
    }

    /// A bug's commits follow the last one.
    mutating func joined(_ draft: DraftEvent) throws -> DraftEvent {
        var draft = draft
        var document = try JSONValue.parse(draft.payload).object ?? JSONObject()
        var parent = document["parents"]?.array?.first?.object ?? JSONObject()
        parent["commit"] = .text(tip)
        document["parents"] = .array([.object(parent)])
        tip = document["commit"]?.string
        draft.payload = Array(JSONValue.object(document).text.utf8)
        return draft
    }

    // MARK: - Files

    private mutating func create(
        _ number: Int,
        _ place: Int,
        at time: Timestamp,
        using random: inout SeededGenerator
    ) -> Change {
        let room = "room-\(random.below(Self.rooms))/"
        let author = Self.authors[random.below(Self.authors.count)]
        let date = time.shortened
        let stamp = date.filter { $0 != "-" && $0 != ":" && $0 != "Z" }
        var file = File(path: "\(room)\(stamp)-\(author)-n\(number)x\(place).md", author: author, date: date)
        if random.below(6) == 0, let parent = files.lastIndex(where: { $0.path.hasPrefix(room) }) {
            files[parent].isAnswered = true
            file.replyTo = files[parent].path.split(separator: "/").last.map(String.init)
        }
        file.blob = random.hex(40)
        files.append(file)
        if files.count > 2000 { files.removeFirst(500) }
        return Change(file: file, text: Self.text(of: file, nil, random.text()))
    }

    private mutating func edit(
        _ subject: String,
        _ line: String,
        at time: Timestamp,
        using random: inout SeededGenerator
    ) -> TrafficEvent {
        let index = random.below(files.count)
        let before = files[index].blob
        files[index].blob = random.hex(40)
        let change = Change(
            file: files[index],
            text: Self.text(of: files[index], line, random.text()),
            before: before
        )
        return commit(subject, [change], at: time, using: &random)
    }

    private mutating func delete(at time: Timestamp, using random: inout SeededGenerator) -> TrafficEvent {
        let alone = files.indices.filter { !files[$0].isAnswered }
        guard let index = alone.randomElement(using: &random) else {
            return commit("Nothing", [], at: time, using: &random)
        }
        let file = files.remove(at: index)
        return commit("Delete message", [Change(file: file, before: file.blob)], at: time, using: &random)
    }

    private static func text(of file: File, _ line: String?, _ body: String) -> String {
        let lines = [
            "---", "from: \(file.author)", "date: \(file.date)", file.replyTo.map { "reply_to: \($0)" }, line, "---",
            "", body, "",
        ]
        return lines.compactMap { $0 }.joined(separator: "\n")
    }

    // MARK: - Commits

    private mutating func commit(
        _ subject: String,
        _ changes: [Change],
        at time: Timestamp,
        using random: inout SeededGenerator
    ) -> TrafficEvent {
        let author = changes.first?.file.author ?? "ann"
        let person = JSONValue.object([
            "name": .string(author), "email": .string("\(author)@example.org"),
            "time": .number(JSONNumber(time.microseconds / 1_000_000)),
        ])
        let hash = random.hex(40)
        let document = JSONValue.object([
            "commit": .string(hash), "author": person, "committer": person,
            "subject": .string("\(subject) by \(author)"), "message": .string("\(subject) by \(author)\n"),
            "parents": .array([.object(["commit": .text(tip), "changes": .array(changes.map(Self.line))])]),
            "files": .array(changes.compactMap(Self.content)),
        ])
        tip = hash
        return TrafficEvent(kind: "git.commit/1", payload: document.text, key: hash)
    }

    private static func line(_ change: Change) -> JSONValue {
        let side = { (blob: String) -> JSONValue in .object(["mode": .string("100644"), "blob": .string(blob)]) }
        return .object([
            "path": .string(change.file.path), "from": change.before.map(side),
            "to": change.text.map { _ in side(change.file.blob) },
        ])
    }

    private static func content(_ change: Change) -> JSONValue? {
        change.text.map { text in
            .object([
                "path": .string(change.file.path), "blob": .string(change.file.blob),
                "size": .number(JSONNumber(text.utf8.count)), "text": .string(text),
            ])
        }
    }
}

extension Timestamp {
    /// To the second.
    fileprivate var shortened: String { "\(description.prefix(19))Z" }
}
