import EventLog
import Kinds
import Projections

/// An entry of a history or an audit, compared with what some events of its log say: the events are folded as a log of
/// their own, and the entry that this gives is the one that the other should be.
///
/// Serves both sides: who proves an entry finds out which events it takes, who checks one which of its members hold.
struct EntryReading {
    /// A member that shows something else than the events say.
    struct Difference {
        /// The name; of a member within another, the names with dots between them.
        let member: String
        let shown: JSONValue?
        let proved: JSONValue?
    }

    /// The members that an entry has for its proof, and not to show anything.
    static let proofMembers = ["proof", "basis", "notCovered"]

    /// The members that differ, whatever else the log says. Only `entity` if the events do not show that its event changed the
    /// thing.
    private(set) var differences: [Difference] = []
    /// The members that differ, but of which the events say less than all events do: counts among all versions, and what
    /// fewer of the events say otherwise.
    private(set) var unsettled: [Difference] = []
    /// The members that are shown and that no event says.
    private(set) var uncovered: [String] = []

    /// Words for the first that is known of a thing. That nothing was known before no event can prove.
    private static let firstWords: Set<String> = ["created", "added", "started", "asked"]
    /// The members that depend on what was known before.
    private static let membersOfBefore: Set<String> = ["change", "kinds", "before", "dwellMilliseconds"]
    /// The members that count or measure among all that was known.
    private static let counts: Set<String> = ["version", "of", "dwellMilliseconds"]

    /// Cost: a fold of the events and, where a member differs, of each of their ends.
    ///
    /// - Parameters:
    ///   - shown: the entry, also without its thing; members for its proof are passed over.
    ///   - thing: what it is about, by its full name.
    ///   - sequence: its event.
    ///   - events: the event and others, in the order of the log; acts say by which decoder file they are read.
    init(_ shown: JSONObject, of thing: EntityReference, at sequence: SequenceNumber, in events: [RecordedEvent]) {
        let decoders = Decoders(among: events)
        let events = events.filter { !$0.envelope.isAct }
        self.init(comparing: shown, of: thing, at: sequence, in: events[...], decoders)
        // No proof shows that no later act puts another file in force.
        if let source = thing.parts.first.flatMap({ try? SourceName($0) }), decoders[source] != nil {
            uncovered.append("decoder")
        }
        if differences.isEmpty { return }
        let fewer = events.indices.dropFirst().map {
            Self(comparing: shown, of: thing, at: sequence, in: events[$0...], decoders)
        }
        let (own, untold) = (events.first { $0.envelope.sequence == sequence }, uncovered)
        let isSettled = { (difference: Difference) in
            !Self.counts.contains(difference.member) && !fewer.contains { $0.contradicts(difference) }
                && !Self.isOfOthers(difference.member, shown, thing, own, untold)
        }
        unsettled = differences.filter { !isSettled($0) }
        differences = differences.filter(isSettled)
    }

    /// Whether more than a few events decide a member.
    private static func isOfOthers(
        _ member: String,
        _ shown: JSONObject,
        _ thing: EntityReference,
        _ own: RecordedEvent?,
        _ untold: [String]
    ) -> Bool {
        guard let own else { return false }
        let name = member.split(separator: ".").last.map(String.init) ?? ""
        switch (thing.kind, EventFamily(kind: own.envelope.kind)) {
        // Which line of a branch counts is decided by all its commits, of things that no one of them names.
        case (_, .git): return member == "entity" && ["selected", "unselected"].contains(shown["change"]?.string)
        // What deletes a role names no member.
        case (.member, .gateway), (.member, .gatewayAnswer):
            return member == "entity" && shown["change"]?.string == "changed" && own.deletesRoles
        // Where a task is, the others of its list decide; whether it is done, its status, which an event may leave as it was.
        case (.item, .realtime), (.item, .generic):
            return name == "position" || name == "done" && untold.contains(member.dropLast(4) + "status")
        default: return false
        }
    }

