import EventLog
import Projections
import TestSupport
import Testing

@testable import logtool

/// An audit lists what the histories of all things tell, and nothing else.
@Suite struct AuditPropertyTests {
    @Test(arguments: Scenario.all)
    func ofEachScenarioItIsTheUnionOfAllHistories(scenario: Scenario) throws {
        let folder = try TemporaryDirectory()
        let state = try scenario.log(in: folder).read { try Replay.logState(of: $0) }
        try check(state)
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func ofRandomTrafficItIsTheUnionOfAllHistories(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let log = try TemporaryLog(
            try (1...300).map { number in
                let payload = Self.frame(number, &random)
                return DraftEvent(
                    recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
                    source: try SourceName("guild"),
                    kind: try EventKind("gateway.frame/1"),
                    attributes: ["dir": "in", "connection": "c"],
                    payload: Array(payload.utf8)
                )
            }
        )
        let state = try log.store.read { try Replay.logState(of: $0) }
        #expect(try check(state) > 20, "seed \(seed)")
    }

    /// Creates, edits (late ones among them) and deletes of a few messages in two channels.
    private static func frame(_ number: Int, _ random: inout SeededGenerator) -> String {
        let id = Int.random(in: 1...40, using: &random)
        let channel = 10 + id % 2
        let time = Int.random(in: 10...59, using: &random)
        let start = #"{"op":0,"s":\#(number),"t":"#
        switch Int.random(in: 0...20, using: &random) {
        case 0: return start + #""CHANNEL_DELETE","d":{"id":"\#(channel + 2)"}}"#
        case 1...3: return start + #""MESSAGE_DELETE","d":{"id":"\#(id)","channel_id":"\#(channel)"}}"#
        case 4...8:
            return start + #""MESSAGE_CREATE","d":{"id":"\#(id)","channel_id":"\#(channel)","author_id":"7","#
                + #""content":"first \#(id)","created_at":"2026-01-01T00:00:00Z"}}"#
        default:
            return start + #""MESSAGE_UPDATE","d":{"id":"\#(id)","channel_id":"\#(channel)","author_id":"7","#
                + #""content":"text \#(time)","created_at":"2026-01-01T00:00:00Z","#
                + #""edited_at":"2026-01-02T00:00:\#(time)Z"}}"#
        }
    }

    /// - Returns: how many entries there are.
    @discardableResult
    private func check(_ state: LogState) throws -> Int {
        var expected: [String] = []
        state.forEachHistory { entity, entries in
            var isKnown = false
            for entry in entries {
                if let late = entry.late {
                    if isKnown, late.known != nil { expected.append("\(entity) \(entry)") }
                    if late.known != nil { isKnown = true }
                    continue
                }
                let isReturn = ["added", "started"].contains(entry.change) && isKnown
                let isLost = entity.kind == .message && entry.change == "unreadable"
                if isReturn || isLost || Self.changes.contains(entry.change) { expected.append("\(entity) \(entry)") }
                if entry.fields.members.contains(where: { $0.name != "cause" }) { isKnown = true }
            }
        }
        var listed: [String] = []
        var last = SequenceNumber.zero
        state.forEachChange(of: AuditOptions.auditable, where: { _ in true }, includes: { _ in true }) { change in
            listed.append("\(change.entity) \(change.entry)")
            #expect(last <= change.entry.sequence)
            last = change.entry.sequence
            if change.class == .delete { #expect(change.after == nil || !change.entry.kinds.isEmpty) }
        }
        #expect(listed.sorted() == expected.sorted())
        return listed.count
    }

    private static let changes: Set<String> = [
        "edited", "linked", "moved", "deleted", "restored", "changed", "removed", "ended", "selected", "unselected",
    ]
}
