#if Recorders
import EventLog
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite(.hangGuard) struct GatewayRecorderTests {
    @Test func everyFrameStandsInTheLogAsItWas() async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        try await record(fake, bench) {
            try await fake.wait { $0.connections.values.contains { !$0.subscriptions.isEmpty } }
            fake.post("tea at 4 \\u0026 cake?")
            fake.sendAll("{ not json")
            try await bench.wait {
                $0.contains { $0.text == "{ not json" } && $0.contains { $0.kind == "gateway.rest/1" }
            }
        }
        let frames = try bench.events().filter { $0.kind == "gateway.frame/1" }
        #expect(frames.map(\.key) == frames.indices.map { "c1/\($0 + 1)" })
        #expect(try frames.at(0).text == #"{"op":10,"d":{"heartbeat_interval":3600000}}"#)
        #expect(try frames.at(1).text == #"{"op":2,"d":{"token":"[redacted]"}}"#)
        #expect(try frames.at(1).attribute("dir") == "out" && frames.at(1).attribute("redacted") == "1")
        #expect(frames.contains { $0.text.contains(#""content":"tea at 4 \u0026 cake?""#) })
        #expect(try !bench.logHolds("tok-1"))
        await fake.stop()
    }

    @Test func aSnapshotFollowsTheHandshakeAndClosesTheGap() async throws {
        let fake = try await FakeRetrocast.start(guilds: 2)
        let old = fake.post("before")
        let bench = try RecorderBench()
        try await record(fake, bench) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
        }
        let events = try bench.events()
        let paths = events.filter { $0.kind == "gateway.rest/1" }.compactMap { $0.attribute("path") }
        #expect(paths.prefix(2) == ["/api/v1/users/@me", "/api/v1/users/@me/guilds"])
        #expect(paths.filter { $0.hasSuffix("/channels") }.count == 3)
        #expect(paths.filter { $0.contains("/messages?limit=100") }.count == 2)
        #expect(events.contains { $0.kind == "gateway.rest/1" && $0.text.contains("\(old)") })
        let gap = try #require(events.first { $0.kind == "recorder.gap/1" })
        #expect(gap.text.hasPrefix(#"{"reason":"start","from":""#) && gap.text.hasSuffix(#"","closes":"snapshot"}"#))
        await fake.stop()
    }

    @Test func whatHappensBetweenConnectionsIsReplayedOrRead() async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        try await record(fake, bench) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
            let first = fake.post("m1")
            try await bench.wait { $0.contains { $0.text.contains("\(first)") } }
            fake.dropAll()
            try await fake.wait { $0.connections.isEmpty }
            let missed = fake.post("missed")
            let gone = fake.post("gone")
            fake.delete(gone)
            try await bench.wait {
                $0.contains { $0.text.contains("\(missed)") } && $0.contains { $0.text.contains("\(gone)") }
            }
            try await bench.wait { $0.count { $0.key.hasSuffix("/closed") } == 2 }
        }
        let events = try bench.events()
        #expect(events.contains { $0.text.contains("MESSAGE_DELETE") })
        #expect(events.contains { $0.key == "c1/close" && $0.attribute("code") == "1006" })
        #expect(events.contains { $0.key == "c2/open" })
        #expect(fake.state.withLock { $0.received.contains { $0.contains(#""op":6"#) && $0.contains(#""seq":0"#) } })
        await fake.stop()
    }

    @Test func aDroppedFrameIsFoundByItsNumberAndReadByREST() async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        try await record(fake, bench) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
            fake.state.withLock { $0.fates = [.dropped, .sent] }
            let lost = fake.post("lost")
            fake.post("next")
            try await bench.wait { $0.contains { $0.text.contains(#""reason":"hole""#) } }
            try await bench.wait { $0.contains { $0.kind == "gateway.rest/1" && $0.text.contains("\(lost)") } }
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") && $0.text.contains("hole") } }
        }
        await fake.stop()
    }

    @Test func aSwappedPairIsRecordedAsItCame() async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        try await record(fake, bench) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
            fake.state.withLock { $0.fates = [.swappedWithNext, .sent] }
            let first = fake.post("first")
            let second = fake.post("second")
            let events = try await bench.wait { $0.contains { $0.text.contains("\(first)") } }
            let place = { (id: UInt64) in events.firstIndex { $0.text.contains("\"id\":\"\(id)\"") } ?? 0 }
            #expect(place(second) < place(first))
        }
        #expect(try !bench.events().contains { $0.text.contains("hole") })
        await fake.stop()
    }

    @Test func theServersRuleOf60SecondsIsKept() async throws {
        let fake = try await FakeRetrocast.start(time: CountedTime(speed: 20))
        let bench = try RecorderBench(speed: 20)
        try await record(fake, bench) {
            // A second tick comes after 82.5 s of the server's time; without Pongs no connection lives to see it.
            try await fake.wait { $0.ticksMax >= 2 }
        }
        #expect(try bench.events().contains { $0.text == #"{"op":1}"# && $0.attribute("dir") == "in" })
        await fake.stop()
    }

    @Test func aKickBySecondLoginIsAGapAndAnotherConnection() async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        let other = try RecorderBench(source: "other")
        try await record(fake, bench) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
            try await record(fake, other) {
                try await other.wait { $0.contains { $0.key.hasSuffix("/closed") } }
                try await bench.wait { $0.contains { $0.key == "c2/open" } }
            }
        }
        #expect(try bench.events().contains { $0.text.contains(#""reason":"disconnected""#) })
        await fake.stop()
    }

    @Test func anExpiredTokenIsReplacedByAFreshOne() async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        try await record(fake, bench, token: TokenSource { fake.state.withLock { $0.goodToken } }) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
            fake.state.withLock { $0.goodToken = "tok-2" }
            fake.dropAll()
            try await bench.wait { $0.count { $0.key.hasSuffix("/closed") } == 2 }
        }
        #expect(try !bench.logHolds("tok-1") && !bench.logHolds("tok-2"))
        await fake.stop()
    }

    @Test func aSnapshotThatCannotBeReadLeavesTheGapOpen() async throws {
        let fake = try await FakeRetrocast.start()
        fake.state.withLock { $0.restFailures = 6 }
        let bench = try RecorderBench()
        try await record(fake, bench) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
        }
        #expect(fake.state.withLock { $0.requests.count { $0 == "/api/v1/users/@me" } } == 7)
        await fake.stop()
    }

    @Test func aRunThatWasKilledIsGoneOnFromWithoutDoubles() async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        for run in 1...3 {
            try await record(fake, bench) {
                try await bench.wait { $0.contains { $0.key == "c\(run)/open" } && !$0.hasOpenGap }
                let id = fake.post("run \(run)")
                try await bench.wait { $0.contains { $0.text.contains("\(id)") } }
            }
            fake.post("between \(run)")
        }
        let events = try bench.events()
        #expect(Set(events.map(\.key)).count == events.count)
        #expect(!events.contains { $0.key.contains("~") })
        for text in ["run 1", "between 1", "run 2", "between 2", "run 3"] {
            #expect(events.contains { $0.text.contains(text) })
        }
        #expect(events.count { $0.text.contains(#""reason":"stopped""#) } == 5)
        await fake.stop()
    }

    /// Cancelled wherever it may be: what was posted is in the log in the end, and nothing twice.
    @Test(arguments: 1...4 as ClosedRange<UInt64>) func cancelledAtAnyMomentItLosesNothing(seed: UInt64) async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        var random = SeededGenerator(seed: seed)
        var posted: [UInt64] = []
        for _ in 0..<8 {
            let task = try bench.start(source(port: fake.port, bench))
            for _ in 0..<5 {
                posted.append(fake.post("tea"))
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...6, using: &random)))
            }
            task.cancel()
            _ = try await task.value
        }
        _ = try await bench.start(source(port: fake.port, bench, follows: false)).value
        let events = try bench.events()
        #expect(Set(events.map(\.key)).count == events.count, "seed \(seed)")
        #expect(!events.contains { $0.key.contains("~") }, "seed \(seed)")
        for id in posted { #expect(events.contains { $0.text.contains("\(id)") }, "seed \(seed), message \(id)") }
        await fake.stop()
    }

    @Test func aRefusedUpgradeIsRecordedOnceAndObeyed() async throws {
        let refusals = Counter()
        let fake = try await FakeRetrocast.start { _ in
            guard refusals.count < 2 else { return nil }
            refusals.add()
            return LoopbackServer.Answer(status: 429, headers: [("Retry-After", "3")])
        }
        let bench = try RecorderBench()
        try await record(fake, bench) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
        }
        let answers = try bench.events().filter { $0.kind == "recorder.http/1" }
        #expect(answers.map { $0.attribute("status") } == ["429"])
        #expect(answers.first?.attribute("retry-after") == "3" && answers.first?.attribute("path") == "/gateway")
        await fake.stop()
    }

    @Test func aClockThatStepsBackDatesWhatComesThenAndDisordersNothing() async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        try await record(fake, bench) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
            bench.clockOffset.withLock { $0 = -3_600_000_000 }
            let id = fake.post("after the step")
            let events = try await bench.wait { $0.contains { $0.text.contains("\(id)") } }
            let first = try #require(events.first { $0.kind == "gateway.frame/1" })
            let posted = try #require(events.last { $0.text.contains("\(id)") })
            #expect(first.envelope.recordedAt.seconds - posted.envelope.recordedAt.seconds >= 3_500)
            #expect(first.envelope.sequence < posted.envelope.sequence)
        }
        await fake.stop()
    }

    @Test func aServerThatIsNotThereIsTriedAgain() async throws {
        let gone = try RefusingPort()
        defer { withExtendedLifetime(gone) {} }
        let bench = try RecorderBench()
        try await bench.record(source(port: gone.number, bench)) {
            try await Task.sleep(for: .milliseconds(60))
        }
        #expect(try bench.events().allSatisfy { $0.kind == "recorder.gap/1" })
    }

    @Test func aRunThatDoesNotFollowEndsWhenTheStateIsComplete() async throws {
        let fake = try await FakeRetrocast.start()
        let id = fake.post("before")
        let bench = try RecorderBench()
        _ = try await bench.start(source(port: fake.port, bench, follows: false)).value
        let events = try bench.events()
        #expect(events.contains { $0.text.contains("\(id)") })
        #expect(events.contains { $0.key == "c1/close" && $0.attribute("reason") == "recorder stopped" })
        await fake.stop()
    }

    @Test(.enabled(if: LoopbackCertificate.isAvailable, "it needs the program openssl"))
    func framesComeOverTLS() async throws {
        let directory = try TemporaryDirectory()
        let certificate = try LoopbackCertificate(in: directory.url.path)
        let fake = try await FakeRetrocast.start(tls: try certificate.serverContext)
        let bench = try RecorderBench()
        let source = try source(port: fake.port, bench, scheme: "wss")
        try await bench.record(source, trustFile: certificate.certificatePath) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
            try await fake.wait { $0.connections.values.contains { !$0.subscriptions.isEmpty } }
            let id = fake.post("over TLS")
            try await bench.wait { $0.contains { $0.text.contains("\(id)") } }
        }
        await fake.stop()
    }
}

