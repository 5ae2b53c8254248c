public import EventLog

/// Publishes a log's events to a stream, and answers the questions of receivers.
///
/// What the stream lacks is told by what it holds, never by what it has acknowledged: after each round the ids of its messages are listed
/// again. See `docs/ship.md`.
public final class CourierShipment {
    /// Counts of messages and questions since the shipment was made.
    public struct Counts: Hashable, Sendable {
        /// How many messages were published, and their bytes.
        public fileprivate(set) var published = 0
        /// The bytes of the messages that were published.
        public fileprivate(set) var bytes = 0
        /// How many the courier acknowledged.
        public fileprivate(set) var acknowledged = 0
        /// How many were published once more, because the stream lacked them.
        public fileprivate(set) var resent = 0
        /// How many questions were answered.
        public fileprivate(set) var asked = 0
        /// How many messages from before a rewrite were removed from the stream.
        public fileprivate(set) var removed = 0
        /// How many batches of other logs under this log's identity were passed over.
        public fileprivate(set) var foreign = 0

        /// Nothing yet.
        public init() {}

        /// The counters of two shipments together.
        public func adding(_ other: Counts) -> Counts {
            var sum = self
            sum.published += other.published
            sum.bytes += other.bytes
            sum.acknowledged += other.acknowledged
            sum.resent += other.resent
            sum.asked += other.asked
            sum.removed += other.removed
            sum.foreign += other.foreign
            return sum
        }
    }

    private let store: EventStore
    private let courier: any Courier
    private let writer: BatchWriter
    private var view: CourierView
    /// The key that verifies the checkpoints; `nil` without a signature.
    public let verifier: VerifierKey?
    /// The counts since the shipment was made.
    public private(set) var counts = Counts()
    /// The last event that was published in a state of rewrites.
    private var reached: (state: RewriteState, last: UInt64)?
    /// From which event on receivers have asked for what the stream lacks.
    private var wanted: UInt64?
    private var attempt = 0
    /// Batches whose roots are those of this log, and those of other logs.
    private var (own, foreign): (Set<BatchName>, Set<BatchName>) = ([], [])
    /// When another sender was last asked because of a foreign batch.
    private var asked: ContinuousClock.Instant?

    /// A courier that loses more often is given up.
    private static let triesMax = 12
    private static let acknowledgementLimit = Duration.seconds(30)
    private static let askEach = Duration.seconds(60)

    /// - Parameters:
    ///   - store: the log.
    ///   - courier: what carries it.
    ///   - request: origin and key; `writesEntries` means nothing here.
    /// - Throws: what `request.key` throws.
    public convenience init(
        of store: EventStore,
        by courier: any Courier,
        _ request: LogShipment.Request = .init()
    ) throws {
        try self.init(of: store, by: courier, request, eventsMax: 4096)
    }

    /// - Parameter eventsMax: the most events of a batch.
    package init(
        of store: EventStore,
        by courier: any Courier,
        _ request: LogShipment.Request = .init(),
        eventsMax: UInt64
    ) throws {
        (self.store, self.courier) = (store, courier)
        let origin = request.origin ?? "eventlog/\(store.identity.hexDigits)"
        let key = try request.key?(origin)
        (writer, verifier) = (BatchWriter(origin: origin, key: key, eventsMax: eventsMax), key?.verifier)
        view = CourierView(of: courier, identity: store.identity)
    }

