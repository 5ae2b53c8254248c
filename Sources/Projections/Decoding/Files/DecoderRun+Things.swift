import EventLog

/// Channels, users, sessions and places.
extension DecoderRun {
    mutating func channel(_ reader: EffectReader, _ line: Int?) {
        guard let id = id(.id, reader, line) else { return }
        let effect = reader.effect
        if effect.operation == .delete, context.told != nil {
            var details = ChannelFields.Details()
            details.topic = reader.text(.topic).known
            context.told?.append(
                .channel(.stated(ChannelFields(id: id, name: reader.text(.name).known, details: details)))
            )
        }
        let key = MessageKey(channel: id, id: .none)
        if isStated(key, effect) { return }
        guard counts(reader, key, line) else { return }
        noteStated(key, effect)
        if effect.operation == .patch { stay(reader, id, .none) } else { note(reader, id, .none) }
        if effect.operation == .delete {
            let permanence: Permanence = effect.isForEver ? .forever : .untilWritten
            return changes.append(.channel(.deleted(id, cause: .channelDeleted, permanence: permanence)))
        }
        let (name, kind, topic) = (reader.text(.name), reader.text(.kind), reader.text(.topic))
        var details = ChannelFields.Details()
        details.topic = topic.known
        let fields = ChannelFields(
            id: id,
            name: name.known,
            kind: kind.known,
            guild: reader.id(.guild).map { context.names.id($0) },
            details: details
        )
        guard effect.operation == .patch else { return changes.append(.channel(.stated(fields))) }
        for (member, isFault) in [("name", name.isFault), ("kind", kind.isFault), ("topic", topic.isFault)]
        where isFault {
            return issue("the channel's \(member) has another type", line)
        }
        var told: ChannelMembers = []
        if name.isStated { told.insert(.name) }
        if kind.isStated { told.insert(.kind) }
        if topic.isStated { told.insert(.topic) }
        changes.append(.channel(.patched(ChannelPatch(fields: fields, told: told))))
    }

    mutating func user(_ reader: EffectReader, _ line: Int?) {
        guard let id = id(.id, reader, line) else { return }
        // Users of the whole source have the source's scope, whose name is empty in no remote.
        let scope = context.names.id(reader.id(.scope) ?? DecoderRun.wholeScope)
        let key = MessageKey(channel: scope, id: id)
        func stated() -> Change {
            .community(.memberStated(guild: scope, user: id, nickname: reader.text(.name).known, roles: []))
        }
        if reader.effect.operation == .delete, context.told != nil { context.told?.append(stated()) }
        if isStated(key, reader.effect) { return }
        guard counts(reader, key, line) else { return }
        noteStated(key, reader.effect)
        note(reader, scope, id)
        guard reader.effect.operation == .delete else { return changes.append(stated()) }
        changes.append(.community(.memberRemoved(guild: scope, user: id)))
    }

    /// Whether the effect makes a channel or user that a `replace` has stated, and so changes nothing.
    private func isStated(_ key: MessageKey, _ effect: DecoderEffect) -> Bool {
        guard effect.operation == .make else { return false }
        return decoder.stated[key] != nil
    }

    private func noteStated(_ key: MessageKey, _ effect: DecoderEffect) {
        guard effect.operation == .replace, decoder.stated[key] == nil else { return }
        decoder.stated[key] = context.event.sequence.rawValue
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

    mutating func session(_ reader: EffectReader, _ line: Int?) {
        guard let id = id(.id, reader, line) else { return }
        guard reader.effect.operation != .delete else {
            if context.told != nil { context.told?.append(observed(id, reader, status: "not_running")) }
            return changes.append(.session(.removed(id)))
        }
        guard let status = reader.text(.status).known, StatusText.states.contains(status) else {
            return issue("the session's status is none of working, idle, needs_input, not_running", line)
        }
        changes.append(observed(id, reader, status: status))
    }

    private func observed(_ id: EntityID, _ reader: EffectReader, status: String) -> Change {
        let (time, received) = (reader.time(.timestamp).known, context.event.recordedAt)
        return .session(
            .observed(
                SessionFields(
                    id: id,
                    project: reader.text(.project).known ?? "Unknown",
                    status: status,
                    timestamp: time?.description,
                    instant: time ?? received,
                    device: reader.text(.device).known
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
