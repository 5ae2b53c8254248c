#if Recorders
import EventLog
import Foundation
import JSON
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite(.hangGuard) struct RefreshedTokenTests {
    /// A refresh URL that takes each refresh token once: `r1` gives `r2` and an access token, and so on.
    private final class Exchange: Sendable {
        struct State {
            var number = 1
            var statuses: [Int] = []
            var askedCount = 0
            var answersNever = false
        }

        let state = Mutex(State())
        let now = Shared(Timestamp(seconds: 1_000))
        let gate: Gate?
        let asked = Gate()

        init(gate: Gate? = nil) {
            self.gate = gate
        }

        func answer(_ request: HTTPAccess.Request) async throws -> HTTPAccess.Answer {
            let (status, number) = state.withLock { state -> (Int, Int) in
                state.askedCount += 1
                if !state.statuses.isEmpty { return (state.statuses.removeFirst(), 0) }
                let isGood = JSONValue(received: request.body)?["refresh_token"]?.string == "r\(state.number)"
                if isGood { state.number += 1 }
                return (isGood ? 200 : 401, state.number)
            }
            asked.open()
            await gate?.pass()
            if state.withLock({ $0.answersNever }) { try await Task.sleep(for: .seconds(3_600)) }
            let claims = Data(#"{"exp":\#(now.value.seconds + 900)}"#.utf8).base64EncodedString()
            let token = "h.\(claims.filter { $0 != "=" }).n\(number)"
            let body = status == 200 ? #"{"access_token":"\#(token)","refresh_token":"r\#(number)"}"# : ""
            return HTTPAccess.Answer(status: status, headers: HTTPAccess.Headers(HTTPHeaders()), body: Array(body.utf8))
        }
    }

    private let folder: TemporaryDirectory
    private var path: String { folder.path("refresh") }

    init() throws {
        folder = try TemporaryDirectory()
        try Data("r1\n".utf8).write(to: URL(fileURLWithPath: path))
    }

    private func token(_ exchange: Exchange, grace: Gate? = nil) -> RefreshedToken {
        let clock = LiveClock(
            now: { exchange.now.value },
            elapsed: { .zero },
            sleep: { _ in
                if let grace { await grace.pass() } else { try await Task.sleep(for: .seconds(3_600)) }
            }
        )
        return RefreshedToken(url: "http://h/refresh", refreshTokenPath: path, clock: clock) {
            try await exchange.answer($0)
        }
    }

    private func stored() throws -> String {
        try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
    }

    @Test func aTokenIsKeptUntilAMinuteBeforeItsEnd() async throws {
        let exchange = Exchange()
        let token = token(exchange)
        let first = try await token.token()
        exchange.now.change { $0 = Timestamp(seconds: 1_839) }
        #expect(try await token.token() == first)
        exchange.now.change { $0 = Timestamp(seconds: 1_840) }
        #expect(try await token.token() != first)
        #expect(try stored() == "r3\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func whoeverAsksAtOnceSpendsOneRefreshToken() async throws {
        let exchange = Exchange(gate: Gate())
        let token = token(exchange)
        let asking = (0..<8).map { _ in Task { try await token.token() } }
        await exchange.asked.pass()
        exchange.gate?.open()
        var tokens: Set<String> = []
        for task in asking { tokens.insert(try await task.value) }
        #expect(tokens.count == 1)
        #expect(exchange.state.withLock { $0.askedCount } == 1)
    }

    @Test func aCancelledExchangeIsNotLeftHalfWay() async throws {
        let exchange = Exchange(gate: Gate())
        let token = token(exchange)
        let task = Task { try await token.token() }
        await exchange.asked.pass()
        task.cancel()
        exchange.gate?.open()
        _ = await task.result
        #expect(try stored() == "r2\n")
        #expect(try await !token.token().isEmpty)
    }

    @Test func anExchangeThatIsNeverAnsweredEndsSoonAfterItIsCancelled() async throws {
        let (exchange, grace) = (Exchange(), Gate())
        exchange.state.withLock { $0.answersNever = true }
        let token = token(exchange, grace: grace)
        let task = Task { try await token.token() }
        await exchange.asked.pass()
        task.cancel()
        grace.open()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: [429, 500, 503]) func aServerInTroubleIsAskedAgain(_ status: Int) async throws {
        let exchange = Exchange()
        exchange.state.withLock { $0.statuses = [status] }
        let token = token(exchange)
        await #expect(throws: HTTPTrouble.self) { try await token.token() }
        #expect(try await !token.token().isEmpty)
    }

    @Test func aRefusalSaysNothingOfTheToken() async throws {
        let exchange = Exchange()
        try Data("5ecret\n".utf8).write(to: URL(fileURLWithPath: path))
        let error = await #expect(throws: IngestError.self) { try await token(exchange).token() }
        #expect(error?.description.contains("5ecret") == false)
        #expect(error?.description.contains("log in again") == true)
    }

    @Test func aGatewayWhoseTokenCannotBeAskedForIsTriedAgain() async throws {
        let fake = try await FakeRetrocast.start()
        fake.state.withLock { $0.goodToken = "tok-2" }
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1: .text(503, "later")
            case 2: .pieces(200, [:], [Array("{\"acc".utf8)], isCut: true)
            default: .text(200, #"{"access_token":"tok-2","refresh_token":"r2"}"#)
            }
        }
        let bench = try RecorderBench()
        let source = try GatewaySource(
            url: "ws://127.0.0.1:\(fake.port)/gateway",
            token: .none,
            refresh: .init(url: server.url, tokenFile: path),
            name: bench.source,
            follows: false
        )
        _ = try await bench.start(source).value
        #expect(try bench.events().contains { $0.text.contains("READY") })
        #expect(try stored() == "r2\n")
        #expect(try !bench.logHolds("tok-2"))
        await server.stop()
        await fake.stop()
    }
}
#endif
