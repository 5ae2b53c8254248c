/// The rule by which a message takes versions and deletions, in whatever order they arrive. The only one, so records and
/// packed messages come to the same state (I18).
///
/// It knows facts, not texts. Both forms of a message find the facts in their own way and carry the verdict out. A fact
/// that costs a comparison is found only if the verdict depends on it.
enum MessageRule {
    /// How a version that arrived compares with the current one.
    enum Relation {
        /// No version is known.
        case first
        case older
        case equal
        case newer

        @inline(__always)
        init<Version: Comparable>(of version: Version, to current: Version?) {
            guard let current else {
                self = .first
                return
            }
            self = version > current ? .newer : version < current ? .older : .equal
        }

        /// Whether the version becomes the current one. Of equal versions the later in the log wins.
        @inline(__always)
        var wins: Bool { self != .older }
    }

    /// The standing of a message by its own events.
    enum Standing {
        case nowhere
        case live
        case deletedUntilWritten
        case deletedForever
    }

    /// The kind of history entry that a version makes.
    enum Word {
        /// The first version known.
        case created
        /// The text changed.
        case edited
        /// Only the surroundings of the text changed.
        case linked
        /// The message came back.
        case restored
    }

    /// The history entry that a version makes.
    struct Entry: Equatable {
        var word: Word
        /// Whether the version counts as a revision.
        var isNewRevision: Bool
        /// Whether the version came late, and so is no change of the message (I33).
        var isLate = false
    }

    /// What a version does to its message.
    struct Verdict: Equatable {
        /// `nil` if the version repeats a known one: then the history and the standing stay as they are.
        var entry: Entry?
        /// Whether the version is the current one from now on. Of a repeat, only its place in the remote's list can be
        /// new.
        var wins: Bool
        /// Whether the message is live from now on.
        var becomesLive: Bool
    }

    /// Judges a version of a remote that orders versions itself (gateways, rows): the greatest wins, and the revisions
    /// are the distinct versions. A version that loses enters the history.
    ///
    /// - Parameters:
    ///   - relation: how the version compares with the current one.
    ///   - standing: the message's standing before.
    ///   - isGone: whether the message's channel is gone for ever.
    ///   - isEnded: whether the message is deleted for ever, and what comes later changes nothing of what is known.
    ///   - isBehind: whether the remote has told of a later time already, in which the message is as it was.
    ///   - isDeletedSince: whether the message was deleted until written, by a deletion with a greater version.
    ///   - isKnown: whether an equal version was written before, and not replaced.
    ///   - repeatsKnown: whether the last such version has the same content. Evaluated only if there is one.
    ///   - changesText: whether the text differs from the current version's. Evaluated only if the entry depends on it.
    @inline(__always)
    static func judge(
        _ relation: Relation,
        _ standing: Standing,
        isGone: Bool = false,
        isEnded: Bool = false,
        isBehind: Bool = false,
        isDeletedSince: Bool = false,
        isKnown: Bool,
        repeatsKnown: @autoclosure () -> Bool,
        changesText: @autoclosure () -> Bool
    ) -> Verdict {
        let wins = relation.wins && !isEnded
        let isPast = !wins || isDeletedSince || isBehind && relation != .first
        // A version of now brings back a message that was deleted until written; so does a repeat.
        let comesBack = standing == .deletedUntilWritten && !isPast
        if isKnown, !comesBack, repeatsKnown() { return Verdict(entry: nil, wins: wins, becomesLive: false) }
        let word = word(isFirst: relation == .first, comesBack: comesBack, changesText: changesText())
        let isLate = isPast || isGone || standing == .deletedForever
        return Verdict(
            entry: Entry(word: word, isNewRevision: !isKnown, isLate: isLate),
            wins: wins,
            becomesLive: wins && (comesBack || standing == .live || standing == .nowhere)
        )
    }

    /// Judges a version of a remote whose versions only the log orders (commits): the latest wins, and a new content is
    /// a revision.
    ///
    /// - Parameters:
    ///   - isFirst: whether no version is known.
    ///   - repeatsCurrent: whether the current version has the same content.
    ///   - changesText: as above.
    @inline(__always)
    static func judgeByArrival(
        isFirst: Bool,
        _ standing: Standing,
        repeatsCurrent: Bool,
        changesText: @autoclosure () -> Bool
    ) -> Verdict {
        if standing == .live, repeatsCurrent { return Verdict(entry: nil, wins: true, becomesLive: false) }
        let word = word(
            isFirst: isFirst,
            // Nowhere: the message left the tip of a branch, and comes back as it was.
            comesBack: standing == .deletedUntilWritten || standing == .nowhere && repeatsCurrent,
            changesText: changesText()
        )
        return Verdict(
            entry: Entry(word: word, isNewRevision: !repeatsCurrent),
            wins: true,
            becomesLive: standing != .deletedForever
        )
    }

    @inline(__always)
    private static func word(isFirst: Bool, comesBack: Bool, changesText: @autoclosure () -> Bool) -> Word {
        if isFirst { return .created }
        if comesBack { return .restored }
        return changesText() ? .edited : .linked
    }

    /// What deleted a message, and for how long.
    struct Deletion: Equatable {
        var cause: MessageDeletion.Cause
        var permanence: Permanence

        /// MESSAGE_DELETE names the message, whose id is never used again.
        static let byName = Deletion(cause: .deleted, permanence: .forever)
    }

    /// Whether a deletion has an effect: the first one does, one for ever after one until written, and one by name after
    /// one with the channel. A repeat does not, so the first event that deleted the message stays the cause.
    ///
    /// - Parameter known: the deletion that the message has; `nil` if it is not deleted.
    @inline(__always)
    static func takesEffect(_ deletion: Deletion, after known: Deletion?) -> Bool {
        guard let known else { return true }
        if known.permanence != deletion.permanence { return deletion.permanence == .forever }
        return known.cause != .deleted && deletion.cause == .deleted
    }

    /// Whether the end of its channel enters the history of a message that was written: not if the message was deleted
    /// by name. The standing stays in any case; `Messages.end(of:)` adds the channel's fate.
    @inline(__always)
    static func channelEndEnters(after known: Deletion?) -> Bool { known?.cause != .deleted }
}
