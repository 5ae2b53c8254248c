import JSON

/// The members of objects that look like messages.
struct InferenceMessage {
    /// Where the id is: in the object, or around it.
    var id: InferenceValue
    /// The member of the object that is its id.
    var ownID: InferenceMembers?
    var content: InferenceMembers
    var author: InferenceMembers?
    var authorName: InferenceMembers?
    var createdAt: (place: InferenceMembers, form: DecoderTimeForm)?
    var editedAt: (place: InferenceMembers, form: DecoderTimeForm)?
    var replyTo: InferenceMembers?
    /// Whether some messages name themselves as what they answer.
    var repliesToItself = false
    /// A member that is true, or there, in a deleted message.
    var deletedFlag: (place: InferenceMembers, isTruth: Bool)?
    /// How each member was found.
    var reasons: [String] = []

    /// - Parameter outer: where ids may be outside of the objects.
    /// - Returns: `nil` if the objects look like no messages: these have an id, a text, and an author or a time.
    init?(_ statistics: InferenceStatistics, at path: InferencePath, outer: [InferenceValue]) {
        let nested = ["text", "body", "content", "plain", "value"]
        let usual =
            statistics.first(InferenceNames.content, within: nested) { _, member in
                member.textCount > 0 && member.textCount * 2 >= member.valueCount && member.timeForm == nil
            }
        guard let content = usual ?? Self.sentences(statistics) else { return nil }
        let named = statistics.first(InferenceNames.id) { place, _ in
            place != content && Self.isID(place, beside: content, statistics)
        }
        let around = outer.first { Self.isID($0, at: path, beside: content, statistics) }
        ownID = named ?? (around == nil ? Self.unique(statistics, besides: content) : nil)
        guard let id = ownID.map({ .place(path.steps.count, $0) }) ?? around else { return nil }
        (self.id, self.content) = (id, content)
        findTimes(statistics)
        findAuthor(statistics)
        guard author != nil || createdAt != nil else { return nil }
        // With an id that may be another thing's, more must say that it is a message.
        if ownID == nil, usual == nil || createdAt == nil { return nil }
        if let flag = statistics.first(InferenceNames.deletedFlag, where: { $1.truths.contains(true) }) {
            deletedFlag = (flag, true)
        } else if let flag = statistics.first(InferenceNames.deletedFlag, where: { $1.timeForm != nil }) {
            deletedFlag = (flag, false)
        }
        let count = statistics.instances.count
        reasons.append(
            "\(count) objects with \(ownID.map { "id " + Self.text($0) } ?? "their ids around them"), text \(Self.text(content))"
        )
        if let author { reasons.append("author \(Self.text(author))") }
        if let createdAt { reasons.append("time \(Self.text(createdAt.place)) as \(createdAt.form.rawValue)") }
        if let editedAt { reasons.append("edited \(Self.text(editedAt.place)) as \(editedAt.form.rawValue)") }
    }

    static func text(_ members: InferenceMembers) -> String { InferenceText.pointer(members) }

    /// Whether a member is the same for the same author and time: an id that comes again names the same thing.
    private static func isID(
        _ place: InferenceMembers,
        beside content: InferenceMembers,
        _ statistics: InferenceStatistics
    ) -> Bool {
        guard let member = statistics.members[place], member.valueCount * 2 >= statistics.instances.count,
            mayBeID(member.timeForm) || isNumber(place, member.timeForm)
        else { return false }
        // A few ids for many texts are no ids of messages.
        return member.distinct.count * 3 >= (statistics.members[content]?.distinct.count ?? 0)
    }

    /// Whether values of a form may be ids: times are none, but for those of Slack.
    private static func mayBeID(_ form: DecoderTimeForm?) -> Bool { form == nil || form == .secondsText }

    /// Whether a member is called an id, and has numbers that could be times: some remotes number messages by their time.
    private static func isNumber(_ place: InferenceMembers, _ form: DecoderTimeForm?) -> Bool {
        form != .rfc3339 && ["id", "messageid", "msgid", "mid"].contains(InferenceNames.plain(place[0]))
    }

    /// The same of a value outside of the objects.
    private static func isID(
        _ value: InferenceValue,
        at path: InferencePath,
        beside content: InferenceMembers,
        _ statistics: InferenceStatistics
    ) -> Bool {
        let texts = statistics.instances.compactMap { $0.read(value, path)?.idText }
        guard texts.count * 2 >= statistics.instances.count else { return false }
        return Set(texts).count * 3 >= (statistics.members[content]?.distinct.count ?? 0)
    }

    /// The member whose texts are mostly sentences; for payloads that name nothing as usual.
    private static func sentences(_ statistics: InferenceStatistics) -> InferenceMembers? {
        statistics.places.filter { place in
            guard let member = statistics.members[place], place.count == 1, member.timeForm == nil else { return false }
            return member.sentenceCount > 1 && member.sentenceCount * 10 >= member.textCount * 3
                && member.distinct.count * 2 > member.textCount
                && !InferenceNames.name.contains(InferenceNames.plain(place[0]))
        }
        .max { (statistics.members[$0]?.sentenceCount ?? 0) < (statistics.members[$1]?.sentenceCount ?? 0) }
    }

    /// The member whose values are never the same; for payloads that name nothing as usual.
    private static func unique(_ statistics: InferenceStatistics, besides content: InferenceMembers)
        -> InferenceMembers?
    {
        let fit = statistics.places.filter { place in
            guard place.count == 1, place != content, let member = statistics.members[place] else { return false }
            return member.valueCount >= 3 && member.distinct.count * 10 >= member.valueCount * 9
                && member.valueCount == statistics.instances.count && member.sentenceCount == 0
        }
        return fit.first { Self.mayBeID(statistics.members[$0]?.timeForm) }
    }

