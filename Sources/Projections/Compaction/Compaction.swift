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

    /// The policy that the compaction followed.
    public let policy: RetentionPolicy
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
    /// What holds the events that were dropped; `nil` if nothing does, or nothing was dropped.
    public internal(set) var archive: ArchiveFile?
    /// Archives beside the log that the policy keeps no more, and that were removed.
    public internal(set) var removedArchives: [String] = []
    /// How many events lie in compressed blocks afterwards, if the run was to seal any and did.
    public internal(set) var sealed: UInt64?
}

/// Drops what a policy does not keep, after proving that the state stays the same (I13, I9).
public enum Compaction {
    /// Compacts a log. Folds the log once, copies what is kept, and folds that once more. A log with more messages than
    /// `messagesMax` is folded several times, each time with the messages of other channels.
    ///
    /// - Parameters:
    ///   - store: The log; sessions that read it while this runs keep seeing the events that it had.
    ///   - policy: The rule for what is kept.
    ///   - now: When the act is recorded.
    ///   - isDryRun: Whether to leave the log unchanged. The figures come from a real rewrite, which is thrown away.
    ///   - scratch: An empty folder for a dry run's rewrite; `nil` for the log's own folder, which must then be
    ///     writable.
    ///   - leavesSmall: Whether to refuse a compaction after which the log would take more bytes.
    ///   - archiving: Where what is dropped is kept. The file is whole and synced before the log lets go of anything. A dry run
    ///     writes none.
    ///   - sealing: Which of the kept events go into compressed blocks, in the same rewrite; `nil` for no further ones.
    ///   - keeping: The kept states among which the digest of the state before may be; `nil` for none. That digest only
    ///     saves hashing the rows that go.
    ///   - progress: Called now and then with the last folded event and the head: in passes over the log, to decide, and
    ///     over the kept events, to prove. The store's own `progress` reports the copying in between.
    /// - Throws: `ProjectionError.unproved` if the kept events and facts do not give the retained state; the log is
    ///   then unchanged. `EventLogError`.
    /// - Returns: The figures. A log that needs all its events, and has none to seal, is left unchanged and gets no act.
    public static func run(
        _ store: EventStore,
        policy: RetentionPolicy,
        now: Timestamp,
        isDryRun: Bool = false,
        scratch: String? = nil,
        leavesSmall: Bool = false,
        archiving: Archiving = .besideLog,
        sealing: SealLimit? = nil,
        keeping: KeptStateOptions? = nil,
        progress: ((SequenceNumber, _ last: SequenceNumber) -> Void)? = nil
    ) throws -> CompactionSummary {
        try run(
            store,
            policy: policy,
            now: now,
            isDryRun: isDryRun,
            scratch: scratch,
            leavesSmall: leavesSmall,
            archiving: archiving,
            sealing: sealing,
            keeping: keeping,
            options: ReplayOptions(),
            messagesMax: messagesMax,
            progress: progress
        )
    }

    /// Compacts a log with a bound of its own for the messages in memory.
    static func run(
        _ store: EventStore,
        policy: RetentionPolicy,
        now: Timestamp,
        isDryRun: Bool = false,
        scratch: String? = nil,
        leavesSmall: Bool = false,
        archiving: Archiving = .besideLog,
        sealing: SealLimit? = nil,
        keeping: KeptStateOptions? = nil,
        options: ReplayOptions,
        messagesMax: Int,
        progress: ((SequenceNumber, _ last: SequenceNumber) -> Void)? = nil
    ) throws -> CompactionSummary {
        let (plan, sealsThrough) = try store.read { session in
            let digest = Replay.keptDigest(of: session, keeping)
            let plan = try Plan(session, policy, digest, options: options, messagesMax: messagesMax, progress: progress)
            return (plan, try sealing.flatMap { try session.sealPoint($0) } ?? .zero)
        }
        guard let remainder = plan.remainder else {
            let bytes = try store.statistics().bytesOnDisk
            guard let sealing,
                let sealed = try store.seal(
                    sealing,
                    now: now,
                    isDryRun: isDryRun,
                    scratch: scratch,
                    mustShrink: leavesSmall
                )
            else {
                if !isDryRun { try store.removeLeftoversIfAny() }
                return plan.summary(bytes: (bytes, bytes))
            }
            if sealed.isRefused { return plan.refusal(bytes: sealed.bytes) }
            var summary = plan.summary(bytes: sealed.bytes)
            summary.sealed = sealed.sealed.after
            return summary
        }
        let facts = [Replay.factName: remainder.facts, DropLedger.factName: remainder.ledger.bytes]
        var rewrite = RewritePlan(
            dropped: plan.dropped,
            decidedAt: plan.decidedAt,
            act: plan.act(now: now, sealsThrough: sealsThrough),
            facts: facts
        )
        rewrite.sealsThrough = sealsThrough
        rewrite.isDryRun = isDryRun
        rewrite.scratch = scratch
        rewrite.mustShrink = leavesSmall
        rewrite.voidedBy = [Decoders.actKind, Redactions.actKind, restorationKind]
        var archive: ArchiveFile?
        // The proof runs on the new generation before the switch, so a failure costs only time (I9).
        let result = try store.rewrite(rewrite) { session in
            try plan.prove(remainder, on: session, progress: progress)
            if !isDryRun { archive = try write(plan, leaving: facts, of: store, archiving) }
        }
        let bytes = (result.bytesBefore, result.bytesAfter)
        if result.isRefused {
            archive?.remove()
            return plan.refusal(bytes: bytes)
        }
        // After an error the archive stays: the log may have let go of the events all the same.
        var summary = plan.summary(bytes: bytes)
        summary.archive = archive
        if sealsThrough > .zero { summary.sealed = result.sealedAfter }
        if archive != nil, case .besideLog = archiving, let max = policy.archivesMax {
            // The compaction is done: one that cannot be removed stays.
            summary.removedArchives = ArchiveFile.prune(beside: store, keeping: max)
        }
        return summary
    }

