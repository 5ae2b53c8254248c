import EventLog
import TestSupport

@testable import Projections

/// Random frames of a gateway with REST answers among them, changes of rows with pages read between, records, gaps.
struct AnswerTraffic {
    private var random: SeededGenerator
    private var frames: GatewayTraffic
    private var sequence: UInt64 = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        frames = GatewayTraffic(seed: seed)
    }

    mutating func events(_ count: Int) -> [RecordedGateway.Event] {
        (0..<count).compactMap { _ in next() }
    }

    private mutating func next() -> RecordedGateway.Event? {
        sequence += 1
        switch pick(0...9) {
        case 0...4:
            let frame = frames.frames(1)[0]
            guard let text = frame.text else { return event("recorder.link/1", ["link": "open"], "") }
            return event("gateway.frame/1", frame.connection.map { ["connection": $0] } ?? [:], text)
        case 5, 6:
            let (path, body) = answer()
            return event("gateway.rest/1", ["path": path, "status": pick(0...9) == 0 ? "404" : "200"], body)
        case 7: return row()
        case 8: return record()
        default:
            let end = Bool.random(using: &random) ? #","to":"2026-03-01T12:00:0\#(pick(0...9)).000000Z""# : ""
            return event("recorder.gap/1", [:], #"{"reason":"hole","from":"2026-03-01T12:00:00.000000Z"\#(end)}"#)
        }
    }

    private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func some(_ range: ClosedRange<Int>, _ element: (Int) -> String) -> String {
        let chosen = range.filter { _ in Bool.random(using: &random) }
        return "[" + chosen.map(element).joined(separator: ",") + "]"
    }

    private mutating func answer() -> (path: String, body: String) {
        let guild = pick(1...3)
        let channel = pick(11...15)
        switch pick(0...8) {
        case 0: return ("/api/users/@me/guilds", some(1...3) { #"{"id":"\#($0)","name":"g","owner_id":"21"}"# })
        case 1:
            let list = some(11...15) { #"{"id":"\#($0)","guild_id":"\#(guild)","name":"c","type":0,"position":1}"# }
            return ("/guilds/\(guild)/channels", #"{"data":\#(list)}"#)
        case 2:
            let list = some(31...33) { #"{"id":"\#($0)","name":"r","color":1,"permissions":"1","position":1}"# }
            return ("/guilds/\(guild)/roles", list)
        case 3:
            let list = some(21...24) { #"{"guild_id":"\#(guild)","user_id":"\#($0)","roles":[31]}"# }
            return ("/guilds/\(guild)/members?limit=100", list)
        case 4: return ("/guilds/\(guild)/bans", some(21...24) { #"{"guild_id":"\#(guild)","user_id":"\#($0)"}"# })
        case 5:
            return (
                "/channels/\(channel)/messages?limit=100",
                some(41...60) {
                    #"{"id":"\#($0)","channel_id":"\#(channel)","author_id":"21","content":"p","created_at":"2026-03-01T11:00:00Z"}"#
                }
            )
        case 6:
            let list = some(21...24) { #"{"guild_id":"\#(guild)","channel_id":"\#(channel)","user_id":"\#($0)"}"# }
            return ("/channels/\(channel)/voice/states", list)
        case 7:
            let list = some(11...15) { #"{"id":"\#($0)","type":1,"recipients":[{"id":"21"}]}"# }
            return ("/users/@me/channels", list)
        default: return ("/users/@me/read-states", some(11...15) { #"{"channel_id":"\#($0)","last_message_id":"41"}"# })
        }
    }

    private mutating func row() -> RecordedGateway.Event? {
        let table = ["notes", "tasks", "conversations"][pick(0...2)]
        let messages = some(1...3) { #"{"id":"m\#($0)","role":"user","content":"t\#($0)"}"# }
        let time = "2026-02-01T10:10:0\(pick(0...9))Z"
        let title = #""title":"t\#(pick(0...2))","updated_at":"\#(time)""#
        let record = #"{"id":"n\#(pick(1...2))",\#(title),"messages":\#(messages)}"#
        if Bool.random(using: &random) { return event("realtime.rest/1", ["table": table], "[\(record)]") }
        let kind = ["INSERT", "UPDATE", "DELETE"][pick(0...2)]
        let frame = RealtimeFrames.change(kind, table: table, seconds: pick(1...40), record: record)
        return event("realtime.frame/1", ["dir": "in"], frame)
    }

    private mutating func record() -> RecordedGateway.Event? {
        let name = "vibestatus-\(pick(1...2)).json"
        let status = ["idle", "working", "x"][pick(0...2)]
        let state = #""status":{"value":"\#(status)"},"project":{"value":"p"}"#
        let fields = #"{\#(state),"timestamp":{"value":1000}}"#
        let modified = #""modified":{"timestamp":\#(pick(1...30))}"#
        let named = #"{"recordName":"\#(name)""#
        let body =
            switch pick(0...4) {
            case 0: #"\#(named),"serverErrorCode":"NOT_FOUND"}"#
            case 1: #"\#(named),"recordType":"Prompt","fields":{},\#(modified)}"#
            default: #"\#(named),"recordType":"Session","fields":\#(fields),\#(modified)}"#
            }
        return event("cloudkit.records/1", ["op": "query", "type": "Session"], #"{"records":[\#(body)]}"#)
    }

    private func event(_ kind: String, _ attributes: [String: String], _ payload: String) -> RecordedGateway.Event? {
        let pairs = attributes.sorted { $0.key < $1.key }.map { Attributes.Pair(name: $0.key, value: $0.value) }
        guard let kind = try? EventKind(kind), let source = try? SourceName("app"),
            let attributes = try? Attributes(pairs)
        else { return nil }
        let envelope = Envelope(
            sequence: SequenceNumber(sequence),
            recordedAt: Timestamp(seconds: 1_772_366_390 + Int64(sequence) / 4),
            source: source,
            kind: kind,
            attributes: attributes
        )
        return RecordedGateway.Event(envelope: envelope, payload: Array(payload.utf8))
    }
}
