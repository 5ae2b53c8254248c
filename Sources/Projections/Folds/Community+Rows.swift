import EventLog

extension Community {
    func keys(in section: Section, names: Names) -> [EntityKey] {
        switch section {
        case .guilds, .members, .roles, .bans, .presences, .voiceStates:
            names.sorted(registers.compactMap { $0.key.section == section ? shown($0.key, $0.value) : nil })
        // `asOf` is not known here. Typing that has ended is left out by `row` alone.
        case .typing: names.sorted(typing.keys.filter { fates.fate(of: $0.first) == nil })
        case .readStates: names.sorted(Array(readStates.lastMessages.keys))
        case .channels, .messages, .deletedMessages, .items, .sessions, .sessionAggregates, .prompts, .rows, .issues:
            []
        }
    }

    /// The keys of rows that exist or did. A deleted role has the key of its last guild. Typing and read states have no
    /// past keys.
    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        guard section != .typing, section != .readStates else { return keys(in: section, names: names) }
        let known = registers.compactMap { key, register in
            key.section == section ? register.lastValue.map { row(of: key, $0) } : nil
        }
        return names.sorted(known)
    }

    /// The key of a register's row; `nil` if it has none.
    private func shown(_ key: EntityKey, _ register: Register<CommunityValue>) -> EntityKey? {
        guard let value = register.value else { return nil }
        if let channel = value.voiceChannel, fates.fate(of: channel) != nil { return nil }
        return row(of: key, value)
    }

    /// The row of one key. A role has a row only under the guild that stated it last.
    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        var row = ids(of: key, context.names)
        switch key.section {
        case .typing:
            guard let event = typing[key], fates.fate(of: key.first) == nil else { return nil }
            let until = TypingChange.end(ofTypingAt: event.recordedAt)
            // The instant `until` itself is over.
            guard context.asOf < until else { return nil }
            row["until"] = .string(until.description)
        case .readStates:
            guard let lastMessage = readStates.lastMessages[key] else { return nil }
            row["lastMessage"] = .text(lastMessage.map { context.names.text($0) })
        default:
            guard let register = register(of: key), shown(registerKey(of: key), register) == key,
                let value = register.value.map(present), isShown(value, context)
            else { return nil }
            for member in value.members(names: context.names).members { row[member.name] = member.value }
        }
        return .object(row)
    }

    /// The history, with each value as a register kept it. An entry that removes a value shows the one that it removed.
    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]? {
        if let entry = lastSaying(of: key, context) { return [entry] }
        guard let register = register(of: key), !register.entries.isEmpty else { return nil }
        let shown = shownEntries(of: register)
        return entries(shown, in: shown.indices, context.names)
    }

    /// Makes only the entries in `places`, unlike the default.
    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        if let entry = lastSaying(of: key, context) { return places.contains(0) ? [entry] : [] }
        guard let register = register(of: key) else { return [] }
        let shown = shownEntries(of: register)
        return entries(shown, in: places.clamped(to: shown.indices), context.names)[...]
    }

    private func entries(
        _ shown: [ShownEntry],
        in places: Range<Int>,
        _ names: Names
    ) -> [HistoryEntry] {
        var before = places.lowerBound > 0 ? shown[places.lowerBound - 1].value : nil
        return shown[places].map { entry in
            Steps.count(1)
            defer { before = entry.value }
            let change = entry.value == nil ? "removed" : (before == nil ? "added" : "changed")
            if !entry.lostRoles.isEmpty {
                let lost = JSONValue.array(entry.lostRoles.map { .string(names.text($0)) })
                let fields: JSONObject = ["lostRoles": lost, "partial": .bool(true)]
                var partial = HistoryEntry(at: entry.event, change: change, fields: fields)
                partial.before = ["partial": .bool(true)]
                return partial
            }
            let fields = (entry.value ?? entry.before ?? before)?.members(names: names) ?? JSONObject()
            var whole = HistoryEntry(at: entry.event, change: change, fields: fields)
            whole.before = entry.before?.members(names: names)
            return whole
        }
    }

    /// What an event changed in a member with too many roles to compare them with each role that is deleted; `nil` for any
    /// other.
    func changedMember(for key: EntityKey, at sequence: SequenceNumber, context: RowContext) -> RowPart? {
        guard let lost = lostRoles(of: key, at: sequence) else { return nil }
        let before = ids(of: key, context.names)
        var after = before
        after["lostRoles"] = .array(context.names.sorted(lost).map { .string(context.names.text($0)) })
        return (before, after)
    }

    /// A value as it is now: a member without the roles that were deleted since.
    private func present(_ value: CommunityValue) -> CommunityValue {
        guard var member = value.member else { return value }
        Steps.count(member.roles.count)
        member.roles.removeAll { end(ofRole: $0) != nil }
        return .member(member)
    }

    /// An entry of a register as its row shows it.
    private struct ShownEntry {
        let event: EventReference
        /// The value after the event; of an entry that tells lost roles alone, with these and those that were lost before.
        let value: CommunityValue?
        /// The roles that a member lost, if the entry tells nothing else; empty for any other.
        var lostRoles: [EntityID] = []
        /// The value before the event, behind an entry that tells lost roles alone.
        var before: CommunityValue?

        init(_ entry: Register<CommunityValue>.Entry) { (event, value) = (entry.event, entry.value) }

        init(at event: EventReference, _ value: CommunityValue?) { (self.event, self.value) = (event, value) }
    }

    /// The entries of a register as its row shows them: nobody stays in a voice channel that is gone, or has a role that is.
    private func shownEntries(of register: Register<CommunityValue>) -> [ShownEntry] {
        if register.entries.first?.value?.member != nil { return memberEntries(of: register) }
        var shown: [ShownEntry] = []
        for (index, entry) in register.entries.enumerated() {
            guard let end = entry.value?.voiceChannel.flatMap({ fates.knownEnd(of: $0) }) else {
                // Leaving a channel that is gone changes nothing.
                if entry.value != nil || shown.last?.value != nil { shown.append(ShownEntry(entry)) }
                continue
            }
            // A user who comes after the end never shows; one who came before shows until then, or until the next entry.
            if entry.event.sequence < end.sequence { shown.append(ShownEntry(entry)) }
            let next = register.entries.indices.contains(index + 1) ? register.entries[index + 1].event : nil
            guard shown.last?.value != nil, next.map({ $0.sequence > end.sequence }) ?? true else { continue }
            let gone = end.sequence > entry.event.sequence ? end : entry.event
            shown.append(ShownEntry(at: gone, nil))
        }
        return shown
    }

    /// The entries of a member's register, and one for each event that deleted roles which the member had. Cost: O(roles) for
    /// each statement, and for each deletion that is told whole.
    private func memberEntries(of register: Register<CommunityValue>) -> [ShownEntry] {
        var shown: [ShownEntry] = []
        // The member after the last entry, but for roles that are still to be taken out.
        var current: CommunityValue.Member?
        var lost: Set<EntityID> = []
        func show(_ member: CommunityValue.Member?, at event: EventReference) {
            takeOutLost()
            if !shown.isEmpty, current == member { return }
            var entry = ShownEntry(at: event, member.map { .member($0) })
            if let last = shown.last, !last.lostRoles.isEmpty { entry.before = current.map { .member($0) } }
            shown.append(entry)
            current = member
        }
        func takeOutLost() {
            if lost.isEmpty { return }
            Steps.count(current?.roles.count ?? 0)
            current?.roles.removeAll { lost.contains($0) }
            lost = []
        }
        for (index, entry) in register.entries.enumerated() {
            guard var member = entry.value?.member else { show(nil, at: entry.event); continue }
            Steps.count(member.roles.count)
            let next = register.entries.indices.contains(index + 1) ? register.entries[index + 1].event : nil
            // An event may state a member and delete roles of it.
            let ends = member.roles.compactMap { role in end(ofRole: role).map { (role: role, event: $0) } }
                .filter { end in next.map { end.event.sequence < $0.sequence } ?? true }
                .map { (role: $0.role, event: $0.event.sequence > entry.event.sequence ? $0.event : entry.event) }
            // The roles of one event stay in the order of their ids.
            var losses = Dictionary(grouping: ends) { $0.event.sequence }
            if let gone = losses.removeValue(forKey: entry.event.sequence) {
                let roles = Set(gone.map(\.role))
                member.roles.removeAll { roles.contains($0) }
            }
            show(member, at: entry.event)
            for gone in losses.values.sorted(by: { $0[0].event.sequence < $1[0].event.sequence }) {
                let (event, roles) = (gone[0].event, gone.map(\.role))
                if CommunityValue.Member.isLarge((current?.roles.count ?? 0) - lost.count, for: roles.count) {
                    var entry = ShownEntry(at: event, .member(member))
                    entry.lostRoles = roles
                    shown.append(entry)
                    lost.formUnion(roles)
                } else {
                    takeOutLost()
                    var next = current
                    Steps.count(next?.roles.count ?? 0)
                    next?.roles.removeAll { roles.contains($0) }
                    show(next, at: event)
                }
            }
        }
        return shown
    }

    /// The only history entry of typing or a read state: the last event.
    private func lastSaying(of key: EntityKey, _ context: RowContext) -> HistoryEntry? {
        // Also of typing that has ended: the event happened.
        if key.section == .typing { return typing[key].map { HistoryEntry(at: $0, change: "changed") } }
        guard key.section == .readStates, let event = readStates.event, let lastMessage = readStates.lastMessages[key]
        else { return nil }
        let fields: JSONObject = ["lastMessage": .text(lastMessage.map { context.names.text($0) })]
        return HistoryEntry(at: event, change: "changed", fields: fields)
    }

    /// The key of a row's register: the inverse of `row(of:_:)`.
    private func registerKey(of row: EntityKey) -> EntityKey {
        row.section == .roles ? Self.roleKey(row.second) : row
    }

    private func register(of row: EntityKey) -> Register<CommunityValue>? { registers[registerKey(of: row)] }

    /// The columns that name the row, as the state document calls them.
    private func ids(of key: EntityKey, _ names: Names) -> JSONObject {
        let (first, second) = (JSONValue.string(names.text(key.first)), JSONValue.string(names.text(key.second)))
        return switch key.section {
        case .guilds: ["id": first]
        case .members, .bans, .voiceStates: ["guild": first, "user": second]
        case .roles: ["guild": first, "id": second]
        case .presences: ["user": first]
        case .typing: ["channel": first, "user": second]
        case .readStates: ["channel": first]
        default: [:]
        }
    }

    /// Clients that keep only READY's guild list hide guilds that the user has left.
    private func isShown(_ value: CommunityValue, _ context: RowContext) -> Bool {
        !context.rules.contains(.guildsLeftAreGone) || (value.guild?.isJoined ?? true)
    }

}

extension Names {
    /// Ids in the order of their UTF-8 bytes. Makes each id's text once.
    func sorted(_ ids: some Collection<EntityID>) -> [EntityID] {
        ids.map { (text: Array(text($0).utf8), id: $0) }
            .sorted { $0.text.lexicographicallyPrecedes($1.text) }
            .map(\.id)
    }

    /// Keys in the order of their ids' UTF-8 bytes.
    func sorted(_ keys: [EntityKey]) -> [EntityKey] {
        keys.map { (first: Array(text($0.first).utf8), second: Array(text($0.second).utf8), key: $0) }
            .sorted {
                $0.first == $1.first
                    ? $0.second.lexicographicallyPrecedes($1.second) : $0.first.lexicographicallyPrecedes($1.first)
            }
            .map(\.key)
    }
}
