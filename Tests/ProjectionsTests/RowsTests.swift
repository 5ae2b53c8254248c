import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct RowsTests {
    private static let columns = ["id", "title", "content"]

    private static func insert(_ seconds: Int, _ record: String) -> String {
        RealtimeFrames.change("INSERT", seconds: seconds, columns: columns, record: record)
    }

    private static func update(_ seconds: Int, _ record: String, errors: String = "null") -> String {
        RealtimeFrames.change(
            "UPDATE",
            seconds: seconds,
            columns: columns,
            record: record,
            old: #"{"id":"n1"}"#,
            errors: errors
        )
    }

    private static func delete(_ seconds: Int) -> String {
        RealtimeFrames.change("DELETE", seconds: seconds, columns: columns, old: #"{"id":"n1"}"#)
    }

    private func row(
        _ record: String,
        state: String = "live",
        unknown: String = "[]",
        stale: String = "[]"
    ) -> [String] {
        [
            #"{"id":"n1","record":\#(record),"staleColumns":\#(stale),"state":"\#(state)","table":"notes","#
                + #""unknownColumns":\#(unknown)}"#
        ]
    }

    @Test func whatAnUpdateLeavesOutStays() throws {
        let source = try SourceHarness.receiving([
            Self.insert(1, #"{"id":"n1","title":"Soup","content":"long"}"#),
            Self.update(2, #"{"id":"n1","title":null}"#),
        ])
        #expect(source.rows(in: .rows) == row(#"{"content":"long","id":"n1","title":null}"#))
        #expect(source.history(.rows, "notes", "n1") == ["1 added", "2 changed retitled"])
    }

    @Test func aLateChangeSetsOnlyWhatNewerOnesLeftOut() throws {
        let source = try SourceHarness.receiving([
            Self.update(3, #"{"id":"n1","title":"New"}"#),
            Self.insert(1, #"{"id":"n1","title":"Old","content":"first"}"#),
            Self.update(2, #"{"id":"n1","title":"Middle","content":"second"}"#),
        ])
        #expect(source.rows(in: .rows) == row(#"{"content":"second","id":"n1","title":"New"}"#))
    }

    /// Each entry's fields are those of the row after its event, although an entry keeps only what its event changed.
    @Test func aHistoryShowsTheRowAfterEachEvent() throws {
        let frames = [
            Self.insert(1, #"{"id":"n1","title":"Soup","content":"long"}"#),
            Self.update(2, #"{"id":"n1","title":"Leek"}"#),
            Self.update(3, #"{"id":"n1","title":"Leek"}"#, errors: #"["Error 413: Payload Too Large"]"#),
            Self.delete(4),
            Self.update(5, #"{"id":"n1","title":"Back"}"#),
            Self.insert(6, #"{"id":"n1","content":null}"#),
        ]
        var rows: [String] = []
        for count in 1...frames.count {
            // A deleted row shows its last fields.
            rows.append(
                try SourceHarness.receiving(Array(frames.prefix(count))).rows(in: .rows).first ?? rows[count - 2]
            )
        }
        let source = try SourceHarness.receiving(frames)
        let shown = source.historyFields(.rows, "notes", "n1").map { fields in
            var fields = fields
            (fields["table"], fields["id"]) = (.string("notes"), .string("n1"))
            return JSONValue.object(fields).canonicalText
        }
        #expect(shown == rows)
        #expect(source.historyFields(.rows, "notes", "n1", in: 2..<4).count == 2)
    }

    /// Else one small column would keep the values of a large record in memory, and each column those of another one. Only
    /// the columns of the newest record share its memory.
    @Test func aColumnOfAnOlderRecordHasATextOfItsOwn() throws {
        let whole = #"{"id":"n1","title":"Soup","content":"long"}"#
        func shared(_ frames: [String]) throws -> [String] {
            let source = try SourceHarness.receiving(frames)
            let key = try #require(source.rows.knownKeys(in: .rows, names: source.names).first)
            let register = try #require(source.rows[key]).register
            return Self.columns.filter { register.text(of: $0)?.ownsText == false }
        }
        #expect(try shared([Self.insert(1, whole)]) == Self.columns)
        #expect(
            try shared([Self.insert(1, whole), Self.update(2, #"{"id":"n1","title":"Leek"}"#)]) == ["id", "title"]
        )
        // The late record gives the content alone.
        let late = try shared([Self.update(3, #"{"id":"n1","title":"Leek"}"#), Self.update(2, whole)])
        #expect(late == ["id", "title"])
    }

    /// A row of one change is kept as that change, and its digest is written from it. It shows as a folded row does, also once it
    /// was repeated or saved.
    @Test(arguments: ["INSERT", "UPDATE", "DELETE"])
    func aRowOfOneChangeIsLikeAFoldedOne(_ type: String) throws {
        let records = [
            #"{"id":"n1","title":"Soup","deleted_at":null}"#,
            #"{"id":"n1","deleted_at":"2026-01-01T00:00:00Z","more":[1]}"#,
            #"{"title":"Soup"}"#, "{}",
        ]
        for record in records {
            for errors in ["null", #"["Error 413: Payload Too Large"]"#] {
                let first = RealtimeFrames.change(
                    type,
                    seconds: 5,
                    columns: Self.columns,
                    record: record,
                    old: #"{"id":"n1"}"#,
                    errors: errors
                )
                let once = try SourceHarness.receiving([first])
                #expect(once.rows(in: .rows).isEmpty == (type == "DELETE"))
                let again = try SourceHarness.receiving([first, first])
                #expect(again.rows(in: .rows) == once.rows(in: .rows))
                let saved = try StateEncoder.bytes(of: once.rows)
                #expect(try StateEncoder.bytes(of: again.rows) == saved, "a repeat leaves the row as it was")
                let loaded = try StateDecoder.value(Rows.self, from: saved)
                let key = try #require(loaded.knownKeys(in: .rows, names: once.names).first)
                let context = RowContext(names: once.names, asOf: Timestamp(seconds: 9))
                let row = loaded.row(for: key, context: context)
                #expect(row.map(\.canonicalText).map { [$0] } ?? [] == once.rows(in: .rows))
                #expect(loaded.digestRow(for: key, context: context) == row?.canonicalHash)
                #expect(loaded.history(of: key, context: context)?.count == (type == "DELETE" ? 0 : 1))
            }
        }
    }

    /// Memory and time grow with the changes: a row whose every change brings a new column keeps one value an entry.
    @Test func aHistoryKeepsOnlyWhatChanged() throws {
        func savedBytes(_ count: Int) throws -> Int {
            let frames = (1...count).map { number in
                RealtimeFrames.change(
                    "UPDATE",
                    seconds: number,
                    columns: ["c\(number)"],
                    record: #"{"id":"n1","c\#(number)":1}"#
                )
            }
            return try StateEncoder.bytes(of: SourceHarness.receiving(frames).rows).count
        }
        let (few, many) = (try savedBytes(100), try savedBytes(400))
        #expect(many < 5 * few)
    }

    @Test func aColumnThatWasNeverSeenIsUnknown() throws {
        var source = try SourceHarness.receiving([Self.update(2, #"{"id":"n1","title":"New"}"#)])
        #expect(source.rows(in: .rows) == row(#"{"id":"n1","title":"New"}"#, unknown: #"["content"]"#))
        source.apply(try .frame(9, Self.update(3, #"{"id":"n1","content":"text"}"#)))
        #expect(source.rows(in: .rows) == row(#"{"content":"text","id":"n1","title":"New"}"#))
    }

    @Test func aPartialChangeMakesKnownColumnsStale() throws {
        var source = try SourceHarness.receiving([
            Self.insert(1, #"{"id":"n1","content":"text"}"#),
            Self.update(2, #"{"id":"n1"}"#, errors: #"["Error 413: Payload Too Large"]"#),
        ])
        #expect(
            source.rows(in: .rows)
                == row(#"{"content":"text","id":"n1"}"#, unknown: #"["title"]"#, stale: #"["content"]"#)
        )
        source.apply(try .frame(8, Self.update(3, #"{"id":"n1"}"#)))
        #expect(source.rows(in: .rows).first?.contains(#""staleColumns":["content"]"#) == true)
        source.apply(try .frame(9, Self.update(4, #"{"id":"n1","content":"new"}"#)))
        #expect(source.rows(in: .rows).first?.contains(#""staleColumns":[]"#) == true)
    }

    @Test func deletedAtMakesARowSoftDeleted() throws {
        var source = try SourceHarness.receiving([
            Self.insert(1, #"{"id":"n1","deleted_at":null}"#),
            Self.update(2, #"{"id":"n1","deleted_at":"2026-02-01"}"#),
        ])
        #expect(source.rows(in: .rows).first?.contains(#""state":"soft_deleted""#) == true)
        source.apply(try .frame(9, Self.update(3, #"{"id":"n1","deleted_at":null}"#)))
        #expect(source.rows(in: .rows).first?.contains(#""state":"live""#) == true)
        #expect(
            source.history(.rows, "notes", "n1") == ["1 added", "2 changed soft_deleted", "9 changed restored"]
        )
    }

    @Test func nothingOlderBringsADeletedRowBack() throws {
        var source = try SourceHarness.receiving([
            Self.delete(5), Self.insert(1, #"{"id":"n1","title":"A"}"#), Self.update(4, #"{"id":"n1","title":"B"}"#),
        ])
        #expect(source.rows(in: .rows).isEmpty)
        source.apply(try .frame(9, Self.insert(6, #"{"id":"n1"}"#)))
        #expect(source.rows(in: .rows) == row(#"{"id":"n1"}"#, unknown: #"["content","title"]"#))
    }

    @Test func aDeleteThatComesLateTakesOnlyWhatIsOlder() throws {
        let source = try SourceHarness.receiving([
            Self.insert(1, #"{"id":"n1","title":"A","content":"text"}"#), Self.update(5, #"{"id":"n1","title":"B"}"#),
            Self.delete(3),
        ])
        #expect(source.rows(in: .rows) == row(#"{"id":"n1","title":"B"}"#, unknown: #"["content"]"#))
    }

    @Test func tiesAreSettledByTheFirstArrival() throws {
        let first = Self.update(2, #"{"id":"n1","title":"A"}"#)
        let second = Self.update(2, #"{"id":"n1","title":"B"}"#)
        let again = first.replacing(#""ids":[0]"#, with: #""ids":[7]"#).replacing("columns\":[{", with: "columns\":[ {")
        let source = try SourceHarness.receiving([first, second, again])
        #expect(source.rows(in: .rows).first?.contains(#""title":"B""#) == true)
        #expect(source.history(.rows, "notes", "n1") == ["1 added", "2 changed retitled"])
    }

    @Test func aRepeatOfWhatADeleteEndedChangesNothing() throws {
        let insert = Self.insert(2, #"{"id":"n1"}"#)
        let source = try SourceHarness.receiving([insert, Self.delete(2), insert, Self.delete(2)])
        #expect(source.rows(in: .rows).isEmpty)
        #expect(source.history(.rows, "notes", "n1") == ["1 added", "2 removed"])
    }

    @Test func openingANoteIsNamed() throws {
        let source = try SourceHarness.receiving([
            Self.insert(1, #"{"id":"n1","last_opened_at":null}"#), Self.update(2, #"{"id":"n1","last_opened_at":"x"}"#),
        ])
        #expect(source.history(.rows, "notes", "n1") == ["1 added", "2 changed opened"])
    }

    @Test(arguments: Array(51...58) as [UInt64])
    func theStateDoesNotDependOnTheOrderOfArrival(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        // Commit times differ, so that arrival decides nothing.
        let frames = (1...14).map { Self.randomChange($0, &random) }
        let expected = try SourceHarness.receiving(frames)
        for _ in 1...6 {
            var shuffled = frames.shuffled(using: &random)
            shuffled.append(contentsOf: frames.shuffled(using: &random).prefix(4))
            let found = try SourceHarness.receiving(shuffled).substance()
            let wanted = expected.substance()
            #expect(found.filter { !wanted.contains($0) } == wanted.filter { !found.contains($0) })
        }
    }

    @Test(arguments: Array(161...164) as [UInt64])
    func aCompactionChangesNoRowNowOrLater(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let events = try Self.randomEvents(60, &random)
        for cut in stride(from: 5, through: 55, by: 10) {
            var source = SourceHarness()
            source.apply(Array(events.prefix(cut)))
            var again = try source.compacted(Array(events.prefix(cut)))
            #expect(again.normalForm() == source.normalForm())
            again.apply(Array(events.dropFirst(cut)))
            source.apply(Array(events.dropFirst(cut)))
            #expect(again.normalForm() == source.normalForm())
            #expect(again.realtimeDecoder.gaps() == source.realtimeDecoder.gaps())
        }
    }

    @Test(arguments: [181, 182, 183, 184] as [UInt64])
    func aCompactionOfConversationsKeepsWhatThePolicyKeeps(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let events = try Self.randomEvents(60, &random)
        for (cut, count) in [(15, 0), (30, 1), (45, 2)] {
            var whole = SourceHarness()
            whole.apply(Array(events.prefix(cut)))
            var source = whole.retained(RetentionPolicy(messagesPerChannel: count))
            var again = try source.compacted(Array(events.prefix(cut)))
            #expect(again.normalForm() == source.normalForm())
            again.apply(Array(events.dropFirst(cut)))
            source.apply(Array(events.dropFirst(cut)))
            #expect(again.normalForm() == source.normalForm())
        }
    }

    @Test(arguments: [71, 72] as [UInt64])
    func everyRowThatChangesIsTouched(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var source = SourceHarness()
        for event in try Self.randomEvents(80, &random) {
            let before = source.allRows()
            source.touched = []
            source.apply(event)
            let after = source.allRows()
            for key in Set(before.keys).union(after.keys) where before[key] != after[key] {
                #expect(source.touched.contains(key))
            }
        }
    }

    /// Changes with equal times too, repeats, control frames and breaks.
    private static func randomEvents(_ count: Int, _ random: inout SeededGenerator) throws -> [TestEvent] {
        var sent: [String] = []
        return try (1...count).map { number in
            let sequence = UInt64(number)
            switch Int.random(in: 0...9, using: &random) {
            case 0: return try .frame(sequence, RealtimeFrames.subscribed("realtime:public:notes"))
            case 1: return try .frame(sequence, RealtimeFrames.plain("phx_join", "realtime:public:notes"), dir: "out")
            case 2: return try .frame(sequence, RealtimeFrames.plain("heartbeat", "phoenix"), dir: "out")
            case 3: return try .frame(sequence, sent.randomElement(using: &random) ?? "{")
            default:
                let frame = randomChange(Int.random(in: 1...12, using: &random), &random)
                sent.append(frame)
                return try .frame(sequence, frame)
            }
        }
    }

    static func randomChange(_ seconds: Int, _ random: inout SeededGenerator) -> String {
        let table = ["notes", "conversations", "conversations", "tasks"].randomElement(using: &random) ?? ""
        let id = ["r1", "r2"].randomElement(using: &random) ?? ""
        let type = ["INSERT", "UPDATE", "UPDATE", "UPDATE", "DELETE"].randomElement(using: &random) ?? ""
        var members = [#""id":"\#(id)""#]
        func maybe(_ values: [String], _ name: String) {
            guard Bool.random(using: &random), let value = values.randomElement(using: &random) else { return }
            members.append("\"\(name)\":\(value)")
        }
        maybe(["\"A\"", "\"B\"", "null"], "title")
        maybe(["null", "\"2026-02-01T00:00:00+00:00\""], "deleted_at")
        if table == "tasks" {
            maybe(["\"inbox\"", "\"completed\"", "\"trashed\""], "status")
            maybe(["\"p1\"", "null"], "project_id")
            maybe(["\"2026-02-01T00:00:00.5+00:00\"", "\"2026-02-01T00:00:00.25+00:00\""], "created_at")
        }
        if table == "conversations", Int.random(in: 0...3, using: &random) > 0 {
            let messages = ["m1", "m2", "m3"].shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
                .map { #"{"id":"\#($0)","role":"user","content":"\#(Int.random(in: 0...1, using: &random))"}"# }
            members.append("\"messages\":[\(messages.joined(separator: ","))]")
        }
        let record = "{\(members.joined(separator: ","))}"
        let errors = Int.random(in: 0...4, using: &random) == 0 ? #"["Error 413: Payload Too Large"]"# : "null"
        return RealtimeFrames.change(
            type,
            table: table,
            seconds: seconds,
            columns: ["id", "title", "deleted_at", "messages"],
            record: type == "DELETE" ? nil : record,
            old: #"{"id":"\#(id)"}"#,
            errors: errors
        )
    }
}
