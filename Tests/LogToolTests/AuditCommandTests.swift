import EventLog
import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct AuditCommandTests {
    let folder: TemporaryDirectory

    /// Message 1001 is edited, 1002 deleted, and the channel of 1003 goes.
    init() throws {
        folder = try TemporaryDirectory()
        let edit =
            #"{"op":0,"s":9,"t":"MESSAGE_UPDATE","d":{"id":"1001","channel_id":"10","author_id":"7","#
            + #""author_username":"ada","content":"<script>alert('x')</script>\#u{202E} & one","#
            + #""created_at":"2026-01-01T00:00:00Z","edited_at":"2026-01-02T00:00:00Z"}}"#
        let delete = #"{"op":0,"s":10,"t":"MESSAGE_DELETE","d":{"id":"1002","channel_id":"10"}}"#
        let end = #"{"op":0,"s":11,"t":"CHANNEL_DELETE","d":{"id":"10"}}"#
        var frames = SampleCaptures.gateway(messages: 0)
        frames += SampleCaptures.line(2, SampleCaptures.message(1))
        frames += SampleCaptures.line(3, SampleCaptures.message(2, content: "=HYPERLINK(1), \\\"two\\\""))
        frames += SampleCaptures.line(4, SampleCaptures.message(3))
        for (number, frame) in [edit, delete, end].enumerated() { frames += SampleCaptures.line(60 + number, frame) }
        try folder.write(frames, to: "c.ndjson")
        _ = try tool("ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild")
    }

    @Test func everyChangeIsListedInTheOrderOfEvents() throws {
        let lines = try entries()
        #expect(lines.map { $0["change"] as? String } == ["edited", "deleted", "deleted", "deleted"])
        #expect(lines.map { $0["sequence"] as? String } == ["6", "7", "8", "8"])
        #expect(lines[1]["entity"] as? String == "message:guild/10/1002")
        #expect(lines[1]["by"] == nil && lines[1]["remoteTime"] == nil && lines[1]["after"] == nil)
        #expect((lines[1]["before"] as? [String: Any])?["content"] as? String == #"=HYPERLINK(1), "two""#)
        #expect((lines[0]["before"] as? [String: Any])?["content"] as? String == "message 1")
        #expect(lines[0]["by"] as? String == "7")
        #expect(lines[0]["recordedAt"] as? String == "2026-01-01T00:01:00.000000Z")
        #expect(lines[0]["remoteTime"] as? String == "2026-01-02T00:00:00.000000Z")
    }

    /// `history` has an entry for each of them.
    @Test func lateVersionsThatChangedNothingAreCounted() throws {
        let late = { (day: Int, hour: Int) in
            #"{"op":0,"s":9,"t":"MESSAGE_UPDATE","d":{"id":"1001","channel_id":"10","author_id":"7","author_username":"ada","#
                + #""content":"version \#(hour)","created_at":"2026-01-01T00:00:00Z","edited_at":"2026-01-0\#(day)T\#(hour):00:00Z"}}"#
        }
        var frames = SampleCaptures.gateway(messages: 1)
        for (number, frame) in [late(3, 20), late(2, 11), late(2, 12)].enumerated() {
            frames += SampleCaptures.line(60 + number, frame)
        }
        try folder.write(frames, to: "late.ndjson")
        _ = try tool("ingest", "M", "capture", "late.ndjson", "--kind", "gateway", "--as", "guild")
        #expect(try tool("history", "M", "message:1001", "--jsonl").output.split(separator: "\n").count == 4)
        for (options, count) in [
            ([], 2), (["--edits"], 2), (["--match", "version 11"], 1), (["--until", "5"], 1), (["--deletes"], 0),
            (["-n", "1"], 0),
        ] as [([String], Int)] {
            let run = try ToolRun.run(["audit", "M", "--jsonl"] + options, in: folder)
            let words =
                count == 1
                ? "1 version is not listed, because it came late" : "2 versions are not listed, because they came late"
            #expect(run.errors.contains("came late") == (count > 0), "\(options)")
            #expect(count == 0 || run.errors.contains(words), "\(run.errors)")
        }
    }

    @Test func peopleReadWhoDidItAndWhatItSaid() throws {
        let output = try tool("audit", "L").output
        #expect(output.contains("edited  message:guild/10/1001  by 7\n"))
        #expect(output.contains("deleted  message:guild/10/1002  by whom is not told\n"))
        #expect(output.contains(#"  content: - "=HYPERLINK(1)"#))
        #expect(output.contains("(deleted with its channel)"))
        #expect(output.hasSuffix("\n1 edit, 3 deletes\n"))
    }

    @Test(arguments: [
        (["--edits"], ["6"]), (["--deletes"], ["7", "8", "8"]), (["--edits", "--deletes"], ["6", "7", "8", "8"]),
        (["--change", "edited"], ["6"]), (["--change", "delete"], ["7", "8", "8"]), (["--match", "HYPER"], ["7"]),
        (["--match", "message 1"], ["6"]), (["--since", "7"], ["7", "8", "8"]), (["--until", "6"], ["6"]),
        (["--since", "2026-01-01T00:01:01Z", "--until", "2026-01-01T00:01:01Z"], ["7"]), (["-n", "2"], ["8", "8"]),
        (["--entity", "message:1002"], ["7"]), (["--by", "7"], ["6"]), (["--author", "ada", "--edits"], ["6"]),
        (["--channel", "10"], ["6", "7", "8", "8"]), (["--source", "guild", "--edits"], ["6"]), (["-n", "0"], []),
        (["--only", "channels"], ["8"]), (["--only", "messages,channels", "--since", "8"], ["8", "8", "8"]),
    ])
    func filtersNarrowTheList(options: [String], sequences: [String]) throws {
        let run = try ToolRun.run(["audit", "L", "--json"] + options, in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        let lines = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]]
        #expect(lines?.map { $0["sequence"] as? String } == sequences)
    }

    @Test(arguments: [
        ["--author", "ada", "--change", "move"], ["--change", "retitled"], ["--match", "nowhere"], ["--only", "items"],
    ])
    func whereNothingFitsTheListIsEmptyAndTheCodeIs1(options: [String]) throws {
        let run = try ToolRun.run(["audit", "L", "--json"] + options, in: folder)
        #expect(run.exitCode == 1)
        #expect(run.output == "[]\n")
        #expect(run.errors.contains("no change fits"))
    }

    @Test(arguments: [
        ["--json", "--csv"], ["--html", "a", "--jsonl"], ["--prove"], ["--prove", "--csv"], ["-n", "-1"], ["--yes"],
        ["--only", "issues"], ["--entity", "issue:7"], ["--match", ""],
    ])
    func whatCannotBeUnderstoodEndsWith2(options: [String]) throws {
        #expect(try ToolRun.run(["audit", "L"] + options, in: folder).exitCode == 2)
    }

    @Test func commaSeparatedValuesHoldNoFormula() throws {
        let output = try tool("audit", "L", "--csv").output
        let lines = output.components(separatedBy: "\r\n")
        #expect(lines[0] == "sequence,recordedAt,remoteTime,entity,change,kinds,by,author,before,after")
        #expect(
            lines[2] == "7,2026-01-01T00:01:01.000000Z,,message:guild/10/1002,deleted,,,ada,"
                + #""'=HYPERLINK(1), ""two""","#
        )
        #expect(lines.last == "")
    }

    @Test(arguments: [
        ("plain", "plain"), ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@A1", "'@A1"), ("'=1", "''=1"),
        ("\tx", "\"'\tx\""), ("a\"b", "\"a\"\"b\""), ("a,b", "\"a,b\""), ("a\r\nb", "\"a\r\nb\""), ("", ""),
        ("\u{FF1D}1", "'\u{FF1D}1"), ("\u{1B}[2Jx", "\\u{1b}[2Jx"), ("a\rb", "a\\u{d}b"), ("a\nb\tc", "\"a\nb\tc\""),
        ("a\u{202E}b\r\n\u{9B}c", "\"a\\u{202e}b\r\n\\u{9b}c\""), ("\rx", "'\\u{d}x"),
    ])
    func cellsAreQuotedAndGuarded(text: String, cell: String) {
        #expect(CommaSeparated.cell(text) == cell)
    }

    /// The data of a page are the entries of `--json` with their class and notes; the page is the same each time.
    @Test(arguments: [[], ["--deletes"], ["--prove"]])
    func thePageHoldsTheEntriesAsData(options: [String]) throws {
        #expect(try ToolRun.run(["audit", "L", "--html", "a.html"] + options, in: folder).exitCode == 0)
        let page = try String(contentsOfFile: folder.path("a.html"), encoding: .utf8)
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</body></html>\n"))
        #expect(page.components(separatedBy: "<script").count == 3 && !page.contains("alert("))
        #expect(
            !page.contains("src=") && !page.contains("http:")
                && page.contains("default-src 'none'; script-src 'sha256-")
        )
        var lines = try WebPage.block("audit", of: page)
        let (first, last) = (lines.removeFirst(), lines.removeLast())
        #expect(first["format"] as? String == "eventlog.audit/1" && first["title"] as? String == "L")
        #expect(first["asked"] as? String == (options == ["--deletes"] ? "--deletes" : "all changes"))
        let root = try tool("root", "L").output.split { !$0.isHexDigit }.first { $0.count == 64 }
        #expect(last["root"] as? String == root.map { String($0) } && last["size"] as? String == "8")
        #expect(
            last["counts"] as? [String: Int] == (options == ["--deletes"] ? ["delete": 3] : ["edit": 1, "delete": 3])
        )
        let told = try ToolRun.run(["audit", "L", "--json"] + options, in: folder).output
        let expected = try #require(try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [[String: Any]])
        #expect(lines.map { $0["class"] as? String }.suffix(3) == ["delete", "delete", "delete"])
        #expect(lines.last?["notes"] as? [String] == ["deleted with its channel"])
        let entries = lines.map { line in line.filter { !["class", "notes"].contains($0.key) } }
        #expect(entries as NSArray == expected as NSArray)
        #expect(try ToolRun.run(["audit", "L", "--html", "a.html"] + options, in: folder).exitCode == 4)
        #expect(try ToolRun.run(["audit", "L", "--html", "a.html", "--yes"] + options, in: folder).exitCode == 0)
        #expect(try String(contentsOfFile: folder.path("a.html"), encoding: .utf8) == page)
    }

    @Test(arguments: [
        ["audit", "L", "--json"], ["audit", "L", "--jsonl"], ["history", "L", "message:1001", "--json"],
        ["history", "L", "message:1001", "--jsonl"], ["history", "L", "--match", "message", "--json"],
        ["history", "L", "--match", "message", "--jsonl"],
    ])
    func everyEntryIsProvedWithoutTheLog(arguments: [String]) throws {
        let run = try ToolRun.run(arguments + ["--prove"], in: folder)
        try FileManager.default.moveItem(atPath: folder.path("L"), toPath: folder.path("gone"))
        try folder.write(run.output, to: "p.json")
        let check = try tool("prove", "--check", "p.json")
        #expect(check.exitCode == 0, "\(check.errors)")
        #expect(check.output.hasPrefix("holds: "))
        #expect(check.output.contains("in the log of 8 events with the root "))
    }

    @Test(arguments: [
        (#""sequence":"7""#, #""sequence":"6""#), ("2026-01-01T00:01:01", "2026-01-01T00:01:00"),
        (#","proof":{"#, #","other":{"#),
    ])
    func anAlteredEntryIsNamed(text: String, other: String) throws {
        let lines = try tool("audit", "L", "--jsonl", "--prove").output.split(separator: "\n").map(String.init)
        var altered = lines
        altered[1] = altered[1].replacingFirst(text, other)
        try #require(altered != lines)
        try folder.write(altered.joined(separator: "\n"), to: "p.json")
        let run = try tool("prove", "--check", "p.json", "--json")
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("1 of 4 entries are not proved: entry 2, event "))
        let answer = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        #expect(answer?["holds"] as? Bool == false)
        #expect((answer?["failed"] as? [[String: Any]])?.map { $0["entry"] as? Int } == [2])
    }

    @Test func entriesOfTwoLogsAreNotOneAnswer() throws {
        let first = try tool("audit", "L", "--jsonl", "--prove", "--edits").output
        try folder.write(SampleCaptures.line(99, SampleCaptures.message(9)), to: "d.ndjson")
        _ = try tool("ingest", "L", "capture", "d.ndjson", "--kind", "gateway", "--as", "guild")
        let second = try tool("audit", "L", "--jsonl", "--prove", "--edits").output
        try folder.write(first + second, to: "p.json")
        #expect(try tool("prove", "--check", "p.json").errors.contains("another log"))
    }

    @Test func whatACompactionDroppedIsSaid() throws {
        let other = try TemporaryDirectory()
        try other.makeLog(messages: 40, isLarge: true)
        _ = try ToolRun.run(["compact", "L", "--keep", "5"], in: other)
        let run = try ToolRun.run(["audit", "L", "--json"], in: other)
        #expect(run.output == "[]\n")
        #expect(run.errors.contains("what happened to 35 messages before compactions dropped them is not listed"))
        let page = try ToolRun.run(["audit", "L", "--html", "-"], in: other).output
        let missing = try WebPage.block("audit", of: page).last?["missing"] as? [String] ?? []
        #expect(missing.count == 1 && missing[0].hasPrefix("what happened to 35 messages"))
    }

    /// A substitute may be a frame with another text, or nothing that can be read.
    @Test func whatWasRedactedIsSaid() throws {
        try redact([
            3: SampleCaptures.message(1, content: "[redacted]"), 4: "[redacted]",
            5: SampleCaptures.message(3, content: "-"),
        ])
        let run = try tool("audit", "L", "--json")
        #expect(run.exitCode == 0)
        #expect(run.errors.contains("event 4 is redacted: a text from there and a change made there show as far"))
        let lines = try entries("--quiet")
        #expect(lines.map { $0["sequence"] as? String } == ["6", "7", "8", "8"])
        #expect(lines.map { ($0["redacted"] as? [String]) ?? [] } == [["3"], [], [], ["5"]])
        #expect(lines[1]["entity"] as? String == "message:guild/10/1002" && lines[1]["before"] == nil)
        #expect(!run.output.contains("HYPERLINK") && !run.output.contains("message 3"))
        let page = try tool("audit", "L", "--html", "-").output
        let missing = try WebPage.block("audit", of: page).last?["missing"] as? [String] ?? []
        #expect(missing.count == 1 && missing[0].hasPrefix("event 4 is redacted"))
        try folder.write(try tool("audit", "L", "--jsonl", "--prove").output, to: "p.json")
        #expect(try tool("prove", "--check", "p.json").exitCode == 0)
    }

    private func redact(_ substitutes: [UInt64: String]) throws {
        let store = try EventStore.open(at: folder.path("L"))
        let pairs = substitutes.map { (SequenceNumber($0.key), Array($0.value.utf8)) }.sorted { $0.0 < $1.0 }
        var plan = try RewritePlan.dropping([], decidedAt: store.read { $0.head })
        plan.substitutes = Dictionary(uniqueKeysWithValues: pairs)
        let names = pairs.map { "{\(RewritePlan.name(ofSubstitute: $0.1, for: $0.0))}" }
        plan.act.payload = Array("{\"redacted\":[\(names.joined(separator: ","))]}".utf8)
        _ = try store.rewrite(plan)
    }

    private func entries(_ options: String...) throws -> [[String: Any]] {
        let output = try ToolRun.run(["audit", "L", "--json"] + options, in: folder).output
        return try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]] ?? []
    }

    private func tool(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder)
    }
}

extension String {
    fileprivate func replacingFirst(_ text: String, _ other: String) -> String {
        guard let range = range(of: text) else { return self }
        return replacingCharacters(in: range, with: other)
    }
}
