import EventLog

extension SourceState {
    /// Reads an answer of the gateway's REST routes and removes what its complete sets lack. Channels and roles go for
    /// ever, as their ids are never used again. Of a guild only the membership goes, as the user can join it again.
    ///
    /// An answer may be older than frames that were recorded before it, so guilds, channels and roles that are too new
    /// are spared (`isNew`).
    mutating func readAnswer(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        let answer = GatewayAnswer(envelope, payload: payload, context: &context)
        changes += context.rules.isEmpty ? answer.changes : parts.gateway.seen(answer, context: &context)
        for set in answer.wholeSets { changes += removals(by: set) }
    }

    /// The changes that remove known things that a complete set lacks, sorted by id, so that they do not depend on the
    /// order of a table (I10).
    private mutating func removals(by set: GatewayAnswer.WholeSet) -> [Change] {
        switch set {
        case .guilds(let ids):
            [.community(.membership(context.rules.contains(.guildsLeftAreGone) ? ids : ids + newlyJoined))]
        case .channels(let guild, let ids) where context.rules.contains(.answersReplaceLists):
            parts.gateway.seen(channels: ids, in: guild, context: &context)
        case .directChannels(let ids) where context.rules.contains(.answersReplaceLists):
            parts.gateway.seen(channels: ids, in: nil, context: &context)
        case .channels(let guild, let ids): deletions(of: parts.channels.stated(in: guild), but: ids)
        case .directChannels(let ids): deletions(of: parts.channels.stated(in: nil), but: ids)
        case .roles(let guild, let ids):
            present(.roles, in: guild).filter { !ids.contains($0.first) && !isNew($0.first) }
                .map { .community(.roleDeleted(guild: guild, id: $0.first)) }
        case .members(let guild, let ids):
            present(.members, in: guild).filter { !ids.contains($0.second) }
                .map { .community(.memberRemoved(guild: guild, user: $0.second)) }
        case .bans(let guild, let ids):
            present(.bans, in: guild).filter { !ids.contains($0.second) }
                .map { .community(.ban(guild: guild, user: $0.second, present: false)) }
        case .voices(let channel, let ids):
            parts.community.voices(in: channel, names: context.names).filter { !ids.contains($0.second) }
                .map { .community(.voice(guild: $0.first, user: $0.second, channel: nil)) }
        }
    }

    /// The joined guilds that are too new for every list to contain them.
    private var newlyJoined: [EntityID] {
        context.names.sorted(parts.community.joinedGuilds.filter { isNew($0) })
    }

    /// Deletions of the known channels that an answer lacks, except new ones.
    private func deletions(of known: [EntityID], but ids: Set<EntityID>) -> [Change] {
        context.names.sorted(known.filter { !ids.contains($0) && !isNew($0) }).map {
            .channel(.deleted($0, cause: .channelDeleted, permanence: .forever))
        }
    }

    /// The registers of the present things of a section in a guild, sorted.
    private mutating func present(_ section: Section, in guild: EntityID) -> [EntityKey] {
        parts.community.present(section, in: guild, names: context.names)
    }

    /// Whether an id was made within a minute of this event's receipt: the answer may be older than the thing. False
    /// for an id that is no number.
    ///
    /// The id is a snowflake: milliseconds since 2025-01-01 (UTC) above its lowest 22 bits.
    private func isNew(_ id: EntityID) -> Bool {
        guard let number = UInt64(context.names.text(id)) else { return false }
        let made = Int64(number >> 22) / 1000 + 1_735_689_600
        return (-60...60).contains(context.event.recordedAt.seconds.subtractingReportingOverflow(made).partialValue)
    }
}
