import Chromium
import Foundation
import TestSupport
import Testing

/// What a page shows beside a log: the same log without some events, another log; and what it says of connections.
@Suite(.hangGuard) struct OtherReadingTests {
    private let folder: TemporaryDirectory

    /// A client that is replayed eight messages after a RESUME.
    init() throws {
        folder = try TemporaryDirectory()
        let scenario = PackageRoot.url.appending(path: "Fixtures/events/retrocast-replays-are-appended/events.ndjson")
        let run = try tool("ingest", "T", "capture", scenario.path)
        try #require(run.exitCode == 0, "\(run.errors)")
    }

    private func tool(_ arguments: String...) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }

    /// The blocks `steps` and `other` of a report.
    private func blocks(_ options: String...) throws -> (steps: [[String: Any]], other: [[String: Any]]) {
        let run = try ToolRun.run(["report", "T", "-o", "p.html", "--as-recorded", "--yes"] + options, in: folder)
        try #require(run.exitCode == 0, "\(run.errors)")
        let page = try String(contentsOfFile: folder.path("p.html"), encoding: .utf8)
        let other = page.contains("id=\"other\"") ? try WebPage.block("other", of: page) : []
        return (try WebPage.block("steps", of: page), other)
    }

    /// The messages behind each step, by applying one after another.
    private static func messages(_ lines: [[String: Any]]) -> [(sequence: String, messages: [String: String])] {
        var rows: [String: String] = [:]
        return lines.compactMap { line in
            guard let changes = line["changes"] as? [[String: Any]] else { return nil }
            for change in changes {
                guard let entity = change["entity"] as? String, entity.hasPrefix("message:") else { continue }
                let content = (change["fields"] as? [String: [String: Any]])?["content"]?["b"] as? String
                rows[entity] = change["change"] as? String == "removed" ? nil : content ?? rows[entity]
            }
            return (line["sequence"] as? String ?? "", rows)
        }
    }

    /// What `replay` says at a point.
    private func replayed(at point: Int, _ options: String...) throws -> [String: String] {
        let text = try ToolRun.run(["replay", "T", "--json", "--at", "\(point)"] + options, in: folder).output
        let state = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let rows = (state["messages"] as? [[String: Any]] ?? []).map { row in
            ("message:app/\(row["channel"] ?? "")/\(row["id"] ?? "")", row["content"] as? String ?? "")
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test(arguments: [["6"], ["5", "12", "25"], ["26"]], ["1", "10"])
    func withoutSomeEventsTheStepsAreThoseOfAReplay(without: [String], from: String) throws {
        let list = without.joined(separator: ",")
        let (steps, other) = try blocks("--without", list, "--from", from)
        #expect(other.first?["profile"] as? String == "canonical without \(without.joined(separator: ", "))")
        let (one, two) = (Self.messages(steps), Self.messages(other))
        #expect(one.map(\.sequence) == two.map(\.sequence) && two.count == 28 - (Int(from) ?? 0))
        for (left, right) in zip(one, two) {
            let point = try #require(Int(left.sequence))
            #expect(try left.messages == (point == 0 ? [:] : replayed(at: point)), "at \(point)")
            #expect(try right.messages == (point == 0 ? [:] : replayed(at: point, "--without", list)), "at \(point)")
        }
        let gone = other.filter { without.contains($0["sequence"] as? String ?? "") }
        #expect(gone.allSatisfy { ($0["changes"] as? [Any])?.isEmpty == true })
    }

    /// A log that lacks an event has the steps of a replay without it, whatever its other events are called there.
    @Test func anotherLogIsShownByTheKeysOfItsEvents() throws {
        let scenario = PackageRoot.url.appending(path: "Fixtures/events/retrocast-replays-are-appended/events.ndjson")
        var lines = try String(contentsOf: scenario, encoding: .utf8).split(separator: "\n")
        lines.remove(at: 5)
        lines.append(
            #"{"sequence":"27","recordedAt":"2026-03-01T12:00:09.000000Z","source":"app","kind":"recorder.link/1","key":"c3/open","attributes":{"connection":"c3","link":"open"},"payload":""}"#
        )
        try folder.write(lines.joined(separator: "\n") + "\n", to: "other")
        #expect(try tool("ingest", "M", "capture", "other").exitCode == 0)
        let (steps, other) = try blocks("--against", "M")
        #expect(other.first?["profile"] as? String == "canonical of M")
        let without = try blocks("--without", "6").other
        #expect(Self.messages(other).map(\.messages) == Self.messages(without).map(\.messages))
        #expect(Self.messages(other).map(\.sequence) == Self.messages(steps).map(\.sequence))
        let client = try blocks("--against", "M#retrocast-web", "--from", "15", "--to", "20").other
        #expect(client.first?["profile"] as? String == "retrocast-web of M")
        #expect(Self.messages(client).map(\.messages.count) == [7, 7, 7, 8, 9, 10, 11])

        for (options, code, words) in [
            (["--without", "27"], 1, "the event is not there"), (["--against", "nowhere"], 10, "nowhere"),
            (["--against", "M", "--without", "6"], 2, "exclude each other"),
            (["--against", "M@3"], 2, "without a point"),
            (["--against", "#nobody"], 2, "is no profile"), (["--against", "M", "--kind", "x/1"], 2, "--kind"),
        ] {
            let run = try ToolRun.run(["report", "T", "-o", "q.html", "--as-recorded"] + options, in: folder)
            #expect(Int(run.exitCode) == code && run.errors.contains(words), "\(options): \(run.errors)")
        }
        let run = try tool("report", "T", "-o", "q.html", "--against", "M")
        #expect(run.exitCode == 2 && run.errors.contains("goes with --as-recorded"))
        try folder.makeLog(messages: 3)
        let apart = try tool("report", "T", "-o", "q.html", "--as-recorded", "--against", "L")
        #expect(apart.exitCode == 1 && apart.errors.contains("no event in common"))
    }

    /// Anonymized, the event that is left out is the same one.
    @Test func theEventStaysTheSameWhereTheLogIsAnonymized() throws {
        let run = try tool("report", "T", "-o", "p.html", "--without", "6")
        #expect(run.exitCode == 0, "\(run.errors)")
        let page = try String(contentsOfFile: folder.path("p.html"), encoding: .utf8)
        let counts = try ["steps", "other"].map { Self.messages(try WebPage.block($0, of: page)).map(\.messages.count) }
        #expect(counts[0].max() == 9 && zip(counts[0], counts[1]).map { $0 - $1 }[6...17].allSatisfy { $0 == 1 })
    }

    @Test func connectionsNameTheirEvents() throws {
        let connections = try #require(try blocks().steps.last?["connections"] as? [[String: Any]])
        let told = connections.map { row in
            (row["events"] as? [[String: String]] ?? []).map { "\($0["title"] ?? "") \($0["sequence"] ?? "")" }
        }
        #expect(connections.map { $0["connection"] as? String } == ["c1", "c2"])
        #expect(told == [["open 1", "IDENTIFY 3", "READY 4", "close 13"], ["open 14", "RESUME 16", "close 26"]])
    }

    #if Recorders
    /// One key finds where two readings part; an event leads to its connection, in a file and where a server is asked.
    @Test(.enabled(if: Browser.path != nil, "chromium is not installed"))
    func thePageFindsTheFirstDifference() async throws {
        _ = try blocks("--without", "6")
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: "file://\(folder.path("p.html"))")
        try browser.press("d")
        try browser.wait(for: "page.timeline.position === 6 && page.partings.join() === '6'")
        #expect(try browser.value("document.querySelectorAll('.readings .differs').length") as? Int == 1)
        #expect(
            try browser.value("document.querySelectorAll('.readings > section h3')[1].textContent") as? String
                == "As canonical without 6"
        )
        // A step may have more changes than a page can list: here all of a log behind the last event that both have.
        let many = """
            page.timeline.steps[6].changes = Array.from({ length: 200000 }, (_, index) => ({ entity: `row:a/b/${index}`, change: "added", fields: {} }));
            page.event.draw();
            """
        try browser.value(many)
        #expect(
            try browser.value("document.querySelectorAll('#event .changes > li').length < 300") as? Bool == true
        )
        #expect(
            try browser.value("document.getElementById('event').textContent.includes('199800 more')") as? Bool == true
        )
        try browser.press("Home")
        try browser.press("D")
        try browser.wait(for: "page.timeline.position === 6")
        for arguments in [["T", "--without", "6"], ["T"]] {
            let view = try ToolProcess(["view"] + arguments, in: folder)
            while view.isRunning, !view.output.hasSuffix("\n") { try await Task.sleep(for: .milliseconds(20)) }
            try browser.show(page: String(view.output.split(whereSeparator: \.isNewline).first ?? ""))
            try browser.value("page.goTo('20')")
            let links = "[...document.querySelectorAll('#connection li')].map((item) => item.textContent).join()"
            try browser.wait(for: "\(links) === 'open: event 14,RESUME: event 16,close: event 26'")
            try browser.value("document.querySelectorAll('#connection button')[1].click()")
            try browser.wait(for: "document.querySelector('#event h2').textContent === 'Event 16'")
            try browser.press("d")
            let isWhole = arguments.count > 1
            try browser.wait(for: isWhole ? "page.timeline.position === 6" : "page.timeline.position === 16")
            #expect(view.isRunning)
        }
    }
    #endif
}