    /// Publishes what the stream lacks, until it holds all.
    ///
    /// Where the stream has let go of its oldest messages, as its limits say, those are not published again unless a receiver asks for them.
    /// Once the stream holds the log as it is after a rewrite, the messages from before it are removed.
    ///
    /// Batches of other events under this log's identity are passed over, and counted: whoever may publish can put them there. Only those
    /// that the shipment's key has signed, and the word of another sender that runs, show that this log and another copy of it part.
    ///
    /// Cost: the ids of the stream's messages, at the first call; then what is new.
    ///
    /// - Parameter report: called after each batch, with its last event and the log's head.
    /// - Returns: the log's size and root that the stream now holds.
    /// - Throws: `EventLogError`: `invalidArgument` if another sender goes on with the log otherwise (at `sequence`), or the log is a part;
    ///   `io` if the courier cannot be reached, or loses whatever is published.
    public func round(_ report: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }) throws -> Checkpoint {
        try courier.makeStream()
        var isResend = false
        for _ in 0..<Self.triesMax {
            try view.look(behind: 0)
            try sortOut()
            let (checkpoint, published) = try store.read { session in
                if try session.isPart() {
                    throw refused("the log is a part of another one, and only a whole log travels")
                }
                return (try newest(session), try publish(isResend, session, report))
            }
            if published == 0 {
                wanted = nil
                try removeOlder()
                return checkpoint
            }
            let acknowledged = try courier.acknowledged(within: Self.acknowledgementLimit)
            counts.acknowledged += acknowledged
            try courier.announce()
            attempt += 1
            isResend = true
        }
        throw EventLogError(
            .io,
            operation: "ship to",
            object: courier.name,
            reason: "after \(Self.triesMax) tries the stream still lacks events that it was given",
            advice: "look at the server's log and the stream's limits"
        )
    }

    private func newest(_ session: borrowing ReadSession) throws -> Checkpoint {
        let head = session.head.rawValue
        return try Checkpoint(origin: writer.origin, size: head, root: session.root(size: head))
    }

    private func refused(_ reason: String, at sequence: UInt64? = nil) -> EventLogError {
        EventLogError(
            .invalidArgument,
            operation: "ship to",
            object: courier.name,
            reason: reason,
            sequence: sequence.map { SequenceNumber($0) }
        )
    }

    // MARK: - What the stream lacks

    /// Publishes what the stream lacks. Returns how many messages that took.
    private func publish(
        _ isResend: Bool,
        _ session: borrowing ReadSession,
        _ report: (UInt64, UInt64) -> Void
    ) throws -> Int {
        let header = try session.header()
        let acts = header.acts.map(\.rawValue)
        let state = RewriteState(acts: acts, decidedAt: header.decidedAt.rawValue)
        let before = reached.flatMap { $0.state == state ? $0.last : nil } ?? 0
        var count = 0
        func publish(_ messages: [CourierMessage], isResend: Bool) throws {
            for message in messages {
                try courier.publish(message)
                count += 1
                counts.published += 1
                counts.bytes += message.bytes.count
                if isResend { counts.resent += 1 }
            }
        }
        if !acts.isEmpty, view.remains(of: state) == nil {
            try publish(try writer.remains(header, attempt: attempt, session), isResend: isResend)
        }
        for gap in gaps(in: state, head: header.size) {
            var first = gap.lowerBound
            while first <= gap.upperBound {
                let last = try writer.last(from: first, through: gap.upperBound, session)
                let messages = try writer.batch(
                    from: first,
                    through: last,
                    acts: acts,
                    bookmarks: last == header.size ? header.bookmarks : [:],
                    attempt: attempt,
                    session
                )
                try publish(messages, isResend: isResend || last <= before)
                report(last, header.size)
                first = last + 1
            }
        }
        reached = (state, max(before, header.size))
        return count
    }

    /// The ranges of events that no batch of the stream has. Batches that fill one begin and end with it, so that all follow one another.
    private func gaps(in state: RewriteState, head: UInt64) -> [ClosedRange<UInt64>] {
        let firsts = view.all(of: state).filter { $0.what == .events }.map(\.first).sorted()
        var begin: UInt64 = 1
        if view.isTrimmed, let lowest = firsts.first { begin = min(wanted ?? lowest, lowest) }
        var gaps: [ClosedRange<UInt64>] = []
        var next = max(begin, 1)
        while next <= head {
            if let batch = view.batch(of: state, at: next) {
                next = batch.last + 1
                continue
            }
            let end = firsts.first { $0 > next }.map { min($0 - 1, head) } ?? head
            gaps.append(next...end)
            next = end + 1
        }
        return gaps
    }

    /// Tells the batches of this log, by the roots in their names, from others, which are passed over.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` if another sender goes on with the log otherwise.
    private func sortOut() throws {
        var new: [BatchName] = []
        try store.read { session in
            for batch in view.batches.keys.flatMap({ view.all(of: $0) }) where !own.contains(batch) {
                if foreign.contains(batch) {
                    view.passOver(batch)
                } else if try batch.isNamed(in: session) {
                    own.insert(batch)
                } else {
                    new.append(batch)
                }
            }
        }
        guard !new.isEmpty else { return }
        try checkFork(new)
        for batch in new { view.passOver(batch) }
        foreign.formUnion(new)
        counts.foreign = foreign.count
    }

    /// - Throws: `EventLogError` with code `invalidArgument` if this log's key has signed one of the batches, or a sender that runs has another
    ///   log than this one.
    private func checkFork(_ batches: [BatchName]) throws {
        let fork = CourierFork(
            courier: courier,
            identity: store.identity,
            verifiers: verifier.map { [$0] } ?? []
        )
        if verifier != nil, batches.contains(where: { fork.proved($0, view) != nil }) {
            let head = try store.read { $0.head }
            throw refused(
                try fork.parting(of: store) ?? .at(head.next),
                "a batch in the stream that this log's key has signed"
            )
        }
        guard asked.map({ $0.duration(to: .now) > Self.askEach }) ?? true else { return }
        asked = .now
        guard let tree = fork.asked() else { return }
        let difference = try store.read { session in
            try tree.firstDifference(session) ?? (tree.size > session.head.rawValue ? session.head.next : nil)
        }
        if let difference { throw refused(.at(difference), "another sender that runs") }
    }

    private func refused(_ parting: Parting, _ other: String) -> EventLogError {
        refused(
            "fork \(parting.text): \(other) goes on otherwise, from another copy of this log",
            at: parting.sequence.rawValue
        )
    }

    private func removeOlder() throws {
        guard let state = reached?.state else { return }
        let older = view.positions(before: state)
        guard !older.isEmpty else { return }
        try courier.remove(at: older)
        counts.removed += older.count
        view.reset()
    }

    /// Whether a receiver has asked for events that the stream may lack: `round` publishes them.
    public var isWanted: Bool { wanted != nil }

    // MARK: - Questions

    /// Answers questions for so long, and publishes what receivers lack.
    public func serve(within limit: Duration) throws {
        _ = try courier.answer(within: limit) { try answer($0) }
        if wanted != nil { _ = try round() }
    }

    /// The answer to a question, which may come from anybody; none to what is no question.
    public func answer(_ bytes: [UInt8]) throws -> [UInt8] {
        guard let question = CourierQuestion(bytes) else { return [] }
        counts.asked += 1
        switch question {
        case .file(let path):
            let tree = AnsweredTree(origin: writer.origin, key: writer.key)
            return try store.read { try tree.bytes(at: path, $0) }
        case .tail(let size, let root, let untrue):
            let answer = try store.read { session in
                let head = session.head.rawValue
                return CourierAnswer(
                    size: head,
                    root: try session.root(size: head),
                    agrees: try size > head || session.root(size: size) == root
                )
            }
            if answer.agrees, answer.size > size {
                wanted = min(wanted ?? .max, size + 1)
                try check(untrue)
            }
            return answer.bytes
        }
    }

    /// Looks at batches that a receiver complains of, and believes only what it finds.
    private func check(_ digests: [String]) throws {
        for state in view.batches.keys {
            for batch in view.all(of: state) where digests.contains(batch.digest) {
                do {
                    let read = try view.read(batch)
                    try CourierView.proving(batch) {
                        if let verifier { try read.header.checkpoint.check([verifier]) }
                    }
                    if batch.what == .events { _ = try CourierView.proving(batch) { try read.pieces() } }
                } catch CourierFault.untrue {
                    view.refuse(batch)
                } catch CourierFault.stale {
                    return view.reset()
                }
            }
        }
    }
}
