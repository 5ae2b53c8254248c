import EventLog

extension MessageRecord {
    /// What a message is, as entries tell it or as its standing has it.
    private enum Shown: Equatable {
        /// Neither live nor deleted.
        case absent
        case live(Saying?)
        case deleted(MessageDeletion.Cause, Saying?)

        typealias Saying = MessageSaying
    }

    /// The entry that says which known version a branch's tip has, if the entries tell of another one (I33); `nil` if they tell
    /// the same. Commits alone change a standing without an entry, by `MessageStanding`.
    ///
    /// It is entered only before a deed that starts from there, and else made for whoever reads the history: a log that switches
    /// between branches a thousand times would have a thousand entries for each message.
    func selection(at event: EventReference) -> Entry? {
        guard let last = entries.last, shown != Self.shown(after: last, of: key) else { return nil }
        let happening: Entry.Happening =
            switch standing {
            case .live: .selected
            case .nowhere: .unselected(nil)
            case .deleted(let end): .unselected(end)
            }
        return Entry(event: event, happening: happening, revision: current)
    }

    /// What the standing has.
    private var shown: Shown {
        switch standing {
        case .nowhere: .absent
        case .live: .live(current?.saying)
        case .deleted(let end): .deleted(end.cause, current?.saying)
        }
    }

    /// What a history tells that ends with an entry.
    private static func shown(after last: Entry, of key: MessageKey) -> Shown {
        let saying = last.revision?.saying
        return switch last.happening {
        case .created, .edited, .linked, .restored, .selected: .live(saying)
        case .moved(_, let to): to == key ? .live(saying) : .absent
        case .deleted(let end): .deleted(end.cause, saying)
        case .unreadable, .compacted: .absent
        case .unselected(let end): end.map { .deleted($0.cause, saying) } ?? .absent
        }
    }

    /// Enters the version that a deed starts from, if the entries tell of another one.
    mutating func enterSelection(at event: EventReference) {
        if let selection = selection(at: event) { enter(selection) }
    }
}
