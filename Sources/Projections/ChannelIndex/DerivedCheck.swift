package import EventLog

/// Folds a log anew and compares the data derived from it: kept states, the kept summary, digest and counts of other readings, the
/// index of channels, the keys of its events (I17). Each piece of data also has a checksum; this finds what was wrong when it was written.
///
/// Data that another build of the program kept is never used, and not compared.
package struct DerivedCheck: Sendable {
    /// How many kept states were compared.
    package private(set) var states = 0
    /// How many postings of channels were compared.
    package private(set) var postings = 0
    /// How many keys were compared.
    package private(set) var keys = 0
    /// The first difference found; `nil` if the data agrees with the events. The derived data was removed then.
    package private(set) var damage: String?

    /// Compares everything; at the first difference all derived data is removed.
    ///
    /// Cost: one replay for each set of reading rules with kept states, one walk for the channels, one for the keys.
    ///
    /// - Parameters:
    ///   - build: as in `KeptStateOptions`.
    ///   - client: the client that reads by rules; without it, only canonical states are compared.
    ///   - progress: called after each kept state with its sequence and the head.
    /// - Throws: `EventLogError` if the log itself cannot be read.
    package static func run(
        on store: EventStore,
        build: String,
        client: (any Client.Type)? = nil,
        progress: (_ done: SequenceNumber, _ total: SequenceNumber) -> Void = { _, _ in }
    ) throws -> DerivedCheck {
        var check = DerivedCheck()
        try store.read { session in
            guard let derived = try? session.existingDerivedStore() else { return }
            try check.compareStates(session, build, client, progress)
            if check.damage == nil { try check.compareSummary(session, build) }
            if check.damage == nil { try check.compareCounts(session, build, client) }
            if check.damage == nil { try check.compareChannels(session, build) }
            if check.damage != nil { derived.discard() }
        }
        if check.damage == nil {
            let (count, damage) = try store.checkDerivedKeys()
            (check.keys, check.damage) = (Int(clamping: count), damage)
        }
        return check
    }

    /// Compares each kept state with the state of one replay, by the hash of everything that they remember.
    private mutating func compareStates(
        _ session: borrowing ReadSession,
        _ build: String,
        _ client: (any Client.Type)?,
        _ progress: (SequenceNumber, SequenceNumber) -> Void
    ) throws {
        for rules in KeptStates.rules(in: session, build: build, of: client) {
            let kept = KeptStates(rules: rules, build: build)
            var options = ReplayOptions()
            options.rules = rules
            var run = ReplayRun(
                try LogState(before: session, rules: rules),
                options,
                isObserved: false,
                count: session.head.rawValue
            )
            // A rewrite removes kept states, so none lies before the last compaction's decision.
            for sequence in kept.sequences(in: session) where sequence <= session.head {
                if run.sequence < sequence { _ = try run.fold(session, through: sequence, nil) }
                progress(sequence, session.head)
                states += 1
                let found = kept.state(at: sequence, in: session)?.state.normalFormHash
                let isSame = try run.withLogState { $0.normalFormHash == found }
                if !isSame { return damage = "the state kept at sequence \(sequence) is not what the events give" }
            }
        }
    }

    /// Compares the kept summary and the kept digest, mostly of one state.
    private mutating func compareSummary(_ session: borrowing ReadSession, _ build: String) throws {
        let (summary, digest) = (KeptSummary(session, build: build), KeptDigest(session, build: build))
        for sequence in Set([summary?.sequence, digest?.sequence].compactMap(\.self)).sorted() {
            var options = ReplayOptions()
            options.retained = true
            var state = try Replay.logState(of: session, through: sequence, options: options)
            if let summary, summary.sequence == sequence, summary.summary != StateSummary(state) {
                return damage = "the summary kept at sequence \(sequence) is not what the events give"
            }
            if let digest, digest.sequence == sequence, digest.digest != state.digest() {
                return damage = "the digest kept at sequence \(sequence) is not what the events give"
            }
        }
    }

    /// Compares the kept counts of what other readings show otherwise.
    private mutating func compareCounts(
        _ session: borrowing ReadSession,
        _ build: String,
        _ client: (any Client.Type)?
    ) throws {
        guard client != nil else { return }
        for rules in KeptCounts.rules(in: session, build: build, of: client) {
            guard let kept = KeptCounts(session, of: rules, build: build) else { continue }
            var options = ReplayOptions()
            options.retained = true
            let canonical = try Replay.logState(of: session, through: kept.sequence, options: options)
            options.rules = rules
            let reading = try Replay.logState(of: session, through: kept.sequence, options: options)
            if StateDiff.counts(canonical, reading) != kept.counts {
                return damage = "the counts of a reading kept at sequence \(kept.sequence) are not what the events give"
            }
        }
    }

    /// Compares the index of channels with the index that a new scan makes. A compacted log has no index.
    private mutating func compareChannels(_ session: borrowing ReadSession, _ build: String) throws {
        guard try session.fact(Replay.factName) == nil, let index = ChannelIndex(session, build: build),
            let head = index.head, head.sequence <= session.head.rawValue
        else { return }
        var scan = ChannelScan(frameKey: FrameKey(try session.identity()))
        var expected = PostingSums()
        var ends = index.scanEnds()[...]
        var last: UInt64 = 0
        while scan.sequence.rawValue < head.sequence {
            // Postings are hashed in stretches to limit memory; mentions are compared where a scan ended and stored
            // them.
            let end = min(scan.sequence.rawValue + 65_536, head.sequence, ends.first ?? .max)
            try scan.look(at: session, through: SequenceNumber(end))
            expected.add(scan)
            scan.forgetPostings()
            guard end == ends.first || end == head.sequence else { continue }
            guard index.isMentions(scan.mentions, through: end),
                let strays = index.strays(among: scan.mentions, through: last)
            else { return damage = "the index of messages is not what the events give" }
            scan.note(strays: strays)
            last = end
            scan.forgetMentions()
            ends = ends.dropFirst()
        }
        guard let found = index.sums(), found == expected, index.isHead(of: scan) else {
            return damage = "the index of channels is not what the events give"
        }
        postings = expected.count
    }
}

