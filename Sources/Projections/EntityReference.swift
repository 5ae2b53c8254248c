/// A thing in a state as people name it: `message:SOURCE/CHANNEL/ID`, `channel:SOURCE/ID`, `item:SOURCE/LIST/ID`, ….
///
/// Parts may be left out from the left, and the middle one alone, as long as one thing fits.
public struct EntityReference: Hashable, Sendable, CustomStringConvertible {
    /// What kind of thing is named.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case channel, message, guild, member, role, ban, presence, typing, voice, read, item, session, prompt, row,
            issue

        /// The sections of the state document that things of this kind stand in.
        var sections: [Section] {
            switch self {
            case .channel: [.channels]
            case .message: [.messages, .deletedMessages]
            case .guild: [.guilds]
            case .member: [.members]
            case .role: [.roles]
            case .ban: [.bans]
            case .presence: [.presences]
            case .typing: [.typing]
            case .voice: [.voiceStates]
            case .read: [.readStates]
            case .item: [.items]
            case .session: [.sessions]
            case .prompt: [.prompts]
            case .row: [.rows]
            case .issue: [.issues]
            }
        }

        init?(section: Section) {
            guard let kind = Self.allCases.first(where: { $0.sections.contains(section) }) else { return nil }
            self = kind
        }
    }

    /// What kind of thing is named.
    public let kind: Kind
    /// Source and ids, joined by `/`, as written.
    public let path: String

    /// Reads a reference; `nil` where the text does not begin with a kind and a colon, or names nothing.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":"), let kind = Kind(rawValue: String(text[..<colon])) else {
            return nil
        }
        let path = String(text[text.index(after: colon)...])
        guard !path.isEmpty else { return nil }
        self.kind = kind
        self.path = path
    }

    /// Makes a reference of its parts.
    public init(kind: Kind, parts: [String]) {
        self.kind = kind
        path = parts.joined(separator: "/")
    }

    /// The text that `init` reads.
    public var description: String { "\(kind.rawValue):\(path)" }

    /// Whether this reference, perhaps with parts left out, can mean the thing with these parts.
    func fits(_ parts: [String]) -> Bool {
        for start in parts.indices where parts[start...].joined(separator: "/") == path { return true }
        return parts.count == 3 && "\(parts[0])/\(parts[2])" == path
    }
}
