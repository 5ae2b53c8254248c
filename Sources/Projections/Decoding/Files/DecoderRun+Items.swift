import EventLog

/// Items of lists.
extension DecoderRun {
    mutating func item(_ reader: EffectReader, _ line: Int?) {
        guard let id = id(.id, reader, line) else { return }
        let effect = reader.effect
        let known = decoder.items[id]
        stay(reader, id, .none)
        guard let (list, isNamed) = list(reader, known, line) else { return }
        if effect.operation == .delete, context.told != nil {
            context.told?.append(.item(.stated(list: list, item: StatedItem(id, reader).item)))
        }
        let version = reader.time(.version)
        if case .fault = version { return issue("the item's version is no time", line) }
        let isDeletion = effect.operation == .delete
        let said = isDeletion ? nil : StatedItem(id, reader)
        if let fault = said?.fault, fault == .done || effect.operation == .patch {
            return issue("the item's \(fault) has another type", line)
        }
        let isKnown = known.map { !$0.isAbsent && !$0.isGone } ?? false
        if effect.operation == .make, isKnown { return }
        if let known, isPast(known, version.known) { return }
        // Without a version, one until stated is of the list that it names, and the item may be in another one by now.
        if isDeletion, !effect.isForEver, version.known == nil, isNamed, isKnown, known?.list != list { return }
        if isDeletion, known?.isAbsent ?? true, context.rules.contains(.deletionOfUnseenIsForgotten) { return }
        let makes = isNamed && effect.needs.allSatisfy { said?.has($0) ?? false }
        // A patch that makes nothing is no statement of an item that is not known.
        if effect.operation != .patch || isKnown || makes {
            // An item may move to another list and is the same thing of its set.
            note(reader, id, .none)
            remember(id, in: list, version.known, known, effect)
        }
        if isDeletion || (effect.operation != .patch && known?.list != list), let known, !known.isAbsent {
            changes.append(.item(.removed(list: known.list, id: id)))
        }
        guard let said else { return }
        guard effect.operation == .patch else {
            return changes.append(.item(.stated(list: list, item: said.item)))
        }
        let patch = ItemPatch(
            home: isKnown ? known?.list : nil,
            list: list,
            item: said.item,
            told: said.told,
            makes: makes
        )
        changes.append(.item(.patched(patch)))
    }

    /// The list that an effect is about, and whether it names one; `nil`, with an issue, if it should and does not. One that patches or
    /// deletes an item may leave it out: then it is the one in which the item was stated last, and `EntityID.none` of an item that
    /// was not.
    private mutating func list(
        _ reader: EffectReader,
        _ known: FileDecoder.ItemMemory?,
        _ line: Int?
    ) -> (list: EntityID, isNamed: Bool)? {
        let operation = reader.effect.operation
        let mayLack = operation == .patch || operation == .delete
        let found = reader.found(.list)
        if let named = found?.id(&context.names) { return (named, true) }
        // An empty text names none.
        let isLacking = found.map { $0.isNull || $0.writtenText == "" } ?? true
        if mayLack, isLacking || operation == .delete { return (known?.list ?? .none, false) }
        return id(.list, reader, line).map { ($0, true) }
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
}

/// What an event says of an item.
private struct StatedItem {
    /// Of a patch only what it tells, with `null` for a further member without a value.
    let item: ItemFields
    /// The members that are told, beside the further ones.
    let told: ItemMembers
    /// The first member that has another type; `nil` if all can be read.
    let fault: DecoderName?

    init(_ id: EntityID, _ reader: EffectReader) {
        let (text, status, created) = (reader.text(.text), reader.text(.status), reader.text(.created))
        let done = reader.value(.done)
        let isDone = done.map { Self.truth($0) } ?? false
        let isPatch = reader.effect.operation == .patch
        let own: [DecoderName] = [.text, .done, .status, .created, .version]
        var extra: [JSONObject.Member] = []
        for name in reader.effect.subject.members where !own.contains(name) {
            guard let value = reader.value(name), isPatch || value != .null else { continue }
            extra.append(JSONObject.Member(name: name.text, value: value))
        }
        item = ItemFields(
            id: id,
            text: text.known,
            done: isDone ?? false,
            status: status.known,
            created: created.known,
            extra: JSONObject(members: extra)
        )
        var told: ItemMembers = []
        if text.isStated { told.insert(.text) }
        if done != nil { told.insert(.done) }
        if status.isStated { told.insert(.status) }
        if created.isStated { told.insert(.created) }
        self.told = told
        fault =
            isDone == nil
            ? .done : text.isFault ? .text : status.isFault ? .status : created.isFault ? .created : nil
    }

    /// Whether a member has a value.
    func has(_ name: DecoderName) -> Bool {
        switch name {
        case .text: item.text != nil
        case .done: told.contains(.done)
        case .status: item.status != nil
        case .created: item.created != nil
        default: item.extra[name.text].map { !$0.isNull } ?? false
        }
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
