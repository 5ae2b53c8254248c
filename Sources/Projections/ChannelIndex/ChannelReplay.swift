import EventLog

/// Folds the state of one channel from the index of channels, which it brings up to date first. Serves one query; it
/// must not be used once it has returned `nil` for "cannot tell".
struct ChannelReplay {
    /// How many events are scanned between two checks of whether to store what was found.
    private static let chunkEvents: UInt64 = 65_536
    /// The entries are stored in one commit once they have this many bytes.
    private static let storedBytesMin = 64 << 20
    /// How many scans are begun at most, as another process may store a newer head during each. Then the whole state is
    /// folded.
    private static let attemptsMax = 4

    private let options: KeptStateOptions
    private var index: ChannelIndex
    /// The scan of the events behind the index that were not worth storing; `nil` if the index reaches far enough.
    private var tail: ChannelScan?

    /// Opens the index; `nil` if none can be kept beside the log.
    init?(_ session: borrowing ReadSession, _ options: KeptStateOptions) {
        guard let index = ChannelIndex(session, build: options.build) else { return nil }
        self.options = options
        self.index = index
    }

    /// How many events `lookAhead` scans.
    func eventCount(toLookAhead session: borrowing ReadSession, through last: SequenceNumber) -> UInt64 {
        let end = index.head?.sequence ?? 0
        return last.rawValue <= end ? 0 : session.head.rawValue - end
    }

    /// Scans the events from the index's end to the log's head if the index does not reach `last`, and stores what was
    /// found if that is worth it; false if the index cannot be read, or other processes keep storing first.
    ///
    /// Scans to the head even for an earlier point, so that the index serves later queries, too.
    mutating func lookAhead(
        _ session: borrowing ReadSession,
        through last: SequenceNumber,
        _ progress: ((SequenceNumber) -> Void)?
    ) throws -> Bool {
        for _ in 0..<Self.attemptsMax {
            if last.rawValue <= index.head?.sequence ?? 0 { return true }
            guard let scan = index.scan() else {
                index.discard()
                return false
            }
            if try look(scan, at: session, progress) { return true }
            guard let newer = ChannelIndex(session, build: options.build) else { return false }
            index = newer
        }
        return false
    }

    /// Scans to the log's head; false if another process has stored something in the meantime, or storing fails.
    private mutating func look(
        _ scan: ChannelScan,
        at session: borrowing ReadSession,
        _ progress: ((SequenceNumber) -> Void)?
    ) throws -> Bool {
        var scan = scan
        var stored = scan.sequence
        while scan.sequence < session.head {
            let end = min(session.head, SequenceNumber(scan.sequence.rawValue + Self.chunkEvents))
            try scan.look(at: session, through: end)
            progress?(end)
            let count = end.rawValue - stored.rawValue
            let isLast = end == session.head && count >= UInt64(options.channelEventsMin)
            // A few new events are not stored: each query scans them again.
            guard isLast || scan.postings.byteCount >= Self.storedBytesMin else { continue }
            guard noteStrays(&scan) else { return false }
            // A failure to store counts as a lost race, as derived data must not fail a query.
            guard (try? index.store(scan, in: session)) ?? false else { return false }
            scan.forgetPostings()
            scan.forgetMentions()
            stored = end
        }
        guard noteStrays(&scan) else { return false }
        tail = scan
        return true
    }

    /// Notes the sources of which messages strayed between channels; false if a block cannot be read, which discards the
    /// index.
    private mutating func noteStrays(_ scan: inout ChannelScan) -> Bool {
        if scan.mentions.isEmpty { return true }
        guard let strays = index.strays(among: scan.mentions) else {
            index.discard()
            return false
        }
        scan.note(strays: strays)
        return true
    }

    /// The channels that a reference can mean and that have rows at a sequence; `nil` if the index cannot tell: a
    /// source is not divided, a block cannot be read, which discards the index, or another process has changed it
    /// meanwhile.
    mutating func channels(
        named name: EntityReference,
        through last: SequenceNumber,
        _ session: borrowing ReadSession
    ) throws -> [ChannelState]? {
        let sources = try self.sources()
        let meant = name.channels(of: sources.map(\.name))
        guard meant.allSatisfy({ sources[$0.source].isDivided }) else { return nil }
        var states: [ChannelState] = []
        for (source, id) in meant {
            guard let fold = try fold(id, of: sources[source].name, source, through: last, session) else {
                index.discard()
                return nil
            }
            let clock = try session.clock(at: last)
            if let state = ChannelState(id, of: fold, sequence: last, clock: clock) { states.append(state) }
        }
        return index.isCurrent ? states : nil
    }

