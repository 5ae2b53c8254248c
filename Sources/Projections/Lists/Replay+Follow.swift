package import EventLog

extension Replay {
    /// The most events that one call of `follow` folds, so that readers of a cache see them soon.
    package static let followedEventsMax: UInt64 = 10_000

    /// Folds the next events of a log into a state and returns what they may have changed; `nil` if there are none.
    /// Call it again until then.
    ///
    /// - Parameters:
    ///   - state: A state of the same log, folded with the same options; empty after an error.
    ///   - end: The last event to fold; `nil` for the head.
    /// - Throws: as `Replay.state`.
    package static func follow(
        _ state: inout LogState,
        over session: borrowing ReadSession,
        through end: SequenceNumber? = nil,
        options: ReplayOptions
    ) throws -> ChangedThings? {
        let last = min(end ?? session.head, SequenceNumber(state.sequence.rawValue + followedEventsMax))
        guard last > state.sequence else { return nil }
        var changes = ChangedThings()
        // The state is moved out, because a second reference would make the fold copy it.
        var taken = LogState()
        swap(&taken, &state)
        state = try advance(consume taken, over: session, through: last, options: options) { event, state in
            changes.note(state, by: event)
            return true
        }
        return changes
    }
}
