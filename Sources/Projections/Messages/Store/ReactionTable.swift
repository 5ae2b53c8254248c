import EventLog

/// The reactions to the messages of a store, which know a message by its place. They lie beside the messages, so that a
/// message keeps its form: most of those that somebody reacted to are packed.
///
/// Reactions are never taken out or moved. One that was removed stays, with `isPresent` false, so that a compaction keeps
/// the event that removed it; of those that one event took away as a whole, an entry without a user has that event.
struct ReactionTable: Sendable {
    /// A user's reaction, by the last event that named it.
    struct Reaction: BitwiseCopyable, Sendable {
        /// The place of the message, and that of the emoji in `emojis`.
        let message: UInt32
        let emoji: UInt32
        let user: EntityID
        fileprivate(set) var sequence: UInt64
        fileprivate(set) var isPresent: Bool
        /// The message's previous reaction, counted from 1; 0 for none.
        fileprivate let previous: UInt32
    }

    private(set) var emojis = TextTable()
    /// In the order in which they were first named.
    private var reactions = Pages<Reaction>()
    /// Finds a reaction by message, emoji and user.
    private var places = PlaceTable()
    /// The last reaction to each message, counted from 1. Never walked: its order is no order.
    private var last: [UInt32: UInt32] = [:]

    init() {}

    var count: Int { reactions.count }

    subscript(place: Int) -> Reaction { reactions[place] }

    /// See `PlaceTable.stepCount`.
    var stepCount: Int { places.stepCount { hash(of: reactions[$0]) } }

    /// The reactions to a message in the order in which they were first named.
    func all(to message: Int) -> [Reaction] {
        var found: [Reaction] = []
        forEach(to: message) { found.append($0) }
        return found.reversed()
    }

    /// Calls `body` with each reaction to a message, the one that was named first last. Cost: O(reactions to it).
    func forEach(to message: Int, _ body: (Reaction) -> Void) {
        var next = last[UInt32(truncatingIfNeeded: message)] ?? 0
        while next > 0 {
            let reaction = reactions[Int(next) - 1]
            assert(reaction.previous < next, "each reaction refers to an earlier one, so the walk ends")
            Steps.count(1)
            body(reaction)
            next = reaction.previous
        }
    }

    /// The place of an emoji in `emojis`, added if it is new.
    mutating func addEmoji(_ emoji: String) -> UInt32 { emojis.place(of: emoji) }

    /// Sets a reaction by an event. Cost: O(1) on average.
    ///
    /// - Parameter emoji: a place in `emojis`.
    /// - Returns: the reaction's place, and whether it is there now and was not, or the other way round.
    mutating func set(
        to message: Int,
        emoji: UInt32,
        user: EntityID,
        sequence: UInt64,
        isPresent: Bool
    ) -> (place: Int, changes: Bool) {
        let message = UInt32(truncatingIfNeeded: message)
        let hash = hash(message, emoji, user)
        if let place = place(hash, message, emoji, user) {
            let changes = reactions[place].isPresent != isPresent
            reactions[place].isPresent = isPresent
            reactions[place].sequence = sequence
            return (place, changes)
        }
        let place = reactions.count
        if places.isFull(for: place) {
            let known = self
            places.grow(for: place) { known.hash(of: known.reactions[$0]) }
        }
        places.add(hash, place: place)
        let previous = last.updateValue(UInt32(truncatingIfNeeded: place + 1), forKey: message) ?? 0
        reactions.append(
            Reaction(
                message: message,
                emoji: emoji,
                user: user,
                sequence: sequence,
                isPresent: isPresent,
                previous: previous
            )
        )
        return (place, isPresent)
    }

    /// Whether a user's reaction to a message is there.
    func has(_ emoji: String, by user: EntityID, to message: Int) -> Bool {
        let message = UInt32(truncatingIfNeeded: message)
        guard let emoji = emojis.known(emoji), let place = place(hash(message, emoji, user), message, emoji, user)
        else {
            return false
        }
        return reactions[place].isPresent
    }

