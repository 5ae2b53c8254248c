package import EventLog
import Kinds

/// A set of reading rules: how one reading departs from what the remotes meant. Empty for `canonical`. Two words of 128
/// bits, as each event and row looks into it, and the client that reads by them. `Clients` makes sets of rules.
public struct ReadingRules: Sendable {
    /// A bit for each rule, by its raw value. Raw values may differ between builds, so a saved set belongs to its
    /// build.
    private var bits = RuleBits()
    /// The client; `nil` for the canonical reading.
    let client: (any Client.Type)?

    /// The canonical reading.
    public static var canonical: ReadingRules { ReadingRules() }

    private init() { client = nil }

    /// Makes a set of rules by which a client reads.
    package init(_ rules: some Sequence<ReadingRule>, of client: (any Client.Type)?) {
        self.client = client
        for rule in rules { bits.formUnion(RuleBits(rule)) }
    }

    /// Whether the set is empty, which is the canonical reading.
    public var isEmpty: Bool { bits.isEmpty }

    /// Whether the set contains a rule.
    public func contains(_ rule: ReadingRule) -> Bool { bits.contains(RuleBits(rule)) }

    /// The set without one rule.
    public func removing(_ rule: ReadingRule) -> ReadingRules {
        var rules = self
        rules.bits.subtract(RuleBits(rule))
        return rules
    }

    /// A text of `shortNameLength` hex digits that identifies the set within one build of the program. The keys of kept
    /// states contain it.
    var shortName: String { bits.digits }

    /// How long each short name is.
    static let shortNameLength = RuleBits.digitCount

    /// The set with a short name; `nil` if the text is none.
    init?(shortName: String, of client: (any Client.Type)?) {
        guard let bits = RuleBits(digits: shortName) else { return nil }
        (self.bits, self.client) = (bits, client)
    }

    /// Whether plain frames of a gateway may take the short way (I18): canonically, and as clients read them that keep messages
    /// in the order of arrival and have no tombstones.
    var takesPlainFrames: Bool {
        let own = forEvents(of: .gateway)
        return own.isEmpty || own.bits.contains(Self.arrivalMask)
    }

    private static let arrivalMask = RuleBits(
        of: [.messagesStandAsTheyArrive, .laterVersionCounts, .deletedMessageComesBack]
    )

    /// Whether some rule is about sources that decoder files read.
    var areGeneric: Bool { bits.intersects(Self.masks[.generic] ?? RuleBits()) }

    /// Whether what a decoder file recognises as a repeat is read again: the client finds no repeats itself.
    var readsRepeats: Bool { bits.intersects(Self.repeatMask) }

    /// Whether a version that is older than the current one counts for a message that is deleted until it is stated again: the
    /// client remembers no version of it.
    var forgetsVersions: Bool { bits.intersects(Self.forgettingMask) }

    private static let forgettingMask = RuleBits(of: [
        .lateVersionReplaces, .deletedComesBack, .openingDropsWhatIsShown,
    ])

    private static let repeatMask = RuleBits(
        of: [
            .statedAgainIsAdded, .lateVersionReplaces, .deletedComesBack, .reactionsAreCounted,
            .openingDropsWhatIsShown,
        ]
    )

    /// Adds the rules of another set.
    mutating func formUnion(_ other: ReadingRules) { bits.formUnion(other.bits) }

    /// The rules that apply to events of a family: a client's rules do not change how other apps' events are read
    /// (I16).
    func forEvents(of family: EventFamily) -> ReadingRules {
        if isEmpty { return self }
        var rules = self
        rules.bits.formIntersection(Self.masks[family] ?? RuleBits())
        return rules
    }

    /// The rules that can apply to a log with events of these kinds and no others. A replay by them gives the state of a replay
    /// by all.
    package func concerning(_ kinds: Set<EventKind>) -> ReadingRules {
        if isEmpty { return self }
        var families = Set(kinds.map { EventFamily(kind: $0) })
        // A decoder file may read them.
        if kinds.contains(where: { $0.is(.serverSentEvent) }) { families.insert(.generic) }
        var rules = self
        rules.bits = families.reduce(into: RuleBits()) { $0.formUnion(forEvents(of: $1).bits) }
        // About a gateway's frames it only says which connection is the first; the answers that it is about then are passed over.
        let answers: Set<EventFamily> = [.gatewayAnswer, .realtime, .items]
        return families.isDisjoint(with: answers) ? rules.removing(.laterAnswersAreNotRead) : rules
    }

    /// The bits of the rules about each family.
    private static let masks: [EventFamily: RuleBits] = ReadingRule.allCases.reduce(into: [:]) { masks, rule in
        for family in rule.families { masks[family, default: RuleBits()].formUnion(RuleBits(rule)) }
    }
}

extension ReadingRules: Hashable {
    /// Two sets are the same if they have the same rules.
    public static func == (left: ReadingRules, right: ReadingRules) -> Bool { left.bits == right.bits }

    /// Hashes the rules.
    public func hash(into hasher: inout Hasher) { hasher.combine(bits) }
}
