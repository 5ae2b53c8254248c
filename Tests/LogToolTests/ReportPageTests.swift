import Chromium
import Foundation
import TestSupport
import Testing

/// The page of a report, opened from a disk: it unpacks a few chunks of the file, and shows at each point what the log says.
@Suite(.hangGuard, .enabled(if: Browser.path != nil, "chromium is not installed"))
struct ReportPageTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func open(events: Int, _ options: String...) throws -> Browser {
        try ShownPage.makeLog("L", events: events, in: folder)
        let run = try ToolRun.run(["report", "L", "-o", "p.html", "--as-recorded"] + options, in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: "file://\(folder.path("p.html"))")
        return browser
    }

    /// On both sides of chunks and at drawn points, the rows are those of a replay; those that a chunk leaves out come
    /// when they are asked for.
    @Test func theFileShowsWhatAReplayGives() throws {
        let browser = try open(events: 1500)
        let starts = try #require(try browser.value("page.timeline.table.map((chunk) => chunk.from)") as? [Int])
        #expect(starts.count == 3)
        let head = try #require(try browser.value("page.timeline.last") as? Int)
        var random = SeededGenerator(seed: 21)
        let borders = starts.dropFirst().flatMap { [$0 - 1, $0, $0 + 1] } + [1, 2, head]
        let points = borders + (0..<40).map { _ in Int.random(in: 1...head, using: &random) }
        try ShownPage.check(browser, at: points, of: folder)
        #expect(try browser.value("page.timeline.chunks.length <= 2") as? Bool == true)
    }

    /// A page that begins later has all rows of the state before.
    @Test func aPartShowsTheStateBefore() throws {
        let browser = try open(events: 900, "--from", "200")
        try ShownPage.check(browser, at: [200, 201, 450, 711, 712, 713, 900, 904], of: folder)
    }

    /// What is asked of all steps is answered as by a page that has them all in memory.
    @Test func questionsReadAllChunks() throws {
        let browser = try open(events: 1500)
        let script = """
            (async () => {
              const { timeline } = page;
              const [steps, events] = [[timeline.header], []];
              await timeline.forEach(1, (chunk, { from }) => {
                steps.push(...chunk.steps.slice(from === 1 ? 1 : 2));
                events.push(...chunk.events.map((line) => JSON.parse(line)));
              });
              const whole = new Timeline([...steps, { gaps: timeline.gaps, connections: [] }], events);
              const place = "channel\\nguild\\n11";
              const faults = [];
              const same = (name, one, other) => {
                if (JSON.stringify(one) !== JSON.stringify(other)) faults.push([name, JSON.stringify(one).slice(0, 200), JSON.stringify(other).slice(0, 200)]);
              };
              same("last", timeline.last, whole.last);
              const sum = ({ counts, marks, from, to }) => [counts.reduce((a, b) => a + b, 0), Object.entries(marks).map(([name, list]) => [name, list.reduce((a, [, b]) => a + b, 0)]).filter(([, many]) => many > 0).sort(), from, to];
              for (const [from, to] of [[1, timeline.last], [400, 700], [17, 18], [9, 9]])
                for (const only of [undefined, place]) same("axis", sum(await timeline.axis(from, to, 300, only)), sum(whole.axis(from, to, 300, only)));
              for (const text of ["words 7", "NEW 1", "nothing has this", "ada"])
                for (let from = 0; from !== undefined; ) {
                  const [one, other] = [await timeline.search(text, from), whole.search(text, from)];
                  same("search", one.found.slice(0, 200), other.found.slice(0, one.found.length).slice(0, 200));
                  from = one.next;
                }
              for (const entity of [...timeline.rows.keys()].filter((name) => name.startsWith("message:")).slice(0, 8)) same("history", await timeline.history(entity), whole.history(entity));
              for (const index of [0, 1, 500, 513, 1024, timeline.last])
                for (const direction of [-1, 1])
                  for (const only of [undefined, place]) {
                    await page.show(index);
                    whole.go(index);
                    same(`next ${index}`, (await timeline.next(direction, only)) ?? null, whole.next(direction, only) ?? null);
                  }
              same("day", timeline.day("2026-01-01"), whole.day("2026-01-01"));
              return faults.map(String);
            })()
            """
        #expect(try browser.value(script) as? [String] == [])
    }

    /// 2,000 hostile texts, ids, names and payloads are shown as texts: nothing of them runs, and nothing leaves its place.
    @Test(arguments: [400, 1400])
    func hostileTextsStayTexts(width: Int) throws {
        let hostile = [
            "<script>window.hit = 1</script>", "<img src=x onerror=\"window.hit = 2\">", "</script><b>bold</b>",
            "]]>--><!--", "a\u{202E}b\u{2066}c", "\u{0}\u{1B}[2J\u{7F}", "javascript:window.hit=3", "& &lt; &amp; \" '",
            "line\nbreak\ttab", "{{STYLE}} ${x} `y`", "مرحبا بالعالم", "😀 👩‍👩‍👧", "zero\u{200B}width",
            String(repeating: "w", count: 3000), "__proto__", "constructor",
        ]
        let lines = try (0..<2000).map { number in
            let text = hostile[number % hostile.count]
            let message: [String: Any] = [
                "id": number % 3 == 0 ? "\(text) \(number)" : "\(1000 + number)",
                "channel_id": hostile[(number / 500) % hostile.count], "author_id": "7",
                "author_username": hostile[(number / 16) % hostile.count], "content": "\(text) \(number)",
                "created_at": "2026-01-03T00:00:00Z",
            ]
            let frame: [String: Any] = ["op": 0, "s": number, "t": "MESSAGE_CREATE", "d": message]
            let data = try JSONSerialization.data(withJSONObject: frame, options: .sortedKeys)
            return SampleCaptures.line(number, String(decoding: data, as: UTF8.self))
        }
        try folder.write(lines.joined(), to: "capture")
        for arguments in [
            ["ingest", "H", "capture", "capture", "--kind", "gateway", "--as", "</title><b>"],
            ["report", "H", "-o", "h.html", "--as-recorded"],
        ] {
            let run = try ToolRun.run(arguments, in: folder)
            #expect(run.exitCode == 0, "\(run.errors)")
        }
        let browser = try Browser(in: folder.url.path, width: width)
        try browser.show(page: "file://\(folder.path("h.html"))")
        let script = """
            (async () => {
              const faults = [];
              let shown = 0;
              for (const index of [1, 7, 499, 500, 501, 1300, 1999, page.timeline.last]) {
                page.shownMax = 2000;
                await page.show(index);
                const entity = page.timeline.step().changes.at(-1).entity;
                page.chooseEntity(entity);
                await page.finds.search("window");
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                shown = Math.max(shown, document.querySelectorAll("#content li").length);
                if (window.hit !== undefined) faults.push(`${index}: something ran`);
                if (document.images.length + document.querySelectorAll("main script, main b, header b, #found b, #history b").length > 0) faults.push(`${index}: markup`);
                if (document.documentElement.scrollWidth > innerWidth) faults.push(`${index}: ${document.documentElement.scrollWidth} wide`);
                for (const box of document.querySelectorAll("#content li, #event dd, #places button, #found li, h1, h2")) {
                  const place = box.getBoundingClientRect();
                  const isInStrip = box.closest(".strip") !== null;
                  if (!isInStrip && place.width > 0 && (place.right > innerWidth + 1 || place.left < -1)) faults.push(`${index}: ${box.textContent.slice(0, 30)} leaves the page`);
                }
              }
              return [shown, ...faults.slice(0, 5)].map(String);
            })()
            """
        let told = try #require(try browser.value(script) as? [String])
        #expect(Int(told[0]).map { $0 >= 400 } == true && told.count == 1, "\(told)")
    }
}
