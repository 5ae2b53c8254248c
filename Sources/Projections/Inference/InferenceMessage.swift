import JSON

/// The members of objects that look like messages.
struct InferenceMessage {
    var id: InferenceMembers
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

    /// - Returns: `nil` if the objects look like no messages: these have an id, a text, and an author or a time.
    init?(_ statistics: InferenceStatistics) {
        let nested = ["text", "body", "content", "plain", "value"]
        let content =
            statistics.first(InferenceNames.content, within: nested) { _, member in
                member.textCount > 0 && member.textCount * 2 >= member.valueCount && member.timeForm == nil
            } ?? Self.sentences(statistics)
        guard let content else { return nil }
        let id =
            statistics.first(InferenceNames.id) { place, _ in
                place != content && Self.isID(place, beside: content, statistics)
            } ?? Self.unique(statistics, besides: content)
        guard let id else { return nil }
        (self.id, self.content) = (id, content)
        findTimes(statistics)
        findAuthor(statistics)
        guard author != nil || createdAt != nil else { return nil }
        if let flag = statistics.first(InferenceNames.deletedFlag, where: { $1.truths.contains(true) }) {
            deletedFlag = (flag, true)
        } else if let flag = statistics.first(InferenceNames.deletedFlag, where: { $1.timeForm != nil }) {
            deletedFlag = (flag, false)
        }
        let count = statistics.instances.count
        reasons.append("\(count) objects with id \(Self.text(id)), text \(Self.text(content))")
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
        guard let member = statistics.members[place], member.valueCount * 2 >= statistics.instances.count else {
            return false
        }
        // A few ids for many texts are no ids of messages.
        return member.distinct.count * 3 >= (statistics.members[content]?.distinct.count ?? 0)
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
        return fit.first { statistics.members[$0]?.timeForm == nil } ?? fit.first
    }

    private mutating func findTimes(_ statistics: InferenceStatistics) {
        let created = statistics.first(InferenceNames.createdAt, where: { $1.timeForm != nil })
        let found =
            created
            ?? statistics.places.first { place in
                place.count == 1 && statistics.members[place]?.timeForm != nil && place != id
                    && !InferenceNames.editedAt.contains(InferenceNames.plain(place[0]))
            }
        if let found, let form = statistics.members[found]?.timeForm { createdAt = (found, form) }
        let edited = statistics.first(
            InferenceNames.editedAt,
            within: ["ts", "at", "time"],
            where: { place, member in
                member.timeForm != nil && place != found
            }
        )
        if let edited, let form = statistics.members[edited]?.timeForm { editedAt = (edited, form) }
    }

    private mutating func findAuthor(_ statistics: InferenceStatistics) {
        let taken = [id, content] + [createdAt?.place, editedAt?.place].compactMap(\.self)
        author = statistics.first(
            InferenceNames.author,
            within: InferenceNames.id + ["name", "username", "nick", "acct"]
        ) {
            place,
            member in !taken.contains(place) && member.timeForm == nil
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
        if author.count == 2 {
            for name in InferenceNames.authorName where authorName == nil {
                authorName = statistics.places.first {
                    $0.count == 2 && $0[0] == author[0] && $0 != author && InferenceNames.plain($0[1]) == name
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

    /// Looks for the member that names another message: by its name and a known id, or by its values alone.
    mutating func findReply(_ statistics: InferenceStatistics, known: Set<String>) {
        let taken = [id, content] + [author, authorName, createdAt?.place, editedAt?.place].compactMap(\.self)
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
            return text == instance.value.value(at: id)?.idText
        }
        reasons.append("answers \(Self.text(replyTo)), whose values are ids of messages")
    }
}