/// A hash over the entries of each posting list. It does not depend on how the entries are divided into blocks, because that
/// depends on when they were stored.
struct PostingSums: Equatable {
    private struct Owner: Hashable {
        let source: Int
        let channel: String?
    }

    private var postings: [Owner: Hasher256] = [:]

    var count: Int { postings.count }

    /// Adds the entries that a scan has found since `forgetPostings`.
    mutating func add(_ scan: ChannelScan) {
        for block in scan.postings.blocks {
            let channel = block.owner.channel.map { scan.sources[block.owner.source].text($0) }
            _ = block.bytes.withUnsafeBytes { add($0, source: block.owner.source, channel: channel) }
        }
    }

    /// Adds the next block of a posting list; false if it is malformed.
    mutating func add(_ block: UnsafeRawBufferPointer, source: Int, channel: String?) -> Bool {
        let owner = Owner(source: source, channel: channel)
        var hasher = postings[owner] ?? Hasher256()
        var reader = PostingReader(block, channel: .none)
        while let entry = reader.next() {
            // In a block of its own, an entry has the same bytes wherever it came from: its differences count from
            // zero.
            var writer = PostingWriter()
            switch entry {
            case .reference: writer.add(.reference, at: SequenceNumber(reader.sequence))
            case .naming: writer.add(.naming, at: SequenceNumber(reader.sequence))
            case .plain: writer.add(reader.frame, reader.event)
            }
            hasher.update([UInt8(truncatingIfNeeded: writer.bytes.count)] + writer.bytes)
        }
        postings[owner] = hasher
        return !reader.isMalformed
    }

    static func == (left: PostingSums, right: PostingSums) -> Bool {
        left.postings.mapValues { $0.finalize() } == right.postings.mapValues { $0.finalize() }
    }
}
