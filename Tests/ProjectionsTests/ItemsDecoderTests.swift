import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct ItemsDecoderTests {
    private func decoded(_ event: TestEvent) -> SourceHarness {
        var source = SourceHarness()
        source.apply(event)
        return source
    }

    private let ticket = #"{"id":"wrk-1","title":"Buy milk","status":"open","priority":2}"#

    @Test func aBareArrayIsTheListOfTheSource() throws {
        let event = try TestEvent.message(
            1,
            #"[{"id":"1","text":"Milk","done":false,"created":"2026-02-18T13:08:54Z"}]"#
        )
        let source = decoded(event)
        #expect(
            source.rows(in: .items) == [
                #"{"created":"2026-02-18T13:08:54Z","done":false,"id":"1","list":"app","position":0,"text":"Milk"}"#
            ]
        )
        #expect(source.issues.isEmpty)
    }

    @Test func anObjectNamesItsList() throws {
        let source = decoded(try .message(1, #"{"project":"work","items":[{"id":7,"text":"A","done":true}]}"#))
        #expect(source.rows(in: .items) == [#"{"done":true,"id":"7","list":"work","position":0,"text":"A"}"#])
    }

    @Test(arguments: [
        "id: 0\ndata: TICKET\n\n", "id: 0\r\ndata: TICKET\r\n\r\n", "id: 0\rdata: TICKET\r\r", "data:TICKET\n\n",
        "\u{FEFF}id: 0\n: a comment\ndata: TICKET\n\n", "event: message\nretry: 3000\nid\ndata: TICKET\n\n",
        #"data: {"type":"agent","running":false}"# + "\ndata: {\"type\":\"ticket\",\"ticket\":TICKET}\n\n",
        "data: [\ndata: TICKET\ndata: ]\n\n", "data: TICKET\ndata\n\n", "data:  TICKET\nfoo: bar\n\n",
    ])
    func everySpellingOfAnEventGivesTheTicket(_ frame: String) throws {
        let source = decoded(
            try .sse(
                1,
                frame.split(separator: "TICKET", omittingEmptySubsequences: false)
                    .joined(separator: ticket)
            )
        )
        #expect(
            source.rows(in: .items) == [
                #"{"done":false,"extra":{"priority":2},"id":"wrk-1","list":"app","position":0,"status":"open","#
                    + #""text":"Buy milk"}"#
            ]
        )
        #expect(source.issues.isEmpty)
    }

    /// What the decoder remembers of the last snapshots makes no difference: neither to items nor to issues.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func aSnapshotIsReadAsByADecoderThatReadsItsFirst(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (known, fresh) = (SourceHarness(), SourceHarness())
        var tickets = (0..<8).map { #"{"id":"t\#($0)","title":"A"}"# }
        let others = [
            #"{"type":"agent"}"#, #"{"id":7,"text":"B","done":true}"#, #"{"title":"no id"}"#, "[", "3",
            #"{"type":"ticket","ticket":{"id":"t1","title":"C"}}"#, #"{ "id":"t2", "title":"A", "priority":1.0 }"#,
        ]
        for sequence in 1...120 as ClosedRange<UInt64> {
            switch Int.random(in: 0...5, using: &random) {
            case 0: tickets.shuffle(using: &random)
            case 1: tickets.append(others.randomElement(using: &random) ?? "")
            case 2 where tickets.count > 4: tickets.remove(at: .random(in: tickets.indices, using: &random))
            case 3: tickets[0] = #"{"id":"t\#(sequence % 9)","title":"\#(sequence)"}"#
            default: break
            }
            let list = "[\(tickets.joined(separator: " , "))]"
            let event =
                switch Int.random(in: 0...3, using: &random) {
                case 0: try TestEvent.message(sequence, list)
                case 1: try TestEvent.message(sequence, #"{"items":\#(list),"x":[{}],"project":"p\#(sequence % 3)"}"#)
                default: try TestEvent.sse(sequence, tickets.map { "data: \($0)\n" }.joined() + "\n")
                }
            known.apply(event)
            fresh.itemsDecoder = ItemsDecoder()
            fresh.apply(event)
            #expect(known.issues == fresh.issues)
        }
        #expect(known.normalForm() == fresh.normalForm() && known.touched == fresh.touched)
        #expect(known.rows(in: .items).count > 3)
    }

    /// Parts that stand where they stood are not read; others are, until a few were.
    @Test func whatIsTheSameAsBeforeIsNotReadAgain() {
        var memo = TicketMemo()
        var readCount = 0
        func read(_ texts: [String], in list: Int = 1) -> Int {
            readCount = 0
            let id = EntityID(saved: UInt64(list))
            let tickets = memo.tickets(of: texts.map { Array($0.utf8) }, in: id) { text in
                readCount += 1
                return .fault(String(decoding: text, as: UTF8.self))
            }
            let found = tickets.map { if case .fault(let text) = $0 { text } else { "" } }
            #expect(found == texts)
            return readCount
        }
        let texts = (0..<100).map { "ticket \($0)" }
        #expect(read(texts) == 100 && read(texts) == 0)
        #expect(read(texts, in: 2) == 100, "another list")
        #expect(read(texts.map { $0 == "ticket 7" ? "changed" : $0 }) == 1)
        #expect(read(["new"] + texts) <= 6, "all stand elsewhere")
        #expect(read([]) == 0 && read(texts) == 100)
    }

    /// As a JSON reader understands it: of a name that stands again, the last value counts.
    @Test(arguments: [
        (#"{"project":"a","items":[],"project":"b","items":[{"id":"1"}]}"#, ["b/1"]),
        (#"{"project":"a","items":[{"id":"1"}],"items":3}"#, []), (#"{"project":null,"items":[{"id":"1"}]}"#, []),
        (#" [ {"id":"1"} , {"id":"2"} ] "#, ["app/1", "app/2"]), (#"[{"id":"1"}]]"#, []), (#"[{"id":"1"},]"#, []),
    ])
    func aListIsFoundInItsText(_ text: String, _ found: [String]) throws {
        let source = decoded(try .message(1, text))
        let rows = try source.rows(in: .items).map { try JSONValue.parse($0) }
        #expect(rows.map { "\($0["list"]?.string ?? "")/\($0["id"]?.string ?? "")" } == found)
        #expect(source.issues.isEmpty == !found.isEmpty)
    }

    @Test(arguments: ["id: 4\n\n", "id\n\n", "id: 4\ndata:\n\n"])
    func anIdWithoutDataEmptiesTheList(_ frame: String) throws {
        var source = SourceHarness()
        source.apply(try .sse(1, "id: 0\ndata: \(ticket)\n\n"))
        source.apply(try .sse(2, frame))
        #expect(source.rows(in: .items).isEmpty)
        #expect(source.history(.items, "app", "wrk-1") == ["1 added", "2 removed"])
    }

    @Test(arguments: [
        "retry: 3000\n\n", ": still there\n\n", "\n", "data:\n\n", "data: {\"type\":\"agent\",\"running\":true}\n\n",
        "id: 9\ndata: {\"type\":\"agent\"}\ndata: {\"type\":\"agent\"}\n\n",
    ])
    func aFrameWithoutTicketsChangesNothing(_ frame: String) throws {
        var source = SourceHarness()
        source.apply(try .sse(1, "id: 0\ndata: \(ticket)\n\n"))
        source.apply(try .sse(2, frame))
        #expect(source.rows(in: .items).count == 1)
        #expect(source.history(.items, "app", "wrk-1") == ["1 added"])
        #expect(source.issues.isEmpty)
    }

    @Test(arguments: [
        (#"{"id":"a"}"#, "false"), (#"{"id":"a","status":"closed"}"#, "true"),
        (#"{"id":"a","status":"resolved"}"#, "false"), (#"{"id":"a","status":"closed","done":false}"#, "false"),
        (#"{"id":"a","status":"Closed"}"#, "false"), (#"{"id":"a","done":null,"status":"closed"}"#, "true"),
    ])
    func doneIsTheMemberElseTheStatusClosed(_ item: String, _ done: String) throws {
        let source = decoded(try .message(1, "[\(item)]"))
        #expect(source.rows(in: .items).first?.contains("\"done\":\(done)") == true)
    }

    @Test func aLostLineLeavesTheRestAndCarriesWhatIsMissing() throws {
        var source = SourceHarness()
        source.apply(try .sse(1, #"data: [{"id":"a"},{"id":"b"},{"id":"c"}]"# + "\n\n"))
        source.apply(try .sse(2, "id: 2\ndata: {\"id\":\"c\"}\ndata: {\"id\":\ndata: {\"id\":\"a\"}\n\n"))
        #expect(
            source.rows(in: .items).map { String($0.dropFirst(14).prefix(8)) } == [
                "\"id\":\"c\"", "\"id\":\"a\"", "\"id\":\"b\"",
            ]
        )
        #expect(
            source.issues == [
                Issue(sequence: SequenceNumber(2), reason: "items snapshot: data line 2: not one JSON text")
            ]
        )
        source.apply(try .sse(3, #"data: [{"id":"c"},{"id":"a"}]"# + "\n\n"))
        #expect(source.rows(in: .items).count == 2)
    }

    @Test(arguments: [
        "", "{", "null", "7", #""x""#, #"{"project":"work"}"#, #"{"project":7,"items":[]}"#, "[1,]", "\u{0}",
        #"{"items":[]}"#,
    ])
    func aMessageThatIsNoSnapshotIsAnIssue(_ text: String) throws {
        let source = decoded(try .message(1, text))
        #expect(source.issues.count == 1)
        #expect(source.changes.isEmpty)
    }

    @Test func bytesThatAreNoTextAreAnIssue() throws {
        let source = decoded(try TestEvent(1, kind: EventKind("items.message/1"), payload: [0x5B, 0xFF, 0x5D]))
        #expect(source.issues.count == 1)
    }

    @Test func nothingThatWentOutIsASnapshot() throws {
        let source = decoded(try .message(1, #"{"project":"work","items":[{"id":"a"}]}"#, dir: "out"))
        #expect(source.changes.isEmpty && source.issues.isEmpty)
    }

    @Test(arguments: [
        #"{"text":"no id"}"#, #"{"id":null}"#, #"{"id":1.5}"#, #"{"id":"a","title":5}"#, #"{"id":"a","done":"yes"}"#,
        #"{"id":"a","created":1}"#, #"{"id":"a","status":[]}"#, "5", #"{"type":"ticket","ticket":"a"}"#,
    ])
    func anElementOfTheWrongShapeIsAnIssueOfItsOwn(_ element: String) throws {
        let source = decoded(try .message(1, #"[{"id":"x"},"# + element + "]"))
        #expect(source.rows(in: .items).count == 1)
        #expect(source.issues.count == 1)
    }
}
