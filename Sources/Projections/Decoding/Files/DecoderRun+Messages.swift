import EventLog

/// Messages, what edits and takes back, and reactions.
extension DecoderRun {
    mutating func message(_ reader: EffectReader, _ line: Int?) {
        guard let channel = id(.channel, reader, line), let id = id(.id, reader, line) else { return }
        let effect = reader.effect
        let key = MessageKey(channel: channel, id: id)
        if effect.operation == .delete, context.told != nil {
            let said = StatedMessage(reader, &context.names)
            context.told?.append(.message(.written(said.write(key, .byID))))
        }
        if effect.operation == .delete, let text = reader.own {
            let own = context.names.id(text)
            if decoder.relations.hasSeen(own) { return }
            decoder.relations.note(.nothing, by: own, at: context.event.sequence.rawValue)
        }
        guard effect.operation != .delete else {
            // By its version the deletion may be past: then a snapshot still leaves the message out.
            if effect.isForEver || reader.time(.version).known == nil {
                note(reader, channel, id)
            } else {
                stay(reader, channel, id)
            }
            return delete(key, effect.isForEver ? .forever : .untilWritten, reader, line)
        }
        let said = StatedMessage(reader, &context.names)
        stay(reader, channel, id)
        if let fault = said.fault { return issue("the message's \(fault) has another type", line) }
        let isWhole = effect.needs.allSatisfy { said.has($0) }
        if effect.operation == .edit { return edit(said, key, reader, line) }
        guard isWhole || effect.operation == .patch || effect.operation == .append else {
            let lacking = effect.needs.first { !said.has($0) }.map { "\($0)" } ?? ""
            return issue("the message has no \(lacking)", line)
        }
        if isWhole { note(reader, channel, id) }
        let own = reader.own.map { context.names.id($0) }
        if let own {
            // By the message's own id, statements of the whole message count as often as they come.
            var isAgain = false
            if effect.operation == .replace, own == id, case .message? = decoder.relations.deed(of: own) {
                isAgain = true
            }
            if isPast(own), !isAgain { return }
            if !isAgain {
                let author = said.author.known.map { context.names.id($0) }
                decoder.relations.note(.message(key, author: author), by: own, at: context.event.sequence.rawValue)
            }
        }
        var write = said.write(key, order(of: key))
        switch effect.operation {
        case .make: write.meeting = .adds
        case .append:
            let members = said.members(changing: effect.changes)
            write.meeting = .patches(members.union(.appended), makes: isWhole)
        case .patch: write.meeting = .patches(said.members(changing: effect.changes), makes: isWhole)
        default: write.meeting = .replaces
        }
        changes.append(.message(.written(write)))
        if let reactions = effect.reactions, let stated = self.reactions(reactions, reader, line) {
            let statement: ReactionChange.Statement =
                switch effect.operation {
                case .make: .making
                case .patch where !said.version.isStated, .append where !said.version.isStated: .change
                default: .version(said.version.known)
                }
            if effect.operation != .make || made.insert(key).inserted {
                changes.append(.message(.reactions(key, .stand(stated, statement))))
            }
        }
        if let own { release(own, key) }
    }

    /// Deletes a message, by whom and when the event tells.
    private mutating func delete(_ key: MessageKey, _ permanence: Permanence, _ reader: EffectReader, _ line: Int?) {
        var deletion = MessageDeletion(key: key, permanence: permanence, isOfChannel: true)
        let (author, time) = (reader.text(.by), reader.time(.deletedAt))
        // What cannot be read keeps nobody from seeing that the message is gone.
        if author.isFault { issue("the deletion's by has another type", line) }
        if time.isFault { issue("the deletion's deletedAt has another type", line) }
        (deletion.deletedBy, deletion.deletedAt) = (author.known, time.known)
        if permanence == .untilWritten {
            let version = reader.time(.version)
            if version.isFault { issue("the deletion's version is no time", line) }
            deletion.version = version.known
        }
        changes.append(.message(.deleted(deletion)))
    }

    // MARK: - Relations

    /// Whether an event with an id of its own counts no more. A client that finds no repeats takes one again, unless it was
    /// taken back.
    private func isPast(_ own: EntityID) -> Bool {
        guard let deed = decoder.relations.deed(of: own) else { return false }
        guard context.rules.readsRepeats else { return true }
        return switch deed {
        case .message, .edit, .reaction: false
        case .nothing, .refused: !context.rules.contains(.deletedComesBack)
        }
    }