    private mutating func findTimes(_ statistics: InferenceStatistics) {
        let created = statistics.first(InferenceNames.createdAt, where: { $1.timeForm != nil })
        let found =
            created
            ?? statistics.places.first { place in
                InferenceStatistics.isNear(place) && statistics.members[place]?.timeForm != nil && place != ownID
                    && !InferenceNames.editedAt.contains(InferenceNames.plain(place[0]))
            }
        if let found, let form = statistics.members[found]?.timeForm { createdAt = (found, form) }
        let edited = statistics.first(
            InferenceNames.editedAt,
            within: ["ts", "at", "time", "$date"],
            where: { place, member in
                member.timeForm != nil && place != found && Self.differs(place, found, statistics)
            }
        )
        if let edited, let form = statistics.members[edited]?.timeForm { editedAt = (edited, form) }
    }

    /// Whether some object has another value at one place than at another: a time of creation alone is no time of an edit.
    private static func differs(
        _ place: InferenceMembers,
        _ other: InferenceMembers?,
        _ statistics: InferenceStatistics
    ) -> Bool {
        guard let other else { return true }
        return statistics.instances.contains { $0.value.value(at: place) != $0.value.value(at: other) }
    }

    private mutating func findAuthor(_ statistics: InferenceStatistics) {
        let taken = [content] + [ownID, createdAt?.place, editedAt?.place].compactMap(\.self)
        author = statistics.first(
            InferenceNames.author,
            within: InferenceNames.id + ["name", "username", "nick", "acct"]
        ) {
            place,
            member in !taken.contains(place) && member.timeForm == nil
        }
        if author == nil {
            author = statistics.places.first { place in
                place.count == 3 && InferenceNames.author.contains(InferenceNames.plain(place[0]))
                    && InferenceNames.id.contains(InferenceNames.plain(place[2]))
                    && statistics.members[place].map { $0.valueCount > 0 && $0.timeForm == nil } ?? false
            }
        }
        if author == nil {
            author = statistics.places.first { place in
                guard place.count == 1, !taken.contains(place), let member = statistics.members[place] else {
                    return false
                }
                let name = InferenceNames.plain(place[0])
                return member.textCount >= 4 && member.sentenceCount == 0 && member.timeForm == nil
                    && (2...member.textCount / 2).contains(member.distinct.count)
                    && ![InferenceNames.channel, InferenceNames.naming, InferenceNames.reply].contains {
                        $0.contains(name)
                    }
            }
        }
        guard let author else { return }
        if author.count > 1 {
            for name in InferenceNames.authorName where authorName == nil {
                authorName = statistics.places.first {
                    $0.dropLast() == author.dropLast() && $0 != author
                        && InferenceNames.plain($0[$0.count - 1]) == name
                        && (statistics.members[$0]?.textCount ?? 0) > 0
                }
            }
        } else {
            let names = ["authorname", "sendername", "username", "displayname", "nickname", "nick"]
            authorName = statistics.first(names) { place, member in
                place != author && !taken.contains(place) && member.textCount > 0
            }
        }
    }

    /// Takes the member that holds ids of known messages for the id, if the one that was found holds none.
    mutating func takeID(of known: Set<String>, _ statistics: InferenceStatistics, at path: InferencePath) {
        func share(_ place: InferenceMembers) -> Int {
            let values = statistics.members[place]?.values ?? []
            return values.isEmpty ? 0 : values.count(where: known.contains) * 100 / values.count
        }
        guard let own = ownID, share(own) < 50 else { return }
        let better = statistics.first(InferenceNames.id) { place, _ in place != own && share(place) >= 50 }
        guard let better else { return }
        (ownID, id) = (better, .place(path.steps.count, better))
        reasons[0] = "\(statistics.instances.count) objects with id \(Self.text(better)), text \(Self.text(content))"
    }

    /// Looks for the member that names another message: by its name and a known id, or by its values alone.
    mutating func findReply(_ statistics: InferenceStatistics, known: Set<String>) {
        let taken = [content] + [ownID, author, authorName, createdAt?.place, editedAt?.place].compactMap(\.self)
        func fits(_ place: InferenceMembers, share: Int) -> Bool {
            guard let member = statistics.members[place], !taken.contains(place) || place.count == 2 else {
                return false
            }
            guard !taken.contains(place) else { return false }
            let count = member.values.count { known.contains($0) }
            return count > 0 && count * 10 >= member.valueCount * share
        }
        let inner = ["id", "messageid", "eventid", "key", "ts", "msgid"]
        replyTo =
            statistics.first(InferenceNames.reply, within: inner) { place, _ in fits(place, share: 3) }
            ?? statistics.places.first { place in
                guard let member = statistics.members[place] else { return false }
                return fits(place, share: 8) && (member.valueCount > 1 || member.textCount > 0)
                    && member.valueCount < statistics.instances.count && member.values.allSatisfy { $0.utf8.count > 0 }
            }
        guard let replyTo else { return }
        repliesToItself = statistics.instances.contains { instance in
            guard let text = instance.value.value(at: replyTo)?.idText else { return false }
            return text == ownID.flatMap { instance.value.value(at: $0)?.idText }
        }
        reasons.append("answers \(Self.text(replyTo)), whose values are ids of messages")
    }
}
