import EventLog
import JSON
import Kinds

/// What happens to messages that were found: reactions, deletions, edits.
extension InferenceFinder {
    /// The share of a value's ids that are those of messages known before, in percent.
    func share(_ value: InferenceValue, _ path: InferencePath, _ statistics: InferenceStatistics) -> Int {
        var (count, known) = (0, 0)
        for instance in statistics.instances {
            guard let id = instance.read(value, path)?.idText else { continue }
            count += 1
            if let first = firstEvents[id], first < instance.order { known += 1 }
        }
        return count == 0 || count * 2 < statistics.instances.count ? 0 : known * 100 / count
    }

    /// Where mostly ids of known messages are: in a path's objects, or around them.
    func knownID(_ index: Int, _ path: InferencePath, _ statistics: InferenceStatistics) -> InferenceValue? {
        let count = path.steps.count
        let fit = statistics.places.map { (place: $0, share: share(.place(count, $0), path, statistics)) }
            .filter { $0.share >= 50 }
        // What a message answers is another message, unless nothing else names one.
        let others = fit.filter { !InferenceNames.isReply($0.place) }
        let own = (others.isEmpty ? fit : others).max { ($0.share, $1.place.count) < ($1.share, $0.place.count) }
        if let own {
            return .place(count, own.place)
        }
        return outerIDs(index, path).first { share($0, path, statistics) >= 50 }
    }

    /// Where the id of an object may be outside of it, from the nearest: the name of the member that it is, a member of what
    /// it lies in, the last part of a path beside it.
    func outerIDs(_ index: Int, _ path: InferencePath) -> [InferenceValue] {
        let group = groups[index]
        guard let instances = walks[index].instances[path]?.prefix(200) else { return [] }
        var values: [InferenceValue] = []
        for count in path.steps.indices.reversed() {
            if path.steps[count] == .members { values.append(.key(count + 1)) }
            for name in InferenceNames.outerID {
                let around =
                    instances.first.flatMap { $0.way.indices.contains(count) ? $0.way[count].parts : nil } ?? []
                for part in around.prefix(60) where InferenceNames.plain(part.name) == name && part.value.idText != nil
                {
                    values.append(.place(count, [part.name]))
                }
            }
        }
        for outer in lineage(index) where endsWithID(outer) {
            guard let part = groups[outer].part("id") else { continue }
            let isHere = outer == index && path.levelCount == group.base.levelCount
            values.insert(part, at: isHere ? 0 : values.count)
        }
        return values
    }

    func paths(_ index: Int) -> [(path: InferencePath, statistics: InferenceStatistics)] {
        walks[index].paths.enumerated().sorted {
            ($0.element.steps.count, $0.offset) < ($1.element.steps.count, $1.offset)
        }
        .compactMap { _, path in walks[index].instances[path].map { (path, statistics(index, path, $0)) } }
    }

    func reaction(_ index: Int) -> InferredEffect? {
        let words = groups[index].words
        for (path, statistics) in paths(index) {
            let isReaction = ["reaction", "reactions"].contains(InferenceNames.plain(path.lastName))
            guard
                let emoji = statistics.first(
                    InferenceNames.emoji + (isReaction ? ["type"] : []),
                    within: ["name", "emoji", "text", "id"],
                    where: {
                        $1.textCount > 0
                    }
                ),
                let id = knownID(index, path, statistics)
            else { continue }
            let isGone = !words.isDisjoint(with: InferenceNames.deletes.union(["unreact", "unlike"]))
            let user = statistics.first(InferenceNames.author, within: InferenceNames.id) { place, _ in
                .place(path.steps.count, place) != id
            }
            if user == nil, !isGone { continue }
            var effect = InferredEffect(
                verb: user == nil ? "clear" : isGone ? "remove" : "add",
                subject: "reaction",
                path: path,
                reason: "\(groups[index].count); \(Self.text(id)) is the id of a message, "
                    + "\(InferenceText.pointer(emoji)) an emoji",
                instances: statistics.instances
            )
            let here = path.steps.count
            let taken = [emoji] + [id.members, user].compactMap(\.self)
            effect.at = [("channel", channel(index, path, statistics, besides: taken, id: id)), ("id", id)]
            if let user { effect.at.append(("user", .place(here, user))) }
            effect.at.append(("emoji", .place(here, emoji)))
            return effect
        }
        return nil
    }

