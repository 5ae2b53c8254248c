extension Section {
    /// The members that rows of the state document can have. Must name every member that a fold gives.
    package var rowMembers: [String] {
        let text =
            switch self {
            case .channels: "source id name kind guild topic position parent recipients extra"
            case .messages:
                "source channel id author authorName createdAt editedAt content revisions compacted replyTo tags files "
                    + "images attachments reactions extra"
            case .deletedMessages:
                "source channel id cause sequence deletedAt deletedBy author createdAt content compacted"
            case .guilds: "source id name owner joined"
            case .members: "source guild user nickname roles"
            case .roles: "source guild id name permissions position color"
            case .bans: "source guild user"
            case .presences: "source user status"
            case .typing: "source channel user until"
            case .voiceStates: "source guild user channel"
            case .readStates: "source channel lastMessage"
            case .items: "source list id position text done status created extra"
            case .sessions: "source id project status timestamp pid device state stale"
            case .sessionAggregates: "source status"
            case .prompts: "source id session project text askedAt state answer answeredAt"
            case .rows: "source table id state record unknownColumns staleColumns"
            case .issues: "sequence source reason"
            }
        return text.split(separator: " ").map(String.init)
    }

    /// The shape of the values of a member of a row.
    static func shape(of member: String) -> MemberShape {
        switch member {
        case "extra", "record": .open
        case "replyTo": .object([("id", .scalar), ("state", .scalar)])
        case "reactions": .list(of: .object([("emoji", .scalar), ("users", .list(of: .scalar))]))
        case "attachments": .list(of: .open)
        case "recipients", "roles", "tags", "files", "images", "unknownColumns", "staleColumns": .list(of: .scalar)
        default: .scalar
        }
    }
}

/// What the values of a member are made of, as far as the state decides it: a path of names can be checked by it.
package indirect enum MemberShape: Sendable {
    /// A text, a number or a truth value.
    case scalar
    /// The remote decides.
    case open
    case object([(name: String, shape: MemberShape)])
    case list(of: MemberShape)

    /// The members of an object, or of the objects of a list; `nil` where a remote decides which there are.
    var memberNames: [String]? {
        switch self {
        case .scalar: []
        case .open: nil
        case .object(let members): members.map(\.name)
        case .list(let element): element.memberNames
        }
    }
}