    private init(
        comparing shown: JSONObject,
        of thing: EntityReference,
        at sequence: SequenceNumber,
        in events: ArraySlice<RecordedEvent>,
        _ decoders: Decoders
    ) {
        var state = LogState(ofPart: true)
        state.use(decoders)
        for event in events { state.apply(event) }
        var shown = shown
        for name in Self.proofMembers { shown[name] = nil }
        let candidates =
            shown["fields"] == nil
            ? Self.auditLines(of: thing, at: sequence, in: state, events)
            : Self.historyEntries(of: thing, sequence, state)
        var best: EntryReading?
        for candidate in candidates {
            let reading = EntryReading(shown, candidate)
            if best.map({ reading.isBetter(than: $0) }) ?? true { best = reading }
        }
        self = best ?? EntryReading(withoutEntry: shown, thing)
    }

    /// Whether fewer members differ or, if as many do, fewer are not covered.
    func isBetter(than other: EntryReading) -> Bool {
        (differences.count, openCount) < (other.differences.count, other.openCount)
    }

    private var openCount: Int { unsettled.count + uncovered.count }

    private init(_ shown: JSONObject, _ proved: Proved) {
        var isOpen: (String) -> Bool = { _ in false }
        if proved.isFirst { isOpen = { Self.membersOfBefore.contains($0) } }
        compare(shown, with: proved.object, before: proved.before, within: "", isOpen: isOpen)
    }

    /// The reading of an entry that the events do not give.
    private init(withoutEntry shown: JSONObject, _ thing: EntityReference) {
        differences = [Difference(member: "entity", shown: .string(thing.description), proved: nil)]
        uncovered = shown.members.map(\.name).filter { !["entity", "sequence", "recordedAt"].contains($0) }
    }
}

// MARK: - Comparing

extension EntryReading {
    private mutating func compare(
        _ shown: JSONObject,
        with proved: JSONObject,
        before: JSONObject? = nil,
        within path: String,
        isOpen: (String) -> Bool
    ) {
        for member in shown.members {
            let name = path + member.name
            switch (member.value.object, proved[member.name]) {
            case _ where isOpen(name), (_, nil): uncovered.append(name)
            case (let object?, let other?) where object["partial"]?.bool == true && other["partial"] == nil:
                let isBefore = name == "before"
                let (after, before) = (proved["after"]?.object, before ?? proved["before"]?.object)
                comparePart(object, with: other.object, other: isBefore ? after : before, within: name + ".")
            case (let object?, let other?) where other.object != nil:
                compare(object, with: other.object ?? JSONObject(), within: name + ".", isOpen: { _ in false })
            case (_, let other?):
                if member.value.isSameJSON(as: other) { continue }
                differences.append(Difference(member: name, shown: member.value, proved: other))
            }
        }
        for member in proved.members where shown[member.name] == nil && !isOpen(path + member.name) {
            // A thing is named once for a whole document. How long a status lasted is told of neighbours alone.
            if ["entity", "dwellMilliseconds"].contains(path + member.name) { continue }
            differences.append(Difference(member: path + member.name, shown: nil, proved: member.value))
        }
    }

    /// Compares the side of an entry that tells only what its event changed, while the events, of which there are fewer, give
    /// all that they say of the thing.
    ///
    /// - Parameter other: what they say of the other side of the change.
    private mutating func comparePart(
        _ shown: JSONObject,
        with proved: JSONObject?,
        other: JSONObject?,
        within path: String
    ) {
        let names = shown.members.map(\.name) + (proved?.members.map(\.name) ?? []).filter { shown[$0] == nil }
        for name in names where name != "partial" {
            switch (shown[name], proved?[name]) {
            case (let value, let said) where (value ?? said)?.object != nil:
                let columns = (value?.object ?? JSONObject(), said?.object, other?[name]?.object)
                comparePart(columns.0, with: columns.1, other: columns.2, within: path + name + ".")
            // Which names came into a list and went, fewer events do not say.
            case (let value, let said) where (value ?? said)?.array != nil:
                if value != nil || said?.array?.isEmpty == false { uncovered.append(path + name) }
            case (_?, nil): uncovered.append(path + name)
            case (let value?, let said?):
                if value.isSameJSON(as: said) { continue }
                differences.append(Difference(member: path + name, shown: value, proved: said))
            case (nil, let said?):
                // What the event left as it was is not told, and it may be that where nothing is known of before.
                if let before = other?[name] {
                    if before.isSameJSON(as: said) { continue }
                    differences.append(Difference(member: path + name, shown: nil, proved: said))
                } else {
                    uncovered.append(path + name)
                }
            case (nil, nil): break
            }
        }
        if shown["partial"] != nil { uncovered.append(path + "partial") }
    }

