import EventLog
import JSON
import Kinds

/// Finds what the events of each group do.
struct InferenceFinder {
    struct Found {
        let group: Int
        let path: InferencePath
        let statistics: InferenceStatistics
        var message: InferenceMessage

        func id(of instance: InferenceInstance) -> String? { instance.read(message.id, path)?.idText }
    }

    let events: [InferenceEvent]
    let groups: [InferenceGroup]
    var walks: [InferenceWalk] = []
    var messages: [Found] = []
    /// The first event of each message's id.
    var firstEvents: [String: Int] = [:]
    /// The groups whose objects tell by their tags which messages they react to or delete.
    var tagged: [Int: Tagged] = [:]
    var channels: Set<String> = []
    var authors: Set<String> = []
    private(set) var rules: [InferredRule] = []
    /// Whether messages are ordered by their times, since ids do not grow.
    private(set) var ordersByCreation = false

    init(_ events: [InferenceEvent]) {
        self.events = events
        groups = InferenceDivision(InferenceGrouping(events).groups()).groups
        for group in groups {
            var walk = InferenceWalk(skipping: group.below)
            for unit in group.units { walk.visit(unit, at: group.base) }
            walks.append(walk)
        }
        findMessages()
        var effects = groups.indices.map { self.effects(of: $0) }
        shareOneChannel(&effects)
        findOrder()
        for index in effects.indices { addGuards(&effects[index], index) }
        rules = groups.indices.filter { groups[$0].parent == nil }.compactMap { rule($0, &effects) }
        // More tests first: the first rule that fits takes an event.
        rules = rules.enumerated().sorted {
            ($1.element.group.key.tests.count, $0.offset) < ($0.element.group.key.tests.count, $1.offset)
        }
        .map(\.element)
    }

    /// The rule of a group, with the steps of the groups within it; `nil` if they do nothing.
    private func rule(_ index: Int, _ effects: inout [[InferredEffect]]) -> InferredRule? {
        let group = groups[index]
        var rule = InferredRule(group: group, effects: effects[index])
        if group.parent == nil, !group.key.path.isEmpty {
            rule.hasStatus = group.events.allSatisfy { events[$0].attributes["status"] == "200" }
            addSnapshot(&rule, &effects[index])
            rule.effects = effects[index]
        }
        for child in groups.indices where groups[child].parent == index {
            if let step = self.rule(child, &effects) { rule.children.append(step) }
        }
        return rule.effects.isEmpty && rule.children.isEmpty ? nil : rule
    }

    /// The words of a group that say what happens.
    func isDeletion(_ group: InferenceGroup) -> Bool { !group.words.isDisjoint(with: InferenceNames.deletes) }

    // MARK: - Messages

    mutating func findMessages() {
        for index in groups.indices { findMessages(of: index) }
        findEditedIDs()
        findTagged()
        for found in messages where !isDeletion(groups[found.group]) { noteIDs(found) }
        let known = Set(firstEvents.keys)
        for index in messages.indices { messages[index].message.findReply(messages[index].statistics, known: known) }
        for found in messages {
            let taken = Self.taken(found.message)
            let value = channel(found.group, found.path, found.statistics, besides: taken, id: found.message.id)
            for instance in found.statistics.instances {
                if let id = instance.read(value, found.path)?.idText { channels.insert(id) }
            }
        }
    }

    private mutating func findMessages(of index: Int) {
        var taken: [InferencePath] = []
        let paths = walks[index].paths.enumerated()
            .sorted { ($0.element.steps.count, $0.offset) < ($1.element.steps.count, $1.offset) }.map(\.element)
        for path in paths where !taken.contains(where: { path.isBelow($0) }) {
            let last = InferenceNames.plain(path.lastName)
            if !path.steps.isEmpty, InferenceNames.earlier.contains(where: { last.hasPrefix($0) }) { continue }
            guard let instances = walks[index].instances[path] else { continue }
            let statistics = statistics(index, path, instances)
            let outer = outerIDs(index, path)
            guard let message = InferenceMessage(statistics, at: path, outer: outer) else { continue }
            if statistics.first(InferenceNames.done, where: { !$1.truths.isEmpty || $1.valueCount > 0 }) != nil {
                continue
            }
            taken.append(path)
            messages.append(Found(group: index, path: path, statistics: statistics, message: message))
        }
    }

