public import EventLog

extension Replay {
    /// The state of one channel at a sequence: the same rows that the whole state has of it (I21).
    ///
    /// If the options allow kept states, an index of channels beside the log is brought up to date first, and only the
    /// channel's own events are folded. The index does not serve readings other than the canonical one, replays that
    /// check events or leave some out, compacted logs, and sources whose events are not told apart by channel: for
    /// these the whole state is folded.
    ///
    /// - Parameters:
    ///   - name: The channel, as `channel:SOURCE/ID`; the source may be left out.
    ///   - progress: Called now and then with the last event scanned or folded.
    /// - Returns: The channels that the name can mean and that have rows, sorted by source.
    /// - Throws: as `logState`.
    public static func channels(
        named name: EntityReference,
        of session: borrowing ReadSession,
        through point: SequenceNumber? = nil,
        options: ReplayOptions = ReplayOptions(),
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> [ChannelState] {
        let last = point ?? session.head
        try refusePointBeforeCompaction(last, session: session, options: options)
        // The index answers the same as the whole state (I21), only faster.
        if let states = try indexedChannels(named: name, of: session, through: last, options, progress) {
            return states
        }
        let whole = try logState(of: session, through: last, options: options, progress: progress)
        return ChannelState.find(name, in: whole)
    }

    /// The one message that a reference can mean, from the index of channels: only its channel's events are folded.
    ///
    /// - Parameter reference: a message, whole or with parts left out.
    /// - Returns: `nil` if the index does not serve (see `channels`), an id is no number, or not exactly one message
    ///   fits.
    /// - Throws: as `logState`.
    public static func indexedMessage(
        _ reference: EntityReference,
        of session: borrowing ReadSession,
        options: ReplayOptions = ReplayOptions(),
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> ChannelMessage? {
        guard reference.kind == .message, var replay = try index(of: session, through: session.head, options, progress)
        else { return nil }
        return try replay.message(reference, session)
    }

    /// The events of a log that concern one channel alone, ascending, without repeats; `nil` if the index does not serve (see
    /// `channels`). O(events of the channel).
    ///
    /// - Throws: as `logState`.
    package static func sequences(
        ofChannel id: String,
        of source: SourceName,
        in session: borrowing ReadSession,
        options: ReplayOptions
    ) throws -> [UInt64]? {
        try index(of: session, through: session.head, options, nil)?
            .sequences(ofChannel: id, of: source, through: session.head)
    }

    /// The states of the channels that `name` can mean; `nil` if the index does not serve.
    private static func indexedChannels(
        named name: EntityReference,
        of session: borrowing ReadSession,
        through last: SequenceNumber,
        _ options: ReplayOptions,
        _ progress: ((SequenceNumber) -> Void)?
    ) throws -> [ChannelState]? {
        guard var replay = try index(of: session, through: last, options, progress) else { return nil }
        return try replay.channels(named: name, through: last, session)
    }

    /// The index of channels, up to date; `nil` if it does not serve, or more than `scannedMax` events would have to be
    /// scanned.
    static func index(
        of session: borrowing ReadSession,
        through last: SequenceNumber,
        _ options: ReplayOptions,
        _ progress: ((SequenceNumber) -> Void)?,
        scannedMax: UInt64 = .max
    ) throws -> ChannelReplay? {
        guard let keeping = options.keeping, options.readsAll, try session.fact(factName) == nil,
            var replay = ChannelReplay(session, keeping),
            replay.eventCount(toLookAhead: session, through: last) <= scannedMax,
            try replay.lookAhead(session, through: last, progress)
        else { return nil }
        return replay
    }
}

extension ReplayOptions {
    /// Whether every event is folded unchecked, and read as the remote meant it.
    var readsAll: Bool { rules.isEmpty && sources == nil && without.isEmpty && !checks }
}