    /// Writes the archive; `nil` where none is wanted.
    private static func write(
        _ plan: Plan,
        leaving facts: [String: [UInt8]],
        of store: EventStore,
        _ archiving: Archiving
    ) throws -> ArchiveFile? {
        let (dropped, decidedAt) = (plan.dropped, plan.decidedAt)
        switch archiving {
        case .none: return nil
        case .besideLog where plan.policy.archivesMax == 0: return nil
        case .besideLog:
            let log = store.path
            return try store.read { session in
                try session.archive(dropped, decidedAt: decidedAt, leaving: facts) { ArchiveFile.path(beside: log, $0) }
            }
        case .file(let path):
            return try store.read { try $0.archive(dropped, decidedAt: decidedAt, leaving: facts) { _ in path } }
        }
    }

    /// The kind of the act that a compaction appends.
    package static let actKind = EventKind("logtool.compact/1" as StaticString)

    /// The most messages that are in memory at a time, if channels can be folded one after another: with their texts
    /// some 200 MB. Far fewer would only make more folds, as the leaves of the digest take more.
    static let messagesMax = 800_000

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
        let before: CompactionFigures
        /// The figures of the retained state; equal to `before` if nothing is dropped.
        let after: CompactionFigures
        /// The events that the log holds before, without acts.
        let heldCount: Int
        /// Ascending.
        let dropped: [SequenceNumber]
        /// `nil` if nothing is dropped.
        let remainder: Remainder?
        private let options: ReplayOptions
        private let messagesMax: Int

        /// - Parameter digest: that of the state at the head; `nil` if it is not known.
        init(
            _ session: borrowing ReadSession,
            _ policy: RetentionPolicy,
            _ digest: Hash256?,
            options: ReplayOptions,
            messagesMax: Int,
            progress: ((SequenceNumber, SequenceNumber) -> Void)?
        ) throws {
            (self.policy, self.options, self.messagesMax) = (policy, options, messagesMax)
            let head = session.head
            decidedAt = head
            var options = options
            // `retain` would condense them anyway; doing it on arrival keeps the memory small (I27).
            options.condensesIssues = true
            let report = progress.map { report in { (folded: SequenceNumber) in report(folded, head) } }
            var ledger = DropLedger(try session.fact(DropLedger.factName))
            var retention = try Replay.byShares(
                of: session,
                through: head,
                options: options,
                messagesMax: messagesMax,
                progress: report
            ) {
                Retention(policy, decidedAt: head, digestBefore: digest)
            } _: { state, retention in
                retention.add(&state)
            }
            before = retention.figuresBefore()
            let (kept, gone, readers) = try Self.split(session, needed: retention.needed)
            heldCount = kept.count + gone.count
            dropped = gone
            guard !gone.isEmpty else {
                (after, remainder) = (before, nil)
                return
            }
            after = retention.figuresAfter()
            let (facts, hash) = retention.remains(keeping: kept)
            ledger.note(readers)
            remainder = Remainder(facts: facts, ledger: ledger, hash: hash)
        }

        /// The events that are needed and those that are not, in log order; acts are in neither list, as they are never
        /// dropped (I1). `readers` tells what read those that are not, of sources that a decoder file may read.
        private static func split(
            _ session: borrowing ReadSession,
            needed: SequenceSet
        ) throws -> (kept: SequenceSet, gone: [SequenceNumber], readers: [SourceName: DecoderIdentity]) {
            // An earlier compaction may have dropped an event that is needed.
            var kept = SequenceCollector()
            var gone: [SequenceNumber] = []
            var readers: [SourceName: DecoderIdentity] = [:]
            guard session.head > .zero else { return ([], gone, readers) }
            let decoders = try Decoders(inForce: session)
            let open = Set(try session.kindsBySource().filter { $0.value.contains(where: Decoders.isChosen) }.keys)
            var needed = SequenceFinder(needed)
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                if event.isAct { return true }
                let sequence = event.sequence
                if needed.contains(sequence.rawValue) {
                    kept.insert(sequence.rawValue)
                } else {
                    assert(gone.last ?? .zero < sequence, "the act's hash is that of an ascending list")
                    gone.append(sequence)
                    if !open.isEmpty, open.contains(event.source), Decoders.isChosen(event.kind) {
                        readers[event.source] = decoders.identity(of: event.source, event.kind)
                    }
                }
                return true
            }
            return (kept.finish(), gone, readers)
        }

        /// The act to append. Its payload names the dropped events by the hash of their ascending list (I7), and the
        /// decision by its head, which the facts of dropped messages refer to.
        func act(now: Timestamp, sealsThrough: SequenceNumber) -> DraftEvent {
            let payload = JSONValue.object([
                "sealedThrough": sealsThrough > .zero ? .string(sealsThrough.description) : nil,
                "keep": .int(policy.messagesPerChannel),
                "policy": .object(policy.json),
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
            var options = options
            // The point lies at the decision of the new generation's compaction.
            options.retained = true
            let last = decidedAt
            let report = progress.map { report in { (folded: SequenceNumber) in report(folded, last) } }
            let found = try Replay.byShares(
                of: session,
                through: last,
                options: options,
                messagesMax: messagesMax,
                progress: report,
                NormalForm.init
            ) { state, form in
                form.add(&state)
            }
            guard found.hash == remainder.hash else {
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
            _ outcome: CompactionFigures,
            bytes: (UInt64, UInt64),
            refused: (events: Int, bytes: UInt64)?
        ) -> CompactionSummary {
            CompactionSummary(
                policy: policy,
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
}
