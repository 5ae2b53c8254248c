import Clients
import EventLog
import Foundation
import JSON
import Projections
import TestSupport
import Testing

@testable import logtool

/// A search that rules out by bytes finds what a search through everything finds, in all apps' logs.
@Suite struct SearchPropertyTests {
    // MARK: - Bytes

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func bytesHoldWhatTheDecodedTextHolds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var found = 0
        for _ in 0..<400 {
            let payload = Array(Self.text(30, &random).utf8) + Self.oddBytes(&random)
            let wanted = Self.needle(in: payload, &random)
            for ignoresCase in [false, true] {
                let isFound = payload.withUnsafeBytes(TextMatch(wanted, ignoresCase: ignoresCase).isFound(in:))
                let undone = payload.withUnsafeBytes(JSONEscapes.undone(in:))
                let expected = [payload, undone].contains { Self.holds($0, wanted, ignoresCase) }
                #expect(isFound == expected, "\(wanted.debugDescription) in \(payload), \(ignoresCase)")
                if expected { found += 1 }
            }
        }
        #expect(found > 100, "seed \(seed)")
    }

    @Test func onlyKOfTheLettersOfASCIIHasAnotherForm() throws {
        let cased = (0x80...0x1FFFF).compactMap { Unicode.Scalar($0) }.filter {
            $0.properties.isCased || $0.properties.changesWhenLowercased || $0.properties.changesWhenUppercased
                || $0.properties.changesWhenCaseFolded
        }
        let text = String(String.UnicodeScalarView(cased))
        for letter in "abcdefghijklmnopqrstuvwxyz" where letter != "k" {
            #expect(!Self.holds(Array(text.utf8), String(letter), true), "\(letter)")
        }
        #expect(Self.holds(Array("\u{212A}".utf8), "k", true))
    }

    /// Words, escapes, parts of escapes and odd letters, one after another.
    private static func text(_ count: Int, _ random: inout SeededGenerator) -> String {
        let pieces = [
            "a", "A", "k", "K", "\u{212A}", "é", "e\u{301}", "É", "ß", "ẞ", "ſ", "s", "İ", "ı", "i", "🙂", "日", " ",
            "\\n",
            "\\\\", "\\\"", "\\u0061", "\\u0041", "\\u00e9", "\\u00C9", "\\ud83d\\ude42", "\\ud83d", "\\u212a", "\\",
            "u0061",
            "\\/", "tea", "Tea", "cake", "{\"content\":\"", "\"}", "the quick brown fox jumps over the lazy dog",
        ]
        return (0..<Int.random(in: 0...count, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
            .joined()
    }

    private static func oddBytes(_ random: inout SeededGenerator) -> [UInt8] {
        Bool.random(using: &random) ? [] : (0..<3).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// A text that may be in a payload: a piece of it, mostly, decoded or not, perhaps in other letters.
    private static func needle(in payload: [UInt8], _ random: inout SeededGenerator) -> String {
        let undone = payload.withUnsafeBytes(JSONEscapes.undone(in:))
        let scalars = Array(
            String(decoding: Bool.random(using: &random) ? undone : payload, as: UTF8.self).unicodeScalars
        )
        var text = text(2, &random)
        if let start = scalars.indices.randomElement(using: &random), Int.random(in: 0...4, using: &random) > 0 {
            let end = min(scalars.count, start + Int.random(in: 1...12, using: &random))
            text = String(String.UnicodeScalarView(scalars[start..<end]))
        }
        if Int.random(in: 0...3, using: &random) == 0 { text = text.uppercased() }
        return text.isEmpty ? "tea" : text
    }

    /// Whether bytes hold a text, found without any of the program's searches.
    private static func holds(_ bytes: [UInt8], _ wanted: String, _ ignoresCase: Bool) -> Bool {
        guard ignoresCase else { return bytes.firstRange(of: Array(wanted.utf8)) != nil }
        let pattern = Regex<Substring>(verbatim: wanted).ignoresCase().matchingSemantics(.unicodeScalar)
        return String(decoding: bytes, as: UTF8.self).firstRange(of: pattern) != nil
    }

    // MARK: - Histories

    @Test(arguments: Scenario.all)
    func inEachScenarioAFilterRulesOutNothingThatFits(scenario: Scenario) throws {
        let folder = try TemporaryDirectory()
        // The clients read gateways alone otherwise.
        let isOfGateway = scenario.testDescription.hasPrefix("retrocast")
        let profiles = Self.isLong && isOfGateway ? [Profile.canonical, .retrocastWeb, .retrocastIOS] : [.canonical]
        var random = SeededGenerator(seed: 7)
        try scenario.log(in: folder).read { session in
            for profile in profiles {
                var options = ReplayOptions()
                options.profile = profile
                try Self.check(Replay.logState(of: session, options: options), rounds: Self.isLong ? 6 : 2, &random)
            }
        }
    }

    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil

    @Test(arguments: 1...(isLong ? 6 : 2) as ClosedRange<UInt64>)
    func inRandomLogsAFilterRulesOutNothingThatFits(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let log = try TemporaryLog(try (1...400).map { try Self.draft($0, &random) })
        for profile in [Profile.canonical, .retrocastWeb] {
            var options = ReplayOptions()
            options.profile = profile
            let state = try log.store.read { try Replay.logState(of: $0, options: options) }
            let rounds = Self.isLong ? 40 : 15
            #expect(try Self.check(state, rounds: rounds, &random) > rounds / 2, "seed \(seed)")
        }
    }

    /// Frames about a few messages in a few channels, plain ones and others, with escapes and unknown members.
    private static func draft(_ number: Int, _ random: inout SeededGenerator) throws -> DraftEvent {
        let id = Int.random(in: 1...60, using: &random)
        let channel = 10 + (Int.random(in: 0...20, using: &random) == 0 ? 5 : id % 4)
        let data: String
        let name: String
        switch Int.random(in: 0...30, using: &random) {
        case 0: (name, data) = ("CHANNEL_DELETE", #"{"id":"\#(channel)"}"#)
        case 1...4: (name, data) = ("MESSAGE_DELETE", #"{"id":"\#(id)","channel_id":"\#(channel)"}"#)
        case let kind:
            let pieces = [
                "tea", "TEA", "\\u0074ea", "é", "\\u00e9", "🙂", "\\ud83d\\ude42", "\\n", "\\\"", "cake", "日本",
            ]
            func words(_ most: Int) -> String {
                (0..<Int.random(in: 0...most, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                    .joined(separator: " ")
            }
            let others = [
                "", #","nonce":"\#(words(2))""#, #","attachments":["\#(words(2))"]"#,
                #","extra":{"deep":["\#(words(2))",1]}"#,
                #","flags":null"#,
            ]
            let edited =
                kind < 15 ? #","edited_at":"2026-01-02T00:00:\#(Int.random(in: 10...59, using: &random))Z""# : ""
            name = kind < 15 ? "MESSAGE_UPDATE" : "MESSAGE_CREATE"
            // A time of another form is not plain.
            let time = kind % 5 == 0 ? "2026-01-01T01:00:00+01:00" : "2026-01-01T00:00:00Z"
            data =
                #"{"id":"\#(id)","channel_id":"\#(channel)","author_id":"7","content":"\#(words(5))","created_at":"\#(time)""#
                + edited + (others.randomElement(using: &random) ?? "") + "}"
        }
        return DraftEvent(
            recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
            source: try SourceName("guild"),
            kind: try EventKind("gateway.frame/1"),
            attributes: ["dir": "in", "connection": "c"],
            payload: Array(#"{"op":0,"s":\#(number),"t":"\#(name)","d":\#(data)}"#.utf8)
        )
    }

    /// Compares searches with and without a filter.
    ///
    /// - Returns: how many things were found.
    @discardableResult
    private static func check(_ state: LogState, rounds: Int, _ random: inout SeededGenerator) throws -> Int {
        var texts: [String] = []
        state.forEachHistory { _, entries in
            for entry in entries { texts += EntryTexts.texts(of: entry.fields).map(\.text) }
        }
        var count = 0
        for _ in 0..<rounds {
            let payload = Array((texts.randomElement(using: &random) ?? "tea").utf8)
            let match = TextMatch(needle(in: payload, &random), ignoresCase: Bool.random(using: &random))
            var filter = HistoryFilter()
            filter.text = match.search
            let found = histories(of: state, filter, match)
            #expect(found == histories(of: state, HistoryFilter(), match), "\(match.text.debugDescription)")
            count += found.count
            filter.needsChange = true
            for last in [nil, 0, 1, 3, 1000] as [Int?] {
                for needsEnd in [false, true] {
                    filter.needsEnd = needsEnd
                    for text in [match, nil] {
                        if text == nil { filter.text = nil }
                        let changes = changes(of: state, filter, text, last: last, needsEnd: needsEnd)
                        let all = self.changes(of: state, HistoryFilter(), text, last: last, needsEnd: needsEnd)
                        #expect(changes == all, "\(match.text.debugDescription), last \(last ?? -1), \(needsEnd)")
                    }
                    filter.text = match.search
                }
            }
            try checkExpressions(state, match.text)
        }
        return count
    }

    private static func holds(_ fields: JSONObject?, _ match: TextMatch) -> Bool {
        fields.map { EntryTexts.texts(of: $0).contains { holds(Array($0.text.utf8), match.text, match.ignoresCase) } }
            ?? false
    }

    /// What a search found of one thing.
    private struct Finding: Equatable {
        let thing: EntityReference
        let entries: [HistoryEntry]
        var before: JSONObject?
    }

    private static func histories(of state: LogState, _ filter: HistoryFilter, _ match: TextMatch) -> [Finding] {
        var found: [Finding] = []
        state.forEachHistory(filter: filter) { thing, entries in
            if entries.contains(where: { holds($0.fields, match) }) {
                found.append(Finding(thing: thing, entries: entries))
            }
        }
        return found
    }

    /// The changes, and how often each entry was passed over of things that the filter lets through whatever it wants.
    private struct FoundChanges: Equatable {
        var changes: [Finding] = []
        var passedOver: [HistoryEntry: Int] = [:]
    }

    private static func changes(
        of state: LogState,
        _ filter: HistoryFilter,
        _ match: TextMatch?,
        last: Int?,
        needsEnd: Bool
    ) -> FoundChanges {
        var found = FoundChanges()
        state.forEachChange(
            of: AuditOptions.auditable,
            filter: filter,
            where: { _ in true },
            last: last,
            passedOver: { entry in
                if !needsEnd, match.map({ holds(entry.fields, $0) }) ?? true {
                    found.passedOver[entry, default: 0] += 1
                }
            },
            includes: { change in
                (!needsEnd || change.class == .delete)
                    && (match.map { holds(change.before, $0) || holds(change.after, $0) } ?? true)
            }
        ) { found.changes.append(Finding(thing: $0.entity, entries: [$0.entry], before: $0.before)) }
        return found
    }

    /// Rows that a filter names by their content.
    private static func checkExpressions(_ state: LogState, _ text: String) throws {
        var state = state
        let document = state.document()
        for section in [Section.messages, .deletedMessages] {
            let contents = (document[section.rawValue]?.array ?? []).map { $0["content"]?.string }
            let literal = JSONValue.string(text).canonicalText
            let holding = contents.filter { $0.map { Array($0.utf8).firstRange(of: Array(text.utf8)) != nil } ?? false }
            let expression = "count(\(section)[content contains \(literal)]) = \(holding.count)"
            #expect(try StateExpression(parsing: expression).holds(in: state), "\(expression)")
            let equal = contents.filter { $0.map { $0.utf8.elementsEqual(text.utf8) } ?? false }
            let other = "count(\(section)[id != \"0\" and content = \(literal)]) = \(equal.count)"
            #expect(try StateExpression(parsing: other).holds(in: state), "\(other)")
        }
    }

    @Test func anErrorBeforeTheTextStillShows() throws {
        var random = SeededGenerator(seed: 1)
        let log = try TemporaryLog(try (1...20).map { try Self.draft($0, &random) })
        let state = try log.store.read { try Replay.logState(of: $0) }
        let expression = try StateExpression(parsing: #"exists(messages[author and content = "no such text"])"#)
        #expect(throws: ExpressionError.self) { try expression.holds(in: state) }
    }
}
