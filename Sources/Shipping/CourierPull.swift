public import EventLog

/// Brings a log up to what a courier brings, and asks a sender for what is missing. Where the log stands is told by the log alone. See
/// `docs/ship.md`.
public final class CourierPull {
    /// The result of a pull.
    public struct Result: Sendable {
        /// The log's head before, and now.
        public let before: UInt64
        /// The log's head now; 0 without a log.
        public fileprivate(set) var head: UInt64 = 0
        /// The root over all its events.
        public fileprivate(set) var root = MerkleTree.emptyRoot
        /// The checkpoint that proved the last events; `nil` if none were taken.
        public fileprivate(set) var checkpoint: SignedCheckpoint?
        /// How many acts of rewrites the log has followed.
        public fileprivate(set) var rewrites = 0
        /// How many questions a sender answered.
        public fileprivate(set) var asked = 0
        /// How many batches were not what they said.
        public fileprivate(set) var refused = 0
        /// How many batches of other logs under this log's identity were passed over.
        public fileprivate(set) var foreign = 0
    }

    private let courier: any Courier
    private let path: String
    private let options: EventStore.Options
    private var view: CourierView?
    /// Batches that were refused, for the sender to look at.
    private var untrue: [String] = []
    /// Batches of other logs.
    private var strangers: Set<BatchName> = []

    /// How long nothing may come after a sender's answer.
    private static let patience = Duration.seconds(30)
    /// How often a sender is asked for the same events.
    private static let questionsMax = 64

    /// - Parameters:
    ///   - courier: what brings the events.
    ///   - path: the log, which is made if nothing is there.
    public init(from courier: any Courier, into path: String, options: EventStore.Options = .init()) {
        (self.courier, self.path, self.options) = (courier, path, options)
    }

