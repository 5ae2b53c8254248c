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
        /// How many batches were refused because they were not what they said.
        public fileprivate(set) var refused = 0
    }

    private let courier: any Courier
    private let path: String
    private let options: EventStore.Options
    private var view: CourierView?
    /// Batches that were refused, for the sender to look at.
    private var untrue: [String] = []

    /// How long a sender has for an answer, and how long nothing may come after one.
    private static let answerLimit = Duration.seconds(5)
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
            let lacks = lacking(view, here)
            // Where no stream is yet, nothing tells that the log is whole.
            let isThere = try courier.extent() != nil
            let answer = try ask(here, request, &result)
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
    }

    private func local() throws -> Local? {
        guard let store = try pull(nil).store() else { return nil }
        return try store.read { session in
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
            guard let (chain, isWhole) = next(view, here) else {
                // The missing events may lie in messages that the view has not looked at.
                guard !view.isWhole, looksEverywhere || lacking(view, here) != nil else { return false }
                looksEverywhere = false
                view.reset()
                try view.look(behind: 0)
                return next(view, here) != nil
            }
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
            // A beginning without the newest act is no log in that state.
            if isWhole, log.manifest.acts.last ?? 0 > log.size { return false }
            let pulled = try pull(log).run(request) { done, _ in report(done, max(view.last(of: state), done)) }
            result.checkpoint = pulled.checkpoint
            result.rewrites += pulled.rewrites
            return true
        } catch CourierFault.untrue(let batch, let reason) {
            lastRefusal = reason
            result.refused += 1
            if untrue.count >= CourierQuestion.untrueMax { untrue.removeFirst() }
            untrue.append(batch.digest)
            view.refuse(batch)
            return true
        } catch CourierFault.stale {
            view.reset()
            return true
        } catch CourierFault.fork(let first) {
            guard let here else { throw TreeFault.error(courier.name, "its batches do not fit together") }
            guard let batch = try parting(from: here, before: first, view, request) else { return false }
            view.refuse(batch)
            return true
        }
    }

    /// Whether a sender has more than was found, so that it may lie where nobody has looked.
    private var looksEverywhere = false
    /// Why the last batch was refused.
    private var lastRefusal: String?

    /// The batches that follow the log, and whether they replace it.
    private func next(_ view: CourierView, _ here: Local?) -> (chain: [BatchName], isWhole: Bool)? {
        let head = here?.head ?? 0
        for state in view.batches.keys.sorted(by: >) {
            if let here, state == here.state {
                guard let first = view.batch(of: state, with: head + 1) else { continue }
                return ([first] + view.chain(of: state, from: first.last + 1), false)
            }
            guard here.map({ state > $0.state }) ?? true else { continue }
            let chain = view.chain(of: state, from: 1)
            guard let last = chain.last, last.last > head, state.count == 0 || view.remains(of: state) != nil else {
                continue
            }
            if state.count > 0, view.last(of: state) > last.last { continue }
            return (chain, true)
        }
        return nil
    }

    /// The last event that the stream has more of than can be taken; `nil` if nothing is missing.
    private func lacking(_ view: CourierView?, _ here: Local?) -> UInt64? {
        guard let view, let state = view.newestState else { return nil }
        let last = view.last(of: state)
        return last > here?.head ?? 0 ? last : nil
    }

    // MARK: - Questions

    /// Asks a sender whether it has more, which it then publishes; `nil` if none answers.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` if its log is another one.
    private func ask(_ here: Local?, _ request: LogPull.Request, _ result: inout Result) throws -> CourierAnswer? {
        let head = here?.head ?? 0
        let root = here?.root ?? MerkleTree.emptyRoot
        let question = CourierQuestion.tail(size: head, root: root, untrue: untrue)
        guard let bytes = try courier.ask(question.bytes, within: Self.answerLimit), let answer = CourierAnswer(bytes)
        else { return nil }
        result.asked += 1
        guard let here else { return answer }
        let agrees =
            try answer.size > head
            ? answer.agrees : here.store.read { try $0.root(size: answer.size) } == answer.root
        if !agrees, try parting(from: here, before: head + 1, view, request) == nil {
            throw pull(nil).refused("the sender's log is another one")
        }
        return answer
    }

    /// Finds where the log and the one that was shipped part: by the sender's hashes, a tile for each level; if none answers, by the batches.
    ///
    /// - Returns: a batch that is of neither log; `nil` if that is not known.
    /// - Throws: `EventLogError` with code `invalidArgument`, at the first event that differs.
    private func parting(
        from here: Local,
        before first: UInt64,
        _ view: CourierView?,
        _ request: LogPull.Request
    ) throws -> BatchName? {
        if let tree = try? TreeState(
            of: AskedTree(courier: courier, limit: Self.answerLimit),
            verifiers: request.verifiers
        ) {
            if let sequence = try here.store.read({ try tree.firstDifference($0) }) {
                throw pull(nil).fork(at: sequence)
            }
            // The sender's log is like this one, so the batch lies.
            return view?.batch(of: here.state, with: here.head + 1)
        }
        var all = CourierView(of: courier, identity: here.identity)
        try all.look(behind: 0)
        for batch in all.all(of: here.state).filter({ $0.what == .events && $0.first < first }).sorted(by: {
            $0.last < $1.last
        }) {
            guard
                let log = try? CourierLog(
                    [batch],
                    remains: nil,
                    all,
                    behind: here.store,
                    isWhole: false,
                    verifiers: request.verifiers,
                    name: courier.name
                )
            else { continue }
            if let sequence = try here.store.read({ try log.firstDifference($0) }) {
                throw pull(nil).fork(at: sequence)
            }
        }
        throw pull(nil).refused(
            "fork before sequence \(first): the log there goes on otherwise",
            at: SequenceNumber(first)
        )
    }
}
