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
    /// What a deletion left: when it came, and the text that was last.
    private struct Grave {
        var event: Int
        var last: ChatModel.Version?
        /// Whether a rewrite deleted the file.
        var isByRewrite = false
    }

    /// A commit that was a tip: its files, and the files that it and those before it deleted, by their paths.
    private struct Tip {
        var commit: String
        var tree: [String: String]
        var graves: [String: Grave]
    }

    /// The file of each path in the tip, and what the tip's own history deleted.
    private var tree: [String: String] = [:]
    private var graves: [String: Grave] = [:]
    /// The newest deletion of each path by a rewrite, or on a line that a rewrite left for a tip that never had the path.
    private var strays: [String: Grave] = [:]
    private var tips: [Tip] = []
    private var clock = 0
    private var count = 0
    private var lastFile = 0
    private var isAfterSetBack = false

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Commits, each of some files, each applied to `chat`; now and then the branch is set back to an earlier tip.
    mutating func events(_ count: Int) -> [Event] {
        (0..<count).map { _ in
            // A branch that was set back is often set again.
            let isSetBack = tips.count > 5 && pick(0...39) < (isAfterSetBack ? 15 : 1)
            defer { isAfterSetBack = isSetBack }
            return isSetBack ? setBack() : commit()
        }
    }

    private mutating func commit() -> Event {
        let parent = tips.last
        for _ in 0..<pick(1...3) { changeFile() }
        count += 1
        clock += 1
        let id = String(repeating: "0", count: 34) + String(100_000 + count)
        let old = parent?.tree ?? [:]
        for path in Set(old.keys).union(tree.keys) where (old[path] == nil) != (tree[path] == nil) {
            graves[path] = tree[path] == nil ? grave(path) : nil
        }
        apply(from: old)
        let parents = parent.map { [(id: $0.commit, tree: $0.tree)] } ?? []
        tips.append(Tip(commit: id, tree: tree, graves: graves))
        return Event(
            kind: "git.commit/1",
            payload: BranchScene.document(
                id,
                tree,
                parents,
                by: "author \(count % 4)",
                at: 1_741_064_767 + Int64(count)
            )
        )
    }

    /// Sets the branch to an earlier tip: what that tip lacks is deleted, and what it has otherwise is as it was there.
    private mutating func setBack() -> Event {
        let old = tips[tips.count - 1]
        let new = tips[tips.count - pick(2...5)]
        clock += 1
        for path in old.tree.keys where new.tree[path] == nil {
            strays[path] = grave(path)
            strays[path]?.isByRewrite = true
        }
        for (path, grave) in old.graves where new.tree[path] == nil && new.graves[path] == nil {
            if grave.event >= strays[path]?.event ?? 0 { strays[path] = grave }
        }
        (tree, graves) = (new.tree, new.graves)
        apply(from: old.tree)
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

    /// The same instant, counted from 1970: the day began at 1,741,046,400.
    private static func seconds(_ number: Int) -> Int64 {
        1_741_046_400 + Int64((10 + number % 7) * 3_600 + (10 + number / 60 % 50) * 60 + 10 + number % 50)
    }

    /// What is left of a message that the event deletes.
    private func grave(_ path: String) -> Grave {
        let (channel, id) = Self.parts(path)
        return Grave(event: clock, last: chat.index(channel, id).flatMap { chat.messages[$0].current })
    }

    private static func parts(_ path: String) -> (channel: String, id: String) {
        let parts = path.split(separator: "/").map(String.init)
        return (parts[0], String(parts[1].dropLast(3)))
    }

    /// Shows what the tip's history deleted as it did, or as a later rewrite did. What it never had is as it was last.
    private mutating func bury() {
        for path in Set(graves.keys).union(strays.keys).sorted() where tree[path] == nil {
            let (channel, id) = Self.parts(path)
            guard chat.index(channel, id) != nil else { continue }
            var grave = graves[path] ?? strays[path]
            if let own = graves[path], let stray = strays[path], stray.isByRewrite, stray.event > own.event {
                grave = stray
            }
            let isDropped = chat.dropped[[channel, id]] != nil
            chat.change(channel, id, created: Self.date(Self.number(path))) {
                // The tip deleted a text that a compaction dropped.
                $0.isHidden = isDropped && grave?.last == nil
                $0.last = grave?.last
            }
        }
    }

    /// Compares the tip's tree with the one before.
    private mutating func apply(from old: [String: String]) {
        for path in Set(old.keys).union(tree.keys).sorted() where old[path] != tree[path] {
            let (channel, id) = Self.parts(path)
            let text = tree[path].map { $0.split(separator: "\n").map(String.init) }
            let reply = text?.first { $0.hasPrefix("reply_to: ") }?.dropFirst(10)
            let isNew = tree[path] != nil
            let number = Self.number(path)
            chat.change(
                channel,
                id,
                created: Self.date(number),
                seconds: Self.seconds(number),
                by: isNew ? .file : .deletion
            ) { message in
                guard isNew, let text, let content = text.last else { return message.cause = "deleted" }
                (message.cause, message.isHidden) = (nil, false)
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
        bury()
    }

    mutating func compact(_ rule: (_ channel: String) -> ChatModel.Rule) {
        chat.compact(deletesForGood: false, rule)
        forget(in: &graves)
        forget(in: &strays)
        for place in tips.indices { forget(in: &tips[place].graves) }
    }

    /// Forgets the texts of messages that are dropped now.
    private func forget(in graves: inout [String: Grave]) {
        for path in graves.keys {
            let (channel, id) = Self.parts(path)
            if chat.index(channel, id) == nil { graves[path]?.last = nil }
        }
    }
}
