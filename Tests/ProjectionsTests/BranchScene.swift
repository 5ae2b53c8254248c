import Clients
import EventLog
import Testing

@testable import Projections

/// A branch of message files as its events tell it, and the state that they give.
struct BranchScene {
    /// One event, to be given again.
    struct Recorded {
        var sequence: UInt64
        var kind: EventKind
        var payload: [UInt8]
    }

    var scene = ChatScene()
    var decoder = GitCommitDecoder()
    var rules: ReadingRules = []
    private(set) var events: [Recorded] = []
    /// The whole tree of each commit: path → text.
    private(set) var trees: [String: [String: String]] = [:]

    /// A message file as the clients write it.
    static func file(
        _ body: String,
        date: String = "2025-03-04T05:06:07Z",
        replyTo: String? = nil,
        _ lines: [String] = []
    ) -> String {
        let reply = replyTo.map { ["reply_to: \($0)"] } ?? []
        return (["---", "from: ann", "date: \(date)"] + reply + lines + ["---", "", body]).joined(separator: "\n")
    }

    /// Commits a whole tree and applies the event.
    mutating func commit(
        _ id: String,
        _ tree: [String: String],
        parents: [String] = [],
        by author: String = "Ann Lee",
        at time: Int64 = 1_741_064_767
    ) {
        trees[id] = tree
        record(Self.document(id, tree, parents.map { ($0, trees[$0] ?? [:]) }, by: author, at: time), "git.commit/1")
    }

    /// Tells that the branch was set from one commit to another.
    mutating func rewrite(from: String, to: String) {
        let changes = Self.changes(from: trees[from] ?? [:], to: trees[to] ?? [:])
        let document: JSONValue = .object([
            "from": .string(from), "to": .string(to), "changes": changes,
            "files": Self.files(trees[to] ?? [:], changes),
        ])
        record(document, "git.rewrite/1")
    }

    mutating func record(_ document: JSONValue, _ kind: StaticString) {
        record(Array(document.canonicalText.utf8), kind)
    }

    mutating func record(_ payload: [UInt8], _ kind: StaticString) {
        let event = Recorded(sequence: scene.last + 1, kind: EventKind(kind), payload: payload)
        events.append(event)
        apply(event)
    }

    mutating func apply(_ event: Recorded) {
        let recordedAt = Timestamp(seconds: 1_700_000_000 + Int64(event.sequence))
        let sequence = SequenceNumber(event.sequence)
        var context = FoldContext(
            names: scene.names,
            event: EventReference(sequence: sequence, recordedAt: recordedAt),
            rules: rules
        )
        let envelope = Envelope(
            sequence: sequence,
            recordedAt: recordedAt,
            source: (try? SourceName("vibe")) ?? .logtool,
            kind: event.kind
        )
        var changes: [Change] = []
        swap(&context.texts, &scene.messages.store.texts)
        event.payload.withUnsafeBytes { bytes in
            decoder.decode(envelope, payload: bytes, into: &changes, context: &context)
        }
        swap(&context.texts, &scene.messages.store.texts)
        scene.names = context.names
        scene.apply(changes, at: event.sequence)
        scene.note(context.reasons)
    }

    /// What a compaction leaves and what it must equal.
    func compacted(keep: Int) throws -> (retained: BranchScene, refolded: BranchScene) {
        var retained = self
        retained.scene.messages.retain(
            RetentionPolicy(messagesPerChannel: keep),
            names: scene.names,
            CompactionDecision(head: SequenceNumber(scene.last), clock: nil)
        )
        retained.scene.channels.retain(RetentionPolicy(messagesPerChannel: keep), names: scene.names)
        let needed = retained.needed
        let names = retained.scene.names
        var refolded = BranchScene()
        var fresh = Names()
        try refolded.decoder.load(facts: retained.decoder.facts(keeping: needed, names: names), names: &fresh)
        let messages = retained.scene.messages.facts(keeping: needed, names: names)
        let channels = retained.scene.channels.facts(keeping: needed, names: names)
        try refolded.scene.messages.load(facts: messages, names: &fresh)
        try refolded.scene.channels.load(facts: channels, names: &fresh)
        refolded.scene.names = fresh
        for event in events where needed.contains(event.sequence) { refolded.apply(event) }
        refolded.events = events.filter { needed.contains($0.sequence) }
        refolded.trees = trees
        return (retained, refolded)
    }

    var needed: SequenceSet {
        var needed = scene.needed
        decoder.collectNeeded(into: &needed)
        return needed
    }

    var normalForm: [String] { scene.normalForm + decoder.normalFormLines(scene.names) }
}

extension BranchScene {
    static func document(
        _ id: String,
        _ tree: [String: String],
        _ parents: [(id: String, tree: [String: String])],
        by author: String,
        at time: Int64
    ) -> JSONValue {
        let person: JSONValue = .object([
            "name": .string(author), "email": .string("a@example.org"), "time": .int(time),
        ])
        var entries: [JSONValue] = []
        var changed: [JSONValue] = []
        for parent in parents {
            let changes = changes(from: parent.tree, to: tree)
            entries.append(.object(["commit": .string(parent.id), "changes": changes]))
            changed += changes.array ?? []
        }
        if parents.isEmpty {
            let changes = changes(from: [:], to: tree)
            entries = [.object(["changes": changes])]
            changed = changes.array ?? []
        }
        return .object([
            "commit": .string(id), "author": person, "committer": person, "subject": .string("s"),
            "message": .string("s\n"), "parents": .array(entries), "files": files(tree, .array(changed)),
        ])
    }

    static func changes(from: [String: String], to: [String: String]) -> JSONValue {
        let paths = Set(from.keys).union(to.keys).filter { from[$0] != to[$0] }
        return .array(
            paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { path in
                .object(["path": .string(path), "from": entry(from[path]), "to": entry(to[path])])
            }
        )
    }

    static func files(_ tree: [String: String], _ changes: JSONValue) -> JSONValue {
        let paths = Set((changes.array ?? []).compactMap { $0["path"]?.string }).filter { tree[$0] != nil }
        return .array(
            paths.sorted().map { path in
                let text = tree[path] ?? ""
                return .object([
                    "path": .string(path), "blob": .string(blob(text)), "size": .int(text.utf8.count),
                    "text": text.contains("\u{0}") ? nil : .string(text),
                ])
            }
        )
    }

    private static func entry(_ text: String?) -> JSONValue? {
        text.map { .object(["mode": .string("100644"), "blob": .string(blob($0))]) }
    }

    static func blob(_ text: String) -> String {
        String(Hasher256.hash(Array(text.utf8)).hex.prefix(40))
    }
}
