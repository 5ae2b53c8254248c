public import EventLog

/// The figures of a compaction, or of its dry run.
public struct CompactionSummary: Sendable {
    /// The live messages of one channel before and after.
    public struct ChannelCount: Sendable {
        /// The channel's source.
        public let source: SourceName
        /// The channel's id.
        public let id: String
        /// Live messages before.
        public let before: Int
        /// Live messages after.
        public let after: Int
    }

    /// The policy's number of messages per channel.
    public let keep: Int
    /// Events with a payload in the log, before and after; acts are not counted.
    public let events: (before: Int, after: Int)
    /// Bytes of the log's files, before and after.
    public let bytes: (before: UInt64, after: UInt64)
    /// Every channel that had live messages before, by source, then id.
    public let channels: [ChannelCount]
    /// The messages and revisions in the state, before and after.
    public let counts: (before: CompactionCounts, after: CompactionCounts)
    /// The digest of the state before.
    public let digestBefore: Hash256
    /// The digest of the state afterwards. If events were dropped, it is proved to be that of the retained state.
    public let digest: Hash256
    /// The events and bytes that the compaction would have left; set only if it was refused, because the log would
    /// grow.
    public let refused: (events: Int, bytes: UInt64)?
}

/// Drops what a policy does not keep, after proving that the state stays the same (I13, I9).
public enum Compaction {
    /// Compacts a log. Folds the log once, copies what is kept, and folds that once more.
    ///
    /// - Parameters:
    ///   - store: The log; sessions that read it while this runs keep seeing the events that it had.
    ///   - policy: The rule for what is kept.
    ///   - now: When the act is recorded.
    ///   - isDryRun: Whether to leave the log unchanged. The figures come from a real rewrite, which is thrown away.
    ///   - scratch: An empty folder for a dry run's rewrite; `nil` for the log's own folder, which must then be
    ///     writable.
    ///   - leavesSmall: Whether to refuse a compaction after which the log would take more bytes.
    ///   - progress: Called now and then with the last folded event and the head, in two passes: over the log, to
    ///     decide, and over the kept events, to prove. The store's own `progress` reports the copying in between.
    /// - Throws: `ProjectionError.unproved` if the kept events and facts do not give the retained state; the log is
    ///   then unchanged. `EventLogError`.
    /// - Returns: The figures. A log that needs all its events is left unchanged and gets no act.
    public static func run(
        _ store: EventStore,
        policy: RetentionPolicy,
        now: Timestamp,
        isDryRun: Bool = false,
        scratch: String? = nil,
        leavesSmall: Bool = false,
        progress: ((SequenceNumber, _ last: SequenceNumber) -> Void)? = nil
    ) throws -> CompactionSummary {
        let plan = try store.read { try Plan(session: $0, policy: policy, progress: progress) }
        guard let remainder = plan.remainder else {
            let bytes = try store.statistics().bytesOnDisk
            return plan.summary(bytes: (bytes, bytes))
        }
        var rewrite = RewritePlan(
            dropped: plan.dropped,
            decidedAt: plan.decidedAt,
            act: plan.act(now: now),
            facts: [Replay.factName: remainder.facts, DropLedger.factName: remainder.ledger.bytes]
        )
        rewrite.isDryRun = isDryRun
        rewrite.scratch = scratch
        rewrite.mustShrink = leavesSmall
        // The proof runs on the new generation before the switch, so a failure costs only time (I9).
        let result = try store.rewrite(rewrite) { try plan.prove(remainder, on: $0, progress: progress) }
        let bytes = (result.bytesBefore, result.bytesAfter)
        if result.isRefused { return plan.refusal(bytes: bytes) }
        return plan.summary(bytes: bytes)
    }

    /// The kind of the act that a compaction appends.
    static let actKind = EventKind("logtool.compact/1" as StaticString)

    /// The values that a rewrite stores beside the kept events, and the state that both together must give.
    private struct Remainder {
        let facts: [UInt8]
        let ledger: DropLedger
        /// Hash of the retained state's normal form.
        let hash: Hash256
    }

    /// The decision, at one head, which events are dropped and which are kept. Events appended later are all kept.
    ///
    /// Contains figures and a hash instead of states, so that the proof needs only one state in memory.
    private struct Plan {
        let policy: RetentionPolicy
        /// The head at which the decision was made. Earlier points of the log cannot be replayed afterwards.
        let decidedAt: SequenceNumber
        let before: Figures
        /// The figures of the retained state; equal to `before` if nothing is dropped.
        let after: Figures
        /// The events that the log holds before, without acts.
        let heldCount: Int
        /// Ascending.
        let dropped: [SequenceNumber]
        /// `nil` if nothing is dropped.
        let remainder: Remainder?

        init(
            session: borrowing ReadSession,
            policy: RetentionPolicy,
            progress: ((SequenceNumber, SequenceNumber) -> Void)?
        ) throws {
            self.policy = policy
            let head = session.head
            decidedAt = head
            var options = ReplayOptions()
            // `retain` would condense them anyway; doing it on arrival keeps the memory small (I27).
            options.condensesIssues = true
            let report = progress.map { report in { (folded: SequenceNumber) in report(folded, head) } }
            var state = try Replay.logState(of: session, options: options, progress: report)
            // The figures and the earlier decisions are of the state before, so they are taken before `retain`.
            before = Figures(&state)
            let drops = DropLedger(try session.fact(DropLedger.factName)).decisions(in: state)
            state.retain(policy)
            let (kept, gone) = try Self.split(session, needed: state.neededSequences)
            heldCount = kept.count + gone.count
            dropped = gone
            guard !gone.isEmpty else {
                (after, remainder) = (before, nil)
                return
            }
            after = Figures(&state)
            remainder = Remainder(
                facts: state.facts(keeping: kept),
                ledger: DropLedger(of: state, earlier: drops, decidedAt: decidedAt),
                hash: state.normalFormHash
            )
        }

