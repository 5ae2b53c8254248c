#if Recorders
import EventLog
import Chromium
import Foundation
import JSON
import TestSupport
import Testing

@testable import Projections

/// The page that `view` serves, in a browser: it holds a few chunks of the log, and shows at each point what the log says.
@Suite(.hangGuard, .enabled(if: Browser.path != nil, "chromium is not installed"))
struct ViewPageTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// A log of three channels with so many messages, edits and deletions, and a gap.
    private func makeLog(_ name: String, events: Int, seed: UInt64 = 3) throws {
        var random = SeededGenerator(seed: seed)
        var lines = [SampleCaptures.line(0, #"{"op":10,"d":{"heartbeat_interval":45000}}"#)]
        for channel in 10...12 {
            let frame =
                #"{"op":0,"s":1,"t":"CHANNEL_CREATE","d":{"id":"\#(channel)","type":0,"name":"room \#(channel)","guild_id":"1","position":0,"topic":""}}"#
            lines.append(SampleCaptures.line(channel, frame))
        }
        var live: [(channel: Int, id: Int)] = []
        for number in 0..<events {
            let draw = Int.random(in: 0..<100, using: &random)
            let frame: String
            if draw < 60 || live.isEmpty {
                let message = (channel: Int.random(in: 10...12, using: &random), id: 1000 + number)
                live.append(message)
                frame = Self.message(message, number, "MESSAGE_CREATE", #""content":"words \#(number)""#)
            } else {
                let place = Int.random(in: 0..<live.count, using: &random)
                let edit = #""content":"new \#(number)","edited_at":"2026-02-01T00:00:\#(10 + number % 50)Z""#
                frame =
                    draw < 85
                    ? Self.message(live[place], number, "MESSAGE_UPDATE", edit)
                    : #"{"op":0,"s":\#(number),"t":"MESSAGE_DELETE","d":{"id":"\#(live[place].id)","channel_id":"\#(live[place].channel)"}}"#
                if draw >= 85 { live.remove(at: place) }
            }
            lines.append(SampleCaptures.line(20 + number, frame))
        }
        try folder.write(lines.joined(), to: "capture")
        let run = try ToolRun.run(
            ["ingest", name, "capture", "capture", "--kind", "gateway", "--as", "guild"],
            in: folder
        )
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    private static func message(_ message: (channel: Int, id: Int), _ number: Int, _ kind: String, _ more: String)
        -> String
    {
        #"{"op":0,"s":\#(number),"t":"\#(kind)","d":{"id":"\#(message.id)","channel_id":"\#(message.channel)","author_id":"7","author_username":"ada","#
            + #""created_at":"2026-01-01T00:00:00Z",\#(more)}}"#
    }

    /// A `view` that serves, and the address that it printed.
    private func serve(_ arguments: [String]) async throws -> (view: ToolProcess, address: String) {
        let view = try ToolProcess(["view"] + arguments, in: folder)
        while view.isRunning, !view.output.hasSuffix("\n") { try await Task.sleep(for: .milliseconds(20)) }
        return (view, String(view.output.split(whereSeparator: \.isNewline).first ?? ""))
    }

    /// What the page shows: the count of each place, and of the shown channel the rows and how many are left out before each
    /// and behind the last.
    private static let shown = """
        (() => {
          const places = [...document.querySelectorAll("#places button")].map((button) => button.textContent);
          const rows = [...document.querySelectorAll("#content ol.messages > li")].map((item) => {
            if (item.dataset.hidden) return ["hidden", item.dataset.hidden];
            if (!item.dataset.entity) return ["more", item.textContent];
            const text = item.querySelector("p.text").cloneNode(true);
            if (!item.classList.contains("gone")) text.querySelectorAll("del").forEach((gone) => gone.remove());
            return [item.classList.contains("gone") ? "gone" : "live", item.dataset.entity, text.textContent];
          });
          return { places, rows, event: document.querySelector("#event h2").textContent, payload: document.getElementById("payload")?.textContent };
        })()
        """

    /// At drawn points, on both sides of chunks, the rows that are shown are those of a replay there, in its order; and what is
    /// left out is as many as the state has besides.
    @Test func theServedPageShowsWhatAReplayGives() async throws {
        try makeLog("L", events: 900)
        let (view, address) = try await serve(["L"])
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: address)
        let store = try EventStore.open(at: folder.path("L"))
        let head = try store.read { Int($0.head.rawValue) }
        var random = SeededGenerator(seed: 11)
        let borders = [63, 64, 65, 66, 128, 129, 256, 257, 768, 769, 1, 2, head]
        let points = borders + (0..<190).map { _ in Int.random(in: 1...head, using: &random) }
        for (number, point) in points.enumerated() {
            // Some with all rows.
            let rows = number % 4 == 0 ? 2000 : 200
            let script = "await page.goTo('\(point)'); page.shownMax = \(rows); await page.show(page.timeline.position)"
            try browser.value("(async () => { \(script); })()")
            let shown = try #require(try browser.value(Self.shown) as? [String: Any])
            #expect(shown["event"] as? String == "Event \(point)")
            let payload = try store.read { try $0.event(at: SequenceNumber(UInt64(point)))?.payload }
            let text = (shown["payload"] as? String ?? "").filter { !$0.isWhitespace }
            #expect(text == String(decoding: payload ?? [], as: UTF8.self).filter { !$0.isWhitespace })
            let state = try store.read { try Replay.logState(of: $0, through: SequenceNumber(UInt64(point))) }
            try Self.check(shown, state, hasAll: rows > 200, "at \(point)")
        }
        #expect(try browser.value("page.timeline.chunks.length <= 8") as? Bool == true)
        #expect(view.isRunning)
    }

    /// Beside the log stands what it would be had an event never arrived: at drawn points as a replay without it has it.
    @Test func anEventIsLeftOutBesideTheLog() async throws {
        try makeLog("L", events: 300)
        let (view, address) = try await serve(["L"])
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: address)
        let store = try EventStore.open(at: folder.path("L"))
        let head = try store.read { Int($0.head.rawValue) }
        var random = SeededGenerator(seed: 49)
        var differences = 0
        for left in (0..<4).map({ _ in Int.random(in: 5...head, using: &random) }) {
            try browser.value("(async () => { await page.goTo('\(left)'); await page.leaveOut(); })()")
            #expect(try browser.value("page.other.header.profile") as? String == "canonical without event \(left)")
            var options = ReplayOptions()
            options.without = [SequenceNumber(UInt64(left))]
            for point in [left - 1, left, head] + (0..<6).map({ _ in Int.random(in: 1...head, using: &random) }) {
                let script =
                    "await page.goTo('\(point)'); page.shownMax = 2000; await page.show(page.timeline.position)"
                try browser.value("(async () => { \(script); })()")
                let state = try store.read { session in
                    try Replay.logState(of: session, through: SequenceNumber(UInt64(point)), options: options)
                }
                var beside = state
                let document = beside.document(DocumentOptions())
                let channel = try #require(try browser.value("page.place.split('\\n')[2]") as? String)
                let live = (document["messages"]?.array ?? []).filter { $0["channel"]?.string == channel }.map {
                    "message:guild/\(channel)/\($0["id"]?.string ?? "")"
                }
                let rows =
                    "[...document.querySelectorAll('#content section:last-of-type li[data-entity]:not(.gone)')].map((row) => row.dataset.entity)"
                #expect(try browser.value(rows) as? [String] == live, "at \(point), without \(left)")
                let marked = try browser.value("document.querySelectorAll('#content li.differs').length") as? Int ?? 0
                #expect(point >= left || marked == 0, "at \(point), without \(left)")
                differences += marked
            }
            try browser.press("w")
            try browser.wait(for: "page.other === undefined")
        }
        #expect(differences > 0 && view.isRunning)
    }

    private static func check(_ shown: [String: Any], _ state: LogState, hasAll: Bool, _ comment: String) throws {
        var state = state
        let document = state.document(DocumentOptions())
        let places = try #require(shown["places"] as? [String])
        let live = (document["messages"]?.array ?? []).map { row in
            ["message:guild/\(row["channel"]?.string ?? "")/\(row["id"]?.string ?? "")", row["content"]?.string ?? ""]
        }
        let gone = (document["deletedMessages"]?.array ?? []).map { $0["channel"]?.string ?? "" }
        for channel in 10...12 {
            let count = live.count { $0[0].hasPrefix("message:guild/\(channel)/") }
            let isKnown = document["channels"]?.array?.contains { $0["id"]?.string == String(channel) } ?? false
            if isKnown || count > 0 {
                #expect(places.contains("guild / room \(channel) \(count)"), "\(comment): \(places)")
            }
        }
        let rows = try #require(shown["rows"] as? [[String]])
        guard let channel = rows.first(where: { $0.count == 3 })?[1].split(separator: "/")[1] else { return }
        let expected = live.filter { $0[0].hasPrefix("message:guild/\(channel)/") }
        let found = rows.filter { $0[0] == "live" }.map { Array($0.dropFirst()) }
        var rest = expected[...]
        for row in found {
            let place = rest.firstIndex(of: row)
            #expect(place != nil, "\(comment): \(row)")
            rest = rest.suffix(from: (place ?? rest.startIndex - 1) + 1)
        }
        let goneCount = gone.count { $0 == String(channel) }
        let hidden = rows.filter { $0[0] == "hidden" }.compactMap { Int($0[1]) }.reduce(0, +)
        let more = rows.filter { $0[0] == "more" }.compactMap { $0[1].split(separator: " ").first.flatMap { Int($0) } }
        let all = found.count + rows.count { $0[0] == "gone" } + hidden + more.reduce(0, +)
        #expect(all == expected.count + goneCount, "\(comment)")
        if hasAll { #expect(found == expected && hidden == 0, "\(comment)") }
    }

    /// Every key does what the table in `docs/steps.md` says.
    @Test func theKeysMove() async throws {
        try makeLog("L", events: 300)
        let (view, address) = try await serve(["L"])
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: address)
        let last = try #require(try browser.value("page.timeline.last") as? Int)
        func isAt(_ index: Int) throws { try browser.wait(for: "page.timeline.position === \(index)") }
        try isAt(last)
        try browser.press("ArrowLeft")
        try isAt(last - 1)
        try browser.press("ArrowRight")
        try isAt(last)
        try browser.press("Home")
        try isAt(0)
        try browser.press("n")
        try browser.wait(for: "page.timeline.position > 0")
        let mark = try #require(try browser.value("page.timeline.position") as? Int)
        let edits = try ToolRun.run(["audit", "L", "--jsonl"], in: folder).output.split(separator: "\n")
        let first = try edits.compactMap {
            try (JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])?["sequence"] as? String
        }.compactMap { Int($0) }.min()
        #expect(mark == first)
        try browser.press("End")
        try isAt(last)
        try browser.press("p")
        try browser.wait(for: "page.timeline.position < \(last)")
        try browser.value("page.show(100)")
        try isAt(100)
        // The next step of the place that is shown.
        try browser.press("ArrowRight", shift: true)
        try browser.wait(for: "page.timeline.position > 100")
        let changed = "page.timeline.step().changes.some((change) => placeOf(change.entity) === page.place)"
        #expect(try browser.value(changed) as? Bool == true)
        try browser.press("z")
        try browser.wait(for: "!page.axis.isWhole && page.axis.drawn.from === page.axis.range.from")
        try browser.press("Z")
        try browser.press("0")
        try browser.wait(for: "page.axis.isWhole && page.axis.drawn.to === \(last)")
        try browser.press("/")
        #expect(try browser.value("document.activeElement.id") as? String == "search")
        for letter in ["n", "e", "w"] { try browser.press(letter) }
        try browser.wait(for: "document.querySelectorAll('#found li').length > 0")
        try browser.press("Escape")
        try browser.wait(for: "document.getElementById('found').hidden")
        try browser.value("document.activeElement.blur()")
        for (key, id) in [("c", "content"), ("e", "event")] {
            try browser.press(key)
            #expect(try browser.value("document.activeElement.id") as? String == id)
        }
        try browser.press("?")
        #expect(try browser.value("document.getElementById('help').open") as? Bool == true)
        try browser.press("Escape")
        try browser.press("+")
        #expect(try browser.value("document.getElementById('speed').selectedIndex") as? Int == 4)
        try browser.value("page.show(0)")
        try browser.press(" ")
        try browser.wait(for: "page.timeline.position > 3")
        try browser.press(" ")
        #expect(try browser.value("page.timer === undefined") as? Bool == true)
        #expect(view.isRunning)
    }

    /// Proofs are checked in the page, histories and days are asked for, and what the log gains appears.
    @Test func theServerAnswersThePage() async throws {
        try makeLog("L", events: 300)
        let (view, address) = try await serve(["L"])
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: address)
        for point in [1, 2, 17, 255, 256, 257, 304] {
            let fault = try browser.value(
                "page.timeline.proof(\(point)).then(faultOf).then((fault) => fault ?? 'holds')"
            )
            #expect(fault as? String == "holds", "\(point)")
        }
        let bent = """
            page.timeline.proof(17).then((proof) => {
              proof.proof[2] = proof.proof[1];
              return faultOf(proof);
            })
            """
        #expect(try browser.value(bent) as? String == "its path does not lead to the root")
        let entity = try #require(
            try browser.value("[...page.timeline.rows.keys()].find((name) => name.startsWith('message:'))") as? String
        )
        let told = try ToolRun.run(["history", "L", entity, "--jsonl"], in: folder).output.split(separator: "\n").count
        let count = try browser.value("page.timeline.history('\(entity)').then((history) => history.entries.length)")
        #expect(count as? Int == told)
        #expect(try browser.value("page.timeline.day('2026-01-01').then(String)") as? String == "1,304")
        #expect(
            try browser.value("page.timeline.day('2025-01-01').catch((error) => error.message)") as? String
                == "there is no event on that day"
        )
        try folder.write(SampleCaptures.line(900, SampleCaptures.message(900)), to: "more")
        let run = try ToolRun.run(["ingest", "L", "capture", "more", "--kind", "gateway", "--as", "guild"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        try browser.wait(for: "page.timeline.position === 305 && document.body.textContent.includes('message 900')")
        #expect(view.isRunning)
    }

    /// No control is without a name, also in dialogs and lists that open.
    @Test func everyControlHasAName() async throws {
        try makeLog("L", events: 60)
        let report = try ToolRun.run(["report", "L", "-o", "p.html", "--as-recorded"], in: folder)
        #expect(report.exitCode == 0, "\(report.errors)")
        let (view, address) = try await serve(["L"])
        let browser = try Browser(in: folder.url.path)
        try browser.call("Accessibility.enable")
        for page in [address, "file://\(folder.path("p.html"))"] {
            try browser.show(page: page)
            try browser.value(
                "page.chooseEntity([...page.timeline.rows.keys()].find((name) => name.startsWith('message:')))"
            )
            try browser.value("page.finds.search('words')")
            try browser.wait(for: "document.querySelectorAll('#found li, #history li').length > 2")
            for isOpen in [false, true] {
                if isOpen { try browser.value("page.help()") }
                let unnamed = try WebPage.unnamed(browser)
                #expect(unnamed.isEmpty, "\(page) \(unnamed)")
            }
        }
        #expect(view.isRunning)
    }

    /// Four pictures of the page, as coarse grids of their brightness, are those in `Fixtures/pictures`.
    @Test(arguments: ["light", "dark"], [400, 1400])
    func thePageLooksAsItDid(scheme: String, width: Int) throws {
        try makeLog("L", events: 60)
        let report = try ToolRun.run(["report", "L", "-o", "p.html", "--as-recorded"], in: folder)
        #expect(report.exitCode == 0, "\(report.errors)")
        let browser = try Browser(in: folder.url.path, width: width)
        try PictureGolden.prepare(browser, scheme: scheme)
        try browser.show(page: "file://\(folder.path("p.html"))#40")
        try PictureGolden.check(browser, "\(scheme)-\(width)")
    }
}
#endif
