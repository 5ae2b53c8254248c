import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Reduction
@testable import logtool

@Suite struct AnonymizerTests {
    /// Every eighth scenario; `EVENTLOG_LONG_TESTS=1` takes all.
    private static let scenarios: [Scenario] = {
        let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
        // A log with decoder files is refused.
        let scenarios = Scenario.all.filter { (try? $0.decoders.sources.isEmpty) == true }
        return scenarios.enumerated().filter { isLong || $0.offset % 8 == 0 }.map(\.element)
    }()

    /// Of a scenario nothing is left that was replaced but what is listed, and its shape stays.
    @Test(arguments: scenarios)
    func nothingReplacedIsLeft(scenario: Scenario) throws {
        let folder = try TemporaryDirectory()
        let store = try scenario.log(in: folder)
        let events = try store.read { try Candidate.whole(of: $0) }.events
        let result = try LogAnonymizing(of: store).run().result
        #expect(!result.kept.contains(.times), "\(result.kept)")
        #expect(result.events.map(\.draft.kind) == events.map(\.draft.kind))
        guard result.kept.isDisjoint(with: [.words, .names]) else { return }
        let listed = Set(result.texts.flatMap { $0.texts ?? [] }.flatMap(Anonymizer.words))
            .union(["true", "false", "null", "data", "event", "retry"])
        let left = Self.words(of: events).intersection(Self.words(of: result.events)).subtracting(listed)
        #expect(left.isEmpty, "\(left.sorted())")
    }

    /// Equal texts stay equal, different ones different, ids and times in their order.
    @Test func substitutesAreTheSameForTheSame() throws {
        let texts = [
            "Ann wrote to ann@garden.example", "wrote", "153833649995911168", "153833649995911169",
            "2026-03-01T12:00:00.25Z",
            "20260301T120000-ann", "2026-03-08", "7d0c0000-0000-4000-8000-000000000001", "1772366400", "ANN",
        ]
        let substitutes = Substitutes(
            for: texts.map { PlacedText($0) },
            earliest: Timestamp(seconds: 1_772_366_400),
            classes: Set(TextClass.allCases)
        )
        let replaced = texts.map { substitutes.replace($0) }
        #expect(zip(texts, replaced).allSatisfy { $0.unicodeScalars.count == $1.unicodeScalars.count }, "\(replaced)")
        #expect(replaced[0].contains(replaced[1]) && replaced[9] == replaced[5].suffix(3).uppercased())
        #expect(replaced[2] < replaced[3])
        #expect(replaced[4].hasPrefix("200") && replaced[4].hasSuffix("T12:00:00.25Z"))
        #expect(replaced[4].prefix(10).replacingOccurrences(of: "-", with: "") == replaced[5].prefix(8))
        // A week later is a week later.
        let days = [replaced[4], replaced[6]].map {
            Timestamp(rfc3339: $0.prefix(10) + "T00:00:00Z")?.microseconds ?? 0
        }
        #expect(days[1] - days[0] == 7 * 86_400_000_000)
        #expect(Int(replaced[8]).map { (1_772_366_400 - $0) % (7 * 86_400) == 0 } == true)
        #expect(Set(replaced).count == texts.count)
    }

    @Test func theCalendarGoesBothWays() {
        for day in stride(from: -200_000, through: 2_000_000, by: 997) {
            let parts = CalendarDay.parts(of: day)
            #expect(CalendarDay.number(parts.year, parts.month, parts.day) == day)
        }
        #expect(CalendarDay.number(1970, 1, 1) == 0 && CalendarDay.number(2001, 1, 1) == 11_323)
        #expect(CalendarDay.number(2026, 2, 29) == nil && CalendarDay.number(2024, 2, 29) != nil)
    }

    @Test func aLogLosesItsWordsAndKeepsItsAnswer() throws {
        let folder = try TemporaryDirectory()
        let secret = SampleCaptures.line(
            50,
            SampleCaptures.message(9, content: "Write to marlene@orchard.example, please")
        )
        try folder.write(SampleCaptures.gateway(messages: 5) + secret, to: "c.ndjson")
        _ = try ToolRun.run(["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"], in: folder)
        let run = try ToolRun.run(
            [
                "shrink", "L", "-o", "S", "--anonymize", "--json", "--when",
                "messages[\"1009\"].content contains \"marlene\"",
            ],
            in: folder
        )
        #expect(run.exitCode == 0, "\(run.errors)")
        let document = try JSONValue.parse(run.output)
        let kept = try #require(document["kept"]?.array)
        #expect(kept.contains { $0["class"]?.string == "constants" && $0["texts"]?.array?.isEmpty == false })
        #expect(!kept.contains { $0["class"]?.string == "test" })
        let test = try #require(document["when"]?.string)
        #expect(!test.contains("marlene"))
        let events = try ToolRun.run(["events", "S", "--jsonl", "--payload"], in: folder).output.lowercased()
        for word in ["marlene", "orchard", "please", "write"] { #expect(!events.contains(word)) }
        #expect(try ToolRun.run(["bisect", "S", "--when", test], in: folder).exitCode == 0)
    }

    @Test func whatACommandDependsOnStays() throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 4)
        let run = try ToolRun.run(
            ["shrink", "L", "-o", "S", "--anonymize", "--run", "grep -q 'message 3'"],
            in: folder
        )
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains("terms stay, because the answer depends on them"), "\(run.output)")
        let none = try ToolRun.run(
            [
                "shrink", "L", "-o", "N", "--anonymize", "--run",
                "grep -q 'message 3.*2026-01-01T00:00:03.*\"id\":\"1003\"'; true",
            ],
            in: folder
        )
        #expect(none.exitCode == 2 && none.errors.contains("says yes of a log without events"))
    }

    @Test func anExpressionIsRenamed() throws {
        let expression = try StateExpression(parsing: #"messages["a/\"b"].content == 'it\'s' and count(rows) > 3"#)
        let other = try #require(expression.renaming { $0.replacingOccurrences(of: "it", with: "at") })
        #expect(other.description == #"messages["a/\"b"].content == 'at\'s' and count(rows) > 3"#)
        #expect(other.texts == ["a", "\"b", "at's"])
    }

    // MARK: - Words

    /// The words of more than three letters in payloads, keys, sources and attributes.
    private static func words(of events: [CandidateEvent]) -> Set<String> {
        let texts = events.flatMap { event in
            [
                String(decoding: event.draft.payload, as: UTF8.self), event.draft.key?.rawValue ?? "",
                event.draft.source.rawValue,
            ] + event.draft.attributes.pairs.map(\.value)
        }
        return Set(texts.flatMap(Anonymizer.words).filter { $0.count > 3 })
    }
}
