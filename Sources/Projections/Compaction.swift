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
    /// Events whose payload is held, before and after; the act of the compaction itself is not counted.
    public let events: (before: Int, after: Int)
    /// Bytes of the log's files, before and after.
    public let bytes: (before: UInt64, after: UInt64)
    /// Every channel with messages, by source, then id.
    public let channels: [ChannelCount]
    /// What the state holds of messages, before and after.
    public let counts: (before: CompactionCounts, after: CompactionCounts)
    /// The digest of the state before.
    public let digestBefore: Hash256
    /// The digest of the state afterwards. Where events were dropped it is proved to be that of the retained state.
    public let digest: Hash256
    /// The events and bytes that a compaction would leave, where it would make the log larger and was not done.
    public let refused: (events: Int, bytes: UInt64)?
}

/// Drops what a policy does not keep, after proving that the state stays the same (C15, C16).
public enum Compaction {
    /// Compacts a log.
    ///
    /// - Parameters:
    ///   - store: The log; it holds the same events for everybody who keeps reading it while this runs.
    ///   - policy: What is kept.
    ///   - now: When the act is recorded.
    ///   - isDryRun: Whether to leave the log as it is and only tell what would go, from a real rewrite thrown away.
    ///   - scratch: Of a dry run, an empty folder for that rewrite; `nil` for the log's own, which must be writable then.
    ///   - leavesSmall: Whether to leave a log alone that would take more bytes afterwards.
    ///   - progress: Called now and then with the last folded event and the head, in two passes: over the log, to decide,
    ///     and over the kept events, to prove. The store's own `progress` reports the copying in between.
    /// - Throws: `ProjectionError.unproved` where the kept events and facts do not give the retained state (the log is
    ///   left as it is); `EventLogError`.
    /// - Returns: What was done. A log in which every event is still needed is left alone, without an act.
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
        guard !plan.dropped.isEmpty else {
            let bytes = try store.statistics().bytesOnDisk
            return plan.summary(of: plan.state, bytes: (bytes, bytes))
        }
        var rewrite = RewritePlan(
            dropped: plan.dropped,
            decidedAt: plan.decidedAt,
            act: plan.act(now: now),
            facts: [Replay.factName: plan.facts, DropLedger.factName: plan.ledger.bytes]
        )
        rewrite.isDryRun = isDryRun
        rewrite.scratch = scratch
        rewrite.mustShrink = leavesSmall
        let result = try store.rewrite(rewrite) { try plan.prove(on: $0, progress: progress) }
        let bytes = (result.bytesBefore, result.bytesAfter)
        if result.isRefused { return plan.refusal(bytes: bytes) }
        return plan.summary(of: plan.state, bytes: bytes)
    }

    /// The kind of the act that a compaction appends.
    static let actKind = EventKind("logtool.compact/1" as StaticString)

    /// What is dropped and kept, decided at one head.
    private struct Plan {
        let policy: RetentionPolicy
        let decidedAt: SequenceNumber
        /// The retained state; the state before where nothing is dropped.
        let state: Workspace
        /// How many live messages each channel had.
        let countsBefore: [ChannelPlace: Int]
        let totalsBefore: CompactionCounts
        let digestBefore: Hash256
        let heldCount: Int
        let dropped: [SequenceNumber]
        let facts: [UInt8]
        let ledger: DropLedger

        init(
            session: borrowing ReadSession,
            policy: RetentionPolicy,
            progress: ((SequenceNumber, SequenceNumber) -> Void)?
        ) throws {
            self.policy = policy
            let head = session.head
            decidedAt = head
            var options = ReplayOptions()
            options.condensesIssues = true
            let report = progress.map { report in { (folded: SequenceNumber) in report(folded, head) } }
            var before = try Replay.workspace(of: session, options: options, progress: report)
            countsBefore = Self.counts(of: before)
            totalsBefore = before.compactionCounts
            digestBefore = before.digest()
            let retained = before.retained(by: policy)
            let needed = retained.neededSequences
            var kept: Set<UInt64> = []
            var gone: [SequenceNumber] = []
            if decidedAt > .zero {
                try session.forEachEvent(in: SequenceNumber(1)...decidedAt) { event in
                    if event.isAct { return true }
                    if needed.contains(event.sequence.rawValue) {
                        kept.insert(event.sequence.rawValue)
                    } else {
                        gone.append(event.sequence)
                    }
                    return true
                }
            }
            heldCount = kept.count + gone.count
            dropped = gone
            state = gone.isEmpty ? before : retained
            facts = retained.facts(keeping: kept)
            let earlier = DropLedger(try session.fact(DropLedger.factName))
            ledger = DropLedger(before: before, retained: retained, earlier: earlier, decidedAt: decidedAt)
        }

        /// The act's payload names the dropped events by the hash of their sorted list.
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

        /// Folds the new generation and compares whole states; events appended meanwhile are folded on both sides.
        func prove(
            on session: borrowing ReadSession,
            progress: ((SequenceNumber, SequenceNumber) -> Void)?
        ) throws {
            let head = session.head
            var expected = state
            if session.head > decidedAt {
                try session.forEachEvent(in: decidedAt.next...session.head) { event in
                    let envelope = event.envelope
                    event.withPayload { expected.apply(envelope, payload: $0) }
                    return true
                }
            }
            var options = ReplayOptions()
            options.retained = true
            let report = progress.map { report in { (folded: SequenceNumber) in report(folded, head) } }
            let found = try Replay.workspace(of: session, options: options, progress: report)
            guard found.isSame(as: expected) else {
                throw ProjectionError(
                    .unproved,
                    "compact: the events and facts that would be kept do not give the same state; nothing was changed"
                )
            }
        }

        /// Sums up a compaction, or a dry run, that leaves an outcome.
        func summary(of outcome: Workspace, bytes: (UInt64, UInt64)) -> CompactionSummary {
            var outcome = outcome
            return CompactionSummary(
                keep: policy.messagesPerChannel,
                events: (heldCount, heldCount - dropped.count),
                bytes: bytes,
                channels: channelCounts(after: Self.counts(of: outcome)),
                counts: (totalsBefore, outcome.compactionCounts),
                digestBefore: digestBefore,
                digest: outcome.digest(),
                refused: nil
            )
        }

        /// Sums up a compaction that was not done because the log would have grown.
        func refusal(bytes: (before: UInt64, after: UInt64)) -> CompactionSummary {
            CompactionSummary(
                keep: policy.messagesPerChannel,
                events: (heldCount, heldCount),
                bytes: (bytes.before, bytes.before),
                channels: channelCounts(after: countsBefore),
                counts: (totalsBefore, totalsBefore),
                digestBefore: digestBefore,
                digest: digestBefore,
                refused: (heldCount - dropped.count, bytes.after)
            )
        }

        private func channelCounts(after: [ChannelPlace: Int]) -> [CompactionSummary.ChannelCount] {
            countsBefore
                .map { place, count in
                    CompactionSummary.ChannelCount(
                        source: place.source,
                        id: place.channel,
                        before: count,
                        after: after[place] ?? 0
                    )
                }
                .sorted { ($0.source, $0.id) < ($1.source, $1.id) }
        }

        private static func counts(of workspace: Workspace) -> [ChannelPlace: Int] {
            var counts: [ChannelPlace: Int] = [:]
            for source in workspace.sources {
                let names = source.context.names
                for key in source.messages.keys(in: .messages, names: names) {
                    counts[ChannelPlace(source: source.name, channel: names.text(key.first)), default: 0] += 1
                }
            }
            return counts
        }
    }

    private struct ChannelPlace: Hashable {
        let source: SourceName
        let channel: String
    }
}
