#if Recorders
import Foundation
import JSON
import NIOCore
import NIOSSL
import Synchronization

@testable import Ingest

/// A gateway that behaves like Retrocast's: numbers per connection, rings of 100 per guild, RESUME that compares the two,
/// no answer to RESUME, one connection per user, ends without close frames; and its REST routes.
final class FakeRetrocast: Sendable {
    /// What happens to a dispatch after its number was taken.
    enum Fate: Sendable {
        case sent, dropped, swappedWithNext
    }

    struct Guild: Sendable {
        var channels: [UInt64]
        /// The replay counter: every event dispatched to the guild since the start.
        var counter = 0
        var ring: [(counter: Int, name: String, data: String)] = []
    }

    struct Connection: Sendable {
        let peer: LoopbackPeer
        var number = 0
        var subscriptions: Set<UInt64> = []
        var isReady = false
        var held: String?
        var lastPong: Duration
        var lastHeartbeat: Duration
    }

    struct State: Sendable {
        var guilds: [UInt64: Guild] = [:]
        var messages: [(channel: UInt64, id: UInt64, content: String)] = []
        var nextID: UInt64 = 135_653_857_689_735_168
        var connections: [Int: Connection] = [:]
        var connectionCount = 0
        /// The messages of clients, as they came.
        var received: [String] = []
        var requests: [String] = []
        var goodToken = "tok-1"
        var fates: [Fate] = []
        var restFailures = 0
        /// How many answers of the REST routes are compressed, and what requests said of that.
        var codedAnswers = 0
        var codings: [String?] = []
        /// The ticks that the longest-lived connection has seen.
        var ticksMax = 0
    }

    let state: Mutex<State>
    /// What its ticks and its 60 s rule go by; `nil` has neither.
    private let time: CountedTime?
    private let server = Mutex<LoopbackServer?>(nil)

    private init(guilds: Int, time: CountedTime?) {
        var state = State()
        for _ in 0..<guilds {
            state.nextID += 2
            state.guilds[state.nextID - 2] = Guild(channels: [state.nextID - 1])
        }
        self.state = Mutex(state)
        self.time = time
    }