    /// The events up to a sequence that concern one channel alone, ascending; `nil` if the index cannot tell: its source is not
    /// divided, or a block cannot be read.
    func sequences(ofChannel id: String, of source: SourceName, through last: SequenceNumber) throws -> [UInt64]? {
        let sources = try sources()
        guard let place = sources.firstIndex(where: { $0.name == source }), sources[place].isDivided else { return nil }
        var found: [UInt64] = []
        let isWhole = forEachBlock(place, id, through: last) { block in
            var reader = PostingReader(block, channel: .none)
            while reader.next() != nil, reader.sequence <= last.rawValue { found.append(reader.sequence) }
            return !reader.isMalformed
        }
        return isWhole ? found : nil
    }

    /// The one message that a reference can mean, with its history to the log's head; `nil` if the index cannot tell,
    /// or not exactly one fits. Folds each channel that events named with the id.
    mutating func message(_ reference: EntityReference, _ session: borrowing ReadSession) throws -> ChannelMessage? {
        var messages: [ChannelMessage] = []
        for candidate in try candidates(for: reference) ?? [] {
            let (name, channel) = (try sources()[candidate.source].name, candidate.channel)
            var fold = ChannelFold(name, channel: channel)
            fold.watch(candidate.id)
            guard try apply(to: &fold, candidate.source, through: session.head, session) else {
                index.discard()
                return nil
            }
            if let message = ChannelMessage(candidate.id, of: fold, clock: try session.clock(at: session.head)) {
                messages.append(message)
            }
        }
        return messages.count == 1 && index.isCurrent ? messages[0] : nil
    }

    /// The states of some channels at two points, and the rows that events between the points touched. Folds each channel
    /// once.
    ///
    /// - Parameter entriesMax: what the folds may cost, in plain frames.
    /// - Returns: `nil` if the index cannot tell, the folds cost more, or those events touched other rows or left issues.
    mutating func states(
        of touched: TouchedChannels,
        _ points: (earlier: SequenceNumber, later: SequenceNumber),
        entriesMax: UInt64,
        _ session: borrowing ReadSession
    ) throws -> ComparedStates? {
        var states = ComparedStates()
        states.earlier.clock = try session.clock(at: points.earlier)
        states.later.clock = try session.clock(at: points.later)
        let isWhole = try fold(touched, forkingAt: points.earlier, through: points.later, entriesMax, session) {
            states.add($0)
        }
        return isWhole ? states : nil
    }

    /// The state of some channels alone.
    ///
    /// - Parameter entriesMax: what the folds may cost, in plain frames.
    /// - Returns: `nil` if the index cannot tell, or the folds cost more.
    mutating func state(
        of touched: TouchedChannels,
        through last: SequenceNumber,
        entriesMax: UInt64,
        _ session: borrowing ReadSession
    ) throws -> LogState? {
        var state = LogState()
        (state.sequence, state.clock) = (last, try session.clock(at: last))
        let isWhole = try fold(touched, forkingAt: nil, through: last, entriesMax, session) { fold in
            state.sources.append(fold.state)
            state.onlyChannels.append(fold.channel)
            return true
        }
        return isWhole ? state : nil
    }

    /// Folds some channels one after another and lends each fold, in the order of a state document; false if the index
    /// cannot tell, the folds cost more than `entriesMax`, or `take` has stopped.
    private mutating func fold(
        _ touched: TouchedChannels,
        forkingAt point: SequenceNumber?,
        through last: SequenceNumber,
        _ entriesMax: UInt64,
        _ session: borrowing ReadSession,
        _ take: (ChannelFold) -> Bool
    ) throws -> Bool {
        let sources = try sources()
        var channels: [(source: Int, id: String)] = []
        for (name, id) in touched.sorted {
            guard let source = sources.firstIndex(where: { $0.name == name }), sources[source].isDivided else {
                return false
            }
            channels.append((source, id))
        }
        guard isWorth(channels, through: last, entriesMax) else { return false }
        for (source, id) in channels {
            var fold = ChannelFold(sources[source].name, channel: id)
            if let point { fold.fork(at: point) }
            guard try apply(to: &fold, source, through: last, session) else {
                index.discard()
                return false
            }
            guard take(fold) else { return false }
        }
        return index.isCurrent
    }

