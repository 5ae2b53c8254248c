import EventLog
import JSON
import Kinds
import Projections

/// What stands on the axis of a page beside the density of events: what was edited and deleted, where recorders lost and found
/// their remotes, what could not be read, and the gaps.
struct LogMarks: Sendable {
    /// The kinds of marks, by the names that the page has for them.
    enum Mark: String, CaseIterable {
        case edit, delete, gap, link, issue
    }

    /// A gap, with the last event before it and the last one within it.
    private struct MarkedGap: Sendable {
        let source: SourceName
        let gap: Gap
        let events: ClosedRange<UInt64>
    }

    /// The log that the marks are of.
    private(set) var head: SequenceNumber
    let generation: UInt32
    private let options: ReplayOptions
    /// The state at the head, from which the marks of later events are made.
    private var state: LogState
    /// Ascending, each sequence once.
    private var sequences: [Mark: [UInt64]] = [:]
    private var gaps: [MarkedGap] = []
    private var kinds: [UInt32: Mark?] = [:]

    /// Cost: a state at the head, the histories of all messages that changed, and a walk over all events.
    ///
    /// - Parameter known: A state of the same log, folded with the same options.
    init(of session: borrowing ReadSession, options: ReplayOptions, from known: LogState? = nil) throws {
        (head, generation, self.options) = (session.head, session.generationNumber, options)
        state = try Replay.logState(of: session, through: session.head, from: known, options: options)
        var found = MarkSets()
        var filter = HistoryFilter()
        filter.needsChange = true
        state.forEachChange(of: [.message], filter: filter, where: { _ in true }) { change in
            found.add(change.class == .delete ? .delete : .edit, change.entry.sequence)
            return false
        } _: { _ in
        }
        for (_, issue) in state.issues { found.add(.issue, issue.sequence) }
        if head > .zero { try walk(SequenceNumber(1)...head, session, &found) }
        sequences = found.sets.mapValues { $0.sorted() }
        gaps = try Self.gaps(of: state, session)
    }

    /// Takes in what was appended. The session must be of the same generation.
    ///
    /// Cost: the new events, and the histories of the messages that they touch.
    mutating func advance(over session: borrowing ReadSession) throws {
        guard head < session.head else { return }
        var touched: Set<EntityReference> = []
        var after = state
        after = try Replay.advance(after, over: session, through: session.head, options: options) { event, state in
            for thing in state.touched(by: event) where thing.kind == .message { touched.insert(thing) }
            return true
        }
        var found = MarkSets()
        for (sequence, change) in after.changes(ofMessages: touched) {
            found.add(change == .delete ? .delete : .edit, sequence)
        }
        var known = MarkSets()
        for (sequence, change) in state.changes(ofMessages: touched) {
            known.add(change == .delete ? .delete : .edit, sequence)
        }
        for mark in [Mark.edit, .delete] where !known[mark].isSubset(of: found[mark]) {
            // A later event made an earlier one another change.
            self = try LogMarks(of: session, options: options, from: after)
            return
        }
        for issue in after.issues.reversed() {
            guard issue.issue.sequence > head else { break }
            found.add(.issue, issue.issue.sequence)
        }
        try walk(head.next...session.head, session, &found)
        for (mark, new) in found.sets {
            let list = sequences[mark] ?? []
            let fresh = new.subtracting(known[mark]).sorted()
            if let first = fresh.first, let last = list.last, first <= last {
                sequences[mark] = Set(list).union(fresh).sorted()
            } else {
                sequences[mark] = list + fresh
            }
        }
        (state, head) = (after, session.head)
        gaps = try Self.gaps(of: state, session)
    }

    private struct MarkSets {
        var sets: [Mark: Set<UInt64>] = [:]

        subscript(mark: Mark) -> Set<UInt64> { sets[mark] ?? [] }

        mutating func add(_ mark: Mark, _ sequence: SequenceNumber) {
            sets[mark, default: []].insert(sequence.rawValue)
        }
    }

    /// Adds the marks that the kinds of events give.
    private mutating func walk(
        _ range: ClosedRange<SequenceNumber>,
        _ session: borrowing ReadSession,
        _ found: inout MarkSets
    ) throws {
        var known = kinds
        try session.forEachEvent(in: range) { event in
            let mark = known[event.laneNumber] ?? Self.mark(of: event.kind)
            known.updateValue(mark, forKey: event.laneNumber)
            if let mark { found.add(mark, event.sequence) }
            return true
        }
        kinds = known
    }

    private static func gaps(of state: borrowing LogState, _ session: borrowing ReadSession) throws -> [MarkedGap] {
        try state.gaps.map { source, gap in
            let first = try session.lastSequence(clockAtMost: gap.from)
            let last = try gap.to.map { try session.lastSequence(clockAtMost: $0) } ?? session.head
            return MarkedGap(source: source, gap: gap, events: first.rawValue...max(first, last).rawValue)
        }
    }

    private static func mark(of kind: EventKind) -> Mark? {
        switch KnownKind(kind) {
        case .recorderGap: .gap
        case .recorderLink: .link
        default: nil
        }
    }

    /// The next event with a mark behind a sequence, or the last one before it; `nil` if there is none.
    func next(from sequence: UInt64, isBack: Bool) -> UInt64? {
        let found = sequences.values.compactMap { Self.next(in: $0, from: sequence, isBack: isBack) }
        return isBack ? found.max() : found.min()
    }

    /// The element of an ascending list behind another one, or before it.
    static func next(in list: [UInt64], from sequence: UInt64, isBack: Bool) -> UInt64? {
        let place = isBack ? index(of: sequence, in: list) - 1 : index(of: sequence &+ 1, in: list)
        return list.indices.contains(place) ? list[place] : nil
    }

    /// The index of the first element that is not less.
    static func index(of sequence: UInt64, in list: [UInt64]) -> Int {
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if list[middle] < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// For each mark the buckets that have one, with how many.
    ///
    /// - Parameter starts: The first events of the buckets, ascending, and the event behind the last bucket.
    func json(in starts: [UInt64]) -> JSONObject {
        var marks = JSONObject()
        for mark in Mark.allCases {
            let list = sequences[mark] ?? []
            let places = starts.map { Self.index(of: $0, in: list) }
            marks[mark.rawValue] = .array(
                zip(places, places.dropFirst()).enumerated().compactMap { bucket, ends in
                    ends.1 > ends.0 ? .array([.int(bucket), .int(ends.1 - ends.0)]) : nil
                }
            )
        }
        return marks
    }

    /// The gaps that touch a range of events, at most so many, and how many there are. Texts of remotes are as they came.
    func gaps(in range: ClosedRange<UInt64>, countMax: Int) -> (shown: JSONValue, count: Int) {
        let found = gaps.filter { $0.events.overlaps(range) }
        let rows = found.prefix(countMax).map { row in
            JSONValue.object([
                "source": .string(row.source.rawValue), "topic": .text(row.gap.topic),
                "reason": .string(row.gap.reason),
                "from": .string(row.gap.from.description), "to": .text(row.gap.to?.description),
                "after": .string(String(row.events.lowerBound)), "through": .string(String(row.events.upperBound)),
            ])
        }
        return (.array(rows), found.count)
    }
}
