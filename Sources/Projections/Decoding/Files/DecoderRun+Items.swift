import EventLog

/// Items of lists.
extension DecoderRun {
    mutating func item(_ reader: EffectReader, _ line: Int?) {
        guard let id = id(.id, reader, line) else { return }
        let effect = reader.effect
        let known = decoder.items[id]
        stay(reader, id, .none)
        guard let list = list(reader, known, line) else { return }
        let version = reader.time(.version)
        if case .fault = version { return issue("the item's version is no time", line) }
        let isDeletion = effect.operation == .delete
        let done = isDeletion ? nil : reader.value(.done)
        guard let isDone = done.map({ Self.truth($0) }) ?? false else {
            return issue("the item's done has another type", line)
        }
        let isKnown = known.map { !$0.isAbsent && !$0.isGone } ?? false
        if effect.operation == .make, isKnown { return }
        if let known, isPast(known, version.known) { return }
        if isDeletion, known?.isAbsent ?? true, context.rules.contains(.deletionOfUnseenIsForgotten) { return }
        var item: ItemFields?
        if !isDeletion {
            guard let said = fields(of: id, isDone: isDone, reader, line) else { return }
            item = said
        }
        let makes = list != .none && effect.needs.allSatisfy { reader.has($0) }
        // A patch that makes nothing is no statement of an item that is not known.
        if effect.operation != .patch || isKnown || makes {
            // An item may move to another list and is the same thing of its set.
            note(reader, id, .none)
            remember(id, in: list, version.known, known, effect)
        }
        if isDeletion || (effect.operation != .patch && known?.list != list), let known, !known.isAbsent {
            changes.append(.item(.removed(list: known.list, id: id)))
        }
        guard let item else { return }
        guard effect.operation == .patch else { return changes.append(.item(.stated(list: list, item: item))) }
        let patch = ItemPatch(
            home: isKnown ? known?.list : nil,
            list: list,
            item: item,
            told: told(reader),
            makes: makes
        )
        changes.append(.item(.patched(patch)))
    }

    /// The list that an effect names; `nil`, with an issue, if there is none. One that patches or deletes an item may leave it out: then it
    /// is the one in which the item is or was, and `EntityID.none` of an item that is not known.
    private mutating func list(_ reader: EffectReader, _ known: FileDecoder.ItemMemory?, _ line: Int?) -> EntityID? {
        let operation = reader.effect.operation
        guard operation == .patch || operation == .delete else { return id(.list, reader, line) }
        if let named = reader.found(.list)?.id(&context.names) { return named }
        return known?.list ?? EntityID.none
    }

    /// Whether the item was deleted for ever, or a newer version of it is known.
    private func isPast(_ known: FileDecoder.ItemMemory, _ version: Timestamp?) -> Bool {
        guard known.sequence < context.event.sequence.rawValue else { return false }
        if known.isGone, !context.rules.contains(.deletedComesBack) { return true }
        guard let older = known.version, let version, version < older else { return false }
        return !context.rules.contains(.lateVersionReplaces)
    }

    private func remember(
        _ id: EntityID,
        in list: EntityID,
        _ version: Timestamp?,
        _ known: FileDecoder.ItemMemory?,
        _ effect: DecoderEffect
    ) {
        let isDeletion = effect.operation == .delete
        let (isGone, sequence) = (isDeletion && effect.isForEver, context.event.sequence.rawValue)
        decoder.items[id] = FileDecoder.ItemMemory(
            list: list,
            // No version of an item counts once the item is gone for ever.
            version: isGone ? nil : version ?? known?.version,
            isGone: isGone,
            isAbsent: isDeletion && !isGone,
            versionSequence: version == nil ? known?.versionSequence ?? sequence : sequence,
            sequence: sequence
        )
    }

    /// What an effect states of an item: of a patch only what it tells, with `null` for a further member without a value; `nil`,
    /// with an issue, if a patch cannot be read.
    private mutating func fields(of id: EntityID, isDone: Bool, _ reader: EffectReader, _ line: Int?) -> ItemFields? {
        let isPatch = reader.effect.operation == .patch
        let own: [DecoderName] = [.text, .done, .status, .created, .version]
        let (text, status, created) = (reader.text(.text), reader.text(.status), reader.text(.created))
        if isPatch {
            for (name, isFault) in [("text", text.isFault), ("status", status.isFault), ("created", created.isFault)]
            where isFault {
                issue("the item's \(name) has another type", line)
                return nil
            }
        }
        var extra: [JSONObject.Member] = []
        for name in reader.effect.subject.members where !own.contains(name) {
            guard let value = reader.value(name), isPatch || value != .null else { continue }
            extra.append(JSONObject.Member(name: name.text, value: value))
        }
        return ItemFields(
            id: id,
            text: text.known,
            done: isDone,
            status: status.known,
            created: created.known,
            extra: JSONObject(members: extra)
        )
    }

    private func told(_ reader: EffectReader) -> ItemMembers {
        var told: ItemMembers = []
        if reader.text(.text).isStated { told.insert(.text) }
        if reader.value(.done) != nil { told.insert(.done) }
        if reader.text(.status).isStated { told.insert(.status) }
        if reader.text(.created).isStated { told.insert(.created) }
        return told
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
}