    /// What an entry costs that must be fetched from the log and decoded, in plain frames.
    private static let referenceCost: UInt64 = 16

    /// Whether folding channels costs at most as much as that many plain frames. The events of all channels count for each.
    private func isWorth(
        _ channels: [(source: Int, id: String)],
        through last: SequenceNumber,
        _ entriesMax: UInt64
    ) -> Bool {
        var cost: UInt64 = 0
        for (source, id) in channels {
            for owner in [nil, id] {
                // A block that cannot be read is found again by the fold.
                _ = forEachBlock(source, owner, through: last) { block in
                    var reader = PostingReader(block, channel: .none)
                    while cost <= entriesMax, let entry = reader.next(), reader.sequence <= last.rawValue {
                        cost += entry == .reference ? Self.referenceCost : 1
                    }
                    return cost <= entriesMax
                }
            }
        }
        return cost <= entriesMax
    }

    /// More channels than this with one id are not folded one by one; the whole state answers then.
    private static let candidatesMax = 16

    /// The messages that a reference can mean, by what events named; `nil` if the index cannot tell. A candidate need
    /// not exist: an event may have named it in vain.
    private mutating func candidates(
        for reference: EntityReference
    ) throws -> [(source: Int, channel: String, id: String)]? {
        guard reference.kind == .message, let id = reference.parts.last else { return nil }
        let sources = try sources()
        if reference.parts.count == 3 {
            guard let source = sources.firstIndex(where: { $0.name.rawValue == reference.parts[0] }) else { return nil }
            return sources[source].isDivided ? [(source, reference.parts[1], id)] : nil
        }
        // The channel is not given, so any source can have the message. Mentions contain numeric ids only.
        guard let number = Names().find(id)?.number, sources.allSatisfy(\.isDivided) else { return nil }
        var candidates: [(source: Int, channel: String, id: String)] = []
        for (place, source) in sources.enumerated() {
            guard let stored = index.channels(naming: number, source: place) else { return nil }
            let channels = Set(stored + (tail?.mentions.channels(of: number, source: place) ?? [])).sorted()
            // The mention does not tell which of the channels without a numeric id it means.
            if channels.contains(where: MessageMentions.isText) { return nil }
            for channel in channels where reference.fits([source.name.rawValue, String(channel), id]) {
                candidates.append((place, String(channel), id))
            }
        }
        return candidates.count <= Self.candidatesMax ? candidates : nil
    }

    /// The sources by their index; those of the tail begin with those of the index's head.
    private func sources() throws -> [(name: SourceName, isDivided: Bool)] {
        if let tail { return tail.sources.map { ($0.name, $0.isDivided && !$0.hasStrays) } }
        return try (index.head?.sources ?? []).map { (try SourceName($0.name), $0.isDivided && !$0.hasStrays) }
    }

    /// The state of a source as far as it concerns one channel; `nil` if a block cannot be read.
    private func fold(
        _ id: String,
        of name: SourceName,
        _ source: Int,
        through last: SequenceNumber,
        _ session: borrowing ReadSession
    ) throws -> SourceState? {
        var fold = ChannelFold(name, channel: id)
        return try apply(to: &fold, source, through: last, session) ? fold.state : nil
    }

    /// Folds the events of one channel; false if a block cannot be read.
    private func apply(
        to fold: inout ChannelFold,
        _ source: Int,
        through last: SequenceNumber,
        _ session: borrowing ReadSession
    ) throws -> Bool {
        let id = fold.id
        guard forEachBlock(source, nil, through: last, { fold.addShared($0, through: last) }) else { return false }
        var isKnown = false
        var failure: (any Error)?
        let isWhole = forEachBlock(source, id, through: last) { block in
            isKnown = true
            do {
                return try fold.apply(block, through: last, session)
            } catch {
                failure = error
                return false
            }
        }
        // Blocks are lent through a closure that cannot throw. An error of the log is no fault of the index.
        if let failure { throw failure }
        // A channel that no event named has no rows, so the shared events need not be folded.
        if isWhole, isKnown { try fold.finish(session) }
        return isWhole
    }

    /// Lends the stored blocks, then those of the tail; false if one cannot be read, or `body` has stopped.
    private func forEachBlock(
        _ source: Int,
        _ id: String?,
        through last: SequenceNumber,
        _ body: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        guard index.forEachBlock(source: source, channel: id, through: last, body) else { return false }
        return tail?.blocks(source: source, channel: id).allSatisfy { $0.withUnsafeBytes(body) } ?? true
    }
}
