import Chromium
import EventLog
import Foundation
import JSON
import TestSupport
import Testing

@testable import Projections

/// What the page of a log shows, read out of a browser, and compared with what a replay gives.
enum ShownPage {
    /// A log of three channels with so many messages, edits and deletions, and a gap.
    static func makeLog(_ name: String, events: Int, seed: UInt64 = 3, in folder: TemporaryDirectory) throws {
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
                frame = ShownPage.message(message, number, "MESSAGE_CREATE", #""content":"words \#(number)""#)
            } else {
                let place = Int.random(in: 0..<live.count, using: &random)
                let edit = #""content":"new \#(number)","edited_at":"2026-02-01T00:00:\#(10 + number % 50)Z""#
                frame =
                    draw < 85
                    ? ShownPage.message(live[place], number, "MESSAGE_UPDATE", edit)
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

    /// What the page shows: the count of each place, and of the shown channel the rows and how many are left out before each
    /// and behind the last.
    static let script = """
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

    /// Goes to drawn points of the log `L` and compares what is shown there with a replay; at some points with all rows.
    ///
    /// - Returns: How many steps were loaded alone at first.
    @discardableResult
    static func check(_ browser: Browser, at points: [Int], of folder: TemporaryDirectory) throws -> Int {
        let store = try EventStore.open(at: folder.path("L"))
        var aloneCount = 0
        // Until the test asks for it.
        try browser.value("Page.settlingTime = 1e6")
        for (number, point) in points.enumerated() {
            let rows = number % 4 == 0 ? 2000 : 200
            let move = "await page.goTo('\(point)'); page.shownMax = \(rows); await page.show(page.timeline.position)"
            try browser.value("(async () => { \(move); })()")
            let state = try store.read { try Replay.logState(of: $0, through: SequenceNumber(UInt64(point))) }
            // A jump first loads its step alone, which shows the same of its place.
            if try browser.value("page.timeline.isAlone === true") as? Bool == true {
                let alone = try #require(try browser.value(script) as? [String: Any])
                try check(alone, state, hasAll: false, isAlone: true, "alone at \(point)")
                try browser.value("page.settle()")
                aloneCount += 1
            }
            let shown = try #require(try browser.value(script) as? [String: Any])
            #expect(shown["event"] as? String == "Event \(point)")
            let payload = try store.read { try $0.event(at: SequenceNumber(UInt64(point)))?.payload }
            let text = (shown["payload"] as? String ?? "").filter { !$0.isWhitespace }
            #expect(text == String(decoding: payload ?? [], as: UTF8.self).filter { !$0.isWhitespace })
            try check(shown, state, hasAll: rows > 200, "at \(point)")
        }
        return aloneCount
    }

    /// - Parameter isAlone: Whether only the shown place is known.
    static func check(
        _ shown: [String: Any],
        _ state: LogState,
        hasAll: Bool,
        isAlone: Bool = false,
        _ comment: String
    ) throws {
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
            if isKnown || count > 0, !isAlone {
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
}
