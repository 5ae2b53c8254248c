#if Recorders
import EventLog
import Foundation
import Synchronization
import TestSupport

@testable import Ingest

/// Frames as no sensible server sends them.
enum OddFrames {
    static let all: [[UInt8]] = [
        Array("{ \"op\" :\t99,\r\n \"d\":{\"x\":\"\\ud800 \\u0026 \\/ \\u00fc ü\"} , \"s\":null}\r\n".utf8),
        [0xFF, 0xFE, 0x00, 0x80], [], Array(" ".utf8),
    ]
}

/// A gateway, and its REST routes.
struct GatewayRemote: ContractRemote {
    let activity: Activity
    private let fake: FakeRetrocast
    let kinds: Set = ["gateway.frame/1", "gateway.rest/1"]
    let truths: [String]
    let odd = OddFrames.all
    let secrets = ["t0ken-5ecret"]
    let isExact = false
    let isConnected = true
    var sent: Set<[UInt8]>? { activity.sent }

    static func start() async throws -> GatewayRemote {
        let activity = Activity(greeting: OddFrames.all)
        let fake = try await FakeRetrocast.start(activity: activity)
        fake.state.withLock { $0.goodToken = "t0ken-5ecret" }
        let ids = ["a \\u0026 \\/ b", "\\ud83d\\ude00  ü"].map { String(fake.post($0)) }
        return GatewayRemote(activity: activity, fake: fake, truths: ids + ["a \\u0026 \\/ b", "READY"])
    }

    func source(follows: Bool) throws -> any LiveSource {
        try GatewaySource(
            url: "ws://127.0.0.1:\(fake.port)/gateway",
            token: TokenSource { "t0ken-5ecret" },
            name: SourceName("chat"),
            follows: follows
        )
    }

    func refuse() {
        fake.state.withLock { $0.goodToken = "another" }
    }

    func stop() async {
        await fake.stop()
    }
}

/// Rows over Phoenix channels, and PostgREST.
struct RealtimeRemote: ContractRemote {
    let activity: Activity
    private let fake: FakeRealtime
    let kinds: Set = ["realtime.frame/1", "realtime.rest/1"]
    let truths = ["\"id\":\"a\"", "\"id\" : \"b\""]
    let odd = OddFrames.all
    let secrets = ["t0ken-5ecret", "k3y-5ecret"]
    let isExact = false
    let isConnected = true
    var sent: Set<[UInt8]>? { activity.sent }

    static func start() async throws -> RealtimeRemote {
        let activity = Activity(greeting: OddFrames.all)
        let fake = try await FakeRealtime.start(activity: activity)
        fake.state.withLock { $0.goodToken = "t0ken-5ecret" }
        fake.change("INSERT", "notes", "a", row: #"{"id":"a","content":"\u0026 \/"}"#)
        fake.change("INSERT", "notes", "b", row: "{\"id\" : \"b\",\r\n\t\"content\":null }")
        return RealtimeRemote(activity: activity, fake: fake)
    }

    func source(follows: Bool) throws -> any LiveSource {
        try RealtimeSource(
            url: "http://127.0.0.1:\(fake.port)",
            tables: ["notes"],
            apiKey: TokenSource { "k3y-5ecret" },
            token: TokenSource { "t0ken-5ecret" },
            name: SourceName("rows"),
            follows: follows
        )
    }

    func refuse() {
        fake.state.withLock { $0.goodToken = "another" }
    }

    func stop() async {
        await fake.stop()
    }
}
#endif
