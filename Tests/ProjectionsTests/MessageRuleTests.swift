import EventLog
import Testing

@testable import Projections

/// The rule as `docs/semantics.md` has it, case by case. The tables are written by hand.
@Suite struct MessageRuleTests {
    private static let standings: [MessageRule.Standing] = [.nowhere, .live, .deletedUntilWritten, .deletedForever]

    /// Versions that the remote orders. A row gives how the version compares with the current one, whether an equal
    /// version is known (`new`, `other`: with another content, `repeat`), whether the text differs, and then a verdict for
    /// each standing. A verdict is the word of the entry, `+` for a new revision, `late`, `wins`, `live`.
    private static let versions = """
        relation known  text    | nowhere            | live               | until written       | for ever
        first    new    same    | created+ wins live | created+ wins live | created+ wins live  | created+ late wins
        first    new    changed | created+ wins live | created+ wins live | created+ wins live  | created+ late wins
        first    other  same    | created wins live  | created wins live  | created wins live   | created late wins
        first    other  changed | created wins live  | created wins live  | created wins live   | created late wins
        first    repeat same    | none wins          | none wins          | created wins live   | none wins
        first    repeat changed | none wins          | none wins          | created wins live   | none wins
        older    new    same    | linked+ late       | linked+ late       | linked+ late        | linked+ late
        older    new    changed | edited+ late       | edited+ late       | edited+ late        | edited+ late
        older    other  same    | linked late        | linked late        | linked late         | linked late
        older    other  changed | edited late        | edited late        | edited late         | edited late
        older    repeat same    | none               | none               | none                | none
        older    repeat changed | none               | none               | none                | none
        equal    new    same    | linked+ wins live  | linked+ wins live  | restored+ wins live | linked+ late wins
        equal    new    changed | edited+ wins live  | edited+ wins live  | restored+ wins live | edited+ late wins
        equal    other  same    | linked wins live   | linked wins live   | restored wins live  | linked late wins
        equal    other  changed | edited wins live   | edited wins live   | restored wins live  | edited late wins
        equal    repeat same    | none wins          | none wins          | restored wins live  | none wins
        equal    repeat changed | none wins          | none wins          | restored wins live  | none wins
        newer    new    same    | linked+ wins live  | linked+ wins live  | restored+ wins live | linked+ late wins
        newer    new    changed | edited+ wins live  | edited+ wins live  | restored+ wins live | edited+ late wins
        newer    other  same    | linked wins live   | linked wins live   | restored wins live  | linked late wins
        newer    other  changed | edited wins live   | edited wins live   | restored wins live  | edited late wins
        newer    repeat same    | none wins          | none wins          | restored wins live  | none wins
        newer    repeat changed | none wins          | none wins          | restored wins live  | none wins
        """

    @Test func aVersionIsJudgedAsTheTableHasIt() throws {
        let relations: [String: MessageRule.Relation] = [
            "first": .first, "older": .older, "equal": .equal, "newer": .newer,
        ]
        var rows: Set<String> = []
        for row in Self.rows(Self.versions) {
            let relation = try #require(relations[row.facts[0]])
            let (known, text) = (row.facts[1], row.facts[2])
            rows.insert(row.facts.joined(separator: " "))
            for (standing, expected) in zip(Self.standings, row.verdicts) {
                let verdict = MessageRule.judge(
                    relation,
                    standing,
                    isKnown: known != "new",
                    repeatsKnown: known == "repeat",
                    changesText: text == "changed"
                )
                #expect(Self.words(verdict) == expected, "\(row.facts) \(standing)")
            }
        }
        #expect(rows.count == 4 * 3 * 2)
    }

    /// Commits: only the log orders the versions. The columns of facts are whether a version is known, and whether the
    /// current one has the same content; one that repeats the content has its text, too.
    private static let arrivals = """
        current content text    | nowhere            | live               | until written       | for ever
        none    new     same    | created+ wins live | created+ wins live | created+ wins live  | created+ wins
        none    new     changed | created+ wins live | created+ wins live | created+ wins live  | created+ wins
        known   new     same    | linked+ wins live  | linked+ wins live  | restored+ wins live | linked+ wins
        known   new     changed | edited+ wins live  | edited+ wins live  | restored+ wins live | edited+ wins
        known   repeat  same    | restored wins live | none wins          | restored wins live  | linked wins
        """

    @Test func aCommitIsJudgedAsTheTableHasIt() {
        var count = 0
        for row in Self.rows(Self.arrivals) {
            count += 1
            for (standing, expected) in zip(Self.standings, row.verdicts) {
                let verdict = MessageRule.judgeByArrival(
                    isFirst: row.facts[0] == "none",
                    standing,
                    repeatsCurrent: row.facts[1] == "repeat",
                    changesText: row.facts[2] == "changed"
                )
                #expect(Self.words(verdict) == expected, "\(row.facts) \(standing)")
            }
        }
        #expect(count == 5)
    }

