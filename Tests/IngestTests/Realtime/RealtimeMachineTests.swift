#if Recorders
import TestSupport
import Testing

@testable import Ingest

@Suite struct RealtimeMachineTests {
    private static let topic = "realtime:public:notes"
    private static let joined = message(
        "phx_reply",
        #"{"status":"ok","response":{"postgres_changes":[{"id":1,"schema":"public","table":"notes"}]}}"#,
        ref: "1"
    )
    private static let ready = message("system", #"{"extension":"postgres_changes","status":"ok"}"#)

    private static func message(_ event: String, _ payload: String, ref: String? = nil) -> SocketInput<
        RealtimeMachine.Work
    > {
        let ref = ref.map { "\"\($0)\"" } ?? "null"
        let text = #"{"topic":"\#(topic)","event":"\#(event)","payload":\#(payload),"ref":\#(ref)}"#
        return .message(ArraySlice(text.utf8))
    }

    private func machine(pullsRows: Bool = true) throws -> RealtimeMachine {
        RealtimeMachine(
            tables: [try RealtimeTable("notes")],
            version: .one,
            pullsRows: pullsRows,
            random: UnitRandom(seed: 1)
        )
    }

    @Test func aJoinIsWrittenAsTheClientsWriteIt() throws {
        var machine = try machine()
        #expect(machine.receive(.tick, at: .zero) == [.connect(url: nil)])
        let join =
            #"{"join_ref":"1","ref":"1","topic":"realtime:public:notes","event":"phx_join","payload":"#
            + #"{"config":{"broadcast":{"ack":false,"self":false},"presence":{"key":""},"private":false,"#
            + #""postgres_changes":[{"event":"*","schema":"public","table":"notes"}]},"access_token":"T"}}"#
        #expect(machine.receive(.opened(token: "T"), at: .zero) == [.send(Array(join.utf8))])
    }

    @Test func changesCountOnlyFromSubscribedOn() throws {
        var machine = try machine()
        _ = machine.receive(.tick, at: .zero)
        _ = machine.receive(.opened(token: "T"), at: .zero)
        #expect(machine.receive(Self.joined, at: .zero) == [])
        #expect(machine.channels[0].phase == .joined(1))
        #expect(machine.receive(Self.ready, at: .zero) == [.work(.pull(table: 0))])
        #expect(machine.channels[0].isSubscribed)
    }

    @Test func beatsGoOutEach25SecondsAndMissAnAnswerOnce() throws {
        var machine = try machine()
        _ = machine.receive(.tick, at: .zero)
        _ = machine.receive(.opened(token: "T"), at: .zero)
        _ = machine.receive(Self.joined, at: .zero)
        _ = machine.receive(Self.ready, at: .zero)
        let beat = machine.receive(.tick, at: .seconds(25))
        let text = #"{"join_ref":null,"ref":"2","topic":"phoenix","event":"heartbeat","payload":{}}"#
        #expect(beat.contains(.send(Array(text.utf8))))
        let actions = machine.receive(.tick, at: .seconds(50))
        #expect(actions.contains(.close(1_000)))
        #expect(actions.contains { if case .openGap(let gap) = $0 { gap.topic == Self.topic } else { false } })
    }

    /// Without REST routes nothing will ever close a gap: it is over once changes come in again.
    @Test func withoutRoutesGapsEndWithTheNextSubscription() throws {
        var machine = try machine(pullsRows: false)
        _ = machine.receive(.tick, at: .zero)
        let first = SocketGap(number: 1, reason: .unreachable, topic: Self.topic)
        #expect(machine.receive(.refused(retryAfter: nil), at: .zero) == [.openGap(first)])
        _ = machine.receive(.tick, at: .seconds(2))
        #expect(machine.receive(.refused(retryAfter: nil), at: .seconds(2)) == [])
        _ = machine.receive(.tick, at: .seconds(9))
        _ = machine.receive(.opened(token: "T"), at: .seconds(9))
        _ = machine.receive(Self.joined, at: .seconds(9))
        #expect(machine.receive(Self.ready, at: .seconds(9)) == [.endGap(first), .closeGap(first, by: .nothing)])
        #expect(machine.gaps.isEmpty && machine.book.ended.isEmpty)
        let second = SocketGap(number: 2, reason: .disconnected, topic: Self.topic)
        #expect(machine.receive(.closed(code: 1006), at: .seconds(9)) == [.openGap(second)])
    }

    @Test(arguments: ["notes", "public.notes", "notes:user_id=eq.u-1"]) func tablesAreRead(text: String) throws {
        let table = try RealtimeTable(text)
        #expect(table.topic == Self.topic)
        #expect(table.filter == (text.contains(":") ? "user_id=eq.u-1" : nil))
    }

    @Test(arguments: ["", "a b", "a.b.c d", "notes:x", "notes:a=eq.1&b=2", "notes/../x"])
    func whatIsNoTableIsRefused(text: String) {
        #expect(throws: IngestError.self) { try RealtimeTable(text) }
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func anyInputsInAnyOrderAreTaken(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var machine = try machine()
        var now = Duration.zero
        let inputs: [SocketInput<RealtimeMachine.Work>] = [
            .opened(token: "T"), .refused(retryAfter: .seconds(3)), .closed(code: 1006), .oversize, .tick, .token("U"),
            .workDone(.pull(table: 0), isComplete: true), .workDone(.pull(table: 0), isComplete: false),
            .workDone(.pull(table: 9), isComplete: true), .message([]), .message(ArraySlice("[1,2]".utf8)), Self.joined,
            Self.ready, Self.message("phx_error", "{}"), Self.message("phx_close", "{}"),
            Self.message("system", #"{"extension":"postgres_changes","status":"error"}"#),
            Self.message("phx_reply", #"{"status":"error"}"#, ref: "1"),
        ]
        for _ in 0..<300 {
            if Bool.random(using: &random) {
                now += .milliseconds(Int.random(in: 0...40_000, using: &random))
                _ = machine.receive(.tick, at: now)
                if let deadline = machine.deadline { #expect(deadline > now, "seed \(seed)") }
            }
            _ = machine.receive(inputs.randomElement(using: &random) ?? .tick, at: now)
        }
        #expect(Set(machine.gaps).isSuperset(of: machine.book.ended), "seed \(seed)")
    }
}
#endif
