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

    /// A `view` that serves, and the address that it printed.
    private func serve(_ arguments: [String]) async throws -> (view: ToolProcess, address: String) {
        let view = try ToolProcess(["view"] + arguments, in: folder)
        while view.isRunning, !view.output.hasSuffix("\n") { try await Task.sleep(for: .milliseconds(20)) }
        return (view, String(view.output.split(whereSeparator: \.isNewline).first ?? ""))
    }

    /// At drawn points, on both sides of chunks, the rows that are shown are those of a replay there, in its order; and what is
    /// left out is as many as the state has besides.
    @Test func theServedPageShowsWhatAReplayGives() async throws {
        try ShownPage.makeLog("L", events: 900, in: folder)
        let (view, address) = try await serve(["L"])
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: address)
        let head = try #require(try browser.value("page.timeline.last") as? Int)
        var random = SeededGenerator(seed: 11)
        let borders = [31, 32, 33, 34, 64, 65, 256, 257, 768, 769, 1, 2, head]
        let points = borders + (0..<120).map { _ in Int.random(in: 1...head, using: &random) }
        #expect(try ShownPage.check(browser, at: points, of: folder) > 30)
        #expect(try browser.value("page.timeline.chunks.length <= 4") as? Bool == true)
        #expect(view.isRunning)
    }

    /// Beside the log stands what it would be had an event never arrived: at drawn points as a replay without it has it.
    @Test func anEventIsLeftOutBesideTheLog() async throws {
        try ShownPage.makeLog("L", events: 300, in: folder)
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

    /// Every key does what the table in `docs/steps.md` says.
    @Test func theKeysMove() async throws {
        try ShownPage.makeLog("L", events: 300, in: folder)
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
        for (key, speed) in [("-", 2), ("+", 3), ("+", 4)] {
            try browser.press(key)
            #expect(try browser.value("document.getElementById('speed').selectedIndex") as? Int == speed)
        }
        try browser.value("page.show(0)")
        try browser.press(" ")
        try browser.wait(for: "page.timeline.position > 3")
        try browser.press(" ")
        #expect(try browser.value("page.timer === undefined") as? Bool == true)
        #expect(view.isRunning)
    }

    /// What a pointer does: a click on the axis goes there, dragging zooms, buttons and the slider move, a place stays.
    @Test func thePointerMoves() async throws {
        try ShownPage.makeLog("L", events: 300, in: folder)
        let (view, address) = try await serve(["L"])
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: address)
        try browser.wait(for: "page.axis.drawn !== undefined")
        let last = try #require(try browser.value("page.timeline.last") as? Int)
        let box = "document.getElementById('density').getBoundingClientRect()"
        let left = try #require((try browser.value("\(box).left") as? NSNumber)?.doubleValue)
        let top = try #require((try browser.value("\(box).top") as? NSNumber)?.doubleValue)
        let width = try #require((try browser.value("\(box).width") as? NSNumber)?.doubleValue)
        func drag(from start: Double, to end: Double) throws {
            for (kind, part) in [("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)] {
                try browser.call(
                    "Input.dispatchMouseEvent",
                    [
                        "type": kind, "x": left + part * width, "y": top + 10, "button": "left", "clickCount": 1,
                        "buttons": kind == "mouseReleased" ? 0 : 1,
                    ]
                )
            }
        }
        let middle = try #require(
            try browser.value("page.axis.stepAt(0.5 * document.getElementById('density').clientWidth)") as? Int
        )
        try drag(from: 0.5, to: 0.5)
        try browser.wait(for: "page.timeline.position === \(middle)")
        try drag(from: 0.25, to: 0.75)
        try browser.wait(for: "!page.axis.isWhole && page.axis.drawn.from === page.axis.range.from")
        let range = try #require(try browser.value("[page.axis.range.from, page.axis.range.to]") as? [Int])
        #expect(range[0] > 1 && range[0] < middle && range[1] > middle && range[1] < last)
        for (button, test) in [
            ("zoom-out", "page.axis.range.from < \(range[0])"), ("zoom-all", "page.axis.isWhole"),
            ("zoom-in", "!page.axis.isWhole"), ("first", "page.timeline.position === 0"),
            ("on", "page.timeline.position === 1"), ("last", "page.timeline.position === \(last)"),
            ("back", "page.timeline.position === \(last - 1)"), ("help-open", "document.getElementById('help').open"),
        ] {
            try browser.value("document.getElementById('\(button)').click()")
            try browser.wait(for: test)
        }
        try browser.press("Escape")
        try browser.press("0")
        try browser.wait(for: "page.axis.isWhole")
        try browser.value(
            "(() => { const slider = document.getElementById('slider'); slider.value = 40; slider.dispatchEvent(new Event('input')); })()"
        )
        try browser.wait(for: "page.timeline.position === 40")
        try browser.value("document.querySelectorAll('#places button')[1].click()")
        try browser.wait(for: "page.isPinned === true")
        let place = try #require(try browser.value("page.place") as? String)
        for _ in 0..<5 { try browser.value("page.move(1)") }
        #expect(try browser.value("page.place") as? String == place)
        #expect(view.isRunning)
    }

    /// Proofs are checked in the page, histories and days are asked for, and what the log gains appears.
    @Test func theServerAnswersThePage() async throws {
        try ShownPage.makeLog("L", events: 300, in: folder)
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
        try ShownPage.makeLog("L", events: 60, in: folder)
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
        try ShownPage.makeLog("L", events: 60, in: folder)
        let report = try ToolRun.run(["report", "L", "-o", "p.html", "--as-recorded"], in: folder)
        #expect(report.exitCode == 0, "\(report.errors)")
        let browser = try Browser(in: folder.url.path, width: width)
        try PictureGolden.prepare(browser, scheme: scheme)
        try browser.show(page: "file://\(folder.path("p.html"))#40")
        try PictureGolden.check(browser, "\(scheme)-\(width)")
    }
}
#endif
