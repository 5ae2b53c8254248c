import EventLog
import JSON
import Kinds

/// What happens to messages that were found: reactions, deletions, edits.
extension InferenceFinder {
    /// The share of a member's values that are ids of messages known before, in percent.
    func share(_ place: InferenceMembers, _ statistics: InferenceStatistics) -> Int {
        var (count, known) = (0, 0)
        for instance in statistics.instances {
            guard let id = instance.value.value(at: place)?.idText else { continue }
            count += 1
            if let first = firstEvents[id], first < instance.event { known += 1 }
        }
        return count == 0 || count * 2 < statistics.instances.count ? 0 : known * 100 / count
    }

    /// The member of a path's objects whose values are mostly ids of known messages.
    func knownID(_ statistics: InferenceStatistics) -> InferenceMembers? {
        let fit = statistics.places.map { (place: $0, share: share($0, statistics)) }.filter { $0.share >= 50 }
        return fit.max { ($0.share, $1.place.count) < ($1.share, $0.place.count) }?.place
    }

    func paths(_ index: Int) -> [(path: InferencePath, statistics: InferenceStatistics)] {
        walks[index].paths.enumerated().sorted {
            ($0.element.steps.count, $0.offset) < ($1.element.steps.count, $1.offset)
        }
        .compactMap { _, path in walks[index].instances[path].map { (path, InferenceStatistics($0)) } }
    }

    func reaction(_ index: Int) -> InferredEffect? {
        let words = groups[index].words
        for (path, statistics) in paths(index) {
            guard
                let emoji = statistics.first(
                    InferenceNames.emoji,
                    within: ["name", "emoji", "text", "id"],
                    where: {
                        $1.textCount > 0
                    }
                ),
                let id = knownID(statistics)
            else { continue }
            let isGone = !words.isDisjoint(with: InferenceNames.deletes.union(["unreact", "unlike"]))
            let user = statistics.first(InferenceNames.author, within: InferenceNames.id) { place, _ in place != id }
            if user == nil, !isGone { continue }
            var effect = InferredEffect(
                verb: user == nil ? "clear" : isGone ? "remove" : "add",
                subject: "reaction",
                path: path,
                reason: "\(groups[index].events.count) events; \(InferenceText.pointer(id)) is the id of a message, "
                    + "\(InferenceText.pointer(emoji)) an emoji",
                instances: statistics.instances
            )
            let here = path.steps.count
            let taken = [id, emoji] + [user].compactMap(\.self)
            effect.at = [("channel", channel(index, path, statistics, besides: taken)), ("id", .place(here, id))]
            if let user { effect.at.append(("user", .place(here, user))) }
            effect.at.append(("emoji", .place(here, emoji)))
            return effect
        }
        return nil
    }

    func deletion(_ index: Int) -> InferredEffect? {
        let group = groups[index]
        guard group.key.path.isEmpty, group.words.isDisjoint(with: InferenceNames.others) else { return nil }
        let isNamed = isDeletion(group)
        let why = isNamed ? "its name says a deletion, and " : "no text, no user, and "
        for (path, statistics) in paths(index) {
            if !isNamed, !looksBare(statistics) { continue }
            if let id = knownID(statistics), isNamed || !comesAgain(id, statistics) {
                return deletion(index, path, statistics, .place(path.steps.count, id), id, why)
            }
            for place in statistics.places {
                guard let lists = statistics.members[place]?.lists, !lists.isEmpty, isNamed else { continue }
                let ids = lists.flatMap(\.self)
                guard !ids.isEmpty, ids.count(where: { firstEvents[$0] != nil }) * 2 >= ids.count else { continue }
                let list = InferencePath(steps: path.steps + place.map { .member($0) } + [.elements])
                let instances = statistics.instances.flatMap { instance -> [InferenceInstance] in
                    guard place.count == 1, let value = instance.value.value(at: place) else { return [] }
                    return (value.array ?? []).prefix(8).map {
                        InferenceInstance(
                            event: instance.event,
                            value: $0,
                            way: instance.way + [instance.value, value]
                        )
                    }
                }
                if instances.isEmpty { continue }
                return deletion(index, list, InferenceStatistics(instances), .place(list.steps.count, []), place, why)
            }
        }
        return nil
    }

    func deletion(
        _ index: Int,
        _ path: InferencePath,
        _ statistics: InferenceStatistics,
        _ id: InferenceValue,
        _ place: InferenceMembers,
        _ why: String
    ) -> InferredEffect {
        var effect = InferredEffect(
            verb: "delete",
            subject: "message",
            path: path,
            reason: "\(groups[index].events.count) events; \(why)\(InferenceText.pointer(place)) holds ids of messages",
            instances: statistics.instances
        )
        effect.at = [("channel", channel(index, path, statistics, besides: [place])), ("id", id)]
        return effect
    }

    /// Whether objects hold ids and little else: no user, no text.
    func looksBare(_ statistics: InferenceStatistics) -> Bool {
        statistics.places.count <= 8
            && !statistics.places.contains { place in
                let name = InferenceNames.plain(place[0])
                return InferenceNames.author.contains(name) || InferenceNames.emoji.contains(name)
                    || InferenceNames.content.contains(name) || (statistics.members[place]?.sentenceCount ?? 0) > 0
            }
    }

    func comesAgain(_ id: InferenceMembers, _ statistics: InferenceStatistics) -> Bool {
        let member = statistics.members[id]
        return (member?.distinct.count ?? 0) < (member?.valueCount ?? 0)
    }

    /// A new text for the id of a known message, without what a message has beside.
    func edit(_ index: Int) -> InferredEffect? {
        for (path, statistics) in paths(index) {
            guard let id = knownID(statistics),
                let content = statistics.first(
                    InferenceNames.content,
                    within: ["text", "body", "content"],
                    where: {
                        $0 != id && $1.textCount > 0
                    }
                )
                    ?? statistics.places.first(where: {
                        $0.count == 1 && (statistics.members[$0]?.sentenceCount ?? 0) > 0
                    })
            else { continue }
            var effect = InferredEffect(
                verb: "patch",
                subject: "message",
                path: path,
                reason: "\(groups[index].events.count) events; a text \(InferenceText.pointer(content)) for the id "
                    + "\(InferenceText.pointer(id)) of a known message: an edit",
                instances: statistics.instances
            )
            effect.at = [("channel", channel(index, path, statistics, besides: [id, content]))]
            effect.members = [.init(name: "id", place: id), .init(name: "content", place: content)]
            let times = InferenceNames.editedAt + InferenceNames.createdAt
            if let time = statistics.first(times, where: { $0 != id && $1.timeForm != nil }) {
                effect.members.append(.init(name: "editedAt", place: time, form: statistics.members[time]?.timeForm))
            }
            effect.needs = ["author", "content"]
            return effect
        }
        return nil
    }
}
