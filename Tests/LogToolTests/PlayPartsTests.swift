#if Recorders
import EventLog
import Foundation
import Projections
import Testing

@testable import Playback
@testable import logtool

/// The parts of a playback that need no socket.
@Suite struct PlayPartsTests {
    private let start = PlayInstant.now

    @Test func eventsAreSpacedAsTheyWereRecorded() {
        var pace = PlayPace(speed: .times(20), isStepping: false)
        #expect(pace.wait(for: Timestamp(seconds: 100), at: start) == .zero)
        #expect(pace.wait(for: Timestamp(seconds: 140), at: start) == .seconds(2))
        #expect(pace.wait(for: Timestamp(seconds: 140), at: start + .seconds(3)) == .zero)
        // A clock that was set back delays nothing; after a wait for the client times are counted anew.
        #expect(pace.wait(for: Timestamp(seconds: 40), at: start) == .zero)
        pace.restart()
        #expect(pace.wait(for: Timestamp(seconds: 900), at: start) == .zero)
        #expect(pace.wait(for: Timestamp(seconds: 920), at: start) == .seconds(1))
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.0.0.1:4000", true), ("localhost:80", true), ("[::1]", true), ("[::1]:65535", true),
        ("localhost:80@evil.com", false), ("[::1].evil.com", false), ("[::1]:80.evil.com", false),
        ("localhost.evil.com", false), ("localhost:", false), ("127.0.0.1:4000:1", false), ("localhost:123456", false),
        ("evil.com", false), ("", false), ("[::1", false), ("localhost:80/x", false),
    ])
    func aHostIsThisMachineOnlyByItsWholeName(_ host: String, isLocal: Bool) {
        #expect(PlayGate.isLocal(host[...]) == isLocal)
        #expect(PlayGate(origins: []).admits(origin: "http://\(host)") == isLocal)
    }

    @Test func aStepNeedsARelease() {
        var pace = PlayPace(speed: .max, isStepping: true)
        #expect(pace.wait(for: Timestamp(seconds: 1), at: start) == nil)
        pace.releases += 1
        #expect(pace.wait(for: Timestamp(seconds: 1), at: start) == .zero)
        pace.gave()
        #expect(pace.wait(for: Timestamp(seconds: 2), at: start) == nil)
    }

    @Test func heartbeatsGetTheRecordedAnswersOrTheirOwnInTime() {
        var beats = PlayHeartbeats()
        beats.owe("7", at: start)
        #expect(beats.overdue(at: start + .seconds(9), isOver: false).isEmpty)
        #expect(beats.recorded().reference == "7")
        beats.owe("8", at: start)
        #expect(beats.overdue(at: start + .seconds(10), isOver: false) == ["8"])
        // The recorded one was given early: it is left out, the next one is not.
        #expect(!beats.recorded().isSent)
        #expect(beats.recorded().isSent)
        beats.owe("9", at: start)
        #expect(beats.overdue(at: start, isOver: true) == ["9"])
        #expect(beats.recorded().isSent)
    }

    @Test func resumeGoesToThePlaybackAndAllElseStays() {
        let frame = #"{"op":0,"d":{"v":10,"resume_gateway_url" : "wss:\/\/gw.example\"x","session_id":"s"},"s":1}"#
        let changed = GatewayText.ready(Array(frame.utf8), resumingAt: "ws://127.0.0.1:4000/")
        #expect(
            String(decoding: changed, as: UTF8.self)
                == #"{"op":0,"d":{"v":10,"resume_gateway_url" : "ws://127.0.0.1:4000/","session_id":"s"},"s":1}"#
        )
        for odd in [#"{"resume_gateway_url""#, #"{"resume_gateway_url":null}"#, #"{"resume_gateway_url":"x"#, "{}"] {
            #expect(GatewayText.ready(Array(odd.utf8), resumingAt: "y") == Array(odd.utf8))
        }
    }

    @Test func aClientThatIdentifiesWhereTheRecorderResumedGetsAReady() throws {
        var dialect = GatewayDialect(url: "ws://x/", heardUser: { _ in }) { Array("made".utf8) }
        dialect.connectionOpened()
        dialect.wireOpened()
        let hello = dialect.read(Array(#"{"op":10,"d":{"heartbeat_interval":1}}"#.utf8), isOut: false)
        #expect(dialect.give(hello) != nil)
        let resume = dialect.read(Array(#"{"op":6,"d":{}}"#.utf8), isOut: true)
        guard case .wait(nil) = dialect.need(before: resume, at: start) else { Issue.record("no wait"); return }
        dialect.hear(Array(#"{"op":2,"d":{}}"#.utf8), at: start)
        guard case .say(let ready) = dialect.need(before: resume, at: start) else { Issue.record("no READY"); return }
        #expect(ready == Array("made".utf8))
        guard case .go = dialect.need(before: resume, at: start) else { Issue.record("no go"); return }
        let notes = dialect.takeNotes()
        #expect(notes.map(\.recorded) == ["RESUME"] && notes.map(\.client) == ["IDENTIFY"])
    }

    @Test(arguments: ["127.0.0.1:4000", "4000", "localhost:4000", "[::1]:4000"])
    func addressesOfThisMachineAreTaken(text: String) throws {
        #expect(try PlayAddress.parse(text).port == 4000)
    }

    @Test(arguments: ["0.0.0.0:4000", "192.168.1.2:80", "x", "127.0.0.1:70000", "example.org:80", ""])
    func othersAreNot(text: String) {
        #expect(throws: (any Error).self) { try PlayAddress.parse(text) }
    }

    @Test func fileNamesStayInTheirDirectory() {
        #expect(FilesPlay.name(of: "/tmp/vibestatus-a.json", isEncoded: false) == Array("vibestatus-a.json".utf8))
        #expect(FilesPlay.name(of: "/tmp/a%FFb", isEncoded: true) == [0x61, 0xFF, 0x62])
        // Only bytes that are not UTF-8 were encoded, so the code of an ASCII byte is part of the name.
        #expect(FilesPlay.name(of: "/tmp/a%25E9%FFb", isEncoded: true) == Array("a%E9".utf8) + [0xFF, 0x62])
        #expect(FilesPlay.name(of: "/tmp/a%2F%41%FFb", isEncoded: true) == Array("a%2F%41".utf8) + [0xFF, 0x62])
        for path in ["/tmp/", "/tmp/..", "/tmp/.", "", "/tmp/a\0b"] {
            #expect(FilesPlay.name(of: path, isEncoded: false) == nil)
        }
    }

    /// A client asks for the rows behind its last id, so the order must be that of `id=gt.9`.
    @Test func rowsComeInTheOrderThatTheirIDsAreComparedBy() {
        let ids = ["10", "9", "b", "-1", "a", "é", "100"]
        #expect(ids.sorted(by: RealtimeRoutes.precedes) == ["-1", "9", "10", "100", "a", "b", "é"])
    }

    @Test func rowsAreChosenByPostgRESTsConditions() throws {
        let record = try JSONValue.parse(#"{"id":"n-2","n":10,"deleted_at":null,"user_id":"u"}"#)
        let cases: [(String, String, Bool)] = [
            ("id", "eq.n-2", true), ("id", "gt.n-1", true), ("id", "gt.n-2", false), ("n", "lt.9", false),
            ("n", "gte.10", true), ("deleted_at", "is.null", true), ("user_id", "is.null", false),
            ("user_id", "neq.u", false),
        ]
        for (column, condition, isAdmitted) in cases {
            let filter = try #require(PostgRESTFilter(column: column, condition))
            #expect(filter.admits(record) == isAdmitted, "\(column)=\(condition)")
        }
        #expect(PostgRESTFilter(column: "select", "*") == nil)
    }
}
#endif
