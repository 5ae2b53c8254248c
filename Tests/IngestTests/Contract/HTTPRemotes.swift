#if Recorders
import EventLog
import Foundation
import Synchronization
import TestSupport

@testable import Ingest

/// A stream of Server-Sent Events that keeps its events and replays what comes after an id.
struct EventStreamRemote: ContractRemote {
    private struct State {
        var replaysAll = false
        var refuses = false
        var staysOpen = false
    }

    let activity: Activity
    private let server: ScriptedServer
    private let state: Shared<State>
    let kinds: Set = ["sse.event/1"]
    let truths = ["Milk", "last"]
    let odd = Self.events
    let secrets = ["t0ken-5ecret", "k3y-5ecret"]
    let knowsRepeats = false
    /// The connection of a stream that has ended may be kept for the next.
    var isConnected: Bool { state.value.staysOpen }
    var sent: Set<[UInt8]>? { Set(Self.events) }

    /// Event `n` has the id `n`, from 1.
    private static let events: [[UInt8]] = [
        [0xEF, 0xBB, 0xBF] + Array("id: 1\r\ndata: { \"title\":\"Milk \\u00fc\u{00FC}\" }\r\n\r\n".utf8),
        Array(": note\nid:2\ndata: ".utf8) + [0xFF, 0xFE, 0x80] + Array("\n\n".utf8),
        Array("id: 3\rdata: x\rdata:  y\r\r".utf8), Array("event: t\nretry: 20\nid: 4\ndata\n\n".utf8),
        Array("id: 5\r\ndata: last\r\n\r\n".utf8),
    ]

    static func start() async throws -> EventStreamRemote {
        let (activity, state) = (Activity(), Shared(State()))
        let server = try await ScriptedServer.start(activity: activity) { request in
            let state = state.value
            if state.refuses {
                return .text(401, "bad \(request.headers["authorization"] ?? "") \(request.query)")
            }
            let last = state.replaysAll ? 0 : Int(request.headers["last-event-id"] ?? "") ?? 0
            return answer(Array(events.dropFirst(last).joined()), staysOpen: state.staysOpen)
        }
        return EventStreamRemote(activity: activity, server: server, state: state)
    }

    private static func answer(_ bytes: [UInt8], staysOpen: Bool) -> ScriptedServer.Answer {
        let pieces = stride(from: 0, to: bytes.count, by: 7).map { Array(bytes[$0..<min(bytes.count, $0 + 7)]) }
        let type = ["Content-Type": "text/event-stream"]
        guard staysOpen else { return .pieces(200, type, pieces) }
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        for piece in pieces { continuation.yield(piece) }
        return .stream(type, stream)
    }

    func source(follows: Bool) throws -> any LiveSource {
        state.change { $0.staysOpen = follows }
        return try EventStreamSource(
            url: "\(server.url)/subscribe?apikey=k3y-5ecret",
            name: SourceName("list"),
            token: TokenSource { "t0ken-5ecret" },
            follows: follows
        )
    }

    func sendAgain() {
        state.change { $0.replaysAll = true }
    }

    func refuse() {
        state.change { $0.refuses = true }
    }

    func stop() async {
        await server.stop()
    }
}

/// CloudKit's web services, whose token is good for one request.
struct CloudKitRemote: ContractRemote {
    let activity: Activity
    private let server: ScriptedServer
    private let folder: TemporaryDirectory
    private let refuses: Shared<Bool>
    let kinds: Set = ["cloudkit.records/1"]
    let truths = ["\"s1\"", "\"s2\"", "\"s3\"", "\"p1\"", "\"p2\""]
    let odd: [[UInt8]] = []
    let secrets = ["s3cret+", "s3cret%2B", "k3y-5ecret"]
    let isExact = false
    /// What has the tag that the log has is not recorded again.
    let knowsRepeats = true
    var sent: Set<[UInt8]>? { activity.sent }

    static func start() async throws -> CloudKitRemote {
        let (activity, cloud, refuses) = (Activity(), FakeCloudKit(), Shared(false))
        cloud.state.withLock { state in
            state.sessions = ["s1": "1", "s2": "1", "s3": "1"]
            state.prompts = ["p1": ("1", false), "p2": ("1", true)]
        }
        let server = try await ScriptedServer.start(activity: activity) { request in
            guard !refuses.value else { return .text(421, "{\"reason\":\"\(request.query)\"}") }
            guard case .full(200, let headers, let body) = try cloud.answer(request) else { return .text(421, "{}") }
            return .full(200, headers, Array(" \r\n\t".utf8) + body + Array("\n ".utf8))
        }
        let folder = try TemporaryDirectory()
        try Data("s3cret+1/=\n".utf8).write(to: URL(fileURLWithPath: folder.path("token")))
        return CloudKitRemote(activity: activity, server: server, folder: folder, refuses: refuses)
    }

    func source(follows: Bool) throws -> any LiveSource {
        CloudKitSource(
            try .init("iCloud.com.example.app", api: server.url),
            name: try SourceName("cloud"),
            apiToken: TokenSource { "k3y-5ecret" },
            webToken: .file(folder.path("token")),
            webTokenFile: folder.path("token"),
            follows: follows
        )
    }

    func refuse() {
        refuses.change { $0 = true }
    }

    func stop() async {
        await server.stop()
    }
}

/// GitHub's REST API over a repository.
struct GitHubRemote: ContractRemote {
    let activity: Activity
    private let server: ScriptedServer
    private let refuses: Shared<Bool>
    let kinds: Set = ["git.commit/1", "git.rewrite/1"]
    let truths = ["ada", "no line end"]
    let odd = OddFiles.all.map(\.bytes)
    let secrets = ["t0ken-5ecret"]

    static func start() async throws -> GitHubRemote {
        let (activity, refuses) = (Activity(), Shared(false))
        let repository = try OddRepository.shared.get()
        let server = try await ScriptedServer.start(activity: activity) { request in
            let authorization = request.headers["authorization"] ?? ""
            guard !refuses.value else { return .text(401, "{\"message\":\"bad \(authorization)\"}") }
            return try repository.answer(request)
        }
        return GitHubRemote(activity: activity, server: server, refuses: refuses)
    }

    func source(follows: Bool) throws -> any LiveSource {
        GitHubSource(
            try .init("o/r", branch: "main", api: server.url),
            name: try SourceName("vibe"),
            token: TokenSource { "t0ken-5ecret" },
            follows: follows
        )
    }

    func own(_ event: RecordedEvent) -> [[UInt8]] {
        event.fileTexts
    }

    func refuse() {
        refuses.change { $0 = true }
    }

    func stop() async {
        await server.stop()
    }
}

/// A value that a test and its server share.
final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) {
        mutex = Mutex(value)
    }

    var value: Value { mutex.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) {
        mutex.withLock { body(&$0) }
    }
}
#endif
