import EventLog

/// The issues of one source.
///
/// A compaction condenses them: of each reason the first issue stays, and one for all others, at the last one's event, with
/// their count. How many issues there were with which reason, and so the digest, stays as it was.
struct IssueList: Codable, Sendable {
    private enum CodingKeys: CodingKey { case rows, toldThrough }

    /// So many reasons keep their own count in a compaction, those that were heard last.
    static let reasonCountMax = 500
    /// More are not counted; no log has so many events, and a million such counts can be added.
    fileprivate static let countMax = 1 << 40
    /// What all others are counted under.
    static let otherReasons = "other reasons, more than a compaction keeps apart"

    /// In order of arrival; the sequences of condensed ones as `condenses` says.
    private(set) var rows: [Issue] = []
    /// What events up to this one had to say is told already: they come again after a compaction.
    private(set) var toldThrough: UInt64 = 0
    /// Whether issues are condensed as they come, for a compaction that would do so afterwards.
    var condenses = false
    /// Where the last row of each reason stands; of all but the first one it takes the next one in.
    private var places: [ExactText: (first: Int, last: Int)] = [:]

    init() {}

    var count: Int { rows.count }

    mutating func append(_ reason: String, at sequence: SequenceNumber) {
        guard sequence.rawValue > toldThrough else { return }
        add(Issue(sequence: sequence, reason: reason))
    }

    private mutating func add(_ issue: Issue) {
        let text = ExactText(issue.reason)
        guard let known = places[text] else {
            places[text] = (rows.count, rows.count)
            return rows.append(issue)
        }
        // The text that is there already: a reason that comes a million times is held once.
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
    /// Condenses what is there. Idempotent.
    mutating func retain() {
        var condensed = IssueList()
        condensed.condenses = true
        for row in inOrder { condensed.add(row) }
        let others = condensed.reasonsToMerge
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

    /// All but the newest.
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

    private var inOrder: [Issue] {
        rows.sorted { left, right in
            if left.sequence != right.sequence { return left.sequence < right.sequence }
            return left.reason.utf8.lexicographicallyPrecedes(right.reason.utf8)
        }
    }

    /// Of each issue `["sequence", "reason", count]`; a count of one is left out.
    var snapshot: JSONValue { .array(inOrder.map(Self.value(of:))) }

    /// The issues that no event in `kept` is going to tell again.
    func facts(keeping kept: Set<UInt64>) -> JSONValue {
        let untold = inOrder.filter { issue in
            issue.sequence.rawValue <= toldThrough || !kept.contains(issue.sequence.rawValue)
        }
        return .array(untold.map(Self.value(of:)))
    }

    /// Reads what `facts` gave, and up to which event that is all.
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
    /// Both as one, at the later event.
    fileprivate func followed(by other: Issue) -> Issue {
        let sum = min(count + other.count, IssueList.countMax)
        return Issue(sequence: max(sequence, other.sequence), reason: reason, count: sum)
    }
}
