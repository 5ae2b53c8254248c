#if Recorders
import EventLog
import Foundation
import Logging
import TestSupport
import Testing

@testable import Ingest

@Suite(.hangGuard) struct ComplaintsTests {
    private let bench: LiveBench
    private let time = SteppedTime()

    init() throws {
        bench = try LiveBench(time: time)
    }

    private func complaints() throws -> Complaints {
        let name = try SourceName("s")
        return Complaints(Recording(name, history: .empty, tools: bench.tools, sink: CollectingSink()))
    }

    private var said: [String] { bench.messages.all.map { String($0.prefix { $0 != "[" }) } }

    @Test func aCauseIsSaidOnceAndThenAtGrowingDistances() throws {
        var complaints = try complaints()
        for _ in 1...100 { complaints.failed("cannot connect", "no connection") }
        #expect(said == Array(repeating: "notice cannot connect ", count: 7))
        #expect(bench.messages.all.last?.contains("64") == true)
        complaints.failed("cannot connect", "TLS failed")
        #expect(said.count == 8)
    }

    /// A server that takes each connection and ends it at once fills no screen either.
    @Test func connectionsThatDoNotLastAreNoEndOfTheTrouble() throws {
        var complaints = try complaints()
        for _ in 1...16 {
            complaints.failed("disconnected", "lost")
            complaints.succeeded("connected")
        }
        #expect(said.filter { $0.hasPrefix("notice") }.count == 10)
        time.pass(.seconds(61))
        complaints.failed("disconnected", "lost")
        #expect(said.last == "notice disconnected ")
    }

    @Test func aFirstConnectionIsNoNews() throws {
        var complaints = try complaints()
        complaints.succeeded("connected")
        #expect(said == ["info connected "])
    }

    @Test(arguments: ["gateway", "realtime"]) func aSocketThatCannotBeOpenedIsSaidAndIsAGap(_ kind: String) async throws
    {
        let gone = try RefusingPort()
        defer { withExtendedLifetime(gone) {} }
        let (url, name) = ("ws://127.0.0.1:\(gone.number)/", try SourceName("s"))
        let token = TokenSource { "t" }
        let source: any LiveSource =
            kind == "gateway"
            ? try GatewaySource(url: url, restBase: "", token: token, name: name, follows: true)
            : try RealtimeSource(url: url, restBase: "", tables: ["notes"], token: token, name: name, follows: true)
        let task = Task { try await bench.record(source) }
        while bench.waits.all.count < 20 { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        _ = try await task.value
        await bench.stop()
        let lines = bench.messages.all.filter { $0.contains("cannot connect") }
        #expect((1...6).contains(lines.count) && lines.allSatisfy { $0.contains("no connection") })
        let gaps = try bench.events()
        #expect(gaps.map(\.kind) == ["recorder.gap/1"])
        #expect(gaps.first?.text.contains(#""reason":"unreachable""#) == true)
    }
}
#endif