    /// An event that edits a message may have an id of its own beside that of the message.
    private mutating func findEditedIDs() {
        let made = messages.filter { !says(InferenceNames.edits, $0) && !isDeletion(groups[$0.group]) }
        let known = Set(made.flatMap { found in found.statistics.instances.compactMap { found.id(of: $0) } })
        for place in messages.indices where says(InferenceNames.edits, messages[place]) {
            messages[place].message.takeID(of: known, messages[place].statistics, at: messages[place].path)
        }
    }

    private mutating func noteIDs(_ found: Found) {
        for instance in found.statistics.instances {
            guard let id = found.id(of: instance) else { continue }
            firstEvents[id] = min(firstEvents[id] ?? instance.order, instance.order)
            if let author = found.message.author.flatMap({ instance.value.value(at: $0)?.idText }) {
                authors.insert(author)
            }
        }
    }

    /// Whether the words that name a group, or the way to the objects in its units, are among some.
    private func says(_ words: Set<String>, _ found: Found) -> Bool {
        let group = groups[found.group]
        let names = found.path.steps.dropFirst(group.base.steps.count).compactMap(\.pointerPart)
        return !group.words.union(InferenceNames.words(of: names)).isDisjoint(with: words)
    }

    static func taken(_ message: InferenceMessage) -> [InferenceMembers] {
        [message.content]
            + [message.ownID, message.author, message.authorName, message.replyTo, message.createdAt?.place]
            .compactMap(\.self)
    }

    /// What the members of a path's objects hold, without what tells the group's units apart.
    func statistics(_ index: Int, _ path: InferencePath, _ instances: [InferenceInstance]) -> InferenceStatistics {
        let isUnit = path == groups[index].base
        let tests = isUnit ? groups[index].key.tests.filter { ![.present, .there].contains($0.condition) } : []
        return InferenceStatistics(instances, without: tests.map(\.members))
    }

    func effects(of index: Int) -> [InferredEffect] {
        var effects: [InferredEffect] = []
        let group = groups[index]
        if let tagged = tagged[index] { return [effect(of: tagged)] }
        let found = messages.filter { $0.group == index }
        if isDeletion(group) || found.isEmpty, let effect = reaction(index) { return [effect] }
        if isDeletion(group) || found.isEmpty, let effect = deletion(index) { return [effect] }
        if found.isEmpty, let effect = textAtPath(index) ?? edit(index) { return [effect] }
        if !isDeletion(group) { for one in found { effects += message(one) } }
        let taken = found.map(\.path)
        for path in walks[index].paths where !taken.contains(where: { path == $0 || path.isBelow($0) }) {
            if effects.count < 8, let effect = named(index, path) { effects.append(effect) }
        }
        return effects
    }

    func message(_ found: Found) -> [InferredEffect] {
        let (message, group) = (found.message, groups[found.group])
        let path = found.path
        var effect = InferredEffect(
            verb: "make",
            subject: "message",
            path: path,
            reason: "\(group.count); " + message.reasons.joined(separator: "; "),
            instances: found.statistics.instances
        )
        effect.at = [
            ("channel", channel(found.group, path, found.statistics, besides: Self.taken(message), id: message.id))
        ]
        effect.setID(message.id)
        if let author = message.author { effect.members.append(.init(name: "author", place: author)) }
        if let name = message.authorName { effect.members.append(.init(name: "authorName", place: name)) }
        effect.members.append(.init(name: "content", place: message.content))
        if let (place, form) = message.createdAt {
            effect.members.append(.init(name: "createdAt", place: place, form: form))
        }
        if let (place, form) = message.editedAt {
            effect.members.append(.init(name: "editedAt", place: place, form: form))
            effect.members.append(.init(name: "version", place: place, form: form))
        }
        if let place = message.replyTo {
            let same = message.repliesToItself ? message.ownID : nil
            effect.members.append(.init(name: "replyTo", place: place, unlessSame: same))
        }
        readTags(&effect, found)
        let earlier = found.statistics.instances.count { instance in
            found.id(of: instance).flatMap { firstEvents[$0] }.map { $0 < instance.order } ?? false
        }
        let isEdit = says(InferenceNames.edits, found)
        let isAnswer = group.parent == nil && !group.key.path.isEmpty
        if isEdit || earlier * 10 >= found.statistics.instances.count * 6 || saysAgain(found) || isAnswer {
            effect.verb = "patch"
            if isEdit || isAnswer {
                effect.changes = message.editedAt == nil ? ["content"] : ["content", "editedAt"]
            }
            effect.reason += isEdit ? "; its name says an edit" : "; its ids come again"
            let othersMake = messages.contains { $0.group != found.group && $0.message.author != nil }
            if message.author == nil, isEdit || othersMake { effect.needs = ["author", "content"] }
        }
        effect.reactions = reactions(found.statistics)
        guard let flag = message.deletedFlag else { return [effect] }
        var deletion = effect
        (deletion.verb, deletion.changes, deletion.needs) = ("delete", [], [])
        deletion.reactions = nil
        deletion.reason = "objects with \(InferenceText.pointer(flag.place)) are deleted"
        deletion.condition = (flag.place, flag.isTruth, true)
        effect.condition = (flag.place, flag.isTruth, false)
        return [effect, deletion]
    }

