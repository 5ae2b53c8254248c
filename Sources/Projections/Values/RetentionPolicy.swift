public import EventLog

/// The rule for what a compaction keeps.
public struct RetentionPolicy: Hashable, Sendable {
    /// How many messages of a channel stay. What is `nil` is as the next wider rule has it: a channel's is that of its source,
    /// a source's is that of the log, and the log's is the default.
    public struct Rule: Hashable, Sendable {
        /// How many of the newest live messages, in the remote's order; 500 by default.
        public var keep: Int?
        /// All live messages that are no older than this; none by default. The age is that at the log's last event, counted from
        /// the remote's time of creation, or from the first event of a message that has none.
        public var keepWithin: Duration?
        /// How many of the newest deleted messages; as many as live ones by default.
        public var deleted: Int?

        /// Makes a rule.
        public init(keep: Int? = nil, keepWithin: Duration? = nil, deleted: Int? = nil) {
            (self.keep, self.keepWithin, self.deleted) = (keep, keepWithin, deleted)
        }

        /// True if it says nothing.
        public var isEmpty: Bool { self == Rule() }

        /// What this rule says, and of the rest what a wider one says.
        public func within(_ wider: Rule) -> Rule {
            Rule(
                keep: keep ?? wider.keep,
                keepWithin: keepWithin ?? wider.keepWithin,
                deleted: deleted ?? wider.deleted
            )
        }

        /// The rule with what holds where no rule says anything.
        public var completed: Rule {
            let keep = keep ?? RetentionPolicy.keepDefault
            return Rule(keep: keep, keepWithin: keepWithin ?? .zero, deleted: deleted ?? keep)
        }

        /// This rule without what another one says.
        func without(_ other: Rule) -> Rule {
            Rule(
                keep: other.keep == nil ? keep : nil,
                keepWithin: other.keepWithin == nil ? keepWithin : nil,
                deleted: other.deleted == nil ? deleted : nil
            )
        }
    }

    /// A source, or a channel of one, with a rule of its own.
    public struct Place: Hashable, Comparable, Sendable {
        /// The source.
        public var source: SourceName
        /// The channel's id; `nil` for the whole source.
        public var channel: String?

        /// Makes a place.
        public init(source: SourceName, channel: String? = nil) { (self.source, self.channel) = (source, channel) }

        /// By source, a source before its channels, then by id.
        public static func < (left: Place, right: Place) -> Bool {
            (left.source, left.channel == nil ? 0 : 1, left.channel ?? "")
                < (right.source, right.channel == nil ? 0 : 1, right.channel ?? "")
        }
    }

    /// What holds where no narrower rule says anything.
    public var rule: Rule
    /// The rules of sources and channels, none of them empty.
    public private(set) var rules: [Place: Rule] = [:]
    /// Messages and channels, named in full, that stay whole: a message live or deleted, a channel with all messages.
    public var pins: Set<EntityReference> = []
    /// Whether a live message that a kept live one answers stays, too. Its own parent need not.
    public var keepsParents = true
    /// How many archives of compactions stay beside the log, of the newest ones; 0 makes none, `nil` keeps all.
    public var archivesMax: Int?

    /// Makes a policy.
    public init(messagesPerChannel: Int = RetentionPolicy.keepDefault, keepsParents: Bool = true) {
        rule = Rule(keep: messagesPerChannel)
        self.keepsParents = keepsParents
    }

    /// How many messages stay where no rule says anything.
    public static let keepDefault = 500

    /// The rule of a source or channel alone; an empty one takes it away.
    public subscript(place: Place) -> Rule {
        get { rules[place] ?? Rule() }
        set { rules[place] = newValue.isEmpty ? nil : newValue }
    }

    /// How many of the newest live messages stay in a channel where no narrower rule says anything. Presences keep as many
    /// changes.
    public var messagesPerChannel: Int { rule.keep ?? Self.keepDefault }

    /// The policy with each number that a rule gives put in place of that number in all other rules.
    public func overruled(by other: Rule) -> RetentionPolicy {
        var policy = self
        policy.rule = other.within(rule)
        for (place, rule) in rules { policy[place] = rule.without(other) }
        return policy
    }

    /// What the policy says of the channels of a source.
    ///
    /// - Parameters:
    ///   - source: `nil` for a source without rules and pins of its own.
    ///   - clock: The time of the log's last event, from which ages are counted.
    func channels(of source: SourceName? = nil, at clock: Timestamp?) -> ChannelRetention {
        var ofChannels: [String: Rule] = [:]
        var wider = rule
        for (place, rule) in rules where place.source == source {
            if let channel = place.channel { ofChannels[channel] = rule } else { wider = rule.within(self.rule) }
        }
        let pins = pins.filter { $0.parts.first == source?.rawValue }
        return ChannelRetention(
            rule: wider,
            ofChannels: ofChannels,
            pinnedChannels: Set(pins.filter { $0.kind == .channel }.compactMap { $0.parts.last }),
            pinnedMessages: Dictionary(
                grouping: pins.filter { $0.kind == .message && $0.parts.count == 3 },
                by: { $0.parts[1] }
            ).mapValues { Set($0.map { $0.parts[2] }) },
            keepsParents: keepsParents,
            clock: clock
        )
    }
}

/// What a policy says of the channels of one source.
struct ChannelRetention {
    /// A rule in which nothing is left to a wider one.
    struct Rule {
        let keep: Int
        /// Messages that were created before are too old to stay for their age; `nil` if none stays for it.
        let oldest: Timestamp?
        let deleted: Int
        /// Whether the whole channel stays.
        let isPinned: Bool
        /// The ids of messages that stay.
        let pinned: Set<String>
    }

    fileprivate let rule: RetentionPolicy.Rule
    fileprivate let ofChannels: [String: RetentionPolicy.Rule]
    fileprivate let pinnedChannels: Set<String>
    fileprivate let pinnedMessages: [String: Set<String>]
    let keepsParents: Bool
    fileprivate let clock: Timestamp?

    /// The rule of a channel.
    func rule(of channel: String) -> Rule {
        let rule = (ofChannels[channel]?.within(rule) ?? rule).completed
        return Rule(
            keep: rule.keep ?? 0,
            oldest: rule.keepWithin.flatMap { $0 > .zero ? clock?.before($0) : nil },
            deleted: rule.deleted ?? 0,
            isPinned: pinnedChannels.contains(channel),
            pinned: pinnedMessages[channel] ?? []
        )
    }
}

extension Timestamp {
    /// The instant that lies a whole number of seconds before this one; the first of all if there is none.
    fileprivate func before(_ age: Duration) -> Timestamp {
        let (seconds, overflow) = seconds.subtractingReportingOverflow(age.components.seconds)
        return Timestamp(seconds: overflow ? .min : seconds, nanoseconds: overflow ? 0 : UInt32(nanoseconds))
    }
}