    /// Whether these events say something else of a member that differs than the events of another reading of the entry.
    private func contradicts(_ other: Difference) -> Bool {
        // Which thing an event changed is no matter of how many events are told.
        if other.member == "entity" { return false }
        if let own = differences.first(where: { $0.member == other.member }) {
            guard let value = own.proved, let otherValue = other.proved else { return own.proved != other.proved }
            return !value.isSameJSON(as: otherValue)
        }
        let told = uncovered + differences.map(\.member)
        return other.shown != nil && !told.contains { other.member == $0 || other.member.hasPrefix($0 + ".") }
    }

    /// The members that no event says, or not as all events do, with what those that are there say.
    var open: [String] {
        uncovered
            + unsettled.map { difference in
                difference.proved.map { "\(difference.member) (the events say \(Self.text(of: $0)))" }
                    ?? difference.member
            }
    }

    /// The first differences as a sentence; `nil` without any.
    var fault: String? {
        guard !differences.isEmpty else { return nil }
        let shown = differences.prefix(3).map(Self.words).joined(separator: "; ")
        return differences.count > 3 ? "\(shown); and \(differences.count - 3) more" : shown
    }

    private static func words(for difference: Difference) -> String {
        guard let proved = difference.proved else {
            return "its proof does not show that the event changed \(difference.shown.map(text) ?? "it")"
        }
        let said = "the events say \(text(of: proved))"
        guard let shown = difference.shown else { return "\(difference.member) is missing, and \(said)" }
        return "\(difference.member) is \(text(of: shown)), and \(said)"
    }

    /// A value as JSON, cut where it is long.
    static func text(of value: JSONValue) -> String {
        let text = value.text
        return DisplayText.escaped(text.count > 80 ? text.prefix(80) + "…" : text)
    }
}

extension RecordedEvent {
    /// Whether the event may delete roles: a frame that says so, or an answer, which may list those that are left.
    fileprivate var deletesRoles: Bool {
        if EventFamily(kind: envelope.kind) == .gatewayAnswer { return true }
        return payload.withUnsafeBytes { FrameTitle.title(of: envelope.kind, payload: $0) } == "GUILD_ROLE_DELETE"
    }
}

// MARK: - What the events give

extension EntryReading {
    /// An entry that the events give.
    private struct Proved {
        var object: JSONObject
        /// What they say of the thing before, if the entry does not.
        var before: JSONObject?
        /// Whether it is the first that they say of the thing.
        let isFirst: Bool
    }

    private static func historyEntries(
        of thing: EntityReference,
        _ sequence: SequenceNumber,
        _ state: LogState
    ) -> [Proved] {
        let entries = (try? state.history(of: thing)) ?? []
        let objects = HistoryPrinter.objects(of: thing, entries)
        return entries.indices.filter { entries[$0].sequence == sequence }.map { place in
            var object = objects[place]
            object["entity"] = .string(thing.description)
            var walk = HistoryWalk(thing)
            for entry in entries[..<place] { walk.take(entry) }
            let isFirst = place == 0 && firstWords.contains(entries[place].change)
            return Proved(object: object, before: walk.known, isFirst: isFirst)
        }
    }

    /// The lines of an audit, else the first appearance of the thing, which is what an edit is without the events before.
    private static func auditLines(
        of thing: EntityReference,
        at sequence: SequenceNumber,
        in state: LogState,
        _ events: ArraySlice<RecordedEvent>
    ) -> [Proved] {
        var lines: [Proved] = []
        let redacted = Set(events.lazy.map(\.envelope).filter { $0.holding == .redacted }.map(\.sequence))
        state.forEachChange(of: [thing.kind], where: { $0 == thing }, includes: { $0.entry.sequence == sequence }) {
            lines.append(Proved(object: AuditLine($0, redacted: redacted).json, before: nil, isFirst: false))
        }
        if !lines.isEmpty { return lines }
        return historyEntries(of: thing, sequence, state).filter(\.isFirst).map { first in
            var object = first.object
            (object["after"], object["fields"]) = (object["fields"], nil)
            return Proved(object: object, before: nil, isFirst: true)
        }
    }
}