    /// Whether an id comes again with another text.
    func saysAgain(_ found: Found) -> Bool {
        var texts: [String: String] = [:]
        for instance in found.statistics.instances {
            guard let id = found.id(of: instance),
                let text = instance.value.value(at: found.message.content)?.string
            else { continue }
            if let earlier = texts[id], earlier != text { return true }
            texts[id] = text
        }
        return false
    }

    func reactions(
        _ statistics: InferenceStatistics
    ) -> (each: InferenceMembers, emoji: InferenceMembers, users: InferenceMembers)? {
        for instance in statistics.instances {
            for member in instance.value.object?.members ?? [] where InferenceNames.plain(member.name) == "reactions" {
                guard let element = member.value.array?.first?.object else { continue }
                let emoji = element.members.first {
                    (InferenceNames.emoji + ["name"]).contains(InferenceNames.plain($0.name)) && $0.value.string != nil
                }
                let users = element.members.first { ($0.value.array?.first?.idText).map { !$0.isEmpty } ?? false }
                if let emoji, let users { return ([member.name], [emoji.name], [users.name]) }
            }
        }
        return nil
    }

    // MARK: - Order, lists

    mutating func findOrder() {
        for found in messages {
            guard let (place, form) = found.message.createdAt else { continue }
            var rows: [(text: String, time: Timestamp)] = []
            for instance in found.statistics.instances {
                guard let id = found.id(of: instance),
                    let time = instance.value.value(at: place)?.idText.flatMap({ form.instant(of: $0) })
                else { continue }
                rows.append((id, time))
            }
            rows.sort { $0.time < $1.time }
            for (left, right) in zip(rows, rows.dropFirst()) where left.time < right.time {
                let areNumbers =
                    left.text.utf8.allSatisfy { (0x30...0x39).contains($0) }
                    && right.text.utf8.allSatisfy { (0x30...0x39).contains($0) }
                let grows =
                    areNumbers
                    ? (left.text.utf8.count, left.text) <= (right.text.utf8.count, right.text)
                    : ExactText.precedes(left.text, right.text) || left.text == right.text
                if !grows { return ordersByCreation = true }
            }
        }
    }

    /// Answers of one path that lose elements from their middle state all that there is.
    func addSnapshot(_ rule: inout InferredRule, _ effects: inout [InferredEffect]) {
        guard
            let place = effects.firstIndex(where: {
                $0.subject == "message" && $0.path.steps.last == .elements && $0.verb == "patch"
            }),
            let id = effects[place].members.first(where: { $0.name == "id" })?.place
        else { return }
        let scope = effects[place].at.first { $0.name == "channel" }?.value ?? .constant("all")
        if case .place(let count, _) = scope, count > 0 { return }
        var lists: [String: [Int: [String]]] = [:]
        for instance in effects[place].instances {
            guard let text = instance.value.value(at: id)?.idText else { continue }
            lists[events[instance.event].attributes["path"] ?? "", default: [:]][instance.event, default: []].append(
                text
            )
        }
        let loses = lists.values.contains { byEvent in
            let rows = byEvent.sorted { $0.key < $1.key }.map(\.value)
            return zip(rows, rows.dropFirst()).contains { before, after in
                let kept = Set(after)
                guard let first = before.firstIndex(where: kept.contains),
                    let last = before.lastIndex(where: kept.contains)
                else {
                    return false
                }
                return before[first...last].contains { !kept.contains($0) }
            }
        }
        guard loses else { return }
        effects[place].set = ("listed", scope)
        effects[place].reason += "; answers lose elements from their middle, so each states all that there is"
        rule.snapshot = ("listed", scope)
    }
}
