package import EventLog

/// One event that changes one channel alone, with part of that channel as it was before it.
package struct ChannelStep: Sendable {
    /// The rows of the channel before the event; nothing of other places.
    package let before: StateWindow
    /// The event with what it changed.
    package let step: StateStep
}

extension Replay {
    /// A channel with more entries than these in the index, in plain frames, is not folded for one step.
    private static let stepEntriesMax: UInt64 = 100_000

    /// One event with what it changed, from the index of channels, which is brought up to date first. The same step and the same
    /// rows as those of the whole state (I21).
    ///
    /// Cost: the events of the channel up to there. The first question about a log scans all of it.
    ///
    /// - Parameter size: How much of the channel is wanted before the event; `rows` counts.
    /// - Returns: `nil` if the event changes nothing or more than one channel, the index does not serve (see `channels`), or the
    ///   channel is long.
    /// - Throws: as `logState`.
    package static func channelStep(
        at sequence: SequenceNumber,
        _ size: StateWindow.Size,
        of session: borrowing ReadSession,
        options: ReplayOptions
    ) throws -> ChannelStep? {
        guard sequence > .zero, sequence <= session.head, options.keeping != nil, options.readsAll else { return nil }
        let before = SequenceNumber(sequence.rawValue - 1)
        try refusePointBeforeCompaction(before, session: session, options: options)
        guard let channels = try TouchedChannels(session, after: before, through: sequence) else { return nil }
        let touched = channels.sorted
        guard touched.count == 1, let channel = touched.first,
            let place = PlaceName(
                of: EntityReference(kind: .channel, parts: [channel.source.rawValue, channel.channel])
            ),
            let envelope = try session.event(at: sequence)?.envelope,
            var replay = try index(of: session, through: sequence, options, nil),
            let states = try replay.states(of: channels, (before, sequence), entriesMax: stepEntriesMax, session)
        else { return nil }
        let differences = StateDiff.differences(
            (states.earlier, states.touched),
            (states.later, states.touched),
            isOneFold: true
        )
        // Each would be of this channel; else the state of one channel cannot tell.
        guard !differences.isEmpty, differences.allSatisfy({ PlaceName(of: $0.entity) == place }) else { return nil }
        var (things, orders): ([EntityReference: String?], [EntityReference: String]) = ([:], [:])
        for thing in differences.map(\.entity) {
            let order = states.later.order(of: thing)
            things.updateValue(order, forKey: thing)
            if let order { orders[thing] = order }
        }
        return ChannelStep(
            before: states.earlier.window(around: things, in: [place], size).only(place),
            step: StateStep(event: envelope, differences: differences, orders: orders)
        )
    }
}
