import Chromium
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Viewer
@testable import logtool

/// `report` writes a page that holds a log, and `import` makes that log again.
@Suite struct ReportCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40)
    }

    private func tool(_ arguments: String...) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }

    private func page(_ name: String = "p.html") throws -> String {
        try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }

    @Test func theLogComesBackWithTheSameRoot() throws {
        let run = try tool("report", "L", "-o", "p.html", "--as-recorded")
        #expect(run.exitCode == 0 && run.output.contains("every text is in it as it was recorded"), "\(run.errors)")
        #expect(try tool("import", "M", "p.html").exitCode == 0)
        #expect(try tool("root", "M").output == tool("root", "L").output)
        #expect(try tool("export", "M").output == tool("export", "L").output)
        #expect(try tool("report", "L", "-o", "p.html", "--as-recorded").exitCode == 4)
        #expect(try tool("report", "L", "-o", "p.html", "--as-recorded", "--yes").exitCode == 0)
    }

    @Test(arguments: [["--from", "10", "--to", "20"], ["--entity", "message:1003"], ["-n", "5"]])
    func aPartComesBackAsAPart(selectors: [String]) throws {
        let run = try ToolRun.run(["report", "L", "-o", "p.html", "--as-recorded", "--json"] + selectors, in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        #expect(try tool("import", "M", "p.html").exitCode == 0)
        #expect(try tool("root", "M").output == tool("root", "L").output)
        #expect(try tool("verify", "M").exitCode == 0)
        let events = try tool("events", "M", "--jsonl").output.split(separator: "\n")
        #expect(events.count == report["events"] as? Int)
        #expect(report["bytes"] as? Int == (try page()).utf8.count)
    }

    /// The steps say what `replay --step` says, and applied one after another they give the state.
    @Test func theStepsAreThoseOfAReplay() throws {
        #expect(try tool("report", "L", "-o", "p.html", "--as-recorded", "--from", "5").exitCode == 0)
        let steps = try WebPage.block("steps", of: page())
        let header = try #require(steps.first)
        #expect(header["format"] as? String == "eventlog.steps/1" && header["from"] as? String == "5")
        let told = try tool("replay", "L", "--step", "--from", "5", "--jsonl").output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(steps.count == told.count + 3 && steps.last?["gaps"] != nil)
        for (step, one) in zip(steps.dropFirst(2), told) {
            #expect(step["sequence"] as? String == one["sequence"] as? String)
            #expect((step["changes"] as? NSArray) == (one["changes"] as? NSArray))
        }
        let state = try #require(
            try JSONSerialization.jsonObject(with: Data(tool("replay", "L", "--json").output.utf8)) as? [String: Any]
        )
        let messages = try #require(state["messages"] as? [[String: Any]])
        var orders: [String: String] = [:]
        for step in steps.dropFirst() { orders.merge(step["orders"] as? [String: String] ?? [:]) { $1 } }
        let ids = orders.sorted { $0.value.utf8.lexicographicallyPrecedes($1.value.utf8) }.map(\.key)
        #expect(ids == messages.map { "message:guild/\($0["channel"] ?? "")/\($0["id"] ?? "")" })
    }

    @Test func withoutAsRecordedNoWordIsLeft() throws {
        try folder.write(SampleCaptures.line(90, Self.frame("1007777", "zanzibar kettles whistle")), to: "more")
        #expect(try tool("ingest", "L", "capture", "more", "--kind", "gateway", "--as", "guild").exitCode == 0)
        let run = try tool("report", "L", "-o", "p.html")
        #expect(run.exitCode == 0 && run.output.contains("what stays:"), "\(run.errors)")
        let text = String(decoding: try WebPage.bytes(of: "log", in: page()), as: UTF8.self)
        #expect(text.contains("MESSAGE_CREATE"))
        let export = try tool("export", "L").output
        for word in ["zanzibar", "kettles", "whistle"] { #expect(export.contains(word) && !text.contains(word)) }
        #expect(try tool("import", "M", "p.html").exitCode == 0)
        let counts = try ["L", "M"].map { log in
            try tool("events", log, "--jsonl").output.split(separator: "\n").count { !$0.contains("logtool") }
        }
        #expect(counts[0] == counts[1])
        let part = try tool("report", "L", "-o", "q.html", "--from", "10", "--to", "12", "--json")
        #expect(part.output.contains("\"events\":3"), "\(part.output)\(part.errors)")
        #expect(try tool("import", "N", "q.html").exitCode == 0)
    }

    /// What a payload says cannot end the block that it stands in, and the policy admits the page's own script alone.
    @Test func textsOfALogAreNoMarkup() throws {
        let evil = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)>"
        try folder.write(SampleCaptures.line(1, Self.frame("7001", evil)), to: "evil")
        #expect(
            try tool("ingest", "E", "capture", "evil", "--kind", "gateway", "--as", "</title><b>").exitCode == 0
        )
        try FileManager.default.moveItem(atPath: folder.path("E"), toPath: folder.path("<i>E{{STYLE}}"))
        #expect(try tool("report", "<i>E{{STYLE}}", "-o", "p.html", "--as-recorded").exitCode == 0)
        let text = try page()
        for tag in ["<script>", "</script>", "<!--", "<img", "<i>E", "<b>"] {
            let own = tag == "<script>" ? 1 : tag == "</script>" ? 3 : 0
            #expect(text.components(separatedBy: tag).count - 1 == own, "\(tag)")
        }
        #expect(text.contains("default-src 'none'; script-src 'sha256-"))
        #expect(try tool("import", "M", "p.html").exitCode == 0)
        #expect(try tool("export", "M").output == tool("export", "<i>E{{STYLE}}").output)
        #expect(text.contains("E{{STYLE}}</title>\n<style>:root"))
    }

    /// What a compaction kept is in the page; its steps begin where states are known.
    @Test func aCompactedLogBeginsBehindItsCompaction() throws {
        #expect(try tool("compact", "L", "--keep", "5", "--force", "--quiet").exitCode == 0)
        try folder.write(SampleCaptures.line(90, Self.frame("1007777", "later")), to: "more")
        #expect(try tool("ingest", "L", "capture", "more", "--kind", "gateway", "--as", "guild").exitCode == 0)
        let run = try tool("report", "L", "-o", "p.html", "--as-recorded")
        #expect(run.exitCode == 0, "\(run.errors)")
        let steps = try WebPage.block("steps", of: page())
        #expect(steps.first?["from"] as? String == "43" && steps.count == 5)
        let known = try #require(steps.dropFirst().first?["changes"] as? [[String: Any]])
        let messages = known.compactMap { $0["entity"] as? String }.filter { $0.hasPrefix("message:") }
        #expect(messages == (1036...1040).map { "message:guild/10/\($0)" })
        #expect(try tool("import", "M", "p.html").exitCode == 0)
        #expect(try tool("root", "M").output == tool("root", "L").output)
        #expect(try tool("report", "L", "-o", "q.html", "--as-recorded", "--to", "42").exitCode == 1)
        #expect(try tool("report", "L", "-o", "q.html", "--as-recorded", "--from", "40").exitCode == 1)
    }

    @Test func whatIsNoReportIsSaid() throws {
        try folder.write("<!DOCTYPE html>\n<p>nothing</p>\n", to: "other.html")
        let run = try tool("import", "M", "other.html")
        #expect(run.exitCode == 2 && run.errors.contains("holds no log"), "\(run.errors)")
        #expect(try tool("report", "L", "-o", "x.html", "--entity", "message:nobody", "--as-recorded").exitCode == 1)
        #expect(try tool("report", "nowhere", "-o", "x.html").exitCode == 10)
        #expect(!FileManager.default.fileExists(atPath: folder.path("x.html")))
    }

    // MARK: - In a browser

    static var chromium: String? { Browser.path }

    /// The page behind its script, opened from the disk at an event.
    private func dom(_ page: String, at sequence: Int) throws -> String {
        try Self.dom(of: "file://\(folder.path(page))#\(sequence)", in: folder)
    }

    /// What a browser makes of the page at an address.
    static func dom(of address: String, in folder: TemporaryDirectory) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.chromium))
        process.arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder.path("profile"))",
            "--virtual-time-budget=4000", "--dump-dom", address,
        ]
        let (output, errors) = (folder.path("dom"), folder.path("errors"))
        for name in [output, errors] { try Data().write(to: URL(filePath: name)) }
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
        try process.run()
        process.waitUntilExit()
        return try String(contentsOfFile: output, encoding: .utf8)
    }

    /// The live messages that the page shows, in order, with their texts.
    private static func messages(in dom: String) -> [String] {
        dom.components(separatedBy: "<li class=\"").dropFirst().compactMap { item in
            guard let entity = item.firstMatch(of: /data-entity="(message:[^"]*)"/)?.1,
                item.prefix(while: { $0 != "\"" }).split(separator: " ").allSatisfy({ $0 != "gone" }),
                let text = item.firstMatch(of: /<p class="text" dir="auto">(.*?)<\/p>/.dotMatchesNewlines())?.1
            else { return nil }
            let plain = text.replacing(/<del>.*?<\/del>/.dotMatchesNewlines(), with: "")
                .replacing(/<\/?ins>/, with: "")
            return "\(entity) \(plain)"
        }
    }

    /// At points of the log the page shows the messages that a replay gives there.
    @Test(.enabled(if: chromium != nil, "chromium is not installed"))
    func thePageShowsWhatAReplayGives() throws {
        let edits = [
            #"{"op":0,"s":91,"t":"MESSAGE_UPDATE","d":{"id":"1005","channel_id":"10","author_id":"7","author_username":"ada","#
                + #""content":"message 1005 is new","edited_at":"2026-01-02T00:00:00Z","created_at":"2026-01-01T00:00:00Z"}}"#,
            #"{"op":0,"s":92,"t":"MESSAGE_DELETE","d":{"id":"1006","channel_id":"10"}}"#,
            Self.frame("1007777", "ab < b & \u{202e}cd <b>bold</b>"),
        ]
        try folder.write(
            edits.enumerated().map { SampleCaptures.line(100 + $0.offset, $0.element) }.joined(),
            to: "more"
        )
        #expect(try tool("ingest", "L", "capture", "more", "--kind", "gateway", "--as", "guild").exitCode == 0)
        #expect(try tool("report", "L", "-o", "p.html", "--as-recorded").exitCode == 0)
        for point in [8, 25, 40, 43, 44, 45] {
            let text = try tool("replay", "L", "--json", "--at", "\(point)").output
            let state = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let rows = try #require(state["messages"] as? [[String: Any]])
            let expected = rows.map { row -> String in
                let content = (row["content"] as? String ?? "").replacingOccurrences(of: "\u{202e}", with: "\\u202e")
                    .replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
                    .replacingOccurrences(of: ">", with: "&gt;")
                return "message:guild/\(row["channel"] ?? "")/\(row["id"] ?? "") \(content)"
            }
            let dom = try dom("p.html", at: point)
            #expect(Self.messages(in: dom) == expected, "at \(point)")
            #expect(dom.contains("<h2>Event \(point)</h2>"), "at \(point)")
        }
    }

    /// A page that begins later has the state before, deleted messages among it; one of two readings shows both.
    @Test(.enabled(if: chromium != nil, "chromium is not installed"))
    func thePageShowsTwoReadings() throws {
        let scenario = PackageRoot.url.appending(path: "Fixtures/events/retrocast-replays-are-appended/events.ndjson")
        let run = try tool("ingest", "T", "capture", scenario.path)
        #expect(run.exitCode == 0, "\(run.errors)")
        let against = ["--against", "#retrocast-web"]
        let report = try ToolRun.run(["report", "T", "-o", "p.html", "--as-recorded"] + against, in: folder)
        #expect(report.exitCode == 0, "\(report.errors)")
        let bisection = try tool(
            "bisect",
            "T",
            "--profile",
            "retrocast-web",
            "--when",
            "duplicate(messages, content)"
        ).output
        let first = try #require(bisection.firstMatch(of: /first: event (\d+)/)?.1)
        let dom = try dom("p.html", at: try #require(Int(first)))
        #expect(dom.contains("which differs first at event \(first)"))
        let readings = dom.components(separatedBy: "<section><h3>").dropFirst()
        #expect(readings.map { String($0.prefix { $0 != "<" }) } == ["As canonical", "As retrocast-web"])
        let counts = readings.map {
            $0.components(separatedBy: "<aside")[0].components(separatedBy: "data-entity").count - 1
        }
        #expect(counts.first.map { $0 + 1 } == counts.last)
        #expect(dom.contains("differs"))

        let delete = #"{"op":0,"s":92,"t":"MESSAGE_DELETE","d":{"id":"1006","channel_id":"10"}}"#
        try folder.write(
            SampleCaptures.line(100, delete) + SampleCaptures.line(101, Self.frame("1777", "new")),
            to: "more"
        )
        #expect(try tool("ingest", "L", "capture", "more", "--kind", "gateway", "--as", "guild").exitCode == 0)
        #expect(try tool("report", "L", "-o", "q.html", "--as-recorded", "--from", "head").exitCode == 0)
        let later = try self.dom("q.html", at: 44)
        #expect(later.contains("<del>message 6</del>") && !Self.messages(in: later).contains { $0.contains("1006") })
        #expect(Self.messages(in: later).count == 40)
    }

    private static func frame(_ id: String, _ content: String) -> String {
        let message: [String: Any] = [
            "id": id, "channel_id": "10", "author_id": "7", "author_username": "ada", "content": content,
            "created_at": "2026-01-03T00:00:00Z", "attachments": [String](),
        ]
        let frame: [String: Any] = ["op": 0, "s": 90, "t": "MESSAGE_CREATE", "d": message]
        let data = (try? JSONSerialization.data(withJSONObject: frame, options: .sortedKeys)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    // MARK: - The pieces

    @Test func piecesComeBackOrAreRefused() throws {
        var random = SeededGenerator(seed: 5)
        for count in [0, 1, 1000, 70_000, 400_000] {
            let bytes = (0..<count).map { _ in UInt8.random(in: 60...70, using: &random) }
            let member = try Gzip.compressed(bytes)
            #expect(try Gzip.decompressed(member, bytesMax: 1 << 20) == bytes)
            #expect(throws: EventLogError.self) { try Gzip.decompressed(Array(member.dropLast(9)), bytesMax: 1 << 20) }
            if count > 1 {
                #expect(throws: EventLogError.self) { try Gzip.decompressed(member, bytesMax: count - 1) }
                var other = member
                other[member.count / 2] ^= 0x20
                #expect((try? Gzip.decompressed(other, bytesMax: 1 << 20)) != bytes)
            }
        }

        let bomb = try Gzip.compressed([UInt8](repeating: 0, count: 1 << 26))
        #expect(throws: EventLogError.self) { try Gzip.decompressed(bomb, bytesMax: 1 << 20) }
        var input = ReportInput()
        #expect(try input.lines(of: Array("<script type=\"application/gzip\" id=\"export\">".utf8)).isEmpty)
        #expect(throws: EventLogError.self) { _ = try input.lines(of: Array("no base64!".utf8)) }
        #expect(throws: EventLogError.self) { _ = try input.lines(of: Array("AAAA".utf8)) }
    }

    /// What the page's script computes, checked by Node's own library.
    @Test(.enabled(if: WebPage.node != nil, "node is not installed"))
    func theScriptComputesWhatItSays() throws {
        let names = ["inflated", "compare", "wordDifference", "partings", "Timeline"]
        try WebPage.check(["unpack", "texts", "data", "rows"], names, Self.checks, in: folder)
    }

    private static let checks = """
        const zlib = require("zlib");
        for (let round = 0; round < 200; round++) {
          const bytes = Buffer.from(Array.from({ length: random(5000) }, () => (round % 3 ? 97 + random(4) : random(256))));
          const member = new Uint8Array(zlib.gzipSync(bytes, { level: random(10), strategy: random(5) }));
          assert.deepStrictEqual(Buffer.from(inflated(member)), bytes);
          const text = () => Array.from({ length: random(4) }, () => String.fromCodePoint([97, 233, 0xd7ff, 0xe000, 0xfffd, 0x1f600][random(6)])).join("");
          const [one, two] = [text(), text()];
          assert.strictEqual(Math.sign(compare(one, two)), Buffer.compare(Buffer.from(one), Buffer.from(two)));
          const words = () => Array.from({ length: random(9) }, () => "abcde"[random(5)]).join(" ");
          const [before, after] = [words(), words()];
          const parts = wordDifference(before, after);
          assert.strictEqual(parts.filter(([kind]) => kind !== "new").map(([, text]) => text).join(""), before);
          assert.strictEqual(parts.filter(([kind]) => kind !== "gone").map(([, text]) => text).join(""), after);
        }
        assert.deepStrictEqual(wordDifference("a bug here", "a bug, really here"), [["same", "a bug"], ["new", ", really"], ["same", " here"]]);
        assert.deepStrictEqual(wordDifference("x delete me", "x edited elsewhere"), [["same", "x "], ["gone", "delete me"], ["new", "edited elsewhere"]]);
        // Back and on again, the rows are the same.
        const steps = [{}, { sequence: "0", changes: [] }];
        for (let index = 1; index < 60; index++) {
          const entity = `message:s/c/${random(6)}`;
          steps.push({ sequence: String(index), changes: [{ entity, change: ["added", "changed", "deleted", "removed"][random(4)], fields: { content: { b: String(index) } } }] });
        }
        const timeline = new Timeline(steps, []);
        const rows = [];
        for (let index = 0; index <= timeline.last; index++) {
          timeline.go(index);
          rows.push(JSON.stringify([...timeline.rows].sort()));
        }
        assert.deepStrictEqual(partings(timeline, new Timeline(steps, [])), []);
        const [these, those] = [structuredClone(steps), structuredClone(steps)];
        these[31].changes[0].change = those[31].changes[0].change = "changed";
        those[31].changes[0].fields.content.b = "other";
        assert.deepStrictEqual(partings(new Timeline(these, []), new Timeline(those, [])), [30]);
        for (let round = 0; round < 200; round++) {
          const index = random(timeline.last + 1);
          timeline.go(index);
          assert.strictEqual(JSON.stringify([...timeline.rows].sort()), rows[index]);
        }
        """
}
