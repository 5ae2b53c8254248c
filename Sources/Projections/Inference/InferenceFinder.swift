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
    }

    let events: [InferenceEvent]
    let groups: [InferenceGroup]
    var walks: [InferenceWalk] = []
    var messages: [Found] = []
    /// The first event of each message's id.
    var firstEvents: [String: Int] = [:]
    var channels: Set<String> = []
    var authors: Set<String> = []
    private(set) var rules: [InferredRule] = []
    /// Whether messages are ordered by their times, since ids do not grow.
    private(set) var ordersByCreation = false

    init(_ events: [InferenceEvent]) {
        self.events = events
        groups = InferenceGrouping(events).groups()
        for group in groups {
            var walk = InferenceWalk()
            for index in group.events { walk.visit(events[index].value, event: index) }
            walks.append(walk)
        }
        findMessages()
        var effects = groups.indices.map { self.effects(of: $0) }
        shareOneChannel(&effects)
        findOrder()
        for (index, group) in groups.enumerated() where !effects[index].isEmpty {
            let isAnswer = !group.key.path.isEmpty
            let hasStatus = isAnswer && group.events.allSatisfy { events[$0].attributes["status"] == "200" }
            var rule = InferredRule(group: group, effects: effects[index], hasStatus: hasStatus)
            if isAnswer { addSnapshot(&rule, index, &effects[index]) }
            rules.append(
                InferredRule(
                    group: group,
                    effects: effects[index],
                    snapshot: rule.snapshot,
                    hasStatus: hasStatus
                )
            )
        }
        // More tests first: the first rule that fits takes an event.
        rules = rules.enumerated().sorted {
            ($1.element.group.key.tests.count, $0.offset) < ($0.element.group.key.tests.count, $1.offset)
        }
        .map(\.element)
    }

    /// The words of a group that say what happens.
    func isDeletion(_ group: InferenceGroup) -> Bool { !group.words.isDisjoint(with: InferenceNames.deletes) }

    // MARK: - Messages

    mutating func findMessages() {
        for (index, group) in groups.enumerated() {
            var taken: [InferencePath] = []
            let paths = walks[index].paths.sorted { $0.steps.count < $1.steps.count }
            for path in paths where !taken.contains(where: { path.isBelow($0) }) {
                let last = InferenceNames.plain(path.lastName)
                if !path.steps.isEmpty, InferenceNames.earlier.contains(where: { last.hasPrefix($0) }) { continue }
                guard let instances = walks[index].instances[path] else { continue }
                let statistics = InferenceStatistics(instances)
                guard let message = InferenceMessage(statistics) else { continue }
                if statistics.first(InferenceNames.done, where: { !$1.truths.isEmpty || $1.valueCount > 0 }) != nil {
                    continue
                }
                taken.append(path)
                messages.append(Found(group: index, path: path, statistics: statistics, message: message))
                if isDeletion(group) { continue }
                for instance in instances {
                    guard let id = instance.value.value(at: message.id)?.idText else { continue }
                    firstEvents[id] = min(firstEvents[id] ?? instance.event, instance.event)
                    if let author = message.author.flatMap({ instance.value.value(at: $0)?.idText }) {
                        authors.insert(author)
                    }
                }
            }
        }
        let known = Set(firstEvents.keys)
        for index in messages.indices { messages[index].message.findReply(messages[index].statistics, known: known) }
        for found in messages {
            let value = channel(found.group, found.path, found.statistics, besides: Self.taken(found.message))
            for instance in found.statistics.instances {
                if let id = Self.value(value, of: instance, found.path)?.idText { channels.insert(id) }
            }
        }
    }

    static func taken(_ message: InferenceMessage) -> [InferenceMembers] {
        [message.id, message.content] + [message.author, message.authorName, message.replyTo].compactMap(\.self)
    }

    static func value(_ value: InferenceValue, of instance: InferenceInstance, _ path: InferencePath)
        -> JSONValue?
    {
        switch value {
        case .place(let count, let members):
            (count == path.steps.count ? instance.value : instance.way[count]).value(at: members)
        case .key, .path, .query, .constant: nil
        }
    }

    func effects(of index: Int) -> [InferredEffect] {
        var effects: [InferredEffect] = []
        let group = groups[index]
        let found = messages.filter { $0.group == index }
        if isDeletion(group) || found.isEmpty, let effect = reaction(index) { return [effect] }
        if isDeletion(group) || found.isEmpty, let effect = deletion(index) { return [effect] }
        if found.isEmpty, let effect = edit(index) { return [effect] }
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
            reason: "\(group.events.count) events; " + message.reasons.joined(separator: "; "),
            instances: found.statistics.instances
        )
        effect.at = [("channel", channel(found.group, path, found.statistics, besides: Self.taken(message)))]
        effect.members = [.init(name: "id", place: message.id)]
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
            let same = message.repliesToItself ? message.id : nil
            effect.members.append(.init(name: "replyTo", place: place, unlessSame: same))
        }
        let earlier = found.statistics.instances.count { instance in
            instance.value.value(at: message.id)?.idText.flatMap { firstEvents[$0] }.map { $0 < instance.event }
                ?? false
        }
        let isEdit = !group.words.isDisjoint(with: InferenceNames.edits)
        if isEdit || earlier * 10 >= found.statistics.instances.count * 6 || saysAgain(found) || !group.key.path.isEmpty
        {
            effect.verb = "patch"
            if isEdit || !group.key.path.isEmpty {
                effect.changes = message.editedAt == nil ? ["content"] : ["content", "editedAt"]
            }
            effect.reason += isEdit ? "; its name says an edit" : "; its ids come again"
            if message.author == nil { effect.needs = ["author", "content"] }
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
            guard let id = instance.value.value(at: found.message.id)?.idText,
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
                guard let id = instance.value.value(at: found.message.id)?.idText,
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
    func addSnapshot(_ rule: inout InferredRule, _ index: Int, _ effects: inout [InferredEffect]) {
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