    /// Takes what the log lacks, up to the newest event that the stream or a sender knows.
    ///
    /// Events are durable some batches at a time, in order. After rewrites of the other log the whole of it is read, and takes effect at once.
    ///
    /// Cost: O(log n) messages to find where the log stands in the stream, and the batches behind it. Memory: 64 batches, or 64 MiB.
    ///
    /// - Parameters:
    ///   - arrival: how long events that are missing are waited for where no sender answers.
    ///   - report: called now and then with the last event that was taken, and the last that is known.
    /// - Throws: `LogPull.CompactionRefused`; `EventLogError`: `notFound` if events are missing, which it names, or there is nothing;
    ///   `invalidArgument` if the log forks off (at `sequence`), is another one or a part; `locked`, `io` or `damaged`.
    public func run(
        _ request: LogPull.Request = .init(),
        within arrival: Duration = .zero,
        _ report: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws -> Result {
        var result = Result(before: try local()?.head ?? 0)
        var end = ContinuousClock.now + arrival
        var questions = 0
        while true {
            let here = try local()
            if try take(request, here, &result, report) {
                questions = 0
                continue
            }
            result.head = here?.head ?? 0
            result.root = here?.root ?? MerkleTree.emptyRoot
            let lacks = try lacking(here, request, &result)
            // Where no stream is yet, nothing tells that the log is whole.
            let isThere = try courier.extent() != nil
            let answer = try ask(here, request, &result)
            if answer == nil, result.foreign > 0, let here { try checkFork(here, request) }
            if answer.map({ $0.size <= result.head }) ?? (lacks == nil && result.head > 0 && isThere) {
                // A pull that was killed may have left what was redacted since.
                try here?.store.removeLeftoversIfAny()
                return result
            }
            if answer != nil, questions == 0 { end = max(end, ContinuousClock.now + Self.patience) }
            questions += answer == nil ? 0 : 1
            looksEverywhere = answer != nil
            guard ContinuousClock.now < end, questions <= Self.questionsMax else {
                if answer == nil, lacks == nil { throw empty() }
                throw missing((result.head + 1)...max(lacks ?? 0, answer?.size ?? 0, result.head + 1), answer != nil)
            }
            try courier.awaitNews(within: .milliseconds(answer == nil ? 1000 : 200))
        }
    }

    /// Waits until a sender announces something, at most so long.
    public func awaitNews(within limit: Duration) throws { try courier.awaitNews(within: limit) }

    private func empty() -> EventLogError {
        EventLogError(
            .notFound,
            operation: "pull from",
            object: courier.name,
            reason: "the stream has no events, and no sender answers",
            advice: "logtool ship LOG --to nats://… fills it"
        )
    }

    private func missing(_ range: ClosedRange<UInt64>, _ isAsked: Bool) -> EventLogError {
        EventLogError(
            .notFound,
            operation: "pull from",
            object: courier.name,
            reason: "the events \(range.lowerBound) to \(range.upperBound) have not arrived",
            advice: isAsked
                ? "the sender has them, and the stream did not bring them"
                    + (lastRefusal.map { "; a batch was refused: \($0)" } ?? "")
                : "no sender answers: let logtool ship run again, or wait with --arrival",
            sequence: SequenceNumber(range.lowerBound)
        )
    }

    // MARK: - The log here

    private struct Local {
        let store: EventStore
        let identity: [UInt8]
        let head: UInt64
        let root: Hash256
        let state: RewriteState

        func fork(_ courier: any Courier, _ request: LogPull.Request) -> CourierFork {
            CourierFork(courier: courier, identity: identity, verifiers: request.verifiers)
        }
    }

    private func local() throws -> Local? {
        guard let store = try pull(nil).store() else { return nil }
        return try store.read { session in
            if try session.isPart() { throw pull(nil).refused("the log there is a part of another one") }
            let acts = try session.acts().map(\.rawValue)
            return Local(
                store: store,
                identity: try session.identity(),
                head: session.head.rawValue,
                root: try session.root(size: session.head.rawValue),
                state: RewriteState(acts: acts, decidedAt: session.decidedAt.rawValue)
            )
        }
    }

    private func pull(_ log: CourierLog?) -> LogPull {
        LogPull(into: path, options: options) { [name = courier.name] _, _ in
            guard let log else { throw TreeFault.notWhole(name, []) }
            return log
        }
    }

    // MARK: - Batches

    /// Takes the next batches. Returns whether there were any, or the stream has to be looked at again.
    private func take(
        _ request: LogPull.Request,
        _ here: Local?,
        _ result: inout Result,
        _ report: (UInt64, UInt64) -> Void
    ) throws -> Bool {
        guard let identity = try courier.identity() else { return false }
        if let here, here.identity != identity {
            throw pull(nil).refused("the log there has another identity than the one that was shipped")
        }
        var view = self.view ?? CourierView(of: courier, identity: identity)
        defer { self.view = view }
        do {
            try view.look(behind: here?.head ?? 0)
            for (chain, isWhole) in view.candidates(behind: here?.head ?? 0, in: here?.state) {
                let state = chain[0].state
                let log = try CourierLog(
                    chain,
                    remains: isWhole ? view.remains(of: state) : nil,
                    view,
                    behind: isWhole ? nil : here?.store,
                    isWhole: isWhole && state.count > 0,
                    verifiers: request.verifiers,
                    name: courier.name
                )
                // A beginning without the newest act is no log in that state, yet.
                if isWhole, log.manifest.acts.last ?? 0 > log.size { continue }
                let last = view.last(of: state)
                try here?.store.read { session in
                    guard let sequence = try log.firstDifference(session)?.rawValue else { return }
                    throw CourierFault.fork(chain.first { $0.last >= sequence } ?? chain[0], before: sequence + 1)
                }
                let pulled = try pull(log, isWhole ? chain[0] : nil, chain, request) { done, _ in
                    report(done, max(last, done))
                }
                result.checkpoint = pulled.checkpoint
                result.rewrites += pulled.rewrites
                return true
            }
            // The missing events may lie in messages that the view has not looked at.
            guard !view.isWhole, looksEverywhere || view.reach(behind: here?.head ?? 0, in: here?.state) != nil else {
                return false
            }
            looksEverywhere = false
            view.reset()
            try view.look(behind: 0)
            return view.candidates(behind: here?.head ?? 0, in: here?.state).contains { _ in true }
        } catch CourierFault.untrue(let batch, let reason) {
            refuse(batch, reason, &view, &result)
            return true
        } catch CourierFault.stale {
            view.reset()
            return true
        } catch CourierFault.fork(let batch, let first) {
            if let here { try checkFork(here, before: first, request) }
            passOver(batch, &view, &result)
            return true
        }
    }

    private func refuse(_ batch: BatchName, _ reason: String, _ view: inout CourierView, _ result: inout Result) {
        lastRefusal = reason
        result.refused += 1
        if untrue.count >= CourierQuestion.untrueMax { untrue.removeFirst() }
        untrue.append(batch.digest)
        view.refuse(batch)
    }

    private func passOver(_ batch: BatchName, _ view: inout CourierView, _ result: inout Result) {
        view.passOver(batch)
        strangers.insert(batch)
        result.foreign += 1
    }

    /// Takes what a chain of batches gives.
    ///
    /// - Throws: `CourierFault` for what is wrong with them: what is proved may still be no log, where nobody has signed it.
    private func pull(
        _ log: CourierLog,
        _ blamed: BatchName?,
        _ chain: [BatchName],
        _ request: LogPull.Request,
        _ report: (UInt64, UInt64) -> Void
    ) throws -> LogPull.Result {
        do {
            return try pull(log).run(request, report)
        } catch let error as EventLogError where error.code == .invalidArgument || error.code == .invalidEnvelope {
            let head = try local()?.head ?? 0
            throw CourierFault.untrue(blamed ?? chain.first { $0.last > head } ?? chain[0], error.reason)
        }
    }

    /// Whether a sender has more than was found, so that it may lie where nobody has looked.
    private var looksEverywhere = false
    /// Why the last batch was refused.
    private var lastRefusal: String?

    /// The last event that the stream has more of than can be taken, by a batch that holds; `nil` if nothing is missing.
    private func lacking(_ here: Local?, _ request: LogPull.Request, _ result: inout Result) throws -> UInt64? {
        guard var view else { return nil }
        defer { self.view = view }
        for batch in view.followers(of: strangers, behind: here?.head ?? 0) { passOver(batch, &view, &result) }
        while let batch = view.reach(behind: here?.head ?? 0, in: here?.state) {
            do {
                let read = try view.read(batch)
                try CourierView.proving(batch) {
                    if !request.verifiers.isEmpty { try read.header.checkpoint.check(request.verifiers) }
                }
                return batch.last
            } catch CourierFault.untrue(let batch, let reason) {
                refuse(batch, reason, &view, &result)
            } catch CourierFault.stale {
                return batch.last
            }
        }
        return nil
    }

    // MARK: - Questions

    /// Asks a sender whether it has more, which it then publishes; `nil` if none answers.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` if its log is another one.
    private func ask(_ here: Local?, _ request: LogPull.Request, _ result: inout Result) throws -> CourierAnswer? {
        let head = here?.head ?? 0
        let root = here?.root ?? MerkleTree.emptyRoot
        let question = CourierQuestion.tail(size: head, root: root, untrue: untrue)
        guard let bytes = try courier.ask(question.bytes, within: CourierFork.answerLimit),
            let answer = CourierAnswer(bytes)
        else { return nil }
        result.asked += 1
        guard let here else { return answer }
        let agrees =
            try answer.size > head
            ? answer.agrees : here.store.read { try $0.root(size: answer.size) } == answer.root
        if agrees { return answer }
        try checkAsked(here, request)
        guard request.verifiers.isEmpty else {
            // Anybody may have answered, but only the key's owner signs.
            if let parting = try here.fork(courier, request).parting(of: here.store) { throw forked(parting) }
            return nil
        }
        throw pull(nil).refused("the sender's log is another one")
    }

    /// Asks where the log and the one that was shipped part, because a batch is of another log: by the hashes of a sender that answers; else
    /// by the batches, if they are signed as asked.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument`, at the first event that differs. Where a sender has the log here, or nobody can
    ///   tell, the batch is somebody else's.
    private func checkFork(_ here: Local, before first: UInt64, _ request: LogPull.Request) throws {
        try checkAsked(here, request)
        guard !request.verifiers.isEmpty else { return }
        throw forked(try here.fork(courier, request).parting(of: here.store) ?? .before(SequenceNumber(first)))
    }

    private func checkAsked(_ here: Local, _ request: LogPull.Request) throws {
        guard let tree = here.fork(courier, request).asked(),
            let sequence = try here.store.read({ try tree.firstDifference($0) })
        else { return }
        throw pull(nil).fork(at: sequence)
    }

    /// Without a sender and keys: the log here is that of the stream if a batch ends where it does.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` if none does, and one is of another log.
    private func checkFork(_ here: Local, _ request: LogPull.Request) throws {
        var all = CourierView(of: courier, identity: here.identity)
        try all.look(behind: 0)
        let root = BatchName.half(here.root)
        guard !all.all(of: here.state).contains(where: { $0.last == here.head && $0.root == root }),
            let parting = try here.fork(courier, request).parting(of: here.store)
        else { return }
        throw forked(parting)
    }

    private func forked(_ parting: Parting) -> EventLogError {
        if case .at(let sequence) = parting { return pull(nil).fork(at: sequence) }
        return pull(nil).refused("fork \(parting.text): the log there goes on otherwise", at: parting.sequence)
    }
}
