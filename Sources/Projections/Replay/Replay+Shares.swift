import EventLog

extension Replay {
    /// Thrown by a fold of some channels that met what concerns others, too: then only a fold of all channels is right.
    private struct CrossedShares: Error {}

    /// Folds a log with the canonical reading, once for each share of its channels: the state then has the messages of
    /// that share alone. So a log with more messages than fit the memory is folded several times.
    ///
    /// Each channel is in one share. One fold suffices if there are at most `messagesMax` messages. A share has more only
    /// if it is one that cannot be divided, such as a single channel, or if `make` is called a second time: a message
    /// that moves between channels, or a circle of replies, is folded rightly only with all channels at once.
    ///
    /// Cost: O(events) for each share, but those after the first pass over most events of other shares unread. The shares
    /// depend on the log alone.
    /// - Parameters:
    ///   - point: The last event to fold.
    ///   - progress: Called now and then with the last event folded, for each share from the beginning.
    ///   - make: Returns the value that `add` fills; called again if the folds begin anew.
    ///   - add: Takes the state of the next share, and may change it. Only the state of the first share is right in what
    ///     is not of messages.
    /// - Throws: as `logState`.
    static func byShares<Result>(
        of session: borrowing ReadSession,
        through point: SequenceNumber,
        options: ReplayOptions,
        messagesMax: Int,
        progress: ((SequenceNumber) -> Void)? = nil,
        _ make: () -> Result,
        _ add: (inout LogState, inout Result) throws -> Void
    ) throws -> Result {
        try refusePointBeforeCompaction(point, session: session, options: options)
        do {
            var result = make()
            try forEachShare(of: session, point, options, messagesMax, progress) { try add(&$0, &result) }
            return result
        } catch is CrossedShares {
            var result = make()
            try forEachShare(of: session, point, options, .max, progress) { try add(&$0, &result) }
            return result
        }
    }

    private static func forEachShare(
        of session: borrowing ReadSession,
        _ point: SequenceNumber,
        _ options: ReplayOptions,
        _ messagesMax: Int,
        _ progress: ((SequenceNumber) -> Void)?,
        _ body: (inout LogState) throws -> Void
    ) throws {
        var shares = [ChannelShare.whole]
        var names: [SourceName: Names]?
        var first: (buckets: [UInt8], repeats: [SourceName: SequenceSet])?
        var found: [SourceName: [UInt64]] = [:]
        while let share = shares.popLast() {
            var logState = try LogState(before: session)
            logState.condensesIssues = options.condensesIssues
            logState.share = share
            logState.knownRepeats = first?.repeats
            let skipped = first.map { SkippedEvents($0.buckets, of: share) }
            var (state, isFull, buckets) = try fold(
                session,
                logState,
                through: point,
                options,
                messagesMax,
                skipped,
                progress
            )
            if state.crossesShares { throw CrossedShares() }
            if isFull {
                let parts = share.parts(state.messageCounts, countMax: state.countMax(messagesMax, through: point))
                shares += parts.reversed()
                continue
            }
            let known = Dictionary(uniqueKeysWithValues: state.sources.map { ($0.name, $0.context.names) })
            // Values of several shares are put together, so handles must mean the same in all their states.
            let isSame = names.map { names in
                known.allSatisfy { names[$0.key]?.isSame(as: $0.value) ?? false }
            }
            if isSame == false { throw CrossedShares() }
            names = names ?? known
            if share != .whole, !state.addServerIDs(to: &found) { throw CrossedShares() }
            if first == nil, share != .whole { first = (buckets, state.foundRepeats) }
            try body(&state)
        }
    }