extension GatewayRecorderTests {
    private func record(
        _ fake: FakeRetrocast,
        _ bench: RecorderBench,
        token: TokenSource = TokenSource { "tok-1" },
        _ body: () async throws -> Void
    ) async throws {
        try await bench.record(try source(port: fake.port, bench, token: token), body)
    }

    private func source(
        port: Int,
        _ bench: RecorderBench,
        scheme: String = "ws",
        token: TokenSource = TokenSource { "tok-1" },
        follows: Bool = true
    ) throws -> GatewaySource {
        let url = "\(scheme)://127.0.0.1:\(port)/gateway"
        return try GatewaySource(url: url, token: token, name: bench.source, follows: follows)
    }
}

extension [RecordedEvent] {
    /// Whether a gap has no end.
    var hasOpenGap: Bool {
        let gaps = filter { $0.kind == "recorder.gap/1" }
        return gaps.contains { gap in
            gap.attribute("gap") == "open" && !gaps.contains { $0.key == "\(gap.key)/closed" }
        }
    }
}

extension RecorderBench {
    /// Whether a text stands anywhere in the log's events.
    func logHolds(_ text: String) throws -> Bool {
        try events().contains { event in
            event.text.contains(text) || event.key.contains(text)
                || event.envelope.attributes.pairs.contains { $0.value.contains(text) }
        }
    }
}
#endif