    /// - Parameter time: what its ticks and its 60 s rule go by; `nil` has neither.
    static func start(
        guilds: Int = 1,
        time: CountedTime? = nil,
        tls: NIOSSLContext? = nil,
        activity: Activity? = nil,
        refuse: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Answer? = { _ in nil }
    ) async throws -> FakeRetrocast {
        let fake = FakeRetrocast(guilds: guilds, time: time)
        let server = try await LoopbackServer.start(
            tls: tls,
            activity: activity,
            refuse: refuse,
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

    /// Returns once a condition of the state holds.
    func wait(until condition: (State) -> Bool) async throws {
        while !state.withLock({ condition($0) }) {
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

// MARK: - What people do

extension FakeRetrocast {
    /// Posts a message in the first channel of a guild; its id.
    @discardableResult
    func post(_ content: String, in guild: UInt64? = nil) -> UInt64 {
        state.withLock { state in
            guard let guild = guild ?? state.guilds.keys.min(), let channel = state.guilds[guild]?.channels.first else {
                return 0
            }
            state.nextID += 1
            let id = state.nextID
            state.messages.append((channel, id, content))
            Self.dispatch("MESSAGE_CREATE", Self.message(channel, id, content), to: guild, &state)
            return id
        }
    }

    func delete(_ id: UInt64) {
        state.withLock { state in
            guard let message = state.messages.first(where: { $0.id == id }),
                let guild = state.guilds.first(where: { $0.value.channels.contains(message.channel) })?.key
            else { return }
            state.messages.removeAll { $0.id == id }
            let data = #"{"id":"\#(id)","channel_id":"\#(message.channel)"}"#
            Self.dispatch("MESSAGE_DELETE", data, to: guild, &state)
        }
    }

    /// Ends all connections as a network does.
    func dropAll() {
        state.withLock { state in
            for connection in state.connections.values { connection.peer.drop() }
        }
    }

    /// Sends raw text on all connections.
    func sendAll(_ text: String) {
        state.withLock { state in
            for connection in state.connections.values { connection.peer.send(text) }
        }
    }

    private static func dispatch(_ name: String, _ data: String, to guild: UInt64, _ state: inout State) {
        guard var kept = state.guilds[guild] else { return }
        kept.counter += 1
        kept.ring.append((kept.counter, name, data))
        kept.ring.removeFirst(max(0, kept.ring.count - 100))
        state.guilds[guild] = kept
        for key in state.connections.keys.sorted() where state.connections[key]?.subscriptions.contains(guild) == true {
            send(name, data, to: key, &state)
        }
    }

    private static func send(_ name: String, _ data: String, to key: Int, _ state: inout State) {
        guard var connection = state.connections[key] else { return }
        connection.number += 1
        let frame = #"{"op":0,"d":\#(data),"s":\#(connection.number),"t":"\#(name)"}"#
        switch state.fates.isEmpty ? .sent : state.fates.removeFirst() {
        case .sent:
            connection.peer.send(frame)
            if let held = connection.held { connection.peer.send(held) }
            connection.held = nil
        case .dropped: break
        case .swappedWithNext: connection.held = frame
        }
        state.connections[key] = connection
    }

    private static func message(_ channel: UInt64, _ id: UInt64, _ content: String) -> String {
        #"{"id":"\#(id)","channel_id":"\#(channel)","author_id":"7","content":"\#(content)","#
            + #""created_at":"2026-03-01T12:00:00Z","author_username":"nell","author_display_name":"Nell","#
            + #""attachments":null}"#
    }
}

// MARK: - The gateway

extension FakeRetrocast {
    private func serve(_ peer: LoopbackPeer) async {
        let key = state.withLock { state -> Int in
            state.connectionCount += 1
            let now = now
            state.connections[state.connectionCount] = Connection(peer: peer, lastPong: now, lastHeartbeat: now)
            return state.connectionCount
        }
        // Without clocks nobody heartbeats: no load of the machine then looks like a dead connection.
        peer.send(#"{"op":10,"d":{"heartbeat_interval":\#(time == nil ? 3_600_000 : 41_250)}}"#)
        let clocks = time.map { time in Task { await keepTime(key, peer, time) } }
        for await frame in peer.frames {
            switch frame {
            case .pong: state.withLock { $0.connections[key]?.lastPong = now }
            case .message(let text): take(text, key, peer)
            case .ping, .close: break
            }
        }
        clocks?.cancel()
        state.withLock { _ = $0.connections.removeValue(forKey: key) }
    }

    /// Ticks each 41.25 s, and the two reasons to end a connection.
    private func keepTime(_ key: Int, _ peer: LoopbackPeer, _ time: CountedTime) async {
        let start = time.elapsed
        var ticks = 0
        while (try? await Task.sleep(for: .milliseconds(5))) != nil {
            guard let connection = state.withLock({ $0.connections[key] }) else { return }
            let now = time.elapsed
            if now - connection.lastPong > .seconds(60) { return peer.drop() }
            if now - start > .milliseconds(41_250) * (ticks + 1) {
                ticks += 1
                state.withLock { $0.ticksMax = max($0.ticksMax, ticks) }
                if now - connection.lastHeartbeat > .milliseconds(51_250) { return peer.drop() }
                peer.send(#"{"op":1}"#)
            }
        }
    }

    private var now: Duration { time?.elapsed ?? .zero }

    private func take(_ text: String, _ key: Int, _ peer: LoopbackPeer) {
        if text.utf8.count > 4_096 { return peer.close(1009) }
        let tree = JSONValue(received: Array(text.utf8))
        state.withLock { state in
            state.received.append(text)
            switch tree?["op"]?.number?.int64 {
            case 1:
                state.connections[key]?.lastHeartbeat = now
                peer.send(#"{"op":11}"#)
            case 2, 6:
                guard let data = tree?["d"], data["token"]?.string == state.goodToken else { return peer.drop() }
                Self.register(key, &state)
                if tree?["op"]?.number?.int64 == 2 {
                    Self.sendReady(key, &state)
                } else {
                    Self.replay(key, after: Int(data["seq"]?.number?.int64 ?? 0), &state)
                }
            default: break
            }
        }
    }

    /// One connection per user: an older one is closed without a word.
    private static func register(_ key: Int, _ state: inout State) {
        for (other, connection) in state.connections where other != key && connection.isReady { connection.peer.drop() }
        state.connections[key]?.isReady = true
    }

    private static func sendReady(_ key: Int, _ state: inout State) {
        let guilds = state.guilds.keys.sorted()
        state.connections[key]?.subscriptions = Set(guilds)
        let list = guilds.map(String.init).joined(separator: ",")
        let data =
            #"{"session_id":"0b7c4c38-58b1-4f53-9a58-\#(key)","user_id":"7","guilds":[\#(list)],"read_states":null}"#
        send("READY", data, to: key, &state)
        for guild in guilds { dispatch("PRESENCE_UPDATE", #"{"user_id":"7","status":"online"}"#, to: guild, &state) }
    }

    private static func replay(_ key: Int, after number: Int, _ state: inout State) {
        for guild in state.guilds.keys.sorted() {
            state.connections[key]?.subscriptions.insert(guild)
            for entry in state.guilds[guild]?.ring ?? [] where entry.counter > number {
                send(entry.name, entry.data, to: key, &state)
            }
        }
    }
}

// MARK: - REST

extension FakeRetrocast {
    private func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        state.withLock { state in
            state.requests.append(request.target)
            guard request.headers["authorization"] == "Bearer \(state.goodToken)" else {
                return LoopbackServer.Answer(status: 401, body: Array(#"{"message":"invalid token"}"#.utf8))
            }
            if state.restFailures > 0 {
                state.restFailures -= 1
                return LoopbackServer.Answer(status: 500)
            }
            state.codings.append(request.headers["accept-encoding"])
            if state.codedAnswers > 0 {
                state.codedAnswers -= 1
                let headers = [("Content-Encoding", "gzip")]
                return LoopbackServer.Answer(headers: headers, body: [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03])
            }
            guard let body = Self.body(of: request.target, state) else { return LoopbackServer.Answer(status: 404) }
            return LoopbackServer.Answer(body: Array(body.utf8))
        }
    }

    private static func body(of target: String, _ state: State) -> String? {
        let parts = target.split(separator: "?")[0].split(separator: "/").dropFirst(2).map(String.init)
        switch (parts.first, parts.dropFirst().first.flatMap { UInt64($0) }, parts.last) {
        case ("users", _, "@me"): return #"{"data":{"id":"7","username":"nell","display_name":"Nell"}}"#
        case ("users", _, "guilds"):
            let guilds = state.guilds.keys.sorted().map { #"{"id":"\#($0)","name":"g","owner_id":"7"}"# }
            return #"{"data":[\#(guilds.joined(separator: ","))]}"#
        case ("users", _, _): return "[]"
        case ("guilds", let id?, "channels"):
            let channels = (state.guilds[id]?.channels ?? []).map { #"{"id":"\#($0)","name":"c","type":0}"# }
            return #"{"data":[\#(channels.joined(separator: ","))]}"#
        case ("guilds", _, "roles"), ("guilds", _, "bans"): return "[]"
        case ("guilds", _, "members"): return #"{"data":[]}"#
        case ("channels", let id?, "messages"):
            let messages = state.messages.filter { $0.channel == id }.reversed().prefix(100)
            return "[\(messages.map { message($0.channel, $0.id, $0.content) }.joined(separator: ","))]"
        default: return nil
        }
    }
}
#endif