        /// The events that are needed and those that are not, in log order; acts are in neither list, as they are never
        /// dropped (I1).
        private static func split(
            _ session: borrowing ReadSession,
            needed: Set<UInt64>
        ) throws -> (kept: Set<UInt64>, gone: [SequenceNumber]) {
            var kept: [UInt64] = []
            var gone: [SequenceNumber] = []
            guard session.head > .zero else { return ([], gone) }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                if event.isAct { return true }
                let sequence = event.sequence
                if needed.contains(sequence.rawValue) {
                    kept.append(sequence.rawValue)
                } else {
                    assert(gone.last ?? .zero < sequence, "the act's hash is that of an ascending list")
                    gone.append(sequence)
                }
                return true
            }
            // An earlier compaction may have dropped an event that is needed; else the set need not be made anew.
            return (kept.count == needed.count ? needed : Set(kept), gone)
        }

        /// The act to append. Its payload names the dropped events by the hash of their ascending list (I7), and the
        /// decision by its head, which `DropLedger` refers to.
        func act(now: Timestamp) -> DraftEvent {
            let payload = JSONValue.object([
                "keep": .int(policy.messagesPerChannel),
                "decidedAt": .string(decidedAt.description),
                "dropped": .int(dropped.count),
                "droppedHash": .string(RewritePlan.droppedHash(of: dropped).hex),
            ])
            return DraftEvent(
                recordedAt: now,
                source: .logtool,
                kind: actKind,
                payload: payload.canonicalBytes
            )
        }

        /// Folds the new generation up to the deciding head and compares whole states (I13). Equal states stay equal
        /// under every later event, so the events appended meanwhile need no proof.
        ///
        /// - Throws: `ProjectionError.unproved`, which makes the rewrite throw its generation away.
        func prove(
            _ remainder: Remainder,
            on session: borrowing ReadSession,
            progress: ((SequenceNumber, SequenceNumber) -> Void)?
        ) throws {
            var options = ReplayOptions()
            // The point lies at the decision of the new generation's compaction.
            options.retained = true
            let last = decidedAt
            let report = progress.map { report in { (folded: SequenceNumber) in report(folded, last) } }
            let found = try Replay.logState(of: session, through: last, options: options, progress: report)
            guard found.normalFormHash == remainder.hash else {
                throw ProjectionError(
                    .unproved,
                    "compact: the events and facts that would be kept do not give the same state; nothing was changed"
                )
            }
        }

        /// Sums up a compaction, or a dry run.
        func summary(bytes: (UInt64, UInt64)) -> CompactionSummary {
            summary(events: heldCount - dropped.count, after, bytes: bytes, refused: nil)
        }

        /// Sums up a compaction that was not done because the log would have grown.
        func refusal(bytes: (before: UInt64, after: UInt64)) -> CompactionSummary {
            let refused = (heldCount - dropped.count, bytes.after)
            return summary(events: heldCount, before, bytes: (bytes.before, bytes.before), refused: refused)
        }

        private func summary(
            events: Int,
            _ outcome: Figures,
            bytes: (UInt64, UInt64),
            refused: (events: Int, bytes: UInt64)?
        ) -> CompactionSummary {
            CompactionSummary(
                keep: policy.messagesPerChannel,
                events: (heldCount, events),
                bytes: bytes,
                channels: before.channelCounts(after: outcome),
                counts: (before.totals, outcome.totals),
                digestBefore: before.digest,
                digest: outcome.digest,
                refused: refused
            )
        }
    }

    /// The figures of a state that a summary reports, without the state.
    private struct Figures {
        let totals: CompactionCounts
        let digest: Hash256
        /// How many live messages each channel has, by source, then id.
        private let channels: [(source: SourceName, ids: [(id: String, count: Int)])]

        init(_ state: inout LogState) {
            totals = state.compactionCounts
            digest = state.digest()
            channels = state.sources.sorted { $0.name < $1.name }.map { ($0.name, Self.counts(of: $0)) }
        }

        private static func counts(of source: SourceState) -> [(id: String, count: Int)] {
            let names = source.context.names
            let places = GroupedPlaces(source.parts.messages, names)
            let counts = places.channels.map { channel in
                (id: names.text(channel.id), count: places.places(in: .messages, of: channel).count)
            }
            return counts.filter { $0.count > 0 }.sorted { $0.id < $1.id }
        }

        /// The live messages of each channel in these figures and in later ones; channels that lost all have 0.
        func channelCounts(after: Figures) -> [CompactionSummary.ChannelCount] {
            channels.flatMap { source, ids in
                let left = after.channels.first { $0.source == source }?.ids ?? []
                let pairs = left.map { (ExactText($0.id), $0.count) }
                let counts = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
                return ids.map {
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
}
