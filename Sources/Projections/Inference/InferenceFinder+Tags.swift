import JSON

/// What tags of objects say: which message is meant, answered or deleted, and where a message is.
extension InferenceFinder {
    /// Objects that say something of other messages by their tags: reactions, or deletions.
    struct Tagged {
        let group: Int
        let path: InferencePath
        let instances: [InferenceInstance]
        let tags: InferenceTags
        let kind: InferenceTags.Kind
        let author: InferenceMembers
        /// The sign of a reaction; `nil` of a deletion.
        let sign: InferenceMembers?
    }

    /// Takes out what is said of messages by tags: with a sign for a text it is a reaction; with hardly a text, by the author
    /// of the message alone, a deletion.
    mutating func findTagged() {
        var authors: [String: String] = [:]
        for found in messages {
            for instance in found.statistics.instances {
                let author = found.message.author.flatMap { instance.value.value(at: $0)?.idText }
                if let id = found.id(of: instance) { authors[id] = author ?? "" }
            }
        }
        for (place, found) in messages.enumerated().reversed() {
            let own = Set(found.statistics.instances.compactMap { found.id(of: $0) })
            let others = { (id: String) in own.contains(id) ? nil : authors[id] }
            if let one = tagging(found.group, found.path, found.statistics, found.message.content, others) {
                tagged[found.group] = one
                messages.remove(at: place)
            }
        }
        let known = Set(messages.map(\.group))
        for index in groups.indices where !known.contains(index) && tagged[index] == nil {
            for (path, statistics) in paths(index) where tagged[index] == nil {
                tagged[index] = tagging(index, path, statistics, nil, { authors[$0] })
            }
        }
    }

    /// What objects say by tags; `nil` if they are messages, or say nothing.
    ///
    /// - Parameter authorOf: the author of another message by its id.
    private func tagging(
        _ index: Int,
        _ path: InferencePath,
        _ statistics: InferenceStatistics,
        _ content: InferenceMembers?,
        _ authorOf: (String) -> String?
    ) -> Tagged? {
        let tags = InferenceTags(statistics.instances)
        guard let kind = tags.naming({ authorOf($0) != nil }),
            let author = statistics.first(
                InferenceNames.author,
                within: InferenceNames.id,
                where: { $1.valueCount > 0 }
            )
        else { return nil }
        let texts = content.flatMap { statistics.members[$0]?.values } ?? []
        let isReaction = texts.count > 1 && texts.count(where: InferenceNames.isSign) * 10 >= texts.count * 8
        if !isReaction {
            let known = (tags.values[kind] ?? []).filter { authorOf($0.text) != nil }
            let own = known.count { tag in
                authorOf(tag.text) == statistics.instances[tag.owner].value.value(at: author)?.idText
            }
            guard Set(texts).count <= 1, own * 10 >= known.count * 7 else { return nil }
        }
        return Tagged(
            group: index,
            path: path,
            instances: statistics.instances,
            tags: tags,
            kind: kind,
            author: author,
            sign: isReaction ? content : nil
        )
    }

    /// The effect of what was taken out.
    func effect(of tagged: Tagged) -> InferredEffect {
        let path = tagged.path.adding(.member(tagged.kind.list)).adding(.elements)
        let why = tagged.sign != nil ? "a sign for a text" : "no text, by the authors of the messages"
        var effect = InferredEffect(
            verb: tagged.sign != nil ? "add" : "delete",
            subject: tagged.sign != nil ? "reaction" : "message",
            path: path,
            reason: "\(groups[tagged.group].count); \(why), and tags \(tagged.kind.word) name messages",
            instances: tagged.tags.instances(of: tagged.kind, in: tagged.instances)
        )
        effect.unitTests = tagged.tags.tests(of: tagged.kind)
        effect.at = [("channel", .constant("all")), ("id", .place(path.steps.count, ["1"]))]
        guard let sign = tagged.sign else { return effect }
        let here = tagged.path.steps.count
        effect.at.append(("user", .place(here, tagged.author)))
        effect.at.append(("emoji", .place(here, sign)))
        return effect
    }

    /// Lets a message have its channel and what it answers from tags, where no member says so.
    func readTags(_ effect: inout InferredEffect, _ found: Found) {
        guard let id = found.message.ownID else { return }
        let tags = InferenceTags(found.statistics.instances)
        let known = { (text: String) in firstEvents[text] != nil }
        let value = InferenceValue.place(found.path.steps.count, id)
        if effect.channel == .constant("all"), let kind = tags.placing(besides: known) {
            effect.kept.append(.init(name: "channel", list: kind.list, tests: tags.tests(of: kind)))
            effect.channel = .keptChannel(value)
            effect.reason += "; channel by tags \(kind.word) \(kind.mark ?? "")"
        }
        if found.message.replyTo == nil, let kind = tags.naming(known) {
            effect.kept.append(.init(name: "reply", list: kind.list, tests: tags.tests(of: kind)))
            effect.members.append(.init(name: "replyTo", place: id, kept: "reply"))
            effect.reason += "; answers by tags \(kind.word) \(kind.mark ?? "")"
        }
    }
}