    /// Adds a reaction to another message, or from another table; one that is known stays as it is.
    ///
    /// - Parameter emoji: the place of the reaction's emoji in this table.
    /// - Returns: the reaction's place, if it is new.
    mutating func add(_ reaction: Reaction, emoji: UInt32, to message: Int) -> Int? {
        let number = UInt32(truncatingIfNeeded: message)
        let user = reaction.user
        if place(hash(number, emoji, user), number, emoji, user) != nil { return nil }
        let (sequence, isPresent) = (reaction.sequence, reaction.isPresent)
        return set(to: message, emoji: emoji, user: user, sequence: sequence, isPresent: isPresent).place
    }

    /// Some reactions to a message: by emoji, then by user, both by their UTF-8 bytes.
    func sorted(to message: Int, _ names: Names, where isWanted: (Reaction) -> Bool) -> [Reaction] {
        var found: [Reaction] = []
        forEach(to: message) { if isWanted($0) { found.append($0) } }
        // A message mostly has one.
        if found.count < 2 { return found }
        // A copy of one table: a closure that asks `self` copies all.
        let emojis = emojis
        found.sort { left, right in
            left.emoji == right.emoji
                ? names.precedes(left.user, right.user)
                : ExactText.precedes(emojis.text(left.emoji), emojis.text(right.emoji))
        }
        return found
    }

    /// `[{"emoji","users"}]` of a message, sorted by emoji, users by their ids; `nil` without reactions.
    fileprivate func rows(to message: Int, _ names: Names) -> JSONValue? {
        var rest = sorted(to: message, names) { $0.isPresent }[...]
        if rest.isEmpty { return nil }
        var rows: [JSONValue] = []
        while let emoji = rest.first?.emoji {
            let group = rest.prefix { $0.emoji == emoji }
            let users = group.map { JSONValue.string(names.text($0.user)) }
            rows.append(.object(["emoji": .string(emojis.text(emoji)), "users": .array(users)]))
            rest = rest[group.endIndex...]
        }
        return .array(rows)
    }

    private func place(_ hash: UInt64, _ message: UInt32, _ emoji: UInt32, _ user: EntityID) -> Int? {
        places.find(hash) { place in
            reactions[place].message == message && reactions[place].emoji == emoji && reactions[place].user == user
        }
    }

    @inline(__always)
    private func hash(_ message: UInt32, _ emoji: UInt32, _ user: EntityID) -> UInt64 {
        places.hash(UInt64(message) << 32 | UInt64(emoji), user.rawValue)
    }

    private func hash(of reaction: Reaction) -> UInt64 { hash(reaction.message, reaction.emoji, reaction.user) }
}

// MARK: - Of messages

extension MessageStore {
    /// Sets a reaction to the message at a place by an event; false if it was so before.
    mutating func react(at place: Int, emoji: String, user: EntityID, isPresent: Bool, sequence: UInt64) -> Bool {
        let (reaction, changes) = reactions.set(
            to: place,
            emoji: reactions.addEmoji(emoji),
            user: user,
            sequence: sequence,
            isPresent: isPresent
        )
        noteReaction(reaction, at: place)
        return changes
    }

    /// Gives the message at a place those reactions to another one that it lacks.
    mutating func takeReactions(from origin: Int, at place: Int) {
        guard cells[origin].hasReactions else { return }
        for reaction in reactions.all(to: origin) {
            if let added = reactions.add(reaction, emoji: reaction.emoji, to: place) { noteReaction(added, at: place) }
        }
    }

    /// Gives the message at a place the reactions to one of another store, of which it is a copy.
    mutating func copyReactions(of origin: Int, in other: MessageStore, to place: Int) {
        guard other.cells[origin].hasReactions else { return }
        for reaction in other.reactions.all(to: origin) {
            let emoji = reactions.addEmoji(other.reactions.emojis.text(reaction.emoji))
            _ = reactions.add(reaction, emoji: emoji, to: place)
        }
    }

    private mutating func noteReaction(_ reaction: Int, at place: Int) {
        cells[place].hasReactions = true
        saved.noteReaction(reaction)
    }

    /// The reactions to the message at a place, removed ones included; see `ReactionTable.sorted`.
    func sortedReactions(at place: Int, _ names: Names) -> [ReactionTable.Reaction] {
        cells[place].hasReactions ? reactions.sorted(to: place, names) { _ in true } : []
    }

    /// The reactions that a row shows; `nil` without any.
    @inline(__always)
    func reactionRows(at place: Int, _ names: Names) -> JSONValue? {
        cells[place].hasReactions ? reactions.rows(to: place, names) : nil
    }
}
