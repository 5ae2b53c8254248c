#if Recorders
import Foundation
import JSON
import Synchronization

@testable import Ingest

/// A Phoenix server that behaves like Supabase Realtime's: joins, "subscribed" only later, no replay, large values left
/// out; and PostgREST's rows.
final class FakeRealtime: Sendable {
    struct Channel: Sendable {
        let peer: LoopbackPeer
        let joinRef: String
        let table: String
        var isSubscribed = false
    }

    struct State: Sendable {
        /// Rows by table and id, as JSON.
        var rows: [String: [String: String]] = [:]
        /// By connection and topic.
        var channels: [String: Channel] = [:]
        var connectionCount = 0
        var received: [String] = []
        var requests: [LoopbackServer.Request] = []
        var goodToken = "tok-1"
        /// The topics whose joins are answered, but never with "subscribed".
        var muteTopics: Set<String> = []
        var joinErrors = 0
        var answersBeats = true
        var restFailures = 0
        /// PostgREST's `db-max-rows`.
        var rowsMax = 1_000
        /// False for a server that always gives the first page.
        var knowsPlaces = true
    }

    let state = Mutex(State())
    private let version: PhoenixFrame.Version
    private let server = Mutex<LoopbackServer?>(nil)

    private init(version: PhoenixFrame.Version) {
        self.version = version
    }

    static func start(
        _ version: PhoenixFrame.Version = .one,
        activity: Activity? = nil
    ) async throws -> FakeRealtime {
        let fake = FakeRealtime(version: version)
        let server = try await LoopbackServer.start(
            activity: activity,
            http: { fake.answer($0) },
            webSocket: { await fake.serve($0) }
        )
        fake.server.withLock { $0 = server }
        return fake
    }

    var port: Int { server.withLock { $0?.port ?? 0 } }

    func stop() async {
        await server.withLock { $0 }?.stop()
        dropAll()
    }

    func dropAll() {
        state.withLock { state in
            for channel in state.channels.values { channel.peer.drop() }
        }
    }

    /// Changes a row and tells who is subscribed; `record` is what of it is sent.
    func change(_ type: String, _ table: String, _ id: String, row: String?, record: String? = nil) {
        state.withLock { state in
            state.rows[table, default: [:]][id] = row
            let old = type == "INSERT" ? "" : #","old_record":{"id":"\#(id)"}"#
            let new = row.map { #","record":\#(record ?? $0)"# } ?? ""
            let data =
                #"{"schema":"public","table":"\#(table)","type":"\#(type)","commit_timestamp":"2026-02-01T10:00:00.123Z","#
                + #""errors":null,"columns":[{"name":"id","type":"uuid"},{"name":"content","type":"text"}]\#(new)\#(old)}"#
            for (key, channel) in state.channels.sorted(by: { $0.key < $1.key })
            where channel.table == table && channel.isSubscribed {
                push(key, channel, "postgres_changes", #"{"ids":[1],"data":\#(data)}"#)
            }
        }
    }

    /// Sends an event on every channel of a table.
    func sendAll(_ event: String, _ payload: String, table: String) {
        state.withLock { state in
            for (key, channel) in state.channels where channel.table == table { push(key, channel, event, payload) }
        }
    }

    func wait(until condition: (State) -> Bool) async throws {
        while !state.withLock({ condition($0) }) {
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private func push(_ key: String, _ channel: Channel, _ event: String, _ payload: String) {
        let topic = String(key.split(separator: " ", maxSplits: 1)[1])
        channel.peer.send(frame(topic, event, ref: nil, joinRef: channel.joinRef, payload))
    }

    private func frame(_ topic: String, _ event: String, ref: String?, joinRef: String?, _ payload: String) -> String {
        let ref = ref.map { "\"\($0)\"" } ?? "null"
        guard version == .one else {
            return #"[\#(joinRef.map { "\"\($0)\"" } ?? "null"),\#(ref),"\#(topic)","\#(event)",\#(payload)]"#
        }
        return #"{"ref":\#(ref),"topic":"\#(topic)","event":"\#(event)","payload":\#(payload)}"#
    }
}

// MARK: - The socket

extension FakeRealtime {
    private func serve(_ peer: LoopbackPeer) async {
        let number = state.withLock { state in
            state.connectionCount += 1
            return state.connectionCount
        }
        for await frame in peer.frames {
            if case .message(let text) = frame { take(text, number, peer) }
        }
        state.withLock { state in
            for key in state.channels.keys where key.hasPrefix("\(number) ") { state.channels[key] = nil }
        }
    }

    private func take(_ text: String, _ number: Int, _ peer: LoopbackPeer) {
        guard let message = PhoenixFrame(ArraySlice(text.utf8)) else { return }
        let payload = message.payloadValue
        state.withLock { state in
            state.received.append(text)
            let key = "\(number) \(message.topic)"
            switch message.event {
            case "heartbeat":
                guard state.answersBeats else { return }
                peer.send(reply(message, "ok", "{}"))
            case "phx_join": join(key, message, payload, peer, &state)
            case "phx_leave": state.channels[key] = nil
            case "access_token": subscribe(key, &state)
            default: break
            }
        }
    }

    private func join(
        _ key: String,
        _ message: PhoenixFrame,
        _ payload: JSONValue?,
        _ peer: LoopbackPeer,
        _ state: inout State
    ) {
        let binding = payload?["config"]?["postgres_changes"]?[0]
        guard let table = binding?["table"]?.string, payload?["access_token"]?.string == state.goodToken,
            state.joinErrors == 0
        else {
            state.joinErrors = max(0, state.joinErrors - 1)
            return peer.send(reply(message, "error", #"{"reason":"no"}"#))
        }
        state.channels[key] = Channel(peer: peer, joinRef: message.ref ?? "", table: table)
        let list = #"[{"id":1,"event":"*","schema":"public","table":"\#(table)","filter":null}]"#
        peer.send(reply(message, "ok", #"{"postgres_changes":\#(list)}"#))
        guard !state.muteTopics.contains(message.topic) else { return }
        subscribe(key, &state)
    }

    private func subscribe(_ key: String, _ state: inout State) {
        guard var channel = state.channels[key] else { return }
        channel.isSubscribed = true
        state.channels[key] = channel
        push(key, channel, "system", Self.subscribed)
    }

    static let subscribed =
        #"{"extension":"postgres_changes","status":"ok","message":"Subscribed to PostgreSQL","channel":"x"}"#

    private func reply(_ message: PhoenixFrame, _ status: String, _ response: String) -> String {
        let payload = #"{"status":"\#(status)","response":\#(response)}"#
        return frame(message.topic, "phx_reply", ref: message.ref, joinRef: message.joinRef, payload)
    }
}

// MARK: - REST

extension FakeRealtime {
    private func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        state.withLock { state in
            state.requests.append(request)
            guard request.headers["authorization"] == "Bearer \(state.goodToken)" else {
                return LoopbackServer.Answer(status: 401)
            }
            if state.restFailures > 0 {
                state.restFailures -= 1
                return LoopbackServer.Answer(status: 503)
            }
            let target = request.target.split(separator: "?")
            let table = String(target[0].split(separator: "/").last ?? "")
            let place = request.target.split(separator: "&").first { $0.hasPrefix("id=gt.") }?.dropFirst(6) ?? ""
            let after = state.knowsPlaces ? place : ""
            let rows = (state.rows[table] ?? [:]).sorted { $0.key < $1.key }.filter { $0.key > after }.prefix(
                state.rowsMax
            )
            return LoopbackServer.Answer(body: Array("[\(rows.map(\.value).joined(separator: ","))]".utf8))
        }
    }
}
#endif
