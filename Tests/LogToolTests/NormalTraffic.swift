import EventLog
import Foundation
import Projections
import TestSupport

/// What an app sends on a day without bugs: drawn from a seed, read the same way by every client that a test uses.
struct NormalTraffic {
    enum App: String {
        case retrocast, vibechannel, punchlist, vibestatus, sidebar
    }

    private let app: App
    private var random: SeededGenerator
    private var number = 0
    /// The last commit.
    private var tip: String?
    private var lastFile: (path: String, blob: String)?

    /// - Parameter scenario: A scenario's name, which begins with its app's.
    init(_ scenario: String, seed: UInt64) throws {
        guard let app = App(rawValue: String(scenario.prefix { $0 != "-" })) else { throw CocoaError(.formatting) }
        self.app = app
        random = SeededGenerator(seed: seed)
    }

    /// How many events come before the bug.
    mutating func place(among count: Int) -> Int { Int.random(in: 1..<count, using: &random) }

    /// So many events, ten milliseconds apart, up to a time or from it on.
    mutating func drafts(_ count: Int, around time: Timestamp, before: Bool) throws -> [DraftEvent] {
        let start = time.microseconds + (before ? -10_000 * Int64(count + 1) : 10_000)
        return try (0..<count).map { index in
            try draft(at: Timestamp(microseconds: start + 10_000 * Int64(index)))
        }
    }

    /// A bug's events as they would be among this traffic: its commits follow the last one.
    mutating func joined(_ drafts: [DraftEvent]) throws -> [DraftEvent] {
        guard app == .vibechannel else { return drafts }
        return try drafts.map { draft in
            var draft = draft
            var document = try JSONValue.parse(draft.payload).object ?? JSONObject()
            var parent = document["parents"]?.array?.first?.object ?? JSONObject()
            parent["commit"] = .text(tip)
            document["parents"] = .array([.object(parent)])
            tip = document["commit"]?.string
            draft.payload = Array(JSONValue.object(document).text.utf8)
            return draft
        }
    }

    private mutating func draft(at time: Timestamp) throws -> DraftEvent {
        number += 1
        switch app {
        case .retrocast: return try make(time, "gateway.frame/1", gatewayFrame(), ["dir": "in"])
        case .vibechannel: return try commit(time)
        case .punchlist: return try make(time, "sse.event/1", itemList(), [:], source: "list-\(number % 4)")
        case .vibestatus:
            let file = "/tmp/vibestatus-n\(Int.random(in: 0..<50, using: &random)).json"
            return try make(time, "status.file/1", status(time), ["path": file, "op": "write"])
        case .sidebar: return try make(time, "realtime.frame/1", noteFrame(time), ["dir": "in"])
        }
    }

    private func make(
        _ time: Timestamp,
        _ kind: String,
        _ payload: String,
        _ attributes: [String: String],
        key: String? = nil,
        source: String = "app"
    ) throws -> DraftEvent {
        DraftEvent(
            recordedAt: time,
            source: try SourceName(source),
            kind: try EventKind(kind),
            key: try EventKey(key ?? "normal/\(number)"),
            attributes: try Attributes(attributes.map { Attributes.Pair(name: $0.key, value: $0.value) }),
            payload: Array(payload.utf8)
        )
    }

    // MARK: - Payloads

    private mutating func gatewayFrame() -> String {
        let isEdit = number > 20 && Int.random(in: 0..<10, using: &random) == 0
        let message = isEdit ? Int.random(in: 1...20, using: &random) : number
        let channel = 900_000_000_000_000_000 + message % 20
        let edited = isEdit ? #","edited_at":"2026-03-02T12:00:00.\#(100_000 + number)Z""# : ""
        return #"{"op":0,"d":{"id":"\#(910_000_000_000_000_000 + message)","channel_id":"\#(channel)","#
            + #""author_id":"135283920076935168","content":"normal words \#(number)","#
            + #""created_at":"2026-03-01T11:00:00Z"\#(edited),"author_username":"nell","attachments":null},"#
            + #""s":\#(100 + number),"t":"MESSAGE_\#(isEdit ? "UPDATE" : "CREATE")"}"#
    }

    /// Fewer than a thousand files a folder: beyond that a client is not listed all of them.
    private mutating func commit(_ time: Timestamp) throws -> DraftEvent {
        let ids = (0..<2).map { _ in
            (0..<5).map { _ in String(UInt64.random(in: 1 << 31..<1 << 32, using: &random), radix: 16) }.joined()
        }
        let edited = number % 10 == 0 ? lastFile : nil
        let path = edited?.path ?? "room-\(number % 200)/20250304T040000-ann-n\(number).md"
        let from = edited.map { #""from":{"mode":"100644","blob":"\#($0.blob)"},"# } ?? ""
        let parent = tip.map { #""commit":"\#($0)","# } ?? ""
        let second = time.microseconds / 1_000_000
        let person = #"{"name":"ann","email":"ann@example.org","time":\#(second)}"#
        let text = #"---\nfrom: ann\ndate: 2025-03-04T04:00:00Z\n---\n\nnormal words \#(number)\n"#
        let payload =
            #"{"commit":"\#(ids[0])","author":\#(person),"committer":\#(person),"subject":"Message from ann","#
            + #""message":"Message from ann\n","parents":[{\#(parent)"changes":[{"path":"\#(path)",\#(from)"#
            + #""to":{"mode":"100644","blob":"\#(ids[1])"}}]}],"#
            + #""files":[{"path":"\#(path)","blob":"\#(ids[1])","size":\#(text.utf8.count),"text":"\#(text)"}]}"#
        (tip, lastFile) = (ids[0], (path, ids[1]))
        return try make(time, "git.commit/1", payload, [:], key: ids[0])
    }

    private mutating func itemList() -> String {
        let lines = (0...Int.random(in: 0..<4, using: &random)).map { item in
            #"data: {"id":"wrk-1\#(number % 4)\#(item)","title":"Normal work \#(number)","status":"open","type":"task","#
                + #""priority":2,"deps":[],"created":"2026-01-18T09:00:00Z"}"#
        }
        return (["id: \(number)"] + lines).joined(separator: "\n") + "\n\n"
    }

    private mutating func status(_ time: Timestamp) -> String {
        let state = ["idle", "working", "needs_input"][Int.random(in: 0..<3, using: &random)]
        return #"{"state":"\#(state)","project":"normal","timestamp":"\#(time)","pid":\#(number)}"# + "\n"
    }

    private mutating func noteFrame(_ time: Timestamp) -> String {
        let id = "normal-\(number)"
        return #"{"topic":"realtime:public:notes","event":"postgres_changes","ref":null,"payload":{"ids":[1],"data":{"#
            + #""schema":"public","table":"notes","type":"INSERT","commit_timestamp":"\#(time)","errors":null,"#
            + #""columns":[{"name":"id","type":"text"},{"name":"title","type":"text"},{"name":"content","type":"text"}],"#
            + #""record":{"id":"\#(id)","title":"Normal note \#(number)","content":"Normal words"}}}}"#
    }
}
