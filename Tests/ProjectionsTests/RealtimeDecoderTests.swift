import EventLog
import Testing

@testable import Projections

@Suite struct RealtimeDecoderTests {
    private static let topic = "realtime:public:notes"
    private static let insert = RealtimeFrames.change("INSERT", seconds: 1, record: #"{"id":"n1","title":"A"}"#)

    @Test func bothVersionsOfAFrameAreRead() throws {
        let payload = Self.insert.split(separator: #""payload":"#)[1].dropLast()
        let array = #"[null,null,"realtime:public:notes","postgres_changes",\#(payload)]"#
        #expect(try SourceHarness.receiving([array]).allRows() == SourceHarness.receiving([Self.insert]).allRows())
        #expect(try SourceHarness.receiving([array, Self.insert]).history(.rows, "notes", "n1") == ["1 added"])
    }

    @Test func whatWentOutChangesNoRow() throws {
        var source = SourceHarness()
        source.apply(try .frame(1, Self.insert, dir: "out"))
        #expect(source.changes.isEmpty && source.issues.isEmpty)
    }

    @Test(arguments: [
        "heartbeat", "phx_join", "phx_reply", "phx_error", "phx_close", "system", "presence_state", "access_token",
    ])
    func framesOfTheChannelsLifeChangeNoRow(_ event: String) throws {
        let source = try SourceHarness.receiving([RealtimeFrames.plain(event, Self.topic)])
        #expect(source.changes.isEmpty && source.issues.isEmpty)
    }

    @Test(arguments: [
        "", "{", "[]", "[1,2,3,4]", "7", "{}", #"{"topic":"a"}"#, #"{"topic":1,"event":"x","payload":{}}"#,
        #"[null,null,"t",4,{}]"#, #"{"topic":"a","event":"surprise","payload":{}}"#, "\u{1}",
        #"{"topic":"a","event":"postgres_changes","payload":{}}"#, #"{"topic":"a","event":"postgres_changes"}"#,
        #"{"topic":"a","event":"postgres_changes","payload":{"data":[]}}"#,
    ])
    func whatCannotBeReadIsAnIssue(_ text: String) throws {
        let source = try SourceHarness.receiving([text])
        #expect(source.changes.isEmpty)
        #expect(source.issues.count == 1)
    }

    @Test func aBinaryFrameIsNoFault() throws {
        let bytes: [UInt8] = [2, 0, 3, 1, 0, 0x61, 0xFF]
        var source = SourceHarness()
        source.apply(try TestEvent(1, kind: EventKind("realtime.frame/1"), attributes: ["dir": "in"], payload: bytes))
        #expect(source.issues.isEmpty)
    }

    @Test(arguments: [
        (#""commit_timestamp":null"#, "commit_timestamp is missing or no time"),
        (#""commit_timestamp":"yesterday""#, "commit_timestamp is missing or no time"),
        (#""record":{}"#, "id is missing in record and old_record"),
        (#""record":7"#, "id is missing in record and old_record"),
        (#""type":"TRUNCATE""#, "type is none of INSERT, UPDATE, DELETE"), (#""table":null"#, "table is no text"),
        (#""old_record":{"id":"n1"},"record":null"#, "record is no object"),
    ])
    func aChangeThatSaysTooLittleIsAnIssue(_ member: String, _ reason: String) throws {
        let name = member.split(separator: ":")[0]
        let full = [
            #""table":"notes""#, #""type":"INSERT""#, #""commit_timestamp":"2026-02-01T10:00:00.1Z""#,
            #""record":{"id":"n1"}"#,
        ]
        let others = full.filter { !$0.hasPrefix(name) && !(member.contains("record\":null") && $0.contains("record")) }
        let data = (others + [member]).joined(separator: ",")
        let source = try SourceHarness.receiving([
            #"{"topic":"a","event":"postgres_changes","payload":{"data":{\#(data)}}}"#
        ])
        #expect(source.issues.map(\.reason) == ["realtime change: " + reason])
        #expect(source.changes.isEmpty)
    }

    /// A row whose key changes is another row from then on; that under the old key is gone, whenever its changes come.
    @Test func aPrimaryKeyThatChangesMovesTheRow() throws {
        let frames = [
            RealtimeFrames.change("INSERT", seconds: 1, record: #"{"id":"a","title":"one"}"#),
            RealtimeFrames.change("UPDATE", seconds: 2, record: #"{"id":"b","title":"one"}"#, old: #"{"id":"a"}"#),
        ]
        for frames in [frames, frames.reversed()] {
            let source = try SourceHarness.receiving(frames)
            #expect(source.rows(in: .rows).count == 1)
            #expect(source.rows(in: .rows).first?.contains(#""id":"b""#) == true)
            #expect(source.issues.isEmpty)
        }
        let source = try SourceHarness.receiving(frames + [frames[1]])
        #expect(source.history(.rows, "notes", "a") == ["1 added", "2 removed"])
        #expect(source.history(.rows, "notes", "b") == ["2 added"])
    }

    /// The numbers 1 and 1 with an escape, or a text of the same digits, are one key.
    @Test(arguments: [#"{"id":1}"#, #"{"id":"1"}"#, "{}", "null", #"{"id":1.5}"#])
    func anUpdateUnderTheSameKeyMovesNothing(old: String) throws {
        let source = try SourceHarness.receiving([
            RealtimeFrames.change("INSERT", seconds: 1, record: #"{"id":1,"title":"one"}"#),
            RealtimeFrames.change("UPDATE", seconds: 2, record: #"{"id":1,"title":"two"}"#, old: old),
        ])
        #expect(source.history(.rows, "notes", "1") == ["1 added", "2 changed retitled"])
    }

    @Test func tasksAndConversationsMoveWithTheirKeys() throws {
        let source = try SourceHarness.receiving([
            RealtimeFrames.change("INSERT", table: "tasks", seconds: 1, record: #"{"id":"a","title":"one"}"#),
            RealtimeFrames.change(
                "UPDATE",
                table: "tasks",
                seconds: 2,
                record: #"{"id":"b","title":"one"}"#,
                old: #"{"id":"a","title":"one"}"#
            ),
            RealtimeFrames.change(
                "INSERT",
                table: "conversations",
                seconds: 3,
                record: #"{"id":"c","title":"t","messages":[{"id":"1","role":"user","content":"hi"}]}"#
            ),
            RealtimeFrames.change(
                "UPDATE",
                table: "conversations",
                seconds: 4,
                record: #"{"id":"d","title":"t","messages":[{"id":"1","role":"user","content":"hi"}]}"#,
                old: #"{"id":"c"}"#
            ),
        ])
        #expect(source.rows(in: .items).count == 1)
        #expect(source.rows(in: .items).first?.contains(#""id":"b""#) == true)
        #expect(source.rows(in: .channels).count == 1)
        #expect(source.rows(in: .channels).first?.contains(#""id":"d""#) == true)
        #expect(source.rows(in: .messages).count == 1)
        #expect(source.rows(in: .messages).first?.contains(#""channel":"d""#) == true)
    }

    /// The app's tables are in the schema `public`. Tables of other schemas stay apart from them, and from one another.
    @Test func tablesOfOneNameInTwoSchemasStayApart() throws {
        func change(_ schema: String, _ table: String, _ record: String) -> String {
            RealtimeFrames.change("INSERT", table: table, seconds: 1, record: record)
                .replacing(#""schema":"public""#, with: #""schema":"\#(schema)""#)
        }
        let source = try SourceHarness.receiving([
            change("public", "things", #"{"id":1}"#), change("other", "things", #"{"id":1}"#),
            change("public", "tasks", #"{"id":1,"title":"public"}"#),
            change("jobs", "tasks", #"{"id":1,"title":"jobs"}"#),
            change("public", "conversations", #"{"id":"c","title":"public","messages":[]}"#),
            change("crm", "conversations", #"{"id":"c","title":"crm","messages":[]}"#),
            change("public", "other.things", #"{"id":1}"#), change("a.b", "c", #"{"id":1}"#),
            change("a", "b.c", #"{"id":1}"#), change("a", #"b\"c"#, #"{"id":1}"#),
        ])
        let tables = source.rows(in: .rows).compactMap { try? JSONValue.parse($0)["table"]?.string }
        #expect(
            tables.sorted() == [
                #""a.b".c"#, #""other.things""#, #"a."b""c""#, #"a."b.c""#, "crm.conversations", "jobs.tasks",
                "other.things", "things",
            ]
        )
        #expect(source.rows(in: .items).map { $0.contains(#""text":"public""#) } == [true])
        #expect(source.rows(in: .channels).map { $0.contains(#""name":"public""#) } == [true])
    }

    @Test(arguments: ["1.0", "1e0", "99999999999999999999", "null", "true", #""\ud800""#, #""a\udc00""#])
    func whatIsNoWholeNumberOrTextIsNoID(id: String) throws {
        let source = try SourceHarness.receiving([
            RealtimeFrames.change("INSERT", seconds: 1, record: #"{"id":\#(id)}"#)
        ])
        #expect(source.changes.isEmpty)
        #expect(source.issues.map(\.reason) == ["realtime change: id is missing in record and old_record"])
    }

    @Test func idsHaveOneForm() throws {
        let ids = ["-0", "0", #""0""#, #""a\u0000b""#, #""a""#, "-7", "18446744073709551615"]
        let source = try SourceHarness.receiving(
            ids.enumerated().map {
                RealtimeFrames.change("INSERT", seconds: $0.offset, record: #"{"id":\#($0.element)}"#)
            }
                + [RealtimeFrames.change("INSERT", seconds: 9, record: #"{"id":6,"id":8,"v":1,"v":2}"#)]
        )
        let rows = try source.rows(in: .rows).map { try JSONValue.parse($0) }
        #expect(rows.map { $0["id"]?.string } == ["-7", "0", "18446744073709551615", "8", "a", "a\0b"])
        #expect(rows[3]["record"]?["v"] == .int(2), "of a repeated member the last one counts")
        #expect(source.issues.isEmpty)
    }

    /// A new value that differs only where a `Double` would round is a change.
    @Test func digitsBeyondADoubleAreAChange() throws {
        let source = try SourceHarness.receiving([
            RealtimeFrames.change("INSERT", seconds: 1, record: #"{"id":1,"v":0.12345678901234567891}"#),
            RealtimeFrames.change("UPDATE", seconds: 2, record: #"{"id":1,"v":0.12345678901234567892}"#),
            RealtimeFrames.change("UPDATE", seconds: 3, record: #"{"id":1,"v":0.123456789012345678920}"#),
        ])
        #expect(source.history(.rows, "notes", "1") == ["1 added", "2 changed updated"])
        #expect(source.rows(in: .rows).first?.contains(#""v":0.12345678901234567892"#) == true)
    }

    @Test func idsAreTextsAndOtherSchemasAreNamed() throws {
        let frame = RealtimeFrames.change("INSERT", seconds: 1, record: #"{"id":9007199254740993}"#)
            .replacing(#""schema":"public""#, with: #""schema":"archive""#)
        let source = try SourceHarness.receiving([frame])
        #expect(source.rows(in: .rows).first?.contains(#""id":"9007199254740993""#) == true)
        #expect(source.rows(in: .rows).first?.contains(#""table":"archive.notes""#) == true)
    }

    // MARK: Subscriptions

    private func gaps(_ steps: [(frame: String, dir: String)]) throws -> [String] {
        var source = SourceHarness()
        for (index, step) in steps.enumerated() {
            source.apply(try .frame(UInt64(index + 1), step.frame, dir: step.dir))
        }
        return source.realtimeDecoder.gaps().map {
            "\($0.topic ?? "") \($0.from.seconds)-\($0.to.map { String($0.seconds) } ?? "") \($0.reason)"
        }
    }

    private let subscribed = (frame: RealtimeFrames.subscribed(topic), dir: "in")
    private let other = (frame: RealtimeFrames.subscribed("realtime:public:websites"), dir: "in")
    private let join = (frame: RealtimeFrames.plain("phx_join", topic), dir: "out")
    private let reply = (frame: RealtimeFrames.plain("phx_reply", "phoenix"), dir: "in")
    private let beat = (frame: RealtimeFrames.plain("heartbeat", "phoenix"), dir: "out")

    @Test func aFirstSubscriptionHasNoGap() throws {
        #expect(try gaps([join, reply, subscribed, subscribed, beat]).isEmpty)
    }

    @Test(arguments: [("phx_error", "the channel failed"), ("phx_close", "the channel was closed")])
    func aChannelThatEndsIsAGapUntilItIsSubscribedAgain(_ event: String, _ reason: String) throws {
        let end = (frame: RealtimeFrames.plain(event, Self.topic), dir: "in")
        #expect(try gaps([subscribed, other, end]) == ["\(Self.topic) 3- \(reason)"])
        #expect(try gaps([subscribed, end, join, reply, subscribed]) == ["\(Self.topic) 2-5 \(reason)"])
    }

    private func frame(_ event: String, _ payload: String, ref: String = "null", topic: String = topic) -> String {
        #"{"topic":"\#(topic)","event":"\#(event)","payload":\#(payload),"ref":\#(ref)}"#
    }

    /// The remote refuses or loses a subscription. Replies to other requests, and topics that ask for no changes, say nothing.
    @Test func whatTheRemoteRefusesOrLosesIsAGap() throws {
        let asks = #"{"config":{"postgres_changes":[{"table":"notes"}]}}"#
        let join = { (ref: String) in (frame: frame("phx_join", asks, ref: ref), dir: "out") }
        let refusal = { (ref: String) in
            (frame: frame("phx_reply", #"{"status":"error","response":{"reason":"expired"}}"#, ref: ref), dir: "in")
        }
        let lost = (frame: frame("system", #"{"extension":"postgres_changes","status":"error"}"#), dir: "in")
        let failed = (frame: frame("phx_error", "{}"), dir: "in")
        #expect(try gaps([join("1"), refusal("1")]) == ["\(Self.topic) 1- the join was refused"])
        #expect(try gaps([join("1"), reply, lost]) == ["\(Self.topic) 1- the subscription was refused"])
        #expect(try gaps([join("1"), failed]) == ["\(Self.topic) 1- the channel failed"])
        #expect(try gaps([refusal("1")]) == ["\(Self.topic) 1- the join was refused"])
        #expect(try gaps([subscribed, lost]) == ["\(Self.topic) 2- the subscription was lost"])
        #expect(try gaps([subscribed, lost, lost, subscribed]) == ["\(Self.topic) 2-4 the subscription was lost"])
        // Attempts in a row are one gap, from the first.
        let attempts = [join("1"), refusal("1"), join("2"), refusal("2"), subscribed]
        #expect(try gaps(attempts) == ["\(Self.topic) 1-5 the join was refused"])
        // Of another request, of an earlier join, of a topic that asks for presences alone, of one that is subscribed.
        let presences = (frame: frame("phx_join", #"{"config":{"presence":{"key":""}}}"#, ref: "1"), dir: "out")
        #expect(try gaps([join("2"), refusal("1")]).isEmpty)
        #expect(try gaps([presences, refusal("1")]).isEmpty)
        #expect(try gaps([subscribed, refusal("7")]).isEmpty)
        let beat = frame("phx_reply", #"{"status":"error","response":{}}"#, topic: "phoenix")
        #expect(try gaps([(frame: beat, dir: "in")]).isEmpty)
    }

    @Test func joiningASubscribedTopicEndsAllAtTheLastInboundFrame() throws {
        let found = try gaps([subscribed, other, reply, beat, beat, join, join, reply, subscribed])
        #expect(
            found == [
                "\(Self.topic) 3-9 the topic was joined again",
                "realtime:public:websites 3- the topic was joined again",
            ]
        )
    }

    @Test func aLinkThatChangesEndsAllAtTheLastInboundFrame() throws {
        var source = SourceHarness()
        source.apply(try .frame(1, subscribed.frame))
        source.apply(try .frame(5, reply.frame))
        source.apply(
            try TestEvent(
                9,
                kind: EventKind("recorder.link/1"),
                attributes: ["link": "close", "code": "1006"],
                payload: []
            )
        )
        #expect(source.realtimeDecoder.gaps().map(\.from) == [Timestamp(seconds: 5)])
    }

    // MARK: Conversations and tasks

    private func conversation(_ seconds: Int, _ messages: String, type: String = "UPDATE") -> String {
        RealtimeFrames.change(
            type,
            table: "conversations",
            seconds: seconds,
            record: #"{"id":"c1","title":"Leeks","messages":[\#(messages)]}"#,
            old: #"{"id":"c1"}"#
        )
    }

    private let question =
        #"{"id":"c8","role":"user","content":"Leeks?","status":"complete","timestamp":"2026-02-01T09:20:00.120Z"}"#
    private let answer = #"{"id":"c9","role":"assistant","content":"Yes.","timestamp":"2026-02-01T09:20:04.120Z"}"#

    @Test func aConversationIsAChannelWithItsMessages() throws {
        let source = try SourceHarness.receiving([
            conversation(1, question, type: "INSERT"), conversation(2, question + "," + answer),
        ])
        #expect(source.rows(in: .rows).isEmpty)
        #expect(source.channelRows == [#"{"id":"c1","kind":"conversation","name":"Leeks"}"#])
        #expect(
            source.messageRows == [
                #"{"author":"user","channel":"c1","content":"Leeks?","createdAt":"2026-02-01T09:20:00.120000Z","#
                    + #""extra":{"status":"complete"},"id":"c8","revisions":1}"#,
                #"{"author":"assistant","channel":"c1","content":"Yes.","createdAt":"2026-02-01T09:20:04.120000Z","#
                    + #""id":"c9","revisions":1}"#,
            ]
        )
    }

    @Test func editsAndDeletesFollowFromConsecutiveRows() throws {
        let edited = answer.replacing("Yes.", with: "No.")
        let source = try SourceHarness.receiving([
            conversation(1, question + "," + answer), conversation(2, question + "," + edited), conversation(3, edited),
        ])
        #expect(source.history(.messages, "c1", "c9") == ["1 created", "2 edited"])
        #expect(source.history(.messages, "c1", "c8") == ["1 created", "3 deleted"])
        #expect(source.messageRows.first?.contains(#""revisions":2"#) == true)
    }

    @Test func theArrayGivesTheOrder() throws {
        let source = try SourceHarness.receiving([
            conversation(1, question + "," + answer), conversation(2, answer + "," + question),
        ])
        #expect(source.messageRows.map { $0.contains("Yes.") } == [true, false])
        #expect(source.history(.messages, "c1", "c8") == ["1 created"])
    }

    @Test func aDeletedConversationTakesItsMessagesAndReturns() throws {
        let delete = RealtimeFrames.change("DELETE", table: "conversations", seconds: 2, old: #"{"id":"c1"}"#)
        var source = try SourceHarness.receiving([conversation(1, question), delete])
        #expect(source.channelRows.isEmpty && source.messageRows.isEmpty)
        source.apply(try .frame(9, conversation(3, question, type: "INSERT")))
        #expect(source.messageRows.count == 1)
        #expect(source.history(.messages, "c1", "c8") == ["1 created", "2 deleted", "9 restored"])
    }

    @Test(arguments: ["7", #"{"role":"user"}"#, #"{"id":4}"#, #"{"id":"c8","content":"again"}"#])
    func aMessageWithoutAnIdOfItsOwnIsAnIssue(_ message: String) throws {
        let source = try SourceHarness.receiving([conversation(1, question + "," + message)])
        #expect(source.messageRows.count == 1)
        #expect(source.issues.count == 1)
    }

    private func task(_ seconds: Int, _ members: String, type: String = "UPDATE") -> String {
        RealtimeFrames.change(
            type,
            table: "tasks",
            seconds: seconds,
            record: #"{"id":"t1",\#(members)}"#,
            old: #"{"id":"t1"}"#
        )
    }

    @Test func aTaskIsAnItemOfItsProjectElseGroupElseTheInbox() throws {
        var source = try SourceHarness.receiving([
            task(1, #""title":"Buy leeks","status":"inbox","notes":null"#, type: "INSERT")
        ])
        #expect(
            source.rows(in: .items) == [
                #"{"done":false,"id":"t1","list":"inbox","position":0,"status":"inbox","text":"Buy leeks"}"#
            ]
        )
        source.apply(try .frame(2, task(2, #""group_id":"g1""#)))
        #expect(source.rows(in: .items).first?.contains(#""list":"g1""#) == true)
        source.apply(try .frame(3, task(3, #""project_id":"p1","status":"completed""#)))
        #expect(source.rows(in: .items).first?.contains(#""list":"p1""#) == true)
        #expect(source.rows(in: .items).first?.contains(#""done":true"#) == true)
        #expect(source.rows(in: .rows).isEmpty)
        #expect(source.history(.items, "g1", "t1") == ["2 added", "3 removed"])
    }

    @Test(arguments: [#""status":"trashed""#, #""deleted_at":"2026-02-01T10:00:00+00:00""#])
    func aTaskThatIsTrashedOrDeletedIsGone(_ members: String) throws {
        var source = try SourceHarness.receiving([task(1, #""title":"A","status":"inbox""#), task(2, members)])
        #expect(source.rows(in: .items).isEmpty)
        source.apply(try .frame(9, task(3, #""status":"inbox","deleted_at":null"#)))
        #expect(source.rows(in: .items).count == 1)
    }

    @Test func tasksAreOrderedByCreationThenId() throws {
        func row(_ id: String, _ created: String) -> String {
            RealtimeFrames.change(
                "INSERT",
                table: "tasks",
                seconds: 1,
                record: #"{"id":"\#(id)","created_at":"\#(created)"}"#
            )
        }
        let source = try SourceHarness.receiving([
            row("c", "2026-02-01T10:00:00.5+00:00"), row("b", "2026-02-01T10:00:00.25+00:00"),
            row("a", "2026-02-01T12:00:00.5+02:00"), row("d", "unknown"),
        ])
        #expect(
            source.rows(in: .items).compactMap { $0.split(separator: #""id":""#).last?.first } == ["b", "a", "c", "d"]
        )
    }
}
