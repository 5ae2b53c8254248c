import EventLog

/// Turns changes with handles into changes with texts, which mean something outside the state. Switches without
/// `default`: a new change must be given to apps, too.
struct ChangeReading {
    /// The names of the state that decoded the changes; their handles mean nothing elsewhere.
    let names: Names

    func decoded(_ change: Change) -> DecodedChange {
        switch change {
        case .channel(let change): channel(change)
        case .message(let change): message(change)
        case .community(let change): .community(community(change))
        case .item(let change): item(change)
        case .session(.observed(let fields)): .session(session(fields))
        case .session(.removed(let id)): .sessionRemoved(names.text(id))
        case .prompt(.asked(let fields)): .prompt(prompt(fields))
        case .prompt(.unreadable(let id)): .promptUnreadable(names.text(id))
        case .prompt(.removed(let id)): .promptRemoved(names.text(id))
        case .row(let change): .row(row(change))
        }
    }

    private func text(_ id: EntityID?) -> String? { id.map { names.text($0) } }

    private func name(_ key: MessageKey) -> DecodedChange.MessageName {
        DecodedChange.MessageName(channel: names.text(key.channel), id: names.text(key.id))
    }

    private func channel(_ change: ChannelChange) -> DecodedChange {
        switch change {
        case .named(let id, let guild): .channelNamed(names.text(id), guild: text(guild))
        case .deleted(let id, _, _): .channelDeleted(names.text(id))
        case .stands(let id, let isPresent): .channelStands(names.text(id), isPresent: isPresent)
        case .stated(let fields): .channel(channel(fields))
        case .patched(let patch): .channelPatched(channel(patch.fields), members: patch.told.names)
        }
    }

    private func channel(_ fields: ChannelFields) -> DecodedChange.Channel {
        DecodedChange.Channel(
            id: names.text(fields.id),
            name: fields.name,
            kind: fields.kind,
            guild: text(fields.guild),
            topic: fields.details.topic,
            position: fields.details.position,
            parent: text(fields.details.parent),
            recipients: fields.details.recipients?.map { names.text($0) }
        )
    }

    /// A deleted message and one that is nowhere stand alike at a branch's tip: without a version.
    private func message(_ change: MessageChange) -> DecodedChange {
        switch change {
        case .written(let write): .message(message(write))
        case .deleted(let deletion):
            .messageDeleted(name(deletion.key), by: deletion.deletedBy, at: deletion.deletedAt)
        case .moved(let from, let to, let time, let by): .messageMoved(from: name(from), to: name(to), by: by, at: time)
        case .reaction(let key, let emoji, let user, let present):
            .reaction(name(key), emoji: emoji, user: names.text(user), isPresent: present)
        case .reactions(let key, .set(let reaction, let present)):
            .reaction(name(key), emoji: reaction.emoji, user: names.text(reaction.user), isPresent: present)
        case .withdrawn(let key, let version): .messageWithdrawn(name(key), version: version)
        case .reactions(let key, .cleared(let emoji, let user)):
            .reactionsCleared(name(key), emoji: emoji, user: text(user))
        case .reactions(let key, .stand(let reactions, _)):
            .reactionsStand(
                name(key),
                reactions.map { DecodedChange.Reaction(emoji: $0.emoji, user: names.text($0.user)) }
            )
        case .stands(let key, .version(let write)): .messageStands(name(key), message(write))
        case .stands(let key, .deleted), .stands(let key, .nowhere), .stands(let key, .unreadable):
            .messageStands(name(key), nil)
        }
    }

    private func message(_ write: MessageWrite) -> DecodedChange.Message {
        let saying = write.saying
        return DecodedChange.Message(
            name: name(write.key),
            author: saying.author,
            authorName: saying.authorName,
            createdAt: saying.createdAt,
            editedAt: saying.editedAt,
            content: saying.text.string,
            appends: write.appends,
            replyTo: text(saying.replyTo),
            tags: saying.tags ?? [],
            attachments: saying.attachments ?? [],
            extra: saying.extra
        )
    }