    /// A row is the deletion that the message has, a column the one that arrives; `N` by name, `C` with the channel, `G`
    /// with the guild, each for ever or (`n`, `c`, `g`) until written.
    private static let deletions = """
        known | N   | C   | G   | n   | c   | g
        none  | yes | yes | yes | yes | yes | yes
        N     | no  | no  | no  | no  | no  | no
        C     | yes | no  | no  | no  | no  | no
        G     | yes | no  | no  | no  | no  | no
        n     | yes | yes | yes | no  | no  | no
        c     | yes | yes | yes | yes | no  | no
        g     | yes | yes | yes | yes | no  | no
        """

    @Test func aDeletionTakesEffectAsTheTableHasIt() throws {
        let kinds: [String: MessageRule.Deletion] = [
            "N": .byName,
            "C": MessageRule.Deletion(cause: .channelDeleted, permanence: .forever),
            "G": MessageRule.Deletion(cause: .guildDeleted, permanence: .forever),
            "n": MessageRule.Deletion(cause: .deleted, permanence: .untilWritten),
            "c": MessageRule.Deletion(cause: .channelDeleted, permanence: .untilWritten),
            "g": MessageRule.Deletion(cause: .guildDeleted, permanence: .untilWritten),
        ]
        var count = 0
        for row in Self.rows(Self.deletions) {
            for (name, expected) in zip(["N", "C", "G", "n", "c", "g"], row.verdicts) {
                let deletion = try #require(kinds[name])
                let takesEffect = MessageRule.takesEffect(deletion, after: kinds[row.facts[0]])
                #expect(takesEffect == (expected == "yes"), "\(name) after \(row.facts)")
                count += 1
            }
            let isByName = ["N", "n"].contains(row.facts[0])
            #expect(MessageRule.channelEndEnters(after: kinds[row.facts[0]]) == !isByName)
        }
        #expect(count == 7 * 6)
    }

    /// Absent versions are the least ones, in both forms of a message.
    @Test func versionsCompareAlikeInBothForms() {
        let instants: [Int64?] = [nil, -1, 0, 1]
        for (index, version) in instants.enumerated() {
            for (other, current) in instants.enumerated() {
                let expected: MessageRule.Relation = index < other ? .older : index > other ? .newer : .equal
                #expect(MessageRule.Relation(of: Self.packed(version), to: Self.packed(current)) == expected)
                #expect(MessageRule.Relation(of: Self.rank(version), to: Self.rank(current)) == expected)
            }
            #expect(MessageRule.Relation(of: Self.packed(version), to: nil) == .first)
            #expect(MessageRule.Relation(of: Self.rank(version), to: nil) == .first)
        }
    }

    /// Texts are compared only where the verdict depends on them: most frames bring a first version or a new one.
    @Test func textsAreComparedOnlyWhereTheyDecide() {
        var compared: [String] = []
        func note(_ what: String, _ result: Bool) -> Bool {
            compared.append(what)
            return result
        }
        func comparisons(_ relation: MessageRule.Relation, isKnown: Bool) -> [String] {
            compared = []
            _ = MessageRule.judge(
                relation,
                relation == .first ? .nowhere : .live,
                isKnown: isKnown,
                repeatsKnown: note("content", true),
                changesText: note("text", true)
            )
            return compared
        }
        #expect(comparisons(.newer, isKnown: false) == ["text"])
        #expect(comparisons(.newer, isKnown: true) == ["content"])
        #expect(comparisons(.first, isKnown: false).isEmpty)
    }

    private static func packed(_ seconds: Int64?) -> PackedTime {
        seconds.map { PackedTime(seconds: $0, nanoseconds: 0) } ?? .none
    }

    private static func rank(_ seconds: Int64?) -> MessageRevision.Rank {
        MessageRevision.Rank(version: seconds.map { Timestamp(seconds: $0, nanoseconds: 0) })
    }

    private static func words(_ verdict: MessageRule.Verdict) -> String {
        var words = [verdict.entry.map { "\($0.word)" + ($0.isNewRevision ? "+" : "") } ?? "none"]
        if verdict.entry?.isLate == true { words.append("late") }
        if verdict.wins { words.append("wins") }
        if verdict.becomesLive { words.append("live") }
        return words.joined(separator: " ")
    }

    /// The rows of a table below its heading.
    private static func rows(_ table: String) -> [(facts: [String], verdicts: [String])] {
        table.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
            return (cells[0], cells.dropFirst().map { $0.joined(separator: " ") })
        }
    }
}
