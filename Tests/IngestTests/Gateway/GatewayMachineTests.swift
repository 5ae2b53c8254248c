#if Recorders
import EventLog
import JSON
import TestSupport
import Testing

@testable import Ingest

@Suite struct GatewayMachineTests {
    @Test func aHandshakeIsHelloIdentifyReadySnapshot() {
        var table = GatewayTable()
        #expect(table.tick(at: .zero) == [.connect(url: nil)])
        #expect(table.send(.opened(token: "T")) == [])
        #expect(table.message(#"{"op":10,"d":{"heartbeat_interval":41250}}"#) == [.send(GatewayTable.identify)])
        #expect(table.message(GatewayTable.ready) == [.work(.snapshot)])
    }

    @Test func aServersHeartbeatIsAnsweredAtOnce() {
        var table = GatewayTable.live()
        #expect(table.message(#"{"op":1}"#) == [.send(Array(#"{"op":1,"d":1}"#.utf8))])
        #expect(table.message(#"{"op":11}"#) == [])
    }

    @Test func heartbeatsGoOutEachIntervalWhileTheyAreAnswered() {
        var table = GatewayTable.live()
        var beats: [Duration] = []
        while beats.count < 5 {
            let actions = table.tickAtDeadline()
            if actions.contains(where: { if case .send = $0 { true } else { false } }) {
                beats.append(table.now)
                _ = table.message(#"{"op":11}"#)
            }
        }
        #expect(beats[0] <= .milliseconds(41_250))
        for (earlier, later) in zip(beats, beats.dropFirst()) { #expect(later - earlier == .milliseconds(41_250)) }
    }

    @Test func pongsGoOutEach20To30Seconds() {
        var table = GatewayTable.live()
        var pongs: [Duration] = [.zero]
        while pongs.count < 20 {
            let actions = table.tickAtDeadline()
            if actions.contains(.sendPong) { pongs.append(table.now) }
            if !actions.isEmpty { _ = table.message(#"{"op":11}"#) }
        }
        for (earlier, later) in zip(pongs, pongs.dropFirst()) {
            #expect((Duration.seconds(20)...Duration.seconds(30)).contains(later - earlier))
        }
    }

    @Test func aConnectionThatAnswersNoHeartbeatIsGivenUp() {
        var table = GatewayTable.live()
        var actions: [GatewayMachine.Action] = []
        while !actions.contains(.close(4_000)) { actions = table.tickAtDeadline() }
        #expect(actions.contains { if case .openGap(let gap) = $0 { gap.reason == .disconnected } else { false } })
        #expect(table.now <= .milliseconds(2 * 41_250))
        #expect(table.send(.closed(code: 1006)) == [])
        #expect(table.tickAtDeadline() == [.connect(url: nil)])
    }

    @Test func backoffDoublesFromOneToSixtySecondsWithAtMostATenthMore() {
        var table = GatewayTable()
        _ = table.tick(at: .zero)
        for expected in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
            _ = table.send(.refused(retryAfter: nil))
            let wait = (table.machine.deadline ?? .zero) - table.now
            #expect((Duration.seconds(expected)...Duration.milliseconds(expected * 1_100)).contains(wait))
            #expect(table.tickAtDeadline() == [.connect(url: nil)])
        }
    }

    @Test func aServersRetryAfterIsObeyed() {
        var table = GatewayTable()
        _ = table.tick(at: .zero)
        _ = table.send(.refused(retryAfter: .seconds(90)))
        #expect(table.machine.deadline == .seconds(90))
    }

    @Test func backoffBeginsAnewOnlyOnceAConnectionLived() {
        var table = GatewayTable.live()
        _ = table.send(.closed(code: 1006))
        _ = table.tickAtDeadline()
        table.shakeHands()
        // Kicked at once, as by a second device of the same user: the next wait is longer.
        _ = table.send(.closed(code: 1006))
        #expect((table.machine.deadline ?? .zero) - table.now >= .seconds(2))
        _ = table.tickAtDeadline()
        table.shakeHands()
        _ = table.tick(at: table.now + .seconds(10))
        _ = table.send(.closed(code: 1006))
        #expect((table.machine.deadline ?? .zero) - table.now < .seconds(2))
    }

    @Test func aServerThatNumbersConnectionsAnewIsAskedForAllItKept() {
        var table = GatewayTable.live()
        _ = table.message(#"{"op":0,"d":{},"s":2,"t":"X"}"#)
        _ = table.send(.closed(code: 1006))
        _ = table.tickAtDeadline()
        _ = table.send(.opened(token: "T"))
        let actions = table.message(GatewayTable.hello)
        #expect(
            actions == [
                .send(Array(#"{"op":6,"d":{"token":"T","session_id":"S","seq":0}}"#.utf8)),
                .send(Array(#"{"op":1,"d":null}"#.utf8)),
            ]
        )
        // No answer to RESUME: the one to the heartbeat behind it says that the replay is over.
        #expect(table.message(#"{"op":0,"d":{},"s":1,"t":"X"}"#) == [])
        let settled = table.message(#"{"op":11}"#)
        #expect(settled.first == .endGap(SocketGap(number: 1, reason: .disconnected)))
    }

    @Test func aReplayThatTheNumbersProveClosesTheGap() {
        var table = GatewayTable.live(GatewayTable.discordReady)
        _ = table.send(.workDone(.snapshot, isComplete: true))
        _ = table.message(#"{"op":0,"d":{},"s":2,"t":"X"}"#)
        _ = table.send(.closed(code: 4_000))
        #expect(table.tickAtDeadline() == [.connect(url: "wss://other.example")])
        _ = table.send(.opened(token: "T"))
        let resume = Array(#"{"op":6,"d":{"token":"T","session_id":"S","seq":2}}"#.utf8)
        #expect(table.message(GatewayTable.hello) == [.send(resume)])
        _ = table.message(#"{"op":0,"d":{},"s":3,"t":"X"}"#)
        let gap = SocketGap(number: 1, reason: .disconnected)
        let actions = table.message(#"{"op":0,"d":{},"s":4,"t":"RESUMED"}"#)
        #expect(actions == [.endGap(gap), .closeGap(gap, by: .replay), .work(.snapshot)])
    }

    /// The server that a session named is gone for good, while the configured one answers.
    @Test func aSessionsOwnAddressThatIsDeadIsGivenUpForTheConfiguredOne() {
        var table = GatewayTable.live(GatewayTable.discordReady)
        _ = table.send(.workDone(.snapshot, isComplete: true))
        _ = table.send(.closed(code: 1006))
        for _ in 1...3 {
            #expect(table.tickAtDeadline() == [.connect(url: "wss://other.example")])
            _ = table.send(.refused(retryAfter: nil))
        }
        #expect(table.tickAtDeadline() == [.connect(url: nil)])
        // The next run does not try the address again, and still resumes.
        let saved = table.machine.sessionBytes.flatMap { GatewaySession(bytes: $0) }
        #expect(saved == GatewaySession(id: "S", resumeURL: "", number: 1))
        _ = table.send(.opened(token: "T"))
        let resume = Array(#"{"op":6,"d":{"token":"T","session_id":"S","seq":1}}"#.utf8)
        #expect(table.message(GatewayTable.hello) == [.send(resume)])
        let gap = SocketGap(number: 1, reason: .disconnected)
        #expect(table.message(#"{"op":0,"d":{},"s":2,"t":"RESUMED"}"#).contains(.closeGap(gap, by: .replay)))
    }

    /// Connections that the server ends before it greets: the session's address goes first, then the session.
    @Test func aSessionThatLetsNoConnectionComeToAHandshakeIsGivenUp() {
        var table = GatewayTable.live(GatewayTable.discordReady)
        _ = table.send(.closed(code: 1006))
        var addresses: [String?] = []
        for _ in 1...6 {
            for case .connect(let url) in table.tickAtDeadline() { addresses.append(url) }
            _ = table.send(.opened(token: "T"))
            _ = table.send(.closed(code: 1006))
        }
        #expect(addresses == ["wss://other.example", "wss://other.example", "wss://other.example", nil, nil, nil])
        #expect(table.machine.session == nil)
        _ = table.tickAtDeadline()
        _ = table.send(.opened(token: "T"))
        #expect(table.message(GatewayTable.hello) == [.send(GatewayTable.identify)])
    }

    /// A network that is down says nothing of a session.
    @Test func aServerThatCannotBeReachedCostsNoSession() {
        var table = GatewayTable.live()
        _ = table.send(.closed(code: 1006))
        for _ in 1...20 {
            #expect(table.tickAtDeadline() == [.connect(url: nil)])
            _ = table.send(.refused(retryAfter: nil))
        }
        #expect(table.machine.session?.id == "S")
    }

    @Test(arguments: [
        ([0x78, 0x9C, 0x34, 0xC9] as [UInt8], "zlib-stream"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd-stream"),
        ([0x83, 0x74, 0, 0], "etf"),
    ])
    func aServerWhoseFramesCannotBeReadStopsTheRecorder(_ frame: [UInt8], coding: String) {
        var table = GatewayTable()
        _ = table.tick(at: .zero)
        _ = table.send(.opened(token: "T"))
        let actions = table.send(.message(frame[...]))
        guard case .stop(let reason) = actions.first else { return #expect(Bool(false), "\(actions)") }
        #expect(reason.contains(coding))
        #expect(table.machine.deadline == nil)
    }

    @Test(arguments: ["compress=zlib-stream", "v=10&compress=zstd-stream", "encoding=etf", "COMPRESS=zlib-stream"])
    func anAddressThatAsksForFramesThatCannotBeReadIsRefused(_ query: String) throws {
        let error = #expect(throws: IngestError.self) {
            try GatewaySource(
                url: "wss://gateway.example.org/?\(query)",
                intents: 1,
                token: .none,
                name: SourceName("chat"),
                follows: true
            )
        }
        #expect(error?.code == .invalidArgument && error?.reason.contains("cannot be read") == true)
        _ = try GatewaySource(
            url: "wss://gateway.example.org/?v=10&encoding=json",
            intents: 1,
            token: .none,
            name: SourceName("chat"),
            follows: true
        )
    }

    /// The numbers of a session tell nothing of what was missed before it began.
    @Test func aReplayClosesNoGapOfAnEarlierSession() {
        var table = GatewayTable.live(GatewayTable.discordReady)
        _ = table.message(#"{"op":9}"#)
        _ = table.send(.closed(code: 4_000))
        _ = table.tickAtDeadline()
        table.openAndIdentify()
        let earlier = SocketGap(number: 1, reason: .disconnected)
        #expect(table.message(GatewayTable.discordReady) == [.endGap(earlier)])
        _ = table.send(.closed(code: 4_000))
        _ = table.tickAtDeadline()
        table.openAndIdentify()
        let gap = SocketGap(number: 2, reason: .disconnected)
        #expect(table.message(#"{"op":0,"d":{},"s":2,"t":"RESUMED"}"#) == [.endGap(gap), .closeGap(gap, by: .replay)])
        #expect(table.machine.gaps == [earlier])
    }

    @Test func aReplayWithAHoleProvesNothing() {
        var table = GatewayTable.live(GatewayTable.discordReady)
        _ = table.send(.closed(code: 4_000))
        _ = table.tickAtDeadline()
        _ = table.send(.opened(token: "T"))
        _ = table.message(GatewayTable.hello)
        _ = table.message(#"{"op":0,"d":{},"s":3,"t":"X"}"#)
        let actions = table.message(#"{"op":0,"d":{},"s":4,"t":"RESUMED"}"#)
        #expect(!actions.contains { if case .closeGap = $0 { true } else { false } })
    }

    /// Without REST routes nothing will ever close a gap: it is over with the next connection.
    @Test func withoutASnapshotGapsEndAsSoonAsFramesComeAgain() {
        var table = GatewayTable.live(takesSnapshots: false)
        let gap = SocketGap(number: 1, reason: .disconnected)
        #expect(table.send(.closed(code: 1006)) == [.openGap(gap)])
        _ = table.tickAtDeadline()
        table.openAndIdentify()
        #expect(table.message(#"{"op":11}"#) == [.endGap(gap), .closeGap(gap, by: .nothing)])
        #expect(table.machine.gaps.isEmpty && table.machine.book.ended.isEmpty)
        _ = table.message(#"{"op":0,"d":{},"s":3,"t":"X"}"#)
        var actions: [GatewayMachine.Action] = []
        while !actions.contains(where: { if case .openGap = $0 { true } else { false } }) {
            actions = table.tickAtDeadline()
            _ = table.message(#"{"op":11}"#)
        }
        let hole = SocketGap(number: 2, reason: .hole)
        #expect(actions.filter { $0 != .sendPong } == [.openGap(hole), .endGap(hole), .closeGap(hole, by: .nothing)])
    }

    @Test func withoutASnapshotAReplayIsProvedOrIsNone() {
        for (number, closer) in [(2, GapCloser.replay), (3, .nothing)] {
            var table = GatewayTable.live(GatewayTable.discordReady, takesSnapshots: false)
            _ = table.send(.closed(code: 4_000))
            _ = table.tickAtDeadline()
            _ = table.send(.opened(token: "T"))
            _ = table.message(GatewayTable.hello)
            let gap = SocketGap(number: 1, reason: .disconnected)
            let actions = table.message(#"{"op":0,"d":{},"s":\#(number),"t":"RESUMED"}"#)
            #expect(actions == [.endGap(gap), .closeGap(gap, by: closer)])
        }
    }

    @Test func aServerThatIsNotThereYetIsOneGap() {
        var table = GatewayTable(takesSnapshots: false)
        _ = table.tick(at: .zero)
        let gap = SocketGap(number: 1, reason: .unreachable)
        #expect(table.send(.refused(retryAfter: nil)) == [.openGap(gap)])
        _ = table.tickAtDeadline()
        #expect(table.send(.refused(retryAfter: nil)) == [])
        _ = table.tickAtDeadline()
        _ = table.send(.opened(token: "T"))
        #expect(table.send(.closed(code: 1006)) == [])
        _ = table.tickAtDeadline()
        table.openAndIdentify()
        #expect(table.message(GatewayTable.ready) == [.endGap(gap), .closeGap(gap, by: .nothing)])
    }

    /// Only where to connect is kept of the URL: the rest may hold a secret.
    @Test(arguments: [
        ("wss://gw.example/?token=s3cret", "wss://gw.example"),
        ("wss://gw.example:8443/s3cret", "wss://gw.example:8443"),
        ("wss://u:s3cret@gw.example/", ""), ("s3cret", ""), ("", nil),
    ])
    func ofAResumeURLOnlyThePlaceIsKept(_ url: String, _ kept: String?) {
        let ready = JSONValue(received: Array(#"{"session_id":"S","resume_gateway_url":"\#(url)"}"#.utf8))
        let session = GatewaySession(ready: ready)
        #expect(session?.resumeURL == kept)
        #expect(session.flatMap { GatewaySession(bytes: $0.bytes) } == session)
    }

    @Test(arguments: [("true", true), ("false", false)])
    func invalidSessionSaysWhetherToResume(data: String, resumes: Bool) {
        var table = GatewayTable.live(GatewayTable.discordReady)
        let actions = table.message(#"{"op":9,"d":\#(data)}"#)
        #expect(actions.first == .close(4_000))
        _ = table.send(.closed(code: 4_000))
        let wait = (table.machine.deadline ?? .zero) - table.now
        #expect((Duration.seconds(1)...Duration.seconds(5)).contains(wait))
        #expect(table.tickAtDeadline() == [.connect(url: resumes ? "wss://other.example" : nil)])
    }

    @Test func reconnectMakesOneConnectionAtOnce() {
        var table = GatewayTable.live()
        _ = table.tick(at: table.now + .seconds(11))
        #expect(table.message(#"{"op":7}"#).first == .close(4_000))
        #expect(table.message(#"{"op":7}"#) == [])
        #expect(table.send(.closed(code: 1006)) == [])
        #expect(table.tickAtDeadline() == [.connect(url: nil)])
        #expect(table.now <= .seconds(12))
    }

    @Test(arguments: [4_010, 4_011, 4_012, 4_013, 4_014] as [UInt16]) func fatalCodesStop(code: UInt16) {
        var table = GatewayTable.live()
        let actions = table.send(.closed(code: code))
        #expect(actions.contains { if case .stop = $0 { true } else { false } })
        #expect(table.machine.deadline == nil)
    }

    @Test func aTokenThatIsRefusedTwiceStops() {
        var table = GatewayTable()
        _ = table.tick(at: .zero)
        table.openAndIdentify()
        #expect(table.send(.closed(code: 4_004)) == [])
        _ = table.tickAtDeadline()
        table.openAndIdentify()
        #expect(table.send(.closed(code: 4_004)) == [.stop(reason: "the token was not accepted")])
    }

    @Test func aSessionThatCannotBeResumedTwiceIsForgotten() {
        var table = GatewayTable.live()
        for _ in 0..<2 {
            _ = table.send(.closed(code: 1006))
            _ = table.tickAtDeadline()
            _ = table.send(.opened(token: "T"))
            _ = table.message(GatewayTable.hello)
        }
        _ = table.send(.closed(code: 1006))
        _ = table.tickAtDeadline()
        _ = table.send(.opened(token: "T"))
        #expect(table.message(GatewayTable.hello) == [.send(GatewayTable.identify)])
    }

    @Test func aHoleIsAGapThatASnapshotCloses() {
        var table = GatewayTable.live()
        _ = table.send(.workDone(.snapshot, isComplete: true))
        _ = table.tick(at: table.now + .seconds(70))
        _ = table.message(#"{"op":11}"#)
        _ = table.message(#"{"op":0,"d":{},"s":3,"t":"X"}"#)
        var actions: [GatewayMachine.Action] = []
        while !actions.contains(.work(.snapshot)) {
            actions = table.tickAtDeadline()
            _ = table.message(#"{"op":11}"#)
        }
        let gap = SocketGap(number: 1, reason: .hole)
        #expect(actions.filter { $0 != .sendPong } == [.openGap(gap), .endGap(gap), .work(.snapshot)])
        #expect(table.send(.workDone(.snapshot, isComplete: true)) == [.closeGap(gap, by: .snapshot)])
    }

    @Test func aSwappedPairIsNoHole() {
        var table = GatewayTable.live()
        _ = table.message(#"{"op":0,"d":{},"s":3,"t":"X"}"#)
        _ = table.message(#"{"op":0,"d":{},"s":2,"t":"X"}"#)
        for _ in 0..<20 {
            let actions = table.tickAtDeadline()
            #expect(!actions.contains { if case .openGap = $0 { true } else { false } })
            _ = table.message(#"{"op":11}"#)
        }
    }

    @Test func aSnapshotThatFailsIsTakenAgain() {
        var table = GatewayTable.live()
        #expect(table.send(.workDone(.snapshot, isComplete: false)) == [])
        var actions: [GatewayMachine.Action] = []
        while !actions.contains(.work(.snapshot)) {
            actions = table.tickAtDeadline()
            _ = table.message(#"{"op":11}"#)
        }
        #expect((Duration.seconds(60)...Duration.seconds(61)).contains(table.now))
    }

    @Test func aGuildMadeOnAServerThatSubscribesInTheHandshakeMeansAnother() {
        var table = GatewayTable.live()
        let created = table.message(#"{"op":0,"d":{"id":"5"},"s":2,"t":"GUILD_CREATE"}"#)
        #expect(created.first == .close(4_000))
        var discord = GatewayTable.live(GatewayTable.discordReady)
        #expect(discord.message(#"{"op":0,"d":{"id":"5"},"s":2,"t":"GUILD_CREATE"}"#) == [])
    }

    /// Whatever comes in whatever order, the machine neither traps nor asks to be called in the past for ever.
    @Test(arguments: 0..<200 as Range<UInt64>) func anyInputsInAnyOrderAreTaken(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = GatewayTable()
        var connects = 0
        for _ in 0..<300 {
            let input = GatewayTable.inputs.randomElement(using: &random) ?? .tick
            if Bool.random(using: &random) {
                table.now += .milliseconds(Int.random(in: 0...90_000, using: &random))
                connects += table.send(.tick).count { if case .connect = $0 { true } else { false } }
                if let deadline = table.machine.deadline { #expect(deadline > table.now, "seed \(seed)") }
            }
            _ = table.send(input)
        }
        #expect(connects > 0, "seed \(seed)")
        #expect(Set(table.machine.gaps).isSuperset(of: table.machine.book.ended), "seed \(seed)")
    }
}
#endif
