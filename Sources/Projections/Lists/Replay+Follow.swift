package import EventLog

extension Replay {
    /// The most events of one batch of `follow`, so that readers of a cache see them soon.
    package static let followedEventsMax: UInt64 = 10_000

    /// Folds the next events of a log into a state, and says what they may have changed; `nil` where there are none.
    ///
    /// - Parameters:
    ///   - state: A state of the same log, folded with the same options; of no further use where this throws.
    ///   - end: The last event to fold; `nil` for the head.
    package static func follow(
        _ state: inout Workspace,
        over session: borrowing ReadSession,
        through end: SequenceNumber? = nil,
        options: ReplayOptions
    ) throws -> ChangedThings? {
        let last = min(end ?? session.head, SequenceNumber(state.sequence.rawValue + followedEventsMax))
        guard last > state.sequence else { return nil }
        var changes = ChangedThings()
        // Taken out, for a second reference would make the fold copy the state.
        var taken = Workspace()
        swap(&taken, &state)
        state = try advance(consume taken, over: session, through: last, options: options) { event, state in
            changes.note(state, by: event)
            return true
        }
        return changes
    }
}
