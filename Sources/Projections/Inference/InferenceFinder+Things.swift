import EventLog
import JSON
import Kinds

/// Channels, users and items, and the places where messages name their channels.
extension InferenceFinder {
    func named(_ index: Int, _ path: InferencePath) -> InferredEffect? {
        guard let instances = walks[index].instances[path] else { return nil }
        let statistics = statistics(index, path, instances)
        guard let id = statistics.first(InferenceNames.id, where: { $1.valueCount > 0 }) else { return nil }
        if let item = item(index, path, statistics, id) { return item }
        let last = InferenceNames.plain(path.lastName)
        let values = statistics.members[id]?.distinct ?? []
        let isChannel = !values.isDisjoint(with: channels)
        let isUser = !values.isDisjoint(with: authors)
        guard let name = statistics.first(InferenceNames.name, where: { $0 != id && $1.textCount > 0 }) else {
            return nil
        }
        let isList = path.steps.last == .elements
        let words = groups[index].words
        guard
            (isChannel && !isUser) || (isUser && (isList || !words.isDisjoint(with: InferenceNames.people)))
                || (isList && InferenceNames.containers.contains(last))
        else { return nil }
        let subject = isUser ? "user" : "channel"
        let isGone = isDeletion(groups[index])
        var effect = InferredEffect(
            verb: isGone ? "delete" : "replace",
            subject: subject,
            path: path,
            reason: "\(statistics.instances.count) objects whose ids are those of \(isUser ? "authors" : "channels")",
            instances: instances
        )
        effect.members = [.init(name: "id", place: id), .init(name: "name", place: name)]
        return effect
    }

    func item(
        _ index: Int,
        _ path: InferencePath,
        _ statistics: InferenceStatistics,
        _ id: InferenceMembers
    ) -> InferredEffect? {
        guard
            let done = statistics.first(InferenceNames.done, where: { !$1.truths.isEmpty }),
            let text = statistics.first(InferenceNames.content + InferenceNames.name, where: { $1.textCount > 0 })
        else { return nil }
        var effect = InferredEffect(
            verb: "replace",
            subject: "item",
            path: path,
            reason: "\(statistics.instances.count) objects with a text and \(InferenceText.pointer(done)): items",
            instances: statistics.instances
        )
        let list = channel(index, path, statistics, besides: [id, text])
        effect.at = [("list", list)]
        effect.members = [
            .init(name: "id", place: id), .init(name: "text", place: text), .init(name: "done", place: done),
        ]
        if let created = statistics.first(InferenceNames.createdAt + ["addedat"], where: { $1.timeForm != nil }) {
            effect.members.append(.init(name: "created", place: created, form: statistics.members[created]?.timeForm))
        }
        return effect
    }

    // MARK: - Places of channels

    /// Where the id of the channel is: in the object, around it, in the request, or nowhere.
    func channel(
        _ index: Int,
        _ path: InferencePath,
        _ statistics: InferenceStatistics,
        besides taken: [InferenceMembers],
        id: InferenceValue? = nil
    ) -> InferenceValue {
        let ids = ["id", "key", "uuid", "name"]
        if let place = statistics.first(
            InferenceNames.channel,
            within: ids,
            where: { place, member in
                !taken.contains(place) && member.valueCount > 0 && member.timeForm == nil && !(place == ["topic"])
            }
        ) {
            return .place(path.steps.count, place)
        }
        // Beside the id, where that lies one floor deeper.
        for name in InferenceNames.channel {
            let beside = statistics.places.first { place in
                place.count == 2 && InferenceNames.plain(place[1]) == name && !taken.contains(place)
                    && taken.contains { $0.count == 2 && $0[0] == place[0] }
                    && (statistics.members[place]?.valueCount ?? 0) > 0
            }
            if let beside { return .place(path.steps.count, beside) }
        }
        if let part = pathChannel(index, besides: id) { return part }
        for count in path.steps.indices.reversed() {
            if path.steps[count] == .members, id != .key(count + 1) { return .key(count + 1) }
            let around = InferenceStatistics(
                statistics.instances.prefix(200).map {
                    InferenceInstance(order: $0.order, value: $0.way[count], way: [])
                }
            )
            let found = around.first(InferenceNames.channel, within: ids) { place, member in
                id != .place(count, place) && member.valueCount * 2 > around.instances.count && member.timeForm == nil
                    && !(place.count > 1 && path.steps.dropFirst(count).first == .member(place[0])
                        && place[0] == path.lastName)
            }
            if let found { return .place(count, found) }
            let name = InferenceNames.plain(path.prefix(count).lastName)
            if count > 0, InferenceNames.containers.contains(name),
                let id = around.first(["id", "key"], where: { $1.valueCount > 0 })
            {
                return .place(count, id)
            }
        }
        if groups[index].key.path.contains("{channel}") { return .path("channel") }
        for event in groups[index].events.prefix(20) {
            let query =
                (events[event].attributes["path"] ?? "").split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
            for part in query.split(separator: "&") {
                let name = String(part.prefix { $0 != "=" })
                if InferenceNames.channel.contains(InferenceNames.plain(name)) { return .query(name) }
            }
        }
        return .constant("all")
    }

    /// What a deletion or an edit does not say is kept from the message, if all messages say it; else it cannot be part of a
    /// message's name: all messages are then in one channel.
    func shareOneChannel(_ effects: inout [[InferredEffect]]) {
        let lacks = effects.joined().contains { Self.isOfMessage($0) && $0.channel == .constant("all") }
        guard lacks else { return }
        let makers = effects.joined().filter { $0.subject == "message" && $0.makesMessages }
        let isKept = !makers.isEmpty && makers.allSatisfy { $0.channel != .constant("all") && $0.id != nil }
        for index in effects.indices {
            for place in effects[index].indices where Self.isOfMessage(effects[index][place]) {
                Self.share(&effects[index][place], isKept: isKept)
            }
        }
    }

    private static func isOfMessage(_ effect: InferredEffect) -> Bool {
        ["message", "reaction"].contains(effect.subject)
    }

    private static func share(_ effect: inout InferredEffect, isKept: Bool) {
        let lacks = effect.channel == .constant("all")
        if isKept {
            effect.keepsChannel = effect.subject == "message" && effect.makesMessages
            guard lacks, let id = effect.id else { return }
            effect.channel = .keptChannel(id)
            effect.reason += "; its channel is that of the message"
        } else if !lacks {
            effect.channel = .constant("all")
            effect.reason += "; one channel for all, since some events name none"
        }
    }
}
