import EventLog
import TestSupport
import Testing

@testable import Projections

/// Rows that are too large to be told whole with each small change (`docs/semantics.md`, Large things).
@Suite struct LargeRowTests {
    private static let thing = EntityReference(kind: .row, parts: ["app", "things", "a"])

    /// Changes of all kinds, in which the row is large at times.
    private static func traffic(seed: UInt64) -> CostTraffic {
        var random = SeededGenerator(seed: seed)
        var traffic = CostTraffic()
        let text = String(repeating: "long ", count: 1_500)
        traffic.row("INSERT", #"{"id":"a","text":"\#(text)","n":0,"deleted_at":null}"#)
        for number in 1...160 {
            let at = Int.random(in: 0..<5, using: &random) == 0 ? Int.random(in: 2...160, using: &random) : nil
            switch Int.random(in: 0..<24, using: &random) {
            case 0: traffic.row("DELETE", "{}", old: #"{"id":"a"}"#)
            case 1, 2: traffic.row("INSERT", #"{"id":"a","text":"\#(text)\#(number)","n":\#(number)}"#, at: at)
            case 3, 4: traffic.row("UPDATE", #"{"id":"a","text":"\#(text)\#(number)","n":\#(number)}"#, at: at)
            case 5: traffic.row("UPDATE", #"{"id":"a","text":"short"}"#, at: at)
            case 6, 7:
                traffic.row("UPDATE", #"{"id":"a","deleted_at":\#(number % 2 == 0 ? "null" : "\"2026-02-01\"")}"#)
            case 8, 9:
                traffic.row("UPDATE", #"{"id":"a"}"#, columns: #"[{"name":"id"},{"name":"c\#(number % 7)"}]"#, at: at)
            case 10: traffic.row("UPDATE", #"{"id":"a","c\#(number % 7)":\#(number)}"#, at: at)
            default: traffic.row("UPDATE", #"{"id":"a","n":\#(number % 5)}"#, at: at)
            }
        }
        return traffic
    }

    @Test(arguments: [1, 2, 3, 4])
    func walkingTheEntriesGivesTheRow(seed: UInt64) throws {
        let log = try TemporaryLog(try Self.traffic(seed: seed).events.map { try $0.draft() })
        var rows: [SequenceNumber: JSONValue] = [:]
        var state = LogState()
        for event in try log.events() {
            state.apply(event)
            rows[event.envelope.sequence] = state.rows(in: .rows, asOf: Timestamp(seconds: 0)).first
        }
        let entries = try state.history(of: Self.thing)
        #expect(entries.contains(where: \.isPartial) && entries.contains { !$0.isPartial })
        var walked = WalkedRow()
        for entry in entries {
            let before = walked
            walked.take(entry)
            guard entry.late != nil || entry.change != "removed" else { continue }
            // A late version may come while there is no row.
            guard let row = rows[entry.sequence] else { continue }
            #expect(walked.record.isSameJSON(as: row["record"]), "\(entry.sequence)")
            #expect(
                walked.unknown == Set(row["unknownColumns"]?.array?.compactMap(\.string) ?? []),
                "\(entry.sequence)"
            )
            #expect(walked.stale == Set(row["staleColumns"]?.array?.compactMap(\.string) ?? []), "\(entry.sequence)")
            for column in entry.before?["record"]?.object?.members ?? [] {
                #expect(column.value.isSameJSON(as: before.record[column.name]), "\(entry.sequence)")
            }
        }
        // Single entries are those of the whole history, also after the state was saved.
        let source = try #require(state.sources.first)
        let saved = try StateDecoder.value(Rows.self, from: StateEncoder.bytes(of: source.parts.rows))
        let key = try #require(source.parts.rows.knownKeys(in: .rows, names: source.context.names).first)
        for rows in [source.parts.rows, saved] {
            for (index, entry) in entries.enumerated() {
                let found = rows.history(of: key, in: index..<index + 1, context: source.rowContext(asOf: nil))
                #expect(found.elementsEqual([entry]), "\(index)")
            }
        }
    }

    @Test func aStepAndAnAuditTellWhatChanged() throws {
        var traffic = CostTraffic()
        let text = String(repeating: "long ", count: 1_500)
        traffic.row("INSERT", #"{"id":"a","text":"\#(text)","n":0}"#)
        traffic.row("UPDATE", #"{"id":"a","n":1}"#)
        let log = try TemporaryLog(try traffic.events.map { try $0.draft() })
        try log.store.read { session in
            var steps: [StateDifference] = []
            try Replay.steps(of: session, in: SequenceNumber(2)...SequenceNumber(2)) { _, differences in
                steps += differences
                return true
            }
            let field = try #require(steps.first?.fields.first)
            #expect(steps.count == 1 && steps.first?.fields.count == 1 && field.name == "record")
            #expect(field.a?.text == #"{"n":0}"# && field.b?.text == #"{"n":1}"#)
            let state = try Replay.logState(of: session)
            var lines: [AuditEntry] = []
            state.forEachChange(of: [.row], where: { _ in true }, includes: { _ in true }) { lines.append($0) }
            #expect(lines.map { $0.before?["record"]?.text } == [#"{"n":0}"#])
            #expect(lines.map { $0.after?["record"]?.text } == [#"{"n":1}"#])
        }
    }
}

/// What a reader of the entries knows of a row.
private struct WalkedRow {
    var record: JSONValue { .object(columns) }
    private var columns = JSONObject()
    private(set) var unknown: Set<String> = []
    private(set) var stale: Set<String> = []

    mutating func take(_ entry: HistoryEntry) {
        func names(_ fields: JSONObject?, _ name: String) -> [String] {
            fields?[name]?.array?.compactMap(\.string) ?? []
        }
        // A late version that changed nothing leaves what is known.
        guard let fields = entry.late.map({ $0.known }) ?? entry.fields else { return }
        let isPartial = fields["partial"]?.bool == true
        if !isPartial { (columns, unknown, stale) = (JSONObject(), [], []) }
        for column in fields["record"]?.object?.members ?? [] { columns[column.name] = column.value }
        if isPartial {
            unknown.subtract(names(entry.before, "unknownColumns"))
            stale.subtract(names(entry.before, "staleColumns"))
        }
        unknown.formUnion(names(fields, "unknownColumns"))
        stale.formUnion(names(fields, "staleColumns"))
    }
}
