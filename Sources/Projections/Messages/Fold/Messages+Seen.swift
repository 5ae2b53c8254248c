extension Messages {
    /// The whole message that a version states, if it states a known message again: one that is only made, or one that changes
    /// nothing of it. `nil` for any other version.
    func repeated(_ write: MessageWrite, _ rules: ReadingRules) -> MessageWrite? {
        switch write.meeting {
        case .adds: return write
        case .patches(_, makes: false): return nil
        case .replaces, .patches(_, makes: true): break
        }
        guard let place = store.place(of: write.key), let current = store.record(at: place).current else { return nil }
        let whole: MessageWrite
        switch met(write, at: place, rules) {
        case .changesNothing: return nil
        case .asItIs: whole = write
        case .joined(let joined): whole = joined
        }
        return whole.version == current.version && whole.saying == current.saying ? whole : nil
    }

    /// What orders a message that is known.
    func order(of key: MessageKey) -> MessageOrder? {
        store.place(of: key).flatMap { store.record(at: $0).current?.order }
    }

    /// Whether a reaction to a message is there.
    func has(_ reaction: ReactionChange.Reaction, on key: MessageKey) -> Bool {
        store.place(of: key).map { store.reactions.has(reaction.emoji, by: reaction.user, to: $0) } ?? false
    }
}
