import EventLog

/// Channels, users, items, sessions and places.
extension DecoderRun {
    mutating func channel(_ reader: EffectReader, _ line: Int?) {
        guard let id = id(.id, reader, line) else { return }
        let effect = reader.effect
        if effect.operation == .make, decoder.stated.contains(id) { return }
        guard counts(reader, MessageKey(channel: id, id: .none), line) else { return }
        if effect.operation == .replace { decoder.stated.insert(id) }
        note(reader, id, .none)
        if effect.operation == .delete {
            let permanence: Permanence = effect.isForEver ? .forever : .untilWritten
            return changes.append(.channel(.deleted(id, cause: .channelDeleted, permanence: permanence)))
        }
        var details = ChannelFields.Details()
        details.topic = reader.text(.topic).known
        changes.append(
            .channel(
                .stated(
                    ChannelFields(
                        id: id,
                        name: reader.text(.name).known,
                        kind: reader.text(.kind).known,
                        guild: reader.id(.guild).map { context.names.id($0) },
                        details: details
                    )
                )
            )
        )
    }

    mutating func user(_ reader: EffectReader, _ line: Int?) {
        guard let id = id(.id, reader, line) else { return }
        // Users of the whole source have the source's scope, whose name is empty in no remote.
        let scope = context.names.id(reader.id(.scope) ?? DecoderRun.wholeScope)
        guard counts(reader, MessageKey(channel: scope, id: id), line) else { return }
        note(reader, scope, id)
        guard reader.effect.operation != .delete else {
            return changes.append(.community(.memberRemoved(guild: scope, user: id)))
        }
        changes.append(
            .community(.memberStated(guild: scope, user: id, nickname: reader.text(.name).known, roles: []))
        )
    }

    /// Whether a statement of a channel or user is no older than the known one. One without a version always counts.
    private mutating func counts(_ reader: EffectReader, _ key: MessageKey, _ line: Int?) -> Bool {
        let version = reader.time(.version)
        if case .fault = version {
            issue("the \(reader.effect.subject.rawValue)'s version is no time", line)
            return false
        }
        guard let version = version.known else { return true }
        let known = decoder.versions[key]
        let takesLate = context.rules.contains(.lateVersionReplaces)
        if let newest = known?.version, version < newest, !takesLate {
            stay(reader, key.channel, key.id)
            return false
        }
        decoder.versions[key] = FileDecoder.RowMemory(version: version, sequence: context.event.sequence.rawValue)
        return true
    }

    /// The scope of users that are known to the whole source.
    static let wholeScope = "everyone"

    mutating func item(_ reader: EffectReader, _ line: Int?) {
        guard let list = id(.list, reader, line), let id = id(.id, reader, line) else { return }
        let effect = reader.effect
        let version = reader.time(.version)
        stay(reader, id, .none)
        if case .fault = version { return issue("the item's version is no time", line) }
        let done = reader.value(.done)
        guard let isDone = effect.operation == .delete ? false : done.map({ Self.truth($0) }) ?? false else {
            return issue("the item's done has another type", line)
        }
        let known = decoder.items[id]
        if let known, known.sequence < context.event.sequence.rawValue {
            // Deleted for ever, or an older version.
            if known.isGone, !context.rules.contains(.deletedComesBack) { return }
            let takesLate = context.rules.contains(.lateVersionReplaces)
            if let older = known.version, let newer = version.known, newer < older, !takesLate { return }
        }
        let isUnseen = known?.isLeftOut ?? true
        let isForgotten = isUnseen && context.rules.contains(.deletionOfUnseenIsForgotten)
        if effect.operation == .delete, isForgotten { return }
        // An item may move to another list and is the same thing of its set.
        note(reader, id, .none)
        if let known, !known.isLeftOut, known.list != list || effect.operation == .delete {
            changes.append(.item(.removed(list: known.list, id: id)))
        }
        let (isGone, sequence) = (effect.operation == .delete && effect.isForEver, context.event.sequence.rawValue)
        decoder.items[id] = FileDecoder.ItemMemory(
            list: list,
            // No version of an item counts once the item is gone for ever.
            version: isGone ? nil : version.known ?? known?.version,
            isGone: isGone,
            versionSequence: version.known == nil ? known?.versionSequence ?? sequence : sequence,
            sequence: sequence
        )
        if effect.operation == .delete { return }
        let members = effect.subject.members.filter { ![.text, .done, .status, .created, .version].contains($0) }
        var extra: [JSONObject.Member] = []
        for name in members {
            guard let value = reader.value(name), value != .null else { continue }
            extra.append(JSONObject.Member(name: name.text, value: value))
        }
        changes.append(
            .item(
                .stated(
                    list: list,
                    item: ItemFields(
                        id: id,
                        text: reader.text(.text).known,
                        done: isDone,
                        status: reader.text(.status).known,
                        created: reader.text(.created).known,
                        extra: JSONObject(members: extra)
                    )
                )
            )
        )
    }

    /// Whether a value says that an item is done: a truth value, or one written as 0, 1, true or false; `nil` for anything else.
    private static func truth(_ value: JSONValue) -> Bool? {
        switch value.writtenText {
        case "true", "1": true
        case "false", "0", "": false
        case nil where value == .null: false
        default: nil
        }
    }

    mutating func session(_ reader: EffectReader, _ line: Int?) {
        guard let id = id(.id, reader, line) else { return }
        guard reader.effect.operation != .delete else { return changes.append(.session(.removed(id))) }
        guard let status = reader.text(.status).known, StatusText.states.contains(status) else {
            return issue("the session's status is none of working, idle, needs_input, not_running", line)
        }
        let time = reader.time(.timestamp).known
        changes.append(
            .session(
                .observed(
                    SessionFields(
                        id: id,
                        project: reader.text(.project).known ?? "Unknown",
                        status: status,
                        timestamp: time?.description,
                        instant: time ?? context.event.recordedAt,
                        device: reader.text(.device).known
                    )
                )
            )
        )
    }

    // MARK: - Places

    /// What orders a message. One that is not known to have a place gets the last one, unless it is edited.
    mutating func order(of key: MessageKey, isEdit: Bool = false) -> MessageOrder {
        switch decoder.order {
        case .creation: return .byCreation
        case .place:
            if let number = decoder.places.number(of: key.id, in: key.channel) { return .at(number) }
            return isEdit ? .byID : .at(decoder.places.place(key.id, in: key.channel, before: nil))
        case .id: return .byID
        }
    }

    /// Gives a thing its place: the last one, or in front of the one that a token stands for, each further one of the event in
    /// front of the one before. A token that stands for nothing means the first place.
    mutating func place(_ reader: EffectReader, _ line: Int?) {
        guard let channel = id(.channel, reader, line), let id = id(.id, reader, line) else { return }
        if reader.effect.ids[.before] != nil {
            guard let token = self.id(.before, reader, line) else { return }
            let key = MessageKey(channel: channel, id: token)
            let next = foremost[key] ?? decoder.places.marked(by: token, in: channel)
            decoder.places.place(id, in: channel, before: next ?? decoder.places.first(in: channel))
            foremost[key] = id
        } else {
            decoder.places.place(id, in: channel, before: nil)
        }
        // The last answer has no token for what is before it.
        if let token = reader.id(.mark), !token.isEmpty {
            decoder.places.mark(id, in: channel, by: context.names.id(token))
        }
    }
}
