/// The value of one guild, member, role, ban, presence or voice state. Texts are compared byte for byte, so the
/// register notes a change from one spelling in Unicode to another.
enum CommunityValue: Codable, Hashable, Sendable {
    case guild(Guild)
    case member(Member)
    case role(Role)
    case banned
    case presence(ExactText)
    case voice(channel: EntityID)

    struct Guild: Codable, Hashable, Sendable {
        var name: ExactText?
        var owner: EntityID?
        /// Whether the recording user is in the guild.
        var isJoined = false
    }

    struct Member: Codable, Hashable, Sendable {
        var nickname: ExactText?
        /// A set, in the order of the ids' UTF-8 bytes, without roles that were deleted before it was stated.
        var roles: [EntityID]

        /// Whether so many roles are too many to tell all of them where few were deleted: an event that deletes a role is
        /// short.
        static func isLarge(_ count: Int, for lostCount: Int) -> Bool {
            count > 64 && count > 16 * lostCount
        }

        /// Whether a role is among `roles`. Cost: O(log roles).
        func names(_ role: EntityID, _ names: Names) -> Bool {
            let place = roles.partitioningIndex {
                Steps.count(1)
                return !names.precedes($0, role)
            }
            return place < roles.count && roles[place] == role
        }
    }

    struct Role: Codable, Hashable, Sendable {
        /// The guild that stated the role last.
        var guild: EntityID
        var name: ExactText?
        /// The permission bits as a decimal text, which has no limit of width.
        var permissions: ExactText?
        var position: Int64?
        var color: Int64?
    }

    var guild: Guild? { if case .guild(let guild) = self { guild } else { nil } }
    var member: Member? { if case .member(let member) = self { member } else { nil } }
    var role: Role? { if case .role(let role) = self { role } else { nil } }
    var voiceChannel: EntityID? { if case .voice(let channel) = self { channel } else { nil } }

    /// The members of the state document's row, without its ids.
    func members(names: Names) -> JSONObject {
        switch self {
        case .guild(let guild):
            [
                "name": .text(guild.name?.string),
                "owner": .text(guild.owner.map { names.text($0) }),
                "joined": .bool(guild.isJoined),
            ]
        case .member(let member):
            [
                "nickname": .text(member.nickname?.string),
                "roles": .array(member.roles.map { .string(names.text($0)) }),
            ]
        case .role(let role):
            [
                "guild": .string(names.text(role.guild)),
                "name": .text(role.name?.string),
                "permissions": .text(role.permissions?.string),
                "position": role.position.map { .int($0) },
                "color": role.color.map { .int($0) },
            ]
        case .banned: [:]
        case .presence(let status): ["status": .string(status.string)]
        case .voice(let channel): ["channel": .string(names.text(channel))]
        }
    }
}