    func deletion(_ index: Int) -> InferredEffect? {
        let group = groups[index]
        guard group.key.path.isEmpty || group.parent != nil, group.words.isDisjoint(with: InferenceNames.others) else {
            return nil
        }
        let isNamed = isDeletion(group)
        // A word that is no deletion's says what happens: something else.
        let isTold = group.key.tests.contains { if case .text = $0.condition { true } else { false } }
        let why = isNamed ? "its name says a deletion, and " : "no text, no user, and "
        let bare = paths(index).filter { isNamed || (!isTold && looksBare($1)) }
        // Nearest to the id, since the channel is looked for from there.
        for nearest in [1, 2] {
            for (path, statistics) in bare {
                guard let id = knownID(index, path, statistics), (id.members?.count ?? 1) <= nearest else { continue }
                if isNamed || !comesAgain(id, path, statistics) { return deletion(index, path, statistics, id, why) }
            }
        }
        return isNamed ? bare.lazy.compactMap { deletionOfList(index, $0, $1, why) }.first : nil
    }

    /// A deletion whose ids are in a list.
    private func deletionOfList(
        _ index: Int,
        _ path: InferencePath,
        _ statistics: InferenceStatistics,
        _ why: String
    ) -> InferredEffect? {
        for place in statistics.places where place.count == 1 {
            let ids = (statistics.members[place]?.lists ?? []).flatMap(\.self)
            guard !ids.isEmpty, ids.count(where: { firstEvents[$0] != nil }) * 2 >= ids.count else { continue }
            let list = InferencePath(steps: path.steps + place.map { .member($0) } + [.elements])
            let instances = statistics.instances.flatMap { instance -> [InferenceInstance] in
                guard let value = instance.value.value(at: place) else { return [] }
                return (value.array ?? []).prefix(8).map { instance.inside(value).inside($0) }
            }
            if instances.isEmpty { continue }
            let each = InferenceValue.place(list.steps.count, [])
            return deletion(index, list, InferenceStatistics(instances), each, why)
        }
        return nil
    }

    func deletion(
        _ index: Int,
        _ path: InferencePath,
        _ statistics: InferenceStatistics,
        _ id: InferenceValue,
        _ why: String
    ) -> InferredEffect {
        var effect = InferredEffect(
            verb: "delete",
            subject: "message",
            path: path,
            reason: "\(groups[index].count); \(why)\(Self.text(id)) holds ids of messages",
            instances: statistics.instances
        )
        let taken = [id.members].compactMap(\.self)
        effect.at = [("channel", channel(index, path, statistics, besides: taken, id: id)), ("id", id)]
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

    func comesAgain(_ id: InferenceValue, _ path: InferencePath, _ statistics: InferenceStatistics) -> Bool {
        let texts = statistics.instances.compactMap { $0.read(id, path)?.idText }
        return Set(texts).count < texts.count
    }

    /// A value as reasons name it.
    static func text(_ value: InferenceValue) -> String {
        switch value {
        case .place(_, let members): InferenceText.pointer(members)
        case .key: "the name of the member"
        case .part(_, let members, let pattern, _):
            "a part of the path \(InferenceText.pointer(members)) (\(pattern.text))"
        case .path(let name), .query(let name): "{\(name)}"
        case .constant(let text): text
        case .keptChannel: "kept"
        }
    }

    /// A new text for the id of a known message, without what a message has beside.
    func edit(_ index: Int) -> InferredEffect? {
        for (path, statistics) in paths(index) {
            guard let id = knownID(index, path, statistics),
                let content = statistics.first(
                    InferenceNames.content,
                    within: ["text", "body", "content"],
                    where: {
                        $0 != id.members && $1.textCount > 0
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
                reason: "\(groups[index].count); a text \(InferenceText.pointer(content)) for the id "
                    + "\(Self.text(id)) of a known message: an edit",
                instances: statistics.instances
            )
            effect.at = [
                (
                    "channel",
                    channel(index, path, statistics, besides: [content] + [id.members].compactMap(\.self), id: id)
                )
            ]
            effect.setID(id)
            effect.members.append(.init(name: "content", place: content))
            let times = InferenceNames.editedAt + InferenceNames.createdAt
            if let time = statistics.first(times, where: { $0 != id.members && $1.timeForm != nil }) {
                effect.members.append(.init(name: "editedAt", place: time, form: statistics.members[time]?.timeForm))
            }
            effect.needs = ["author", "content"]
            return effect
        }
        return nil
    }
}
