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
    let head: SequenceNumber
    let generation: UInt32
    /// Ascending, each sequence once.
    private let sequences: [Mark: [UInt64]]
    private let gaps: [MarkedGap]

    /// Cost: a state at the head, the histories of all messages, and a walk over all events.
    init(of session: borrowing ReadSession, options: ReplayOptions) throws {
        (head, generation) = (session.head, session.generationNumber)
        var found: [Mark: Set<UInt64>] = [:]
        let state = try Replay.logState(of: session, options: options)
        state.forEachChange(of: [.message], where: { _ in true }) { change in
            found[change.class == .delete ? .delete : .edit, default: []].insert(change.entry.sequence.rawValue)
            return false
        } _: { _ in
        }
        for (_, issue) in state.issues { found[.issue, default: []].insert(issue.sequence.rawValue) }
        var kinds: [UInt32: Mark?] = [:]
        try session.forEachEvent(in: SequenceNumber(1)...max(session.head, SequenceNumber(1))) { event in
            let mark = kinds[event.laneNumber] ?? Self.mark(of: event.kind)
            kinds.updateValue(mark, forKey: event.laneNumber)
            if let mark { found[mark, default: []].insert(event.sequence.rawValue) }
            return true
        }
        sequences = found.mapValues { $0.sorted() }
        gaps = try state.gaps.map { source, gap in
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
