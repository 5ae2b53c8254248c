import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct TerminalTests {
    let folder: TemporaryDirectory
    private let paged = ["PAGER": "sed 's/^/PAGED /'"]

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    @Test(arguments: [
        ["events", "L"], ["replay", "L"], ["replay", "L", "--step"], ["gaps", "L"], ["stats", "L"],
        ["diff", "L@3", "L"], ["history", "L", "message:1002"],
    ])
    func listsGoThroughThePager(arguments: [String]) throws {
        let run = try TerminalRun.run(arguments, in: folder, environment: paged)
        #expect(run.screen.split(separator: "\n").allSatisfy { $0.hasPrefix("PAGED ") })
        #expect(!run.screen.isEmpty)
        #expect(run.exitCode == (arguments[0] == "diff" ? 1 : 0))
    }

    @Test(arguments: [
        ["events", "L", "--json"], ["events", "L", "--jsonl"], ["replay", "L", "--json"], ["stats", "L", "--json"],
        ["events", "L", "--no-pager"], ["--no-pager", "events", "L"], ["replay", "L", "--digest"], ["root", "L"],
    ])
    func programsAndThoseWhoWantNoneGetNoPager(arguments: [String]) throws {
        let run = try TerminalRun.run(arguments, in: folder, environment: paged)
        #expect(!run.screen.contains("PAGED"))
        #expect(!run.screen.isEmpty)
        #expect(run.exitCode == 0)
    }

    @Test func aFileGetsNoPager() throws {
        #expect(try !ToolRun.run(["events", "L"], in: folder, environment: paged).output.contains("PAGED"))
    }

    @Test(arguments: ["", "cat", "no-such-pager -x"])
    func withoutAUsablePagerTheOutputIsShown(pager: String) throws {
        let run = try TerminalRun.run(["events", "L"], in: folder, environment: ["PAGER": pager])
        #expect(run.screen.contains("MESSAGE_CREATE"))
        #expect(run.exitCode == 0)
    }

    /// Such a terminal shows escape sequences as text, and cannot page.
    @Test(arguments: [["events", "L"], ["verify", "L"]])
    func aDumbTerminalGetsPlainLines(arguments: [String]) throws {
        let always = ["LOGTOOL_PROGRESS_DELAY": "0"].merging(paged) { $1 }
        let able = try TerminalRun.run(arguments, in: folder, environment: always).screen
        try #require(able.contains("\u{1B}") || able.contains("PAGED"))
        let dumb = try TerminalRun.run(arguments, in: folder, environment: always.merging(["TERM": "dumb"]) { $1 })
        #expect(!dumb.screen.contains("\u{1B}") && !dumb.screen.contains("PAGED"))
        #expect(dumb.exitCode == 0 && !dumb.screen.isEmpty)
    }

    @Test func ourOwnVariableComesFirst() throws {
        let environment = ["PAGER": "sed 's/^/OTHER /'", "LOGTOOL_PAGER": "sed 's/^/OURS /'"]
        let screen = try TerminalRun.run(["events", "L"], in: folder, environment: environment).screen
        #expect(screen.hasPrefix("OURS "))
        #expect(!screen.contains("OTHER "))
    }

    @Test(arguments: [([:], "FRX -c"), (["LESS": "S", "LV": "-x"], "S -x")])
    func lessIsToldToLeaveShortOutputInPlace(environment: [String: String], expected: String) throws {
        let pager = ["PAGER": #"cat >/dev/null; echo "$LESS $LV""#].merging(environment) { $1 }
        #expect(try TerminalRun.run(["events", "L"], in: folder, environment: pager).screen == expected + "\n")
    }

    @Test func aPagerThatQuitsEarlyEndsTheListWell() throws {
        try folder.makeLongLog(messages: 2_000)
        let run = try TerminalRun.run(["events", "long", "--payload"], in: folder, environment: ["PAGER": "head -n 1"])
        #expect(run.exitCode == 0)
        #expect(run.screen.split(separator: "\n").count == 1)
    }

    @Test func aFailureStartsNoPager() throws {
        let run = try TerminalRun.run(["events", "L", "--source", "nope"], in: folder, environment: paged)
        #expect(run.exitCode == 1)
        #expect(run.screen.hasPrefix("logtool: "))
    }

    /// Each command that may take long; `LOGTOOL_PROGRESS_DELAY` stands for a log that takes longer than a second.
    @Test(arguments: [
        ["events", "L"], ["replay", "L"], ["replay", "L", "--step"], ["gaps", "L"], ["stats", "L"], ["status", "L"],
        ["diff", "L@3", "L"], ["history", "L", "message:1002"], ["rebuild", "L", "--to", "c.sqlite"],
        ["compact", "L", "--dry-run"], ["verify", "L"], ["backup", "L", "copy"], ["salvage", "L", "-o", "saved"],
        ["export", "L", "-o", "out.ndjson"], ["ingest", "M", "capture", "c.ndjson", "--kind", "gateway"],
    ])
    func whatTakesLongSaysSo(arguments: [String]) throws {
        let environment = ["LOGTOOL_PROGRESS_DELAY": "0", "PAGER": ""]
        let screen = try TerminalRun.run(arguments, in: folder, environment: environment).screen
        #expect(screen.hasPrefix("\r\u{1B}[K"))
        #expect(screen.contains(" s\r\u{1B}[K"), "the line goes before the output comes")
        let quiet = try TerminalRun.run(
            arguments + ["--quiet"],
            in: TemporaryDirectory.copying(folder),
            environment: environment
        )
        #expect(!quiet.screen.contains("\r\u{1B}[K"))
        #expect(try TerminalRun.run(["root", "L"], in: folder, environment: environment).exitCode == 0)
    }

    @Test func importTellsHowFarItIs() throws {
        _ = try ToolRun.run(["export", "L", "-o", "e.ndjson"], in: folder)
        let environment = ["LOGTOOL_PROGRESS_DELAY": "0"]
        let run = try TerminalRun.run(["import", "N", "e.ndjson"], in: folder, environment: environment)
        #expect(run.screen.contains("importing, 0 s"))
    }

    @Test func manyChannelsBeginWithATable() throws {
        try folder.write(SampleCaptures.channels(9), to: "many.ndjson")
        _ = try ToolRun.run(["ingest", "many", "capture", "many.ndjson", "--as", "guild"], in: folder)
        let plain = ["PAGER": "", "NO_COLOR": "1"]
        let screen = try TerminalRun.run(["replay", "many"], in: folder, environment: plain).screen
        #expect(screen.contains("9 channels  see one with: logtool replay many --channel guild/100"))
        let lines = screen.split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.hasPrefix("  room-104  1 message") && $0.hasSuffix("guild/104") })
        #expect(try !ToolRun.run(["replay", "many"], in: folder).output.contains("9 channels"))
        let few = try TerminalRun.run(["replay", "L"], in: folder, environment: ["PAGER": ""]).screen
        #expect(!few.contains("channels  see"))
    }
}

