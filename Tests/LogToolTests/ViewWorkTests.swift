#if Recorders
import Chromium
import Foundation
import TestSupport
import Testing

/// What the page of `view` has the server do: find the first bad event, write fixtures, say what a decoder file read.
@Suite(.hangGuard, .enabled(if: Browser.path != nil, "chromium is not installed"))
struct ViewWorkTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func serve(_ arguments: [String]) async throws -> (view: ToolProcess, address: String) {
        let view = try ToolProcess(["view"] + arguments, in: folder)
        while view.isRunning, !view.output.hasSuffix("\n") { try await Task.sleep(for: .milliseconds(20)) }
        return (view, String(view.output.split(whereSeparator: \.isNewline).first ?? ""))
    }

    private func ingestEdit() throws {
        let edit =
            #"{"op":0,"s":91,"t":"MESSAGE_UPDATE","d":{"id":"1005","channel_id":"10","author_id":"7","author_username":"ada","#
            + #""content":"a \"worse\" text","edited_at":"2026-01-02T00:00:00Z","created_at":"2026-01-01T00:00:00Z"}}"#
        let lines = [edit, SampleCaptures.message(50), SampleCaptures.message(51)].enumerated()
        try folder.write(lines.map { SampleCaptures.line(100 + $0.offset, $0.element) }.joined(), to: "more")
        let run = try ToolRun.run(["ingest", "L", "capture", "more", "--kind", "gateway", "--as", "guild"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test func theFirstBadEventIsFound() async throws {
        try folder.makeLog(messages: 40)
        try ingestEdit()
        let (view, address) = try await serve(["L"])
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: address)
        try browser.value("page.goTo('10')")
        try browser.press("g")
        try browser.value("page.goTo('43')")
        // What is shown at the bad point is proposed.
        try browser.press("b")
        #expect(
            try browser.value("document.getElementById('when').value") as? String
                == #"messages["guild/10/1005"].content == "a \"worse\" text""#
        )
        try browser.value("page.goTo('45')")
        try browser.press("b")
        try browser.value("page.goTo('20')")
        try browser.press("B")
        try browser.wait(
            for: "document.getElementById('work-says').textContent.startsWith('The first bad event is 43 ')"
        )
        try browser.wait(for: "page.timeline.position === 43")
        let command = try #require(
            try browser.value("document.querySelector('#bisect-command code').textContent") as? String
        )
        #expect(
            command
                == #"logtool bisect LOG --good 10 --bad 45 --when 'messages["guild/10/1005"].content == "a \"worse\" text"'"#
        )
        let told = try ToolRun.run(
            [
                "bisect", "L", "--good", "10", "--bad", "45", "--when",
                #"messages["guild/10/1005"].content == "a \"worse\" text""#,
            ],
            in: folder
        )
        #expect(told.output.contains("first: event 43"), "\(told.output)\(told.errors)")
        for (when, answer) in [
            ("exists(", "It cannot be searched: \"exists(\" is no expression"),
            ("exists(issues)", "Not found: it does not hold"),
            ("exists(channels)", "Not found: it holds at the good point, too"),
        ] {
            try browser.value("document.getElementById('when').value = '\(when)'; page.work.bisect()")
            try browser.wait(for: "document.getElementById('work-says').textContent.startsWith('\(answer)')")
        }
        // Without a folder nothing is written.
        try browser.value("document.getElementById('fixture').value = 'f'; page.work.freeze()")
        try browser.wait(for: "document.getElementById('work-says').textContent.includes('--freeze DIR')")
        #expect(view.isRunning)
    }

    @Test func aFixtureIsWrittenWhereItMayBe() async throws {
        try folder.makeLog(messages: 20)
        let (view, address) = try await serve(["L", "--freeze", "fixtures"])
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: address)
        try browser.value("page.goTo('15')")
        func freeze(_ name: String) throws {
            try browser.value("document.getElementById('fixture').value = '\(name)'; page.work.freeze()")
        }
        func says(_ text: String) throws {
            try browser.wait(for: "document.getElementById('work-says').textContent.includes('\(text)')")
        }
        try freeze("shown-twice")
        try says("Frozen: ")
        let check = try ToolRun.run(["check", "fixtures/shown-twice"], in: folder)
        #expect(check.exitCode == 0, "\(check.output)\(check.errors)")
        try freeze("shown-twice")
        try says("something is there already")
        for name in ["", "../outside", ".hidden", "a b"] {
            try freeze(name)
            try says("is no name of a folder")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("fixtures")) == ["shown-twice"])
        // Only the page itself may ask for it, and not by an address.
        let status = "fetch('freeze?at=3&name=x').then((answer) => answer.status)"
        #expect(try browser.value(status) as? Int == 405)
        #expect(view.isRunning)
    }

    @Test func whatADecoderFileReadIsLit() async throws {
        try folder.makeThreads(messages: 5)
        let (view, address) = try await serve(["L"])
        let browser = try Browser(in: folder.url.path)
        try browser.show(page: address)
        try browser.value("page.goTo('4')")
        try browser.wait(for: "document.querySelectorAll('#payload mark').length > 0")
        let lit = try browser.value(
            "[...document.querySelectorAll('#payload mark')].map((mark) => mark.textContent).sort().join(' ')"
        )
        #expect(lit as? String == #""10" "1001" "1002" "2026-01-01T00:00:00Z" "7" "ada" "message 2""#)
        let text = try browser.value("document.getElementById('payload').textContent.replace(/\\s/g, '')") as? String
        #expect(text == SampleCaptures.message(2, answers: true).replacing(" ", with: ""))
        #expect(
            try browser.value("document.getElementById('reads').textContent.includes('threads/1')") as? Bool == true
        )
        #expect(view.isRunning)
    }
}
#endif
