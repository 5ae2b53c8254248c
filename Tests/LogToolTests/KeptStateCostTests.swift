import EventLog
import Foundation
import TestSupport
import Testing

@testable import Projections

/// Which states are worth keeping.
@Suite struct KeptStateCostTests {
    /// A message with a member whose name has an escape is written in its cell. An edit makes a record of it, which takes
    /// longer to load than to fold.
    @Test(arguments: [
        ("", false, true), (#","nonce":"abc""#, false, true), (#","nonce":"abc""#, true, true),
        (#","n\u006fnce":"abc""#, false, true), (#","n\u006fnce":"abc""#, true, false),
    ])
    func aStateIsKeptWhereLoadingItIsFaster(unknown: String, areEdited: Bool, isKept: Bool) throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        let text = String(repeating: "words ", count: 80)
        _ = try store.append(
            (1...2_000).map { number in
                let (id, edit) = areEdited ? (number / 2, number % 2) : (number, 0)
                let editedAt = edit > 0 ? #","edited_at":"2026-01-02T00:00:00Z""# : ""
                return DraftEvent(
                    recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
                    source: try SourceName("guild"),
                    kind: try EventKind("gateway.frame/1"),
                    key: try EventKey("c/\(number)"),
                    attributes: ["dir": "in"],
                    payload: Array(
                        (#"{"op":0,"d":{"id":"\#(1000 + id)","channel_id":"10","author_id":"7","#
                            + #""author_username":"ada","content":"\#(text)\#(edit)","#
                            + #""created_at":"2026-01-01T00:00:00Z"\#(editedAt)\#(unknown)},"#
                            + #""s":\#(number),"t":"MESSAGE_\#(edit > 0 ? "UPDATE" : "CREATE")"}"#).utf8
                    )
                )
            }
        )
        var options = ReplayOptions()
        options.keeping = KeptStateOptions(build: "test")
        options.keeping?.eventsMin = 500
        options.chunkEvents = 500
        let first = try store.read { try Replay.logState(of: $0, options: options).normalFormHash }
        let kept = try store.read { KeptStates(rules: .canonical, build: "test").sequences(in: $0) }
        #expect(kept.isEmpty != isKept, "\(kept)")
        #expect(try store.read { try Replay.logState(of: $0, options: options).normalFormHash } == first)
    }

    /// The refusal lies beside the log, so a later replay does not encode the state only to find the same.
    @Test func aStateThatWasTooLargeIsTriedAgainAtTwiceTheBytes() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        var options = ReplayOptions()
        options.keeping = KeptStateOptions(build: "test")
        options.keeping?.eventsMin = 100
        options.chunkEvents = 100
        /// Appends status files of new sessions, whose state is as large as they are, and replays; the payload bytes of
        /// the log and of the last refusal.
        func grow(to count: Int) throws -> (log: Int, refused: Int) {
            let drafts = try (0..<count).map { number in
                DraftEvent(
                    recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
                    source: try SourceName("mac"),
                    kind: try EventKind("status.file/1"),
                    key: try EventKey("file \(number)"),
                    attributes: try Attributes([
                        Attributes.Pair(name: "op", value: "write"),
                        Attributes.Pair(name: "path", value: "/tmp/vibestatus-\(number).json"),
                    ]),
                    payload: Array(#"{"state":"idle","project":"p\#(number)"}"#.utf8)
                )
            }
            _ = try store.append(drafts)
            return try store.read { session in
                let state = try Replay.logState(of: session, options: options)
                let whole = try Replay.logState(of: session).normalFormHash
                #expect(state.normalFormHash == whole)
                let states = KeptStates(rules: .canonical, build: "test")
                #expect(states.sequences(in: session).isEmpty)
                return (drafts.reduce(0) { $0 + $1.payload.count }, states.refusedPayloadBytes(in: session))
            }
        }
        let first = try grow(to: 150)
        #expect(first.refused > 0 && first.refused <= first.log)
        let second = try grow(to: 190)
        #expect(second.refused == first.refused, "nothing was tried again")
        let third = try grow(to: 1000)
        #expect(third.refused >= 2 * first.refused)
    }

    /// A state of rows is about as large as its events. Finding that out costs no more than encoding what is allowed.
    @Test func aStateThatIsTooLargeIsNotEncodedWhole() throws {
        let rows = (0..<1000).map { number in ["id": "row \(number)", "text": String(repeating: "words ", count: 20)] }
        #expect(throws: StateEncoder.LimitExceeded.self) {
            try StateEncoder.bytes(of: rows.map { Row(members: $0) }, byteCountMax: 5000)
        }
        #expect(try StateEncoder.bytes(of: rows.map { Row(members: $0) }, byteCountMax: 1 << 20).count > 100_000)
    }

    private struct Row: Encodable {
        let members: [String: String]
    }
}