@Suite struct ProgressLineTests {
    private let start = ContinuousClock.now

    @Test func anActivitySaysHowLongItHasTaken() {
        #expect(ProgressLine(text: "verifying").text(after: .seconds(7), at: start) == "verifying, 7 s")
    }

    @Test func reportsGiveRateShareAndWhatIsLeft() {
        var line = ProgressLine(text: "replaying")
        line.report("replayed 100 of 1000", done: 100, total: 1000, at: start)
        line.report("replayed 400 of 1000", done: 400, total: 1000, at: start + .seconds(3))
        #expect(line.text(after: .seconds(9), at: start + .seconds(3)) == "replayed 400 of 1000, 100/s, 40 %, 6 s left")
    }

    @Test func anotherStepForgetsTheOneBefore() {
        var line = ProgressLine(text: "replaying")
        line.report("replayed 100 of 1000", done: 100, total: 1000, at: start)
        line.begin("writing the cache")
        #expect(line.text(after: .seconds(2), at: start) == "writing the cache, 2 s")
    }
}

extension SampleCaptures {
    /// So many channels with a message each.
    static func channels(_ count: Int) -> String {
        var lines = [line(0, #"{"op":10,"d":{"heartbeat_interval":45000}}"#)]
        for number in 0..<count {
            let channel = 100 + number
            lines.append(
                line(
                    number,
                    #"{"op":0,"s":\#(2 * number + 1),"t":"CHANNEL_CREATE","d":{"id":"\#(channel)","type":0,"#
                        + #""name":"room-\#(channel)","guild_id":"1","position":\#(number),"topic":""}}"#
                )
            )
            lines.append(
                line(
                    number,
                    #"{"op":0,"s":\#(2 * number + 2),"t":"MESSAGE_CREATE","d":{"id":"\#(1000 + number)","#
                        + #""channel_id":"\#(channel)","author_id":"7","author_username":"ada","content":"hi","#
                        + #""created_at":"2026-01-01T00:00:00Z"}}"#
                )
            )
        }
        return lines.joined()
    }
}

extension TemporaryDirectory {
    /// Makes the log `long`.
    fileprivate func makeLongLog(messages count: Int) throws {
        try write(SampleCaptures.gateway(messages: count), to: "long.ndjson")
        _ = try ToolRun.run(["ingest", "long", "capture", "long.ndjson", "--as", "guild"], in: self)
    }

    /// A folder with the same log and capture.
    fileprivate static func copying(_ folder: TemporaryDirectory) throws -> TemporaryDirectory {
        let copy = try TemporaryDirectory()
        for name in ["L", "c.ndjson"] {
            try FileManager.default.copyItem(atPath: folder.path(name), toPath: copy.path(name))
        }
        return copy
    }
}