    private func community(_ change: CommunityChange) -> DecodedChange.Community {
        switch change {
        case .guildNamed(let id): .guildNamed(names.text(id))
        case .guildStated(let id, let name, let owner): .guild(names.text(id), name: name, owner: text(owner))
        case .guildDeleted(let id): .guildDeleted(names.text(id))
        case .membership(let ids): .memberships(ids.map { names.text($0) })
        case .joined(let id, let joined): .joined(names.text(id), joined)
        case .memberStated(let guild, let user, let nickname, let roles):
            .member(
                guild: names.text(guild),
                user: names.text(user),
                nickname: nickname,
                roles: roles.map { names.text($0) }
            )
        case .memberRemoved(let guild, let user): .memberRemoved(guild: names.text(guild), user: names.text(user))
        case .roleStated(let guild, let id, let name, let permissions, let position, let color):
            .role(
                guild: names.text(guild),
                id: names.text(id),
                name: name,
                permissions: permissions,
                position: position,
                color: color
            )
        case .roleDeleted(let guild, let id): .roleDeleted(guild: names.text(guild), id: names.text(id))
        case .ban(let guild, let user, let present):
            .ban(guild: names.text(guild), user: names.text(user), isPresent: present)
        case .presence(let user, let status): .presence(user: names.text(user), status: status)
        case .typing(let channel, let user, .ends): .typingEnded(channel: names.text(channel), user: names.text(user))
        case .typing(let channel, let user, _): .typing(channel: names.text(channel), user: names.text(user))
        case .voice(let guild, let user, let channel):
            .voice(guild: names.text(guild), user: names.text(user), channel: text(channel))
        case .readStates(let states):
            .readStates(
                states.map {
                    DecodedChange.ReadState(channel: names.text($0.channel), lastMessage: text($0.lastMessage))
                }
            )
        }
    }
}

// MARK: - Items, sessions, prompts, rows

extension ChangeReading {
    private func item(_ change: ItemChange) -> DecodedChange {
        switch change {
        case .snapshot(let list, let fields, let isWhole):
            .items(list: names.text(list), fields.map(item), isWhole: isWhole)
        case .stated(let list, let fields, _): .item(list: names.text(list), item(fields))
        case .patched(let patch):
            .itemPatched(
                list: patch.list == .none ? nil : names.text(patch.list),
                item(patch.item),
                members: patch.members
            )
        case .removed(let list, let id, _): .itemRemoved(list: names.text(list), id: names.text(id))
        }
    }

    private func item(_ fields: ItemFields) -> DecodedChange.Item {
        DecodedChange.Item(
            id: names.text(fields.id),
            text: fields.text,
            isDone: fields.done,
            status: fields.status,
            created: fields.created,
            extra: fields.extra
        )
    }

    private func session(_ fields: SessionFields) -> DecodedChange.Session {
        DecodedChange.Session(
            id: names.text(fields.id),
            project: fields.project,
            status: fields.status,
            timestamp: fields.timestamp,
            instant: fields.instant,
            pid: fields.pid,
            device: fields.device
        )
    }

    private func prompt(_ fields: PromptFields) -> DecodedChange.Prompt {
        DecodedChange.Prompt(
            id: names.text(fields.id),
            session: fields.session,
            project: fields.project,
            text: fields.text,
            askedAt: fields.askedAt,
            answer: fields.answer,
            answeredAt: fields.answeredAt,
            isAnswered: fields.isAnswered
        )
    }

    private func row(_ change: RowChange) -> DecodedChange.Row {
        DecodedChange.Row(
            table: names.text(change.table),
            id: names.text(change.id),
            operation: change.operation.rawValue,
            committedAt: change.committedAt,
            record: change.record.object,
            isPartial: change.isPartial
        )
    }
}

extension ChannelMembers {
    /// The names of the members, in a fixed order.
    fileprivate var names: [String] {
        [(ChannelMembers.kind, "kind"), (.name, "name"), (.topic, "topic")].filter { contains($0.0) }.map(\.1)
    }
}

extension ItemPatch {
    /// The names of the members that are told, in a fixed order.
    fileprivate var members: [String] {
        let own = [(ItemMembers.created, "created"), (.done, "done"), (.status, "status"), (.text, "text")]
        return own.filter { told.contains($0.0) }.map(\.1) + item.extra.members.map(\.name)
    }
}
