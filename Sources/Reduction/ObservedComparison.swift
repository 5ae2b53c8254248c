import EventLog
import JSON
package import Projections

extension Observation {
    /// What differs between the screen and a state, in the order of the screen; what is not shown comes last in each scope.
    ///
    /// Cost: of a channel, puts its messages in order and makes the rows from the first one shown; O(rows) of lists and tables.
    package func differences(from state: LogState) -> [ObservedDifference] {
        var differences: [ObservedDifference] = []
        for group in shown {
            var comparison = ObservedComparison(of: group, in: self, with: state)
            comparison.run()
            differences += comparison.differences
        }
        return differences
    }
}

/// Compares one shown group with a state.
private struct ObservedComparison {
    /// A row of the state.
    private struct StateRow {
        let place: Int
        let source: String
        let members: JSONObject
    }

    private let group: Observation.Shown
    private let observation: Observation
    /// The ids of the state's rows in their order, and the rows by id.
    private var order: [String] = []
    private var rows: [ExactText: StateRow] = [:]
    /// Messages that the state has in the other section: the deleted ones among live, and the other way round.
    private var others: [ExactText: StateRow] = [:]
    private(set) var differences: [ObservedDifference] = []

    init(of group: Observation.Shown, in observation: Observation, with state: LogState) {
        (self.group, self.observation) = (group, observation)
        guard [.messages, .deletedMessages].contains(group.section), let scope = group.scope else {
            for row in Self.rows(of: group, observation.source, state) { add(row) }
            return
        }
        let channel = EntityReference(
            kind: .channel,
            parts: (observation.source.map { [$0.rawValue] } ?? []) + [scope]
        )
        let ids = group.rows.map(\.id)
        let isTail = group.section == .messages && observation.isComplete
        for row in state.messageRows(of: channel, in: group.section, ids: ids, andLater: isTail) { add(row) }
        let other = group.section == .messages ? Section.deletedMessages : .messages
        for row in state.messageRows(of: channel, in: other, ids: ids, andLater: false) {
            guard let id = row["id"]?.string, let object = row.object else { continue }
            others[ExactText(id)] = StateRow(place: 0, source: row["source"]?.string ?? "", members: object)
        }
    }

    private mutating func add(_ row: JSONValue) {
        guard let object = row.object, let id = group.section.observedID.flatMap({ object[$0]?.identifier }),
            rows[ExactText(id)] == nil
        else { return }
        rows[ExactText(id)] = StateRow(place: order.count, source: object["source"]?.string ?? "", members: object)
        order.append(id)
    }

    /// The rows of a section and scope that the state has, in its order.
    private static func rows(of group: Observation.Shown, _ source: SourceName?, _ state: LogState) -> [JSONValue] {
        var rows = state.rows(in: group.section, asOf: state.clock ?? Timestamp(seconds: 0))
        if let scope = group.scope, let name = group.section.observedScope {
            rows.removeAll { $0[name]?.identifier != scope }
        }
        guard let source else { return rows }
        return rows.filter { $0["source"]?.string == source.rawValue }
    }

    mutating func run() {
        var counts: [ExactText: Int] = [:]
        for row in group.rows { counts[ExactText(row.id), default: 0] += 1 }
        var seen: Set<ExactText> = []
        var last: (place: Int, id: String)?
        for row in group.rows where seen.insert(ExactText(row.id)).inserted {
            if let count = counts[ExactText(row.id)], count > 1 { note(row.id, .repeated(count)) }
            guard let known = rows[ExactText(row.id)] else {
                noteStranger(row)
                continue
            }
            compare(row, with: known)
            guard isOrdered else { continue }
            if let last, known.place < last.place {
                note(row.id, .order(after: last.id))
            } else {
                last = (known.place, row.id)
            }
        }
        if observation.isComplete, group.section.isWhollyShown { noteMissing(seen) }
    }

    /// Whether the state orders the rows.
    private var isOrdered: Bool { observation.order != .any && [.messages, .items].contains(group.section) }

    private mutating func noteStranger(_ row: Observation.Row) {
        let isOther = others[ExactText(row.id)] != nil
        if group.section == .deletedMessages, isOther { return note(row.id, .shownAsDeleted) }
        note(row.id, .extra(isDeleted: isOther))
    }

    private mutating func compare(_ row: Observation.Row, with known: StateRow) {
        for member in row.members.members {
            let value = known.members[member.name]
            guard !Self.matches(member.value, value) else { continue }
            note(row.id, .member(member.name, shown: member.value, state: value))
        }
    }

    /// Notes what the state has and the screen lacks. A screen of messages begins somewhere and goes to the newest one.
    private mutating func noteMissing(_ seen: Set<ExactText>) {
        var start = 0
        if group.section == .messages, !group.rows.isEmpty {
            let places = group.rows.compactMap { rows[ExactText($0.id)]?.place }
            guard let first = places.min() else { return }
            start = first
        }
        let asDeleted = Set(
            observation.shown.filter { $0.section == .deletedMessages && $0.scope == group.scope }
                .flatMap { $0.rows.map { ExactText($0.id) } }
        )
        for id in order[start...] {
            let text = ExactText(id)
            if !seen.contains(text), group.section != .messages || !asDeleted.contains(text) { note(id, .missing) }
        }
    }

    private mutating func note(_ id: String, _ what: ObservedDifference.What) {
        let known = rows[ExactText(id)] ?? others[ExactText(id)]
        let source = known?.source ?? observation.source?.rawValue ?? rows.first?.value.source
        let kind = EntityReference.Kind(section: group.section) ?? .issue
        let parts = [source, group.scope, id].compactMap { $0 }
        differences.append(ObservedDifference(entity: EntityReference(kind: kind, parts: parts), what: what))
    }

    /// Whether a shown value is the state's: of an object only the members that are shown, of a reference its id, a number and a
    /// text of the same characters, and times of one instant.
    private static func matches(_ shown: JSONValue, _ state: JSONValue?) -> Bool {
        guard let state, !state.isNull else { return shown.isNull }
        if shown.isSameJSON(as: state) { return true }
        switch (shown, state) {
        case (.object(let shown), .object(let state)):
            return shown.members.allSatisfy { matches($0.value, state[$0.name]) }
        case (.array(let shown), .array(let state)):
            return shown.count == state.count && zip(shown, state).allSatisfy { matches($0, $1) }
        case (_, .object(let state)): return state["id"].map { matches(shown, $0) } ?? false
        default: break
        }
        guard let left = shown.identifier, let right = state.identifier else { return false }
        if ExactText(left) == ExactText(right) { return true }
        guard let one = Timestamp(written: left), let other = Timestamp(written: right) else { return false }
        return one == other
    }
}
