import EventLog

/// The figures of a state that a summary reports, gathered from the states of all shares of its channels.
struct CompactionFigures {
    private(set) var totals = CompactionCounts()
    /// The digest, made by `makeDigest`; until then the leaves of all rows are in memory, 64 bytes each.
    private(set) var digest = StateDigest.noRows
    private var leaves: [WholeSlice] = []
    /// How many live messages each channel has.
    private var channels: [SourceName: [(id: String, count: Int)]] = [:]

    /// So many leaves are moved into one array. The system takes it back when it is freed; it does not take back the
    /// small arrays of slices, which serve the next share.
    private static let joinedCountMin = 1 << 19

    /// Adds rows; each row of the state must be added once.
    mutating func add(_ slices: [WholeSlice]) {
        let count = slices.reduce(0) { $0 + $1.count }
        guard count >= Self.joinedCountMin else { return leaves += slices }
        var joined: [StateDigest.Leaf] = []
        joined.reserveCapacity(count)
        for slice in slices { joined += slice.leaves }
        leaves.append(LeafSlice(joined))
    }

    /// Adds what a compaction can remove, and the live messages of the channels: each message once.
    ///
    /// - Parameters:
    ///   - counts: those of the messages that are added.
    ///   - places: those of the source's messages.
    ///   - isMeant: whether the message at a place is added.
    mutating func add(
        _ counts: CompactionCounts,
        of source: SourceState,
        _ places: GroupedPlaces,
        where isMeant: (Int) -> Bool
    ) {
        totals += counts
        channels[source.name, default: []] += places.channels.compactMap { channel in
            let count = places.places(in: .messages, of: channel).count { isMeant($0) }
            return count > 0 ? (source.context.names.text(channel.id), count) : nil
        }
    }

    /// Makes the digest of all rows, unless it is known, and frees their leaves.
    mutating func makeDigest(known: Hash256? = nil) {
        digest = known ?? StateDigest.root(of: leaves)
        leaves = []
    }

    /// The live messages of each channel in these figures and in later ones, by source, then id; channels that lost all
    /// have 0.
    func channelCounts(after: CompactionFigures) -> [CompactionSummary.ChannelCount] {
        channels.sorted { $0.key < $1.key }.flatMap { source, ids in
            let pairs = (after.channels[source] ?? []).map { (ExactText($0.id), $0.count) }
            let counts = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
            return ids.sorted { $0.id < $1.id }.map {
                CompactionSummary.ChannelCount(
                    source: source,
                    id: $0.id,
                    before: $0.count,
                    after: counts[ExactText($0.id)] ?? 0
                )
            }
        }
    }
}
