import Chromium
import Foundation
import TestSupport
import Testing

/// The page of an audit in a browser.
@Suite(.hangGuard, .enabled(if: Browser.path != nil, "chromium is not installed"))
struct AuditPageTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private static let hostile = [
        "<script>window.hit = 1</script>", "<img src=x onerror=\"window.hit = 2\">", "</script><b>bold</b>",
        "]]>--><!--",
        "a\u{202E}b\u{2066}c", "\u{0}\u{1B}[2J\u{7F}", "javascript:alert(1)", "& &lt; &amp; \" '", "line\nbreak\ttab",
        "{{STYLE}} ${x} `y`", "مرحبا بالعالم", "😀 👩‍👩‍👧", "zero\u{200B}width", String(repeating: "w", count: 3000),
    ]

    /// A log with so many edits and deletions of hostile texts, and the page of its audit.
    private func makePage(_ count: Int, _ options: [String] = []) throws -> [[String: Any]] {
        var random = SeededGenerator(seed: 9)
        var lines = [
            SampleCaptures.line(0, #"{"op":10,"d":{"heartbeat_interval":45000}}"#),
            SampleCaptures.line(
                1,
                #"{"op":0,"s":1,"t":"CHANNEL_CREATE","d":{"id":"10","type":0,"name":"<i>","guild_id":"1","position":0,"topic":""}}"#
            ),
        ]
        for number in 0..<40 { lines.append(SampleCaptures.line(number + 2, SampleCaptures.message(number))) }
        for number in 0..<count {
            let id = String(1000 + Int.random(in: 0..<40, using: &random))
            let text = "\(Self.hostile[number % Self.hostile.count]) \(number)"
            var data: [String: Any] = ["id": id, "channel_id": "10"]
            let isEdit = number % 10 != 9
            if isEdit {
                data["author_id"] = number % 3 == 0 ? "<u>9</u>" : "7"
                data["author_username"] = Self.hostile[(number / 7) % Self.hostile.count]
                (data["content"], data["created_at"]) = (text, "2026-01-01T00:00:00Z")
                data["edited_at"] = "2026-02-01T\(10 + number / 3600):\(10 + number / 60 % 50):\(10 + number % 50)Z"
            }
            let type = isEdit ? "MESSAGE_UPDATE" : "MESSAGE_DELETE"
            let frame: [String: Any] = ["op": 0, "s": number, "t": type, "d": data]
            let raw = String(
                decoding: try JSONSerialization.data(withJSONObject: frame, options: .sortedKeys),
                as: UTF8.self
            )
            let line: [String: Any] = ["t_ms": SampleCaptures.start + 100_000 + number * 1000, "dir": "in", "raw": raw]
            lines.append(String(decoding: try JSONSerialization.data(withJSONObject: line), as: UTF8.self) + "\n")
        }
        try folder.write(lines.joined(), to: "capture")
        let made = [
            ["ingest", "L", "capture", "capture", "--kind", "gateway", "--as", "guild"],
            ["audit", "L", "--html", "a.html"] + options,
        ]
        for arguments in made {
            let run = try ToolRun.run(arguments, in: folder)
            try #require(run.exitCode == 0, "\(run.errors)")
        }
        let told = try ToolRun.run(["audit", "L", "--json"] + options, in: folder).output
        return try #require(try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [[String: Any]])
    }

    private func open(_ width: Int = 1400, height: Int = 900, at hash: String = "") throws -> Browser {
        let browser = try Browser(in: folder.url.path, width: width, height: height)
        try browser.call("Page.navigate", ["url": "file://\(folder.path("a.html"))\(hash)"])
        try browser.wait(for: "!!(window.page && document.querySelector('#event h2') && page.entries.read(0))")
        return browser
    }

    /// A text as the page has it.
    private static func shown(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            let isWritten =
                switch scalar.value {
                case 0...8, 0x0B...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
                default: false
                }
            guard isWritten else { return result.unicodeScalars.append(scalar) }
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    private static func plain(_ value: Any?) throws -> String? {
        guard let value else { return nil }
        if let text = value as? String { return shown(text) }
        return String(
            decoding: try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed]),
            as: UTF8.self
        )
    }

    /// Each entry reads as JSON has it; no text runs or becomes an element.
    @Test func thePageShowsWhatJSONSays() throws {
        let entries = try makePage(150)
        #expect(entries.count > 100)
        let browser = try open()
        let script = """
            (() => {
              const side = (box, kind) => {
                const copy = box.cloneNode(true);
                copy.querySelectorAll(kind).forEach((part) => part.remove());
                return copy.textContent;
              };
              const fields = [...document.querySelectorAll("#event .fields > li")].map((item) => {
                const box = item.querySelector(".text");
                return [item.querySelector(".quiet").textContent, side(box, "ins"), side(box, "del")];
              });
              const members = [...document.querySelectorAll("#event dl dd")].map((item) => item.textContent);
              const strip = [...document.querySelectorAll("#event .strip button")].map((button) => button.textContent.split(" ")[1]);
              const row = document.querySelector("[aria-selected=true]");
              return { head: document.querySelector("#event h2").textContent, fields, members, strip, row: [row.dataset.sequence, row.dataset.entity] };
            })()
            """
        for (index, entry) in entries.enumerated() {
            try browser.value("page.show(\(index))")
            let shown = try #require(try browser.value(script) as? [String: Any])
            let (sequence, entity) = (entry["sequence"] as? String ?? "", entry["entity"] as? String ?? "")
            #expect(shown["head"] as? String == "Event \(sequence)")
            #expect(shown["row"] as? [String] == [sequence, entity])
            let members = try #require(shown["members"] as? [String])
            let by = (entry["by"] as? String).map(Self.shown) ?? "the remote does not tell"
            #expect(Array(members.prefix(3)) == [entry["change"] as? String ?? "", Self.shown(entity), by])
            let (before, after) = (entry["before"] as? [String: Any] ?? [:], entry["after"] as? [String: Any] ?? [:])
            var expected: [String: [String]] = [:]
            for name in Set(before.keys).union(after.keys) {
                let (old, new) = (try Self.plain(before[name]), try Self.plain(after[name]))
                if old != new { expected[name] = [old ?? "", new ?? ""] }
            }
            let fields = try #require(shown["fields"] as? [[String]])
            #expect(
                Dictionary(uniqueKeysWithValues: fields.map { ($0[0], Array($0.dropFirst())) }) == expected,
                "\(sequence)"
            )
            let own = entries.filter { $0["entity"] as? String == entity }.compactMap { $0["sequence"] as? String }
            #expect(shown["strip"] as? [String] == own)
        }
        #expect(try browser.value("window.hit === undefined && document.images.length === 0") as? Bool == true)
        #expect(try browser.value("document.querySelectorAll('b, i, u, main script').length") as? Int == 0)
        // Of a thing with many versions only those around the chosen one are drawn.
        let many = """
            (() => {
              ChangePanel.versionsAround = 1;
              const lists = page.entries.all.map((_, index) => page.entries.versions(index));
              const most = lists.reduce((best, list) => (list.length > best.length ? list : best));
              page.show(most[2]);
              const strip = document.querySelector("#event .strip");
              return [most.length, strip.querySelectorAll("button").length, strip.previousSibling.textContent];
            })()
            """
        let busy = try browser.value(many) as? [Any]
        #expect((busy?[0] as? Int).map { $0 > 4 } == true && busy?[1] as? Int == 3)
        #expect((busy?[2] as? String)?.hasSuffix(", 2 to 4 of them shown") == true)
        // The page names the log that it is read out of, and an event in its address.
        let root = try ToolRun.run(["root", "L"], in: folder).output.split { !$0.isHexDigit }.first { $0.count == 64 }
        #expect(
            try browser.value("document.querySelector('#log code').textContent") as? String == root.map { String($0) }
        )
        let third = try #require(entries[3]["sequence"] as? String)
        try browser.value("location.hash = '#\(third)'")
        try browser.wait(for: "document.querySelector('#event h2').textContent === 'Event \(third)'")
    }

    /// Wherever the list is scrolled to, the rows that are seen are those that belong there, and few others exist.
    @Test func scrollingShowsTheRightRows() throws {
        let entries = try makePage(600)
        let browser = try open()
        let sequences = entries.compactMap { $0["sequence"] as? String }
        var random = SeededGenerator(seed: 4)
        let height = try #require(try browser.value("page.rowHeight") as? Int)
        let box = try #require(try browser.value("page.list.clientHeight") as? Int)
        #expect(try browser.value("page.list.scrollHeight") as? Int == height * entries.count)
        let tops =
            [0, height * entries.count]
            + (0..<60).map { _ in Int.random(in: 0...height * entries.count, using: &random) }
        for wanted in tops {
            let script = """
                (async () => {
                  page.list.scrollTop = \(wanted);
                  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                  const top = page.list.getBoundingClientRect().top;
                  const rows = [...document.querySelectorAll(".entry")].map((row) => [row.dataset.sequence, Math.round(row.getBoundingClientRect().top - top)]);
                  return { top: page.list.scrollTop, rows };
                })()
                """
            let shown = try #require(try browser.value(script) as? [String: Any])
            let top = try #require(shown["top"] as? Int)
            let rows = try #require(shown["rows"] as? [[Any]])
            #expect(rows.count < box / height + 20)
            let seen = rows.filter { row in (row[1] as? Int).map { $0 + height > 0 && $0 < box } ?? false }
            let first = top / height
            let last = min(entries.count, (top + box + height - 1) / height)
            #expect(seen.compactMap { $0[0] as? String } == Array(sequences[first..<last]), "\(wanted)")
            #expect(seen.compactMap { $0[1] as? Int } == (first..<last).map { $0 * height - top }, "\(wanted)")
        }
    }

    @Test func theKeysMove() throws {
        let entries = try makePage(200)
        let browser = try open()
        func isAt(_ place: Int) throws {
            try browser.wait(
                for: "page.place === \(place) && !!document.querySelector('#entry-\(place)[aria-selected=true]')"
            )
            let sequence = try browser.value("document.querySelector('#event h2').textContent") as? String
            #expect(sequence == "Event \(entries[place]["sequence"] ?? "")")
            #expect(try browser.value("page.list.getAttribute('aria-activedescendant')") as? String == "entry-\(place)")
        }
        try isAt(0)
        for (key, place) in [
            ("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("End", entries.count - 1), ("Home", 0),
        ] {
            try browser.press(key)
            try isAt(place)
        }
        let isDelete = entries.map { $0["after"] == nil }
        let first = try #require(isDelete.firstIndex(of: true))
        try browser.press("d")
        try isAt(first)
        let second = try #require(isDelete[(first + 1)...].firstIndex(of: true))
        try browser.press("d")
        try isAt(second)
        try browser.press("D")
        try isAt(first)
        let own = entries.indices.filter { entries[$0]["entity"] as? String == entries[first]["entity"] as? String }
        let place = try #require(own.firstIndex(of: first))
        if place > 0 {
            try browser.press("[")
            try isAt(own[place - 1])
            try browser.press("]")
            try isAt(first)
        }
        try browser.press("/")
        for letter in ["b", "o", "l", "d"] { try browser.press(letter) }
        let fitting = entries.count { "\($0)".contains("bold") }
        #expect(fitting > 10 && fitting < entries.count)
        try browser.wait(for: "document.getElementById('now').textContent === '\(fitting) of \(entries.count) changes'")
        let rows = try browser.value("[...document.querySelectorAll('.entry')].map((row) => row.dataset.sequence)")
        let found = entries.filter { "\($0)".contains("bold") }.compactMap { $0["sequence"] as? String }
        #expect((rows as? [String]).map { $0.count > 5 && $0 == Array(found.prefix($0.count)) } == true)
        try browser.press("Escape")
        try browser.wait(for: "document.getElementById('now').textContent === '\(entries.count) changes'")
        try browser.value("document.querySelector('#classes input').click()")
        let deletes = isDelete.count { $0 }
        try browser.wait(for: "page.fitting.length === \(deletes)")
        try browser.press("e")
        #expect(try browser.value("document.activeElement.id") as? String == "event")
        try browser.press("c")
        #expect(try browser.value("document.activeElement.id") as? String == "list")
        try browser.press("?")
        #expect(try browser.value("document.getElementById('help').open") as? Bool == true)
        try browser.call("Accessibility.enable")
        #expect(try WebPage.unnamed(browser).isEmpty)
    }

    /// On a narrow screen the text has the width; paper has every entry; a proof is checked in the page.
    @Test func thePageFitsScreensAndPaper() throws {
        let entries = try makePage(30, ["--prove"])
        let browser = try open(400, height: 800)
        #expect(try browser.value("document.documentElement.scrollWidth <= 400") as? Bool == true)
        #expect(try browser.value("document.querySelector('.entry .said').clientWidth > 340") as? Bool == true)
        try browser.value(
            "[...document.querySelectorAll('button')].find((one) => one.textContent === 'Check the proof').click()"
        )
        try browser.wait(for: "document.getElementById('event').textContent.includes('Checked here: event')")
        try browser.value("dispatchEvent(new Event('beforeprint'))")
        let heads = try browser.value("[...document.querySelectorAll('#print h2')].map((head) => head.textContent)")
        #expect(heads as? [String] == entries.map { "Event \($0["sequence"] ?? "")" })
        try browser.value("ChangePanel.printedMax = 7; dispatchEvent(new Event('beforeprint'))")
        let told = try browser.value("document.querySelector('#print').textContent") as? String
        #expect(told?.hasPrefix("The first 7 of \(entries.count) changes;") == true)
        try browser.value("dispatchEvent(new Event('afterprint'))")
        #expect(try browser.value("document.querySelector('#print').children.length") as? Int == 0)
    }

    @Test(arguments: ["light", "dark"], [400, 1400])
    func thePageLooksAsItDid(scheme: String, width: Int) throws {
        _ = try makePage(60)
        let browser = try Browser(in: folder.url.path, width: width)
        try PictureGolden.prepare(browser, scheme: scheme)
        try browser.call("Page.navigate", ["url": "file://\(folder.path("a.html"))#80"])
        try browser.wait(for: "!!(window.page && document.querySelector('#event h2') && page.entries.read(0))")
        try PictureGolden.check(browser, "audit-\(scheme)-\(width)")
    }
}