    /// The state at a point; or earlier, with `isFull`, as soon as several channels have too many messages.
    private static func fold(
        _ session: borrowing ReadSession,
        _ logState: consuming LogState,
        through point: SequenceNumber,
        _ options: ReplayOptions,
        _ messagesMax: Int,
        _ skipped: SkippedEvents?,
        _ progress: ((SequenceNumber) -> Void)?
    ) throws -> (state: LogState, isFull: Bool, buckets: [UInt8]) {
        let notesBuckets = logState.share != .whole && skipped == nil
        var run = ReplayRun(
            consume logState,
            options,
            isObserved: false,
            count: point.rawValue,
            skipping: skipped,
            notesBuckets: notesBuckets
        )
        // Doubled when a single channel has that many: counting takes O(messages).
        var countMax = messagesMax
        while run.sequence < point {
            let end = min(point, SequenceNumber(run.sequence.rawValue + options.chunkEvents))
            _ = try run.fold(session, through: end, nil)
            progress?(end)
            guard countMax < .max, try run.withLogState({ $0.messageCount }) > countMax else { continue }
            if try run.withLogState({ $0.crossesShares }) { return (run.logState, true, []) }
            if try run.withLogState({ $0.messageCounts.count }) > 1 { return (run.logState, true, []) }
            countMax *= 2
        }
        return (run.logState, false, run.buckets)
    }
}

/// The plain frames of other shares than the one that is folded.
struct SkippedEvents: Sendable {
    /// The bucket of each event; see `ReplayedState.buckets`.
    private let buckets: [UInt8]
    /// Whether the share needs the events of each bucket.
    private let isNeeded: [Bool]

    init(_ buckets: [UInt8], of share: ChannelShare) {
        self.buckets = buckets
        isNeeded = (0...255).map { $0 == 0 || share.meets(bucket: $0) }
    }

    /// Whether the share does not need the event with a number, counted from 0.
    @inline(__always)
    func contains(_ number: Int) -> Bool { number < buckets.count && !isNeeded[Int(buckets[number])] }
}

extension LogState {
    /// The repeats that the fold found among the frames of each source.
    fileprivate var foundRepeats: [SourceName: SequenceSet] {
        Dictionary(uniqueKeysWithValues: sources.map { ($0.name, $0.parts.gateway.connections.foundRepeats ?? []) })
    }

    /// Whether the fold of a share met what concerns other shares, too. Its messages may then be of any channel.
    fileprivate var crossesShares: Bool { sources.contains { $0.parts.messages.crossesShares } }

    /// Adds the ids of the messages of servers' channels to those of other shares, ascending; false if both have one: two
    /// channels were named with it. O(messages), and 8 bytes for each.
    fileprivate func addServerIDs(to known: inout [SourceName: [UInt64]]) -> Bool {
        for source in sources {
            let new = source.parts.messages.store.serverIDs.sorted()
            guard let merged = Self.union(of: known[source.name] ?? [], and: new) else { return false }
            known[source.name] = merged
        }
        return true
    }

    /// Both ascending lists in one; `nil` if they share an element.
    private static func union(of left: [UInt64], and right: [UInt64]) -> [UInt64]? {
        if left.isEmpty { return right }
        var merged: [UInt64] = []
        merged.reserveCapacity(left.count + right.count)
        var (here, there) = (0, 0)
        while here < left.count, there < right.count {
            if left[here] == right[there] { return nil }
            if left[here] < right[there] {
                merged.append(left[here])
                here += 1
            } else {
                merged.append(right[there])
                there += 1
            }
        }
        return merged + left[here...] + right[there...]
    }

    /// The messages in memory.
    fileprivate var messageCount: Int { sources.reduce(0) { $0 + $1.parts.messages.store.count } }

    /// The messages in memory by the hashes of their channels, ascending. O(messages).
    fileprivate var messageCounts: [(hash: UInt64, count: Int)] {
        var counts: [UInt64: Int] = [:]
        for source in sources {
            let store = source.parts.messages.store
            var known = [Int](repeating: 0, count: store.channels.count)
            for place in 0..<store.count { known[Int(store.cells[place].channel)] += 1 }
            for (channel, count) in known.enumerated() where count > 0 {
                counts[ChannelShare.hash(of: store.channels[channel].id), default: 0] += count
            }
        }
        return counts.sorted { $0.key < $1.key }.map { (hash: $0.key, count: $0.value) }
    }

    /// The most messages that a part of the share may have so far, if it is to have seven eighths of `messagesMax` at a
    /// point.
    fileprivate func countMax(_ messagesMax: Int, through point: SequenceNumber) -> Int {
        // In 1,024ths. No log has so many events that the product overflows.
        let folded = Int(clamping: sequence.rawValue * 1024 / max(1, point.rawValue))
        return max(1, messagesMax * 7 / 8 * folded / 1024)
    }
}