    /// Carries out an edit, or keeps it until its message comes. Only the message's author edits it.
    private mutating func edit(_ said: StatedMessage, _ key: MessageKey, _ reader: EffectReader, _ line: Int?) {
        guard let text = reader.own else { return issue("the edit has no id of its own", line) }
        guard let version = said.version.known else { return issue("the edit has no version", line) }
        let (own, sequence) = (context.names.id(text), context.event.sequence.rawValue)
        if isPast(own) { return }
        decoder.relations.note(.edit(key, version: version), by: own, at: sequence)
        var write = said.write(key, order(of: key, isEdit: true))
        write.meeting = .patches(said.members(changing: reader.effect.changes), makes: false)
        // Nobody else edits it.
        write.by = said.author.known
        let author = said.author.known.map { context.names.id($0) }
        guard case .message(let target, let known)? = decoder.relations.deed(of: key.id) else {
            if context.rules.contains(.editOfUnseenMakesAMessage) { changes.append(.message(.written(write))) }
            return decoder.relations.wait(.edit(write, author: author), by: own, for: key.id, at: sequence)
        }
        decoder.relations.noteOrder(of: own, at: sequence, before: key.id)
        if target == key, known == author { changes.append(.message(.written(write))) }
    }

    /// Carries out what waits for a message that has come.
    private mutating func release(_ own: EntityID, _ key: MessageKey) {
        guard case .message(_, let author)? = decoder.relations.deed(of: own) else { return }
        for waiting in decoder.relations.takeWaiting(for: own) {
            switch waiting {
            case .edit(var write, let editor):
                // It had no place while it waited.
                write.order = order(of: key)
                if write.key == key, editor == author { changes.append(.message(.written(write))) }
            case .reaction(let named, let emoji, let user):
                guard named == key else { break }
                changes.append(.message(.reactions(key, .set(.init(emoji: emoji, user: user), isPresent: true))))
            }
        }
    }

    /// Takes back what an event did.
    mutating func retract(_ reader: EffectReader, _ line: Int?) {
        guard let id = id(.id, reader, line) else { return }
        if context.rules.contains(.deletionOfUnseenIsForgotten), !decoder.relations.hasSeen(id) { return }
        switch decoder.relations.retract(id, at: context.event.sequence.rawValue) {
        case .message(let key, _)?:
            delete(key, .forever, reader, line)
        case .edit(let key, let version)?:
            changes.append(.message(.withdrawn(key, version: version)))
        case .reaction(let key, let emoji, let user)?:
            if decoder.relations.isSaid(key, emoji: emoji, user: user) { break }
            changes.append(.message(.reactions(key, .set(.init(emoji: emoji, user: user), isPresent: false))))
        case .nothing?, .refused?, nil: break
        }
    }

    /// The reactions that a message states as a whole; `nil` if it does not tell of them, or, with an issue, if they cannot be
    /// read.
    private mutating func reactions(
        _ reactions: DecoderReactions,
        _ reader: EffectReader,
        _ line: Int?
    ) -> [ReactionChange.Reaction]? {
        var found: [ReactionChange.Reaction] = []
        var fault: String?
        var scope = reader.inner
        let list: JSONView
        switch scope.stated(.place(reactions.each), { value -> JSONView? in value.list }) {
        case .unstated: return [.patch, .append].contains(reader.effect.operation) ? nil : []
        case .none: return []
        case .fault:
            issue("the message's reactions have another type", line)
            return nil
        case .value(let value): list = value
        }
        let entries = list.elements?.map { (key: nil, value: $0) } ?? list.members?.map { ($0.name, $0.value) } ?? []
        for entry in entries {
            scope.entering(.view(entry.value), key: entry.key, isLoop: true) { scope in
                guard let emoji = scope.value(reactions.emoji)?.writtenText else {
                    fault = "a reaction of the message has no emoji"
                    return
                }
                guard let users = scope.value(reactions.users)?.users else {
                    fault = "a reaction of the message has no users"
                    return
                }
                for user in users {
                    found.append(ReactionChange.Reaction(emoji: emoji, user: context.names.id(user)))
                }
            }
        }
        if let fault {
            issue(fault, line)
            return nil
        }
        return found
    }

    mutating func reaction(_ reader: EffectReader, _ line: Int?) {
        guard let channel = id(.channel, reader, line), let message = id(.id, reader, line) else { return }
        let key = MessageKey(channel: channel, id: message)
        if reader.effect.operation == .clear {
            // A shape may read both, and the event tell neither: then all are meant.
            let user = reader.id(.user).map { context.names.id($0) }
            return changes.append(.message(.reactions(key, .cleared(emoji: reader.id(.emoji), user: user))))
        }
        guard let user = id(.user, reader, line) else { return }
        guard let emoji = reader.id(.emoji) else { return issue("the reaction has no emoji", line) }
        if let text = reader.own {
            let (own, sequence) = (context.names.id(text), context.event.sequence.rawValue)
            if isPast(own) { return }
            decoder.relations.note(.reaction(key, emoji: emoji, user: user), by: own, at: sequence)
            guard case .message(let target, _)? = decoder.relations.deed(of: message) else {
                return decoder.relations.wait(
                    .reaction(key, emoji: emoji, user: user),
                    by: own,
                    for: message,
                    at: sequence
                )
            }
            decoder.relations.noteOrder(of: own, at: sequence, before: message)
            if target != key { return }
        }
        let isPresent = reader.effect.operation == .add
        changes.append(.message(.reactions(key, .set(.init(emoji: emoji, user: user), isPresent: isPresent))))
    }
}
