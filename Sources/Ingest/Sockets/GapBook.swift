#if Recorders
/// The gaps of a socket machine that are not closed, and which of them have an end.
struct GapBook {
    /// In the order in which they were opened.
    private(set) var open: [SocketGap]
    /// Those of `open` that have an end: nothing more is missed in them.
    private(set) var ended: Set<SocketGap>
    /// The number of the last gap, also of earlier runs.
    private var count: Int

    /// - Parameters:
    ///   - open: the open gaps of earlier runs, numbered from 1.
    ///   - ended: those of `open` that have an end.
    init(_ open: [SocketGap], ended: Set<SocketGap>) {
        (self.open, self.ended) = (open, ended)
        count = open.count
    }

    /// Whether no gap of a topic goes on.
    func hasNone(goingOn topic: String?) -> Bool {
        open.allSatisfy { $0.topic != topic || ended.contains($0) }
    }

    /// Adds a gap that goes on; the caller must return the action that opens it.
    mutating func open(_ reason: GapReason, topic: String? = nil) -> SocketGap {
        count += 1
        assert((open.last?.number ?? 0) < count, "gaps are numbered in the order in which they open")
        let gap = SocketGap(number: count, reason: reason, topic: topic)
        open.append(gap)
        return gap
    }

    /// Ends one gap.
    mutating func end(_ gap: SocketGap) {
        assert(open.contains(gap), "an open gap ends")
        ended.insert(gap)
    }

    /// Ends the gaps of a topic that go on, and returns them: from now on nothing is missed.
    mutating func end(topic: String?) -> [SocketGap] {
        let ending = open.filter { $0.topic == topic && !ended.contains($0) }
        ended.formUnion(ending)
        return ending
    }

    /// Forgets the gaps that `isClosed` accepts, and returns them.
    mutating func close(where isClosed: (SocketGap) -> Bool) -> [SocketGap] {
        let closed = open.filter(isClosed)
        open.removeAll(where: isClosed)
        ended.subtract(closed)
        return closed
    }
}

/// When a snapshot begins, and which gaps it closes: one at a time, and after causes that come in a burst only one more.
struct SnapshotSchedule: Equatable {
    /// The gaps that the running snapshot will close; `nil` while none runs.
    private var covered: Set<SocketGap>?
    /// True if a snapshot must follow the running one, or begin once it can.
    private var isNeeded = false
    /// When the last snapshot began; `nil` if this run took none.
    private var began: Duration?
    /// When the snapshot that is due may begin.
    private(set) var next: Duration?

    /// The least time between the beginnings of two snapshots.
    private static let pause = Duration.seconds(1)

    /// Begins a snapshot, or notes that one is due. It then begins when the running one has ended, one can be taken, and
    /// `pause` has passed since the last one began.
    ///
    /// - Parameters:
    ///   - canBegin: whether changes come in now. Otherwise one between the snapshot and the first of them would be in
    ///     neither.
    ///   - gaps: those that it covers. Gaps that open while it runs are not covered: it may have read their part before.
    /// - Returns: whether the caller must take it now.
    mutating func start(
        covering gaps: some Sequence<SocketGap>,
        canBegin: Bool,
        at now: Duration,
        after pause: Duration = .zero
    ) -> Bool {
        isNeeded = true
        guard covered == nil, canBegin else { return false }
        if let began, began + pause > now {
            next = began + pause
            return false
        }
        (isNeeded, next, began, covered) = (false, nil, now, Set(gaps))
        return true
    }

    /// Whether a snapshot that was due is needed still, now that its time has come; `start` it after `pauseOfOne`.
    mutating func startDue(covering gaps: some Sequence<SocketGap>, canBegin: Bool, at now: Duration) -> Bool {
        next = nil
        return isNeeded && start(covering: gaps, canBegin: canBegin, at: now, after: Self.pause)
    }

    /// Ends the running snapshot.
    ///
    /// - Parameter pause: after which one that failed is taken again.
    /// - Returns: the gaps that it closes; `nil` if none ran or it failed.
    mutating func finish(isComplete: Bool, at now: Duration, retryAfter pause: Duration) -> Set<SocketGap>? {
        defer { covered = nil }
        guard covered != nil, !isComplete else { return covered }
        (isNeeded, next) = (true, now + pause)
        return nil
    }
}
#endif
