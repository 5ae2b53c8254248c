import EventLog

/// A thing in a state as people name it: `message:SOURCE/CHANNEL/ID`, `channel:SOURCE/ID`, `item:SOURCE/LIST/ID`, ….
///
/// A reference may omit parts from the left, or only the middle one, as long as one thing fits. `docs/semantics.md`
/// lists the kinds and their parts.
public struct EntityReference: Hashable, Sendable, CustomStringConvertible {
    /// The kind of the named thing. The raw value begins a reference.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case channel, message, guild, member, role, ban, presence, typing, voice, read, item, session, prompt, row,
            issue

        /// The sections of the state document that contain things of this kind.
        package var sections: [Section] {
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

        /// The kind of the things in a section of the state document; `nil` for `sessionAggregates`.
        public init?(section: Section) {
            guard let kind = Self.allCases.first(where: { $0.sections.contains(section) }) else { return nil }
            self = kind
        }
    }

    /// The kind of the named thing.
    public let kind: Kind
    /// The source and the ids, decoded; a written reference may have fewer parts than the thing.
    public let parts: [String]

    /// Reads a reference; `nil` if the text does not begin with a kind and a colon, or has no parts.
    ///
    /// Slashes separate the parts. `%` with two hex digits is the byte of that value; any other `%` is itself. A part
    /// that would decode to invalid UTF-8 is taken verbatim.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":"), let kind = Kind(rawValue: String(text[..<colon])) else {
            return nil
        }
        let path = text.utf8[text.index(after: colon)...]
        guard !path.isEmpty else { return nil }
        self.kind = kind
        parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            PercentEncoding.decoded(String(Substring($0)))
        }
    }

    /// Makes a reference from its parts.
    public init(kind: Kind, parts: [String]) {
        self.kind = kind
        self.parts = parts
    }

    /// The text that `init` reads: `/`, `%` and control characters within a part are percent-encoded, so that different
    /// things have different texts.
    public var description: String {
        var text = kind.rawValue + ":"
        for (index, part) in parts.enumerated() {
            if index > 0 { text += "/" }
            text += Self.encoded(part)
        }
        return text
    }

    private static func encoded(_ part: String) -> String {
        let isKept = { (byte: UInt8) in
            byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "%")
        }
        guard !part.utf8.allSatisfy(isKept) else { return part }
        return String(decoding: PercentEncoding.encoded(Array(part.utf8), keeping: isKept), as: UTF8.self)
    }

    /// Whether both have the same kind and the same parts, byte for byte.
    public static func == (left: EntityReference, right: EntityReference) -> Bool {
        left.kind == right.kind && left.parts.elementsEqual(right.parts) { ExactText($0) == ExactText($1) }
    }

    /// Hashes the kind and the parts' bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        for part in parts { hasher.combine(ExactText(part)) }
    }

    /// Whether this reference, complete or with parts omitted, can mean the thing with these parts. Compares no kinds.
    ///
    /// Slashes within the thing's ids need not be encoded.
    public func fits(_ parts: [String]) -> Bool {
        for start in parts.indices where isSpelledLike(parts[start...]) { return true }
        return parts.count == 3 && isSpelledLike([parts[0], parts[2]])
    }

    /// Whether both are the same text with slashes between the parts. Parts may be divided elsewhere, as an id may
    /// contain a slash.
    private func isSpelledLike(_ other: ArraySlice<String>) -> Bool {
        parts.joined(separator: "/").utf8.elementsEqual(other.joined(separator: "/").utf8)
    }
}
