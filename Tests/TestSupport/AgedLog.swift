import EventLog

/// A healthy log that a seed draws and that ages step by step: it grows, is compacted, or events of it are redacted.
///
/// Payloads, bookmarks and facts have sizes on both sides of what fits into a page of LMDB, and a fact grows or shrinks
/// with each rewrite. Equal seeds and steps give equal logs, apart from identities.
public struct AgedLog {
    /// One step of a log's life.
    public enum Step: String, CaseIterable, Sendable {
        /// Events come, with bookmarks.
        case grow
        /// Events are dropped, and facts written.
        case compact
        /// Payloads are replaced by substitutes.
        case redact
    }

    /// The log.
    public let log: TemporaryLog
    /// The steps so far, for messages.
    public private(set) var steps: [Step] = []
    private var random: SeededGenerator
    private var drafts = 0

    /// Makes an empty log.
    public init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        log = try TemporaryLog()
    }

    /// Makes a log of some age: empty or grown, then up to five times compacted or redacted and grown again. One log in
    /// six is fresh.
    public init(ofSomeAge seed: UInt64) throws {
        try self.init(seed: seed)
        let age = Int.random(in: 0...5, using: &random)
        if age > 0 || Bool.random(using: &random) { try take(.grow) }
        for _ in 0..<age {
            try take(Int.random(in: 0..<4, using: &random) == 0 ? .redact : .compact)
            if Int.random(in: 0..<4, using: &random) > 0 { try take(.grow) }
        }
    }

    /// Takes one step.
    public mutating func take(_ step: Step) throws {
        steps.append(step)
        switch step {
        case .grow: try grow()
        case .compact: try compact()
        case .redact: try redact()
        }
    }
}

// MARK: - Steps

extension AgedLog {
    private mutating func grow() throws {
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let source = try SourceName(["a", "b", "é"].randomElement(using: &random) ?? "a")
            let batch = try (0..<Int.random(in: 0...150, using: &random)).map { _ in try draft(source) }
            let isMarked = batch.isEmpty || Bool.random(using: &random)
            let bookmark = isMarked ? Bookmark(source: source, bytes: bytes(upTo: 60_000)) : nil
            _ = try log.store.append(batch, bookmark: bookmark)
        }
    }

    private mutating func draft(_ source: SourceName) throws -> DraftEvent {
        drafts += 1
        let direction = try Attributes([.init(name: "dir", value: Bool.random(using: &random) ? "in" : "out")])
        // Most events are short; a few need a page of their own, or many.
        let isLong = Int.random(in: 0..<20, using: &random) == 0
        return DraftEvent(
            recordedAt: Timestamp(seconds: Int64(drafts)),
            source: source,
            kind: try EventKind(drafts % 7 == 0 ? "status.file/1" : "gateway.frame/1"),
            key: Bool.random(using: &random) ? try EventKey("key/\(drafts)") : nil,
            attributes: drafts % 3 == 0 ? direction : .none,
            payload: bytes(upTo: isLong ? 30_000 : 200)
        )
    }

    /// Drops nearly all, some or hardly any of the events that are no acts, and writes one to three facts.
    private mutating func compact() throws {
        let (held, head) = try held()
        let share = [2, 50, 98].randomElement(using: &random) ?? 50
        let dropped = held.keys.sorted().filter { _ in Int.random(in: 0..<100, using: &random) < share }
        var facts: [String: [UInt8]] = [:]
        for name in ["facts", "ledger", "é"].shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)) {
            facts[name] = bytes(upTo: 200_000)
        }
        _ = try log.store.rewrite(.dropping(dropped, decidedAt: head, facts: facts))
    }

    /// Replaces the payloads of up to five whole events.
    private mutating func redact() throws {
        let (held, head) = try held()
        let whole = held.filter { $0.value == .whole }.keys.sorted()
        var substitutes: [SequenceNumber: [UInt8]] = [:]
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            guard let sequence = whole.randomElement(using: &random) else { continue }
            substitutes[SequenceNumber(sequence)] = bytes(upTo: 5_000)
        }
        let names = substitutes.sorted { $0.key < $1.key }.map {
            "{\(RewritePlan.name(ofSubstitute: $0.value, for: $0.key))}"
        }
        let act = DraftEvent(
            recordedAt: Timestamp(seconds: 1_000_000),
            source: .logtool,
            kind: try EventKind("logtool.redact/1"),
            payload: Array("{\"redacted\":[\(names.joined(separator: ","))]}".utf8)
        )
        _ = try log.store.rewrite(RewritePlan(dropped: [], decidedAt: head, act: act, substitutes: substitutes))
    }

    /// What is held of the events that are no acts, and the head.
    private func held() throws -> (events: [UInt64: EventHolding], head: SequenceNumber) {
        try log.store.read { session in
            var held: [UInt64: EventHolding] = [:]
            guard session.head > .zero else { return (held, session.head) }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                let envelope = event.copied().envelope
                if !envelope.isAct { held[envelope.sequence.rawValue] = envelope.holding }
                return true
            }
            return (held, session.head)
        }
    }

    /// Random bytes. Half of the sizes lie below the 2,000 bytes that fit into a page, the others up to the limit.
    private mutating func bytes(upTo limit: Int) -> [UInt8] {
        let isShort = Bool.random(using: &random)
        let count = Int.random(in: 0...(isShort ? min(limit, 2_000) : limit), using: &random)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
        return Array(bytes.prefix(count))
    }
}
