#if Recorders
import Synchronization
import TestSupport

@testable import Ingest

/// A gateway machine with a clock on the table.
struct GatewayTable {
    var machine: GatewayMachine
    var now = Duration.zero

    static let hello = #"{"op":10,"d":{"heartbeat_interval":41250}}"#
    static let ready =
        #"{"op":0,"d":{"session_id":"S","user_id":"7","guilds":[1],"read_states":null},"s":1,"t":"READY"}"#
    static let discordReady =
        #"{"op":0,"d":{"session_id":"S","resume_gateway_url":"wss://other.example"},"s":1,"t":"READY"}"#
    static let identify = Array(#"{"op":2,"d":{"token":"T"}}"#.utf8)

    static let inputs: [GatewayMachine.Input] = [
        .opened(token: "T"), .refused(retryAfter: nil), .closed(code: 1006), .closed(code: 4_009), .closed(code: 1000),
        .workDone(.snapshot, isComplete: true), .workDone(.snapshot, isComplete: false), .oversize, .tick,
        .message(ArraySlice(hello.utf8)), .message(ArraySlice(ready.utf8)), .message(ArraySlice(discordReady.utf8)),
        .message(ArraySlice(#"{"op":11}"#.utf8)), .message(ArraySlice(#"{"op":1}"#.utf8)),
        .message(ArraySlice(#"{"op":7}"#.utf8)),
        .message(ArraySlice(#"{"op":9,"d":true}"#.utf8)), .message(ArraySlice(#"{"op":9}"#.utf8)), .message([]),
        .message(ArraySlice(#"{"op":0,"s":18446744073709551615,"t":"X"}"#.utf8)),
        .message(ArraySlice(#"{"op":0,"s":-1}"#.utf8)),
        .message(ArraySlice(#"{"op":0,"d":{},"s":9,"t":"RESUMED"}"#.utf8)), .message(ArraySlice("[[[".utf8)),
        .message(ArraySlice(#"{"op":10,"d":{"heartbeat_interval":-5}}"#.utf8)), .message([0xFF, 0x00]),
    ]

    init(seed: UInt64 = 1, takesSnapshots: Bool = true) {
        let options = GatewayOptions(takesSnapshots: takesSnapshots)
        machine = GatewayMachine(options: options, random: UnitRandom(seed: seed))
    }

    /// A machine with a live connection that it has just made.
    static func live(_ ready: String = Self.ready, takesSnapshots: Bool = true) -> GatewayTable {
        var table = GatewayTable(takesSnapshots: takesSnapshots)
        _ = table.tick(at: .zero)
        table.openAndIdentify()
        _ = table.message(ready)
        return table
    }

    mutating func openAndIdentify() {
        _ = send(.opened(token: "T"))
        _ = message(Self.hello)
    }

    /// Resumes without an answer but that to the heartbeat.
    mutating func shakeHands() {
        openAndIdentify()
        _ = message(#"{"op":11}"#)
    }

    mutating func send(_ input: GatewayMachine.Input) -> [GatewayMachine.Action] {
        machine.receive(input, at: now)
    }

    mutating func message(_ text: String) -> [GatewayMachine.Action] {
        send(.message(ArraySlice(text.utf8)))
    }

    mutating func tick(at time: Duration) -> [GatewayMachine.Action] {
        now = time
        return send(.tick)
    }

    mutating func tickAtDeadline() -> [GatewayMachine.Action] {
        tick(at: max(now, machine.deadline ?? now + .seconds(1)))
    }
}

extension UnitRandom {
    /// Numbers that a seed decides.
    init(seed: UInt64) {
        let generator = Mutex(SeededGenerator(seed: seed))
        self.init { generator.withLock { Double.random(in: 0..<1, using: &$0) } }
    }
}
#endif
