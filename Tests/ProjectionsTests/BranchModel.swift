import TestSupport

@testable import Projections

/// Random commits of a chat branch, and the chat that they give by `docs/semantics.md`.
struct BranchModel {
    /// One event of the branch.
    struct Event {
        var kind: StaticString
        var payload: JSONValue
    }

    private(set) var chat = ChatModel { ($0.created, $0.id) < ($1.created, $1.id) }
    private var random: SeededGenerator
    /// The file of each path in the tip, and the tree of each commit that was ever a tip.
    private var tree: [String: String] = [:]
    private var tips: [(commit: String, tree: [String: String])] = []
    private var count = 0
    private var lastFile = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Commits, each of some files, each applied to `chat`; now and then the branch is set back to an earlier tip.
    mutating func events(_ count: Int) -> [Event] {
        (0..<count).map { _ in
            tips.count > 5 && pick(0...39) == 0 ? setBack() : commit()
        }
    }

    private mutating func commit() -> Event {
        let parent = tips.last
        for _ in 0..<pick(1...3) { changeFile() }
        count += 1
        let id = String(repeating: "0", count: 34) + String(100_000 + count)
        let author = "author \(count % 4)"
        apply(from: parent?.tree ?? [:], by: author)
        let parents = parent.map { [(id: $0.commit, tree: $0.tree)] } ?? []
        tips.append((id, tree))
        return Event(
            kind: "git.commit/1",
            payload: BranchScene.document(id, tree, parents, by: author, at: 1_741_064_767 + Int64(count))
        )
    }

    /// Sets the branch to an earlier tip: what that tip lacks is deleted, and what it has otherwise is as it was there.
    private mutating func setBack() -> Event {
        let old = tips[tips.count - 1]
        let new = tips[tips.count - pick(2...5)]
        tree = new.tree
        apply(from: old.tree, by: nil)
        tips.append(new)
        let changes = BranchScene.changes(from: old.tree, to: new.tree)
        return Event(
            kind: "git.rewrite/1",
            payload: .object([
                "from": .string(old.commit), "to": .string(new.commit), "changes": changes,
                "files": BranchScene.files(new.tree, changes),
            ])
        )
    }

    private mutating func changeFile() {
        let paths = tree.keys.sorted()
        switch pick(0...9) {
        case 0...4 where !paths.isEmpty:
            let path = paths[pick(max(0, paths.count - 15)...paths.count - 1)]
            if pick(0...2) == 0 { tree[path] = nil } else { tree[path] = file(path) }
        case 5 where lastFile > 0:
            // A deleted file may come again.
            let path = path(pick(max(1, lastFile - 15)...lastFile))
            tree[path] = file(path)
        default:
            lastFile += 1
            tree[path(lastFile)] = file(path(lastFile))
        }
    }

    private func path(_ number: Int) -> String {
        "channel\(number % 3)/m\(1_000 + number).md"
    }

    private static func number(_ path: String) -> Int {
        (Int(path.split(separator: "/")[1].dropFirst().dropLast(3)) ?? 0) - 1_000
    }

    /// Each file of the branch has a text that no other had.
    private mutating func file(_ path: String) -> String {
        let number = Self.number(path)
        let reply = number % 4 == 0 && number > 4 ? "m\(1_000 + number - 3)" : nil
        return BranchScene.file(
            "text \(number) of commit \(count), \(pick(0...999))",
            date: Self.date(number),
            replyTo: reply
        )
    }

    /// Messages are not written in the order of their dates.
    private static func date(_ number: Int) -> String {
        "2025-03-04T\(10 + number % 7):\(10 + number / 60 % 50):\(10 + number % 50)Z"
    }

    /// Compares the tip's tree with the one before.
    private mutating func apply(from old: [String: String], by author: String?) {
        for path in Set(old.keys).union(tree.keys).sorted() where old[path] != tree[path] {
            let parts = path.split(separator: "/").map(String.init)
            let text = tree[path].map { $0.split(separator: "\n").map(String.init) }
            let reply = text?.first { $0.hasPrefix("reply_to: ") }?.dropFirst(10)
            let isNew = tree[path] != nil
            chat.change(parts[0], String(parts[1].dropLast(3)), created: Self.date(Self.number(path))) { message in
                guard isNew, let text, let content = text.last else { return message.cause = "deleted" }
                message.cause = nil
                // A file that comes back as it was is no new version.
                guard message.current?.content != content else { return }
                let number = (message.versions.values.map(\.number).max() ?? 0) + 1
                let order = String(repeating: "0", count: 6 - String(number).count) + String(number)
                message.versions[order] = ChatModel.Version(
                    author: "ann",
                    content: content,
                    replyTo: reply.map(String.init),
                    number: number
                )
            }
        }
    }

    mutating func compact(keep: Int) { chat.compact(keep: keep) }
}
