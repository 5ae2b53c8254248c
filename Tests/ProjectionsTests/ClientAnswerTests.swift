import Clients
import EventLog
import Testing

@testable import Projections

/// What clients know from REST answers, they know: frames change it as they change what frames brought.
@Suite struct ClientAnswerTests {
    private static let retrocast: [Profile] = [.retrocastWeb, .retrocastIOS]

    @Test(arguments: retrocast)
    func aMessageOfAPageIsUpdatedAndDeleted(profile: Profile) throws {
        var log = Log(profile)
        log.page("/api/v1/channels/10/messages?limit=2", [Self.message(3, "c"), Self.message(2, "b")])
        log.page("/api/v1/channels/10/messages?limit=2&before=2", [Self.message(1, "a")])
        #expect(log.texts == ["a", "b", "c"])
        log.dispatch("MESSAGE_UPDATE", Self.message(1, "A", edited: true))
        log.dispatch("MESSAGE_DELETE", #"{"id":"2","channel_id":"10"}"#)
        #expect(log.texts == ["A", "c"])
    }

    /// The frame of a message that a page has already is one more; the first page of the next visit is the whole list.
    @Test(arguments: retrocast)
    func aPageTakesThePlaceOfTheList(profile: Profile) throws {
        var log = Log(profile)
        log.dispatch("MESSAGE_CREATE", Self.message(1, "a"))
        log.page("/api/v1/channels/10/messages", [Self.message(3, "c"), Self.message(2, "b")])
        #expect(log.texts == ["b", "c"])
        log.dispatch("MESSAGE_CREATE", Self.message(3, "c"))
        #expect(log.texts == ["b", "c", "c"])
        log.page("/api/v1/channels/10/messages", [Self.message(3, "c"), Self.message(2, "b"), Self.message(1, "a")])
        #expect(log.texts == ["a", "b", "c"])
    }

    @Test(arguments: retrocast)
    func aListOfChannelsTakesThePlaceOfTheList(profile: Profile) throws {
        var log = Log(profile)
        let channel = #"{"id":"10","guild_id":"1","name":"tea","type":0,"position":0}"#
        log.dispatch("CHANNEL_CREATE", channel)
        log.dispatch("CHANNEL_CREATE", channel)
        log.page("/api/v1/guilds/1/channels", [#"{"id":"11","guild_id":"1","name":"cake","type":0,"position":1}"#])
        #expect(log.rows("channels", "name") == ["cake"])
        log.dispatch("CHANNEL_UPDATE", #"{"id":"11","guild_id":"1","name":"pie","type":0,"position":1}"#)
        log.dispatch("CHANNEL_CREATE", channel)
        #expect(log.rows("channels", "name") == ["tea", "pie"])
    }

    @Test func aNoteThatWasReadFirstIsShownAndUpdated() throws {
        var log = Log(.sidebarWeb)
        log.read("notes", [#"{"id":"n1","title":"Leek","metadata":{"folder":"Kitchen"}}"#])
        #expect(log.notes == ["Leek false"])
        log.change("notes", #"{"id":"n1","title":"Leek","metadata":{"folder":"Kitchen","pinned":true}}"#)
        #expect(log.notes == ["Leek true"])
    }

    @Test func aFileThatWasReadFirstIsListed() throws {
        var log = Log(.sidebarWeb)
        log.read("ingested_files", [#"{"id":"f1","path":"docs/a.pdf"}"#, #"{"id":"f2","path":"u/f2/AI/ai.md"}"#])
        #expect(log.rows("rows", "id") == ["f1"])
    }

    private static func message(_ id: Int, _ text: String, edited: Bool = false) -> String {
        let times = #""created_at":"2026-03-01T12:00:00Z"\#(edited ? #","edited_at":"2026-03-01T12:01:00Z""# : "")"#
        return
            #"{"id":"\#(id)","channel_id":"10","author_id":"7","content":"\#(text)",\#(times),"author_username":"ann"}"#
    }
}

/// A log's state as one client shows it, made event by event.
private struct Log {
    private var logState: LogState
    private var count: UInt64 = 0

    init(_ profile: Profile) {
        logState = LogState(rules: profile.rules)
    }

    var texts: [String?] { rows("messages", "content") }

    var notes: [String] {
        mutableRows("rows").map { row in
            let record = row["record"]
            return "\(record?["title"]?.string ?? "") \(record?["metadata"]?["pinned"]?.bool ?? false)"
        }
    }

    func rows(_ section: String, _ member: String) -> [String?] { mutableRows(section).map { $0[member]?.string } }

    private func mutableRows(_ section: String) -> [JSONValue] {
        var copy = logState
        return copy.document()[section]?.array ?? []
    }

    mutating func dispatch(_ name: String, _ data: String) {
        apply("gateway.frame/1", ["dir": "in"], #"{"op":0,"t":"\#(name)","d":\#(data)}"#)
    }

    mutating func page(_ path: String, _ elements: [String]) {
        apply("gateway.rest/1", ["path": path, "status": "200"], "[\(elements.joined(separator: ","))]")
    }

    mutating func read(_ table: String, _ rows: [String]) {
        apply("realtime.rest/1", ["table": table, "status": "200"], "[\(rows.joined(separator: ","))]")
    }

    mutating func change(_ table: String, _ record: String) {
        let data =
            #"{"table":"\#(table)","type":"UPDATE","commit_timestamp":"2026-03-01T12:00:00Z","record":\#(record)}"#
        apply(
            "realtime.frame/1",
            ["dir": "in"],
            #"{"topic":"t","event":"postgres_changes","payload":{"data":\#(data)}}"#
        )
    }

    private mutating func apply(_ kind: String, _ attributes: [String: String], _ payload: String) {
        count += 1
        let pairs = attributes.sorted { $0.key < $1.key }.map { Attributes.Pair(name: $0.key, value: $0.value) }
        guard let source = try? SourceName("app"), let kind = try? EventKind(kind), let named = try? Attributes(pairs)
        else {
            Testing.Issue.record("no envelope")
            return
        }
        let envelope = Envelope(
            sequence: SequenceNumber(count),
            recordedAt: Timestamp(seconds: 1_772_366_400 + Int64(count)),
            source: source,
            kind: kind,
            attributes: named
        )
        Array(payload.utf8).withUnsafeBytes { logState.apply(envelope, payload: $0) }
    }
}
