extension Section {
    /// The members that rows of the state document can have. Must name every member that a fold gives.
    var rowMembers: [String] {
        let text =
            switch self {
            case .channels: "source id name kind guild topic position parent recipients extra"
            case .messages:
                "source channel id author authorName createdAt editedAt content revisions replyTo tags files images "
                    + "attachments reactions extra"
            case .deletedMessages: "source channel id cause sequence deletedAt deletedBy author createdAt content"
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

    /// The members of what stands under a member of a row; `nil` where a remote decides which there are.
    static func members(below name: String) -> [String]? {
        switch name {
        case "replyTo": ["id", "state"]
        case "reactions": ["emoji", "users"]
        case "extra", "record", "attachments": nil
        default: []
        }
    }
}
