#if Recorders
import EventLog
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite(.hangGuard) struct RealtimeRecorderTests {
    @Test(arguments: [PhoenixFrame.Version.one, .two])
    func changesAreRecordedAsTheyCame(version: PhoenixFrame.Version) async throws {
        let fake = try await FakeRealtime.start(version)
        let bench = try RecorderBench(speed: 20)
        try await bench.record(source(fake, bench, version: version)) {
            try await bench.wait { $0.hasRun && !$0.hasOpenGap }
            fake.change("INSERT", "notes", "a", row: #"{"id":"a","content":"Soup"}"#)
            // A large value that did not change is left out of the record.
            fake.change("UPDATE", "notes", "a", row: #"{"id":"a","content":"Soup"}"#, record: #"{"id":"a"}"#)
            try await bench.wait {
                $0.count { $0.text.contains("postgres_changes\",") && $0.text.contains("ids") } == 2
            }
        }
        let events = try bench.events()
        let join = try #require(events.first { $0.text.contains("phx_join") })
        #expect(join.text.contains(#""access_token":"[redacted]""#) && join.attribute("redacted") == "1")
        #expect(join.text.hasPrefix(version == .one ? "{" : #"["1","1","realtime:public:notes","phx_join""#))
        #expect(events.contains { $0.text.contains(#""record":{"id":"a"},"old_record""#) })
        #expect(events.filter { $0.kind == "realtime.frame/1" }.map(\.key).first == "c1/1")
        #expect(try !bench.logHolds("tok-1") && !bench.logHolds("key-1"))
        await fake.stop()
    }

    @Test func eachTableIsPulledOnceItIsSubscribed() async throws {
        let fake = try await FakeRealtime.start()
        for number in 0..<2_500 {
            fake.change("INSERT", "notes", "n\(10_000 + number)", row: #"{"id":"n\#(10_000 + number)"}"#)
        }
        fake.change("INSERT", "websites", "w", row: #"{"id":"w"}"#)
        let bench = try RecorderBench(speed: 20)
        try await bench.record(source(fake, bench, tables: ["notes", "websites:user_id=eq.u-1"])) {
            try await bench.wait { $0.hasRun && !$0.hasOpenGap }
        }
        let pages = try bench.events().filter { $0.kind == "realtime.rest/1" }
        #expect(Set(pages.filter { $0.attribute("table") == "notes" }.map { $0.attribute("path") }).count == 4)
        #expect(pages.contains { $0.attribute("path")?.contains("user_id=eq.u-1&order=id.asc") == true })
        #expect(pages.contains { $0.text.contains("n12499") } && pages.contains { $0.text.contains(#""id":"w""#) })
        let request = try #require(fake.state.withLock { $0.requests.first })
        #expect(request.headers["apikey"] == "key-1")
        await fake.stop()
    }

    /// A project may give fewer rows at once than are asked for.
    @Test func aShortPageIsNotTheLast() async throws {
        let fake = try await FakeRealtime.start()
        fake.state.withLock { $0.rowsMax = 100 }
        for number in 0..<250 {
            fake.change("INSERT", "notes", "n\(1_000 + number)", row: #"{"id":"n\#(1_000 + number)"}"#)
        }
        let bench = try RecorderBench(speed: 20)
        try await bench.record(source(fake, bench, tables: ["notes"])) {
            try await bench.wait { $0.hasRun && !$0.hasOpenGap }
        }
        let pages = try bench.events().filter { $0.kind == "realtime.rest/1" }
        #expect(pages.contains { $0.text.contains("n1249") })
        #expect(Set(pages.map { $0.attribute("path") }).count == 4)
        await fake.stop()
    }

    @Test func anInterruptionIsAGapOfEachTableThatAPullCloses() async throws {
        let fake = try await FakeRealtime.start()
        let bench = try RecorderBench(speed: 20)
        try await bench.record(source(fake, bench, tables: ["notes", "websites"])) {
            try await bench.wait { $0.hasRun && !$0.hasOpenGap }
            fake.dropAll()
            try await fake.wait { $0.channels.isEmpty }
            fake.change("INSERT", "notes", "missed", row: #"{"id":"missed"}"#)
            try await bench.wait {
                $0.contains { $0.kind == "realtime.rest/1" && $0.text.contains("missed") } && !$0.hasOpenGap
            }
        }
        let gaps = try bench.events().filter { $0.text.contains(#""reason":"disconnected""#) }
        #expect(gaps.count == 4)
        #expect(try gaps.at(0).text.hasPrefix(#"{"topic":"realtime:public:notes","reason":"disconnected","from":""#))
        #expect(try bench.events().contains { $0.key == "c2/open" })
        await fake.stop()
    }

    @Test(arguments: ["phx_error", "phx_close"]) func aChannelThatEndsIsJoinedAgain(event: String) async throws {
        let fake = try await FakeRealtime.start()
        let bench = try RecorderBench(speed: 20)
        try await bench.record(source(fake, bench)) {
            try await bench.wait { $0.hasRun && !$0.hasOpenGap }
            fake.sendAll(event, "{}", table: "notes")
            try await bench.wait { $0.contains { $0.text.contains("unsubscribed") } && !$0.hasOpenGap }
        }
        #expect(fake.state.withLock { $0.received.count { $0.contains("phx_join") } } >= 2)
        #expect(try !bench.events().contains { $0.key == "c2/open" })
        await fake.stop()
    }

    @Test func aSecondSubscribedIsAGapToo() async throws {
        let fake = try await FakeRealtime.start()
        let bench = try RecorderBench(speed: 20)
        try await bench.record(source(fake, bench)) {
            try await bench.wait { $0.hasRun && !$0.hasOpenGap }
            fake.sendAll("system", FakeRealtime.subscribed, table: "notes")
            try await bench.wait { $0.contains { $0.text.contains("resubscribed") } && !$0.hasOpenGap }
        }
        await fake.stop()
    }

    @Test func aNewTokenIsToldToEveryChannel() async throws {
        let fake = try await FakeRealtime.start()
        let bench = try RecorderBench(speed: 20)
        let token = Mutex("tok-1")
        try await bench.record(source(fake, bench, token: TokenSource { token.withLock { $0 } })) {
            try await bench.wait { $0.hasRun && !$0.hasOpenGap }
            token.withLock { $0 = "tok-2" }
            fake.state.withLock { $0.goodToken = "tok-2" }
            try await fake.wait {
                $0.received.contains { $0.contains(#""event":"access_token""#) && $0.contains("tok-2") }
            }
            try await bench.wait { $0.contains { $0.text.contains(#""event":"access_token""#) } }
        }
        #expect(try !bench.logHolds("tok-2"))
        await fake.stop()
    }

    @Test func aRefusedJoinIsTriedAgain() async throws {
        let fake = try await FakeRealtime.start()
        fake.state.withLock { $0.joinErrors = 2 }
        let bench = try RecorderBench(speed: 20)
        try await bench.record(source(fake, bench)) {
            try await bench.wait { $0.hasRun && !$0.hasOpenGap }
        }
        #expect(fake.state.withLock { $0.received.count { $0.contains("phx_join") } } >= 3)
        await fake.stop()
    }

    @Test func aChannelThatIsNeverSubscribedStaysAGap() async throws {
        let fake = try await FakeRealtime.start()
        fake.state.withLock { $0.muteTopics = ["realtime:public:websites"] }
        let bench = try RecorderBench(speed: 20)
        try await bench.record(source(fake, bench, tables: ["notes", "websites"])) {
            try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } }
        }
        #expect(try bench.events().hasOpenGap)
        await fake.stop()
    }

    @Test func aServerThatStopsAnsweringBeatsIsLeft() async throws {
        let fake = try await FakeRealtime.start()
        fake.state.withLock { $0.answersBeats = false }
        let bench = try RecorderBench(speed: 20)
        try await bench.record(source(fake, bench)) {
            try await bench.wait { $0.contains { $0.key == "c1/close" } && $0.contains { $0.key == "c2/open" } }
        }
        await fake.stop()
    }

    @Test func aRunAfterAnotherDoublesNothing() async throws {
        let fake = try await FakeRealtime.start()
        let bench = try RecorderBench(speed: 20)
        for run in 1...3 {
            _ = try await bench.start(source(fake, bench, follows: false)).value
            fake.change("INSERT", "notes", "row\(run)", row: #"{"id":"row\#(run)"}"#)
        }
        let events = try bench.events()
        #expect(Set(events.map(\.key)).count == events.count)
        #expect(!events.contains { $0.key.contains("~") })
        // An empty page ends each pull.
        #expect(
            events.filter { $0.kind == "realtime.rest/1" }.map(\.text) == [
                "[]", #"[{"id":"row1"}]"#, "[]", #"[{"id":"row1"},{"id":"row2"}]"#, "[]",
            ]
        )
        await fake.stop()
    }

    private func source(
        _ fake: FakeRealtime,
        _ bench: RecorderBench,
        tables: [String] = ["notes"],
        version: PhoenixFrame.Version = .one,
        token: TokenSource = TokenSource { "tok-1" },
        follows: Bool = true
    ) throws -> RealtimeSource {
        try RealtimeSource(
            url: "http://127.0.0.1:\(fake.port)\(version == .one ? "" : "/realtime/v1/websocket?vsn=2.0.0")",
            tables: tables,
            apiKey: TokenSource { "key-1" },
            token: token,
            name: bench.source,
            follows: follows
        )
    }
}

extension [RecordedEvent] {
    /// Whether a run has closed a gap.
    var hasRun: Bool { contains { $0.key.hasSuffix("/closed") } }
}
#endif
