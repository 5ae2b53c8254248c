import EventLog

/// The issues of one source (I11).
///
/// A compaction condenses them (I27): of each reason it keeps the first issue and one for all others, with their count,
/// at the last one's event. The count of each reason, and so the digest, stays the same, except for reasons that are
/// merged (`reasonCountMax`).
struct IssueList: Codable, Sendable {
    private enum CodingKeys: CodingKey { case rows, toldThrough }

    /// A compaction counts this many reasons apart, the latest ones.
    static let reasonCountMax = 500
    /// Counts stop here: no log has so many events, and a million such counts still add up without overflow.
    fileprivate static let countMax = 1 << 40
    /// The reason under which a compaction counts all others.
    static let otherReasons = "other reasons, more than a compaction keeps apart"

    /// In order of arrival. With `condenses`, a reason's second row takes in all later ones and keeps its place, so
    /// sequences need not ascend.
    private(set) var rows: [Issue] = []
    /// The issues of events up to this sequence are in `rows`. A compacted log replays kept events up to here again,
    /// and their issues must not count twice.
    private(set) var toldThrough: UInt64 = 0
    /// Whether issues are condensed on arrival, for a compaction that would condense them afterwards.
    var condenses = false
    /// The indexes of each reason's first and last row; equal for a single row. Not saved: decoding adds the rows
    /// again.
    private var places: [ExactText: (first: Int, last: Int)] = [:]

    init() {}

    var count: Int { rows.count }

    /// Adds an issue of an event, unless the facts already tell the issues of that event.
    mutating func append(_ reason: String, at sequence: SequenceNumber) {
        guard sequence.rawValue > toldThrough else { return }
        add(Issue(sequence: sequence, reason: reason))
    }

    /// Adds a row or, with `condenses`, counts it in the reason's second row.
    private mutating func add(_ issue: Issue) {
        let text = ExactText(issue.reason)
        guard let known = places[text] else {
            places[text] = (rows.count, rows.count)
            return rows.append(issue)
        }
        // Reuses the stored text, so a reason that arrives a million times is in memory once.
        let reason = rows[known.first].reason
        guard condenses, known.last != known.first else {
            places[text] = (known.first, rows.count)
            return rows.append(Issue(sequence: issue.sequence, reason: reason, count: issue.count))
        }
        rows[known.last] = rows[known.last].followed(by: issue)
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        for row in try members.decode([Issue].self, forKey: .rows) { add(row) }
        toldThrough = try members.decode(UInt64.self, forKey: .toldThrough)
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(rows, forKey: .rows)
        try members.encode(toldThrough, forKey: .toldThrough)
    }
}

// MARK: - Compaction

extension IssueList {
    /// Condenses all rows. Idempotent: condensed rows stay as they are.
    mutating func retain() {
        var condensed = IssueList()
        condensed.condenses = true
        for row in inOrder { condensed.add(row) }
        let others = condensed.reasonsToMerge
        // All rows again, as a merged reason may have taken the first place of another.
        if !others.isEmpty {
            let rows = condensed.inOrder
            condensed = IssueList()
            condensed.condenses = true
            for row in rows {
                let isOther = others.contains(ExactText(row.reason))
                let reason = isOther ? Self.otherReasons : row.reason
                condensed.add(Issue(sequence: row.sequence, reason: reason, count: row.count))
            }
        }
        condensed.condenses = false
        condensed.toldThrough = max(toldThrough, rows.lazy.map(\.sequence.rawValue).max() ?? 0)
        self = condensed
    }

    /// The reasons beyond `reasonCountMax`: those whose last issue is oldest; of equal ones, by their bytes.
    /// `otherReasons` itself does not count.
    private var reasonsToMerge: Set<ExactText> {
        let reasons = places.filter { $0.key.string != Self.otherReasons }
        guard reasons.count > Self.reasonCountMax else { return [] }
        let sorted = reasons.sorted { left, right in
            let sequences = (rows[left.value.last].sequence, rows[right.value.last].sequence)
            if sequences.0 != sequences.1 { return sequences.0 < sequences.1 }
            return left.key.string.utf8.lexicographicallyPrecedes(right.key.string.utf8)
        }
        return Set(sorted.dropLast(Self.reasonCountMax).map(\.key))
    }

    /// The rows by sequence, then by the reason's bytes: an order that does not depend on condensing.
    private var inOrder: [Issue] {
        rows.sorted { left, right in
            if left.sequence != right.sequence { return left.sequence < right.sequence }
            return left.reason.utf8.lexicographicallyPrecedes(right.reason.utf8)
        }
    }

    /// Each issue as `["sequence", "reason", count]`, without a count of one.
    var normalForm: JSONValue { .array(inOrder.map(Self.value(of:))) }

    /// The issues that a replay of the events in `kept` does not give again: issues of dropped events, and issues up to
    /// `toldThrough`, which `append` passes over.
    func facts(keeping kept: SequenceSet) -> JSONValue {
        let untold = inOrder.filter { issue in
            issue.sequence.rawValue <= toldThrough || !kept.contains(issue.sequence.rawValue)
        }
        return .array(untold.map(Self.value(of:)))
    }

    /// Reads what `facts` wrote; `toldThrough` is the last event that they cover.
    ///
    /// - Throws: `ProjectionError.damagedFacts`.
    init(facts: JSONValue?, toldThrough: UInt64) throws {
        for fact in facts?.array ?? [] { add(try Self.issue(from: fact)) }
        self.toldThrough = toldThrough
    }

    private static func value(of issue: Issue) -> JSONValue {
        let parts: [JSONValue] = [.string(issue.sequence.description), .string(issue.reason)]
        return .array(issue.count == 1 ? parts : parts + [.int(issue.count)])
    }

    private static func issue(from value: JSONValue) throws -> Issue {
        guard let parts = value.array, parts.count == 2 || parts.count == 3,
            let sequence = parts[0].string.flatMap({ UInt64($0) }), let reason = parts[1].string,
            case let count = parts.count == 3 ? parts[2].number?.int64 ?? 0 : 1, (1...Int64(countMax)).contains(count)
        else { throw ProjectionError.facts("an issue is no sequence, reason and count") }
        return Issue(sequence: SequenceNumber(sequence), reason: reason, count: Int(count))
    }
}

extension Issue {
    /// Both issues as one, at the later event, with the sum of their counts.
    fileprivate func followed(by other: Issue) -> Issue {
        let sum = min(count + other.count, IssueList.countMax)
        return Issue(sequence: max(sequence, other.sequence), reason: reason, count: sum)
    }
}
