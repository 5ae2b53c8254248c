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
    /// - Throws: as `workspace`.
    public static func channels(
        named name: EntityReference,
        of session: borrowing ReadSession,
        through point: SequenceNumber? = nil,
        options: ReplayOptions = ReplayOptions(),
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> [ChannelState] {
        let last = point ?? session.head
        try refusePointBeforeCompaction(last, session: session, options: options)
        if let states = try indexedChannels(named: name, of: session, through: last, options, progress) {
            return states
        }
        let whole = try workspace(of: session, through: last, options: options, progress: progress)
        return ChannelState.find(name, in: whole)
    }

    /// What happened to one message, oldest first, from the index of channels: only its channel's events are folded.
    ///
    /// - Parameter reference: A message with its source and channel.
    /// - Returns: `nil` if the index does not serve (see `channels`) or knows no such message.
    /// - Throws: as `workspace`.
    public static func indexedHistory(
        ofMessage reference: EntityReference,
        of session: borrowing ReadSession,
        options: ReplayOptions = ReplayOptions(),
        progress: ((SequenceNumber) -> Void)? = nil
    ) throws -> [HistoryEntry]? {
        guard reference.kind == .message, reference.parts.count == 3 else { return nil }
        let channel = EntityReference(kind: .channel, parts: Array(reference.parts.prefix(2)))
        let states = try indexedChannels(named: channel, of: session, through: session.head, options, progress)
        return states?.first.flatMap { $0.history(ofMessage: reference.parts[2]) }
    }

    /// The states of the channels that `name` can mean; `nil` if the index does not serve.
    private static func indexedChannels(
        named name: EntityReference,
        of session: borrowing ReadSession,
        through last: SequenceNumber,
        _ options: ReplayOptions,
        _ progress: ((SequenceNumber) -> Void)?
    ) throws -> [ChannelState]? {
        guard let snapshots = options.snapshots, options.readsAll, try session.fact(factName) == nil,
            var replay = ChannelReplay(session, snapshots), try replay.lookAhead(session, through: last, progress)
        else { return nil }
        return try replay.channels(named: name, through: last, session)
    }
}

extension ReplayOptions {
    /// Whether every event is folded unchecked, and read as the remote meant it.
    fileprivate var readsAll: Bool { rules.isEmpty && sources == nil && without.isEmpty && !checks }
}
