import EventLog
import JSON

/// The prompts whose files exist (pending, answered or unreadable), and the histories of all.
///
/// The client that shows a prompt removes its file. So a prompt without a file is no longer in the state, like a
/// session; its history stays (`asked`, `answered`, `unreadable`, `removed`). Nothing but the id of an unreadable
/// prompt is known.
///
/// A prompt and its session are two things: nothing here looks at sessions, and a prompt outlives its session until its
/// file goes.
struct Prompts: Fold {
    private enum Standing: Codable, Hashable {
        case readable(PromptFields)
        case unreadable
    }

    /// The prompts that exist now, by the name of their file or record.
    private var present: [EntityID: Standing] = [:]
    private var histories = EntityHistories<HistoryEntry>()

    init() {}

    mutating func apply(_ change: Change, in context: inout FoldContext) {
        guard case .prompt(let change) = change else { return }
        switch change {
        case .asked(let fields): settle(fields.id, .readable(fields), in: &context)
        case .unreadable(let id): settle(id, .unreadable, in: &context)
        case .removed(let id): settle(id, nil, in: &context)
        }
    }

    func keys(in section: Section, names: Names) -> [EntityKey] {
        section == .prompts ? present.keys.sorted(by: names.precedes).map { EntityKey(.prompts, $0) } : []
    }

    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        histories.keys(in: section, names: names)
    }

    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        guard key.section == .prompts, let standing = present[key.first] else { return nil }
        var row = Self.members(of: standing)
        row["id"] = .string(context.names.text(key.first))
        return .object(row)
    }

    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]? {
        key.section == .prompts ? histories[key] : nil
    }

    /// Makes only the entries in `places`, unlike the default.
    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        key.section == .prompts ? histories.entries(of: key, in: places) : []
    }

    /// Drops nothing: of prompts, a compaction drops only repeats.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {}

    /// The events of the histories give the present prompts too: each of them has an entry for its current standing.
    func collectNeeded(into sequences: inout SequenceSet) {
        histories.collectNeeded(into: &sequences)
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for id in present.keys.sorted(by: names.precedes) {
            guard let standing = present[id] else { continue }
            var members = Self.members(of: standing)
            members["id"] = .string(names.text(id))
            take(.object(members))
        }
        histories.normalForm(names: names, into: take)
    }

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { .null }

    mutating func load(facts: JSONValue, names: inout Names) throws {}
}

extension Prompts {
    /// Sets a prompt's standing; `nil` removes it. A repeat does nothing, and neither does the removal of an unknown
    /// prompt.
    private mutating func settle(_ id: EntityID, _ standing: Standing?, in context: inout FoldContext) {
        let before = present[id]
        // A removal's entry has the fields that the prompt had last.
        guard !Self.areSame(before, standing), let known = standing ?? before else { return }
        present[id] = standing
        let key = EntityKey(.prompts, id)
        context.touch(key)
        let entry = HistoryEntry(
            at: context.event,
            change: Self.word(for: standing),
            remoteTime: Self.remoteTime(of: standing),
            fields: Self.members(of: known)
        )
        histories.add(entry, to: key)
    }

    /// Whether both show the same row. The id is the same anyway.
    private static func areSame(_ left: Standing?, _ right: Standing?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return JSONValue.object(members(of: left)).isSameJSON(as: .object(members(of: right)))
    }

    private static func word(for standing: Standing?) -> String {
        switch standing {
        case .readable(let fields): fields.isAnswered ? "answered" : "asked"
        case .unreadable: "unreadable"
        case nil: "removed"
        }
    }

    /// The remote's time of the change: when it was answered, else when it was asked.
    private static func remoteTime(of standing: Standing?) -> Timestamp? {
        guard case .readable(let fields) = standing else { return nil }
        return fields.isAnswered ? fields.answeredAt : fields.askedAt
    }

    /// The members that a row and a history entry have in common, without the id. Equal members mean an equal row.
    private static func members(of standing: Standing) -> JSONObject {
        guard case .readable(let fields) = standing else { return ["state": .string("unreadable")] }
        return [
            "session": .text(fields.session), "project": .text(fields.project), "text": .text(fields.text),
            "askedAt": .text(fields.askedAt?.description), "answer": .text(fields.answer),
            "answeredAt": .text(fields.answeredAt?.description),
            "state": .string(fields.isAnswered ? "answered" : "pending"),
        ]
    }
}
