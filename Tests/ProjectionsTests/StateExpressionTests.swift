import EventLog
import Testing

@testable import Projections

@Suite struct StateExpressionTests {
    /// Channel 10 with three messages, one of them deleted; channel 20 with one; one frame that cannot be read.
    private static func state() throws -> LogState {
        var state = LogState()
        let frames = [
            #"{"op":10,"d":{"heartbeat_interval":45000}}"#,
            #"{"op":0,"s":1,"t":"CHANNEL_CREATE","d":{"id":"10","type":0,"name":"general","guild_id":"1","position":7}}"#,
            message(1001, "10", "x"), message(1002, "10", "two"), message(1003, "10", "x"), message(2001, "20", "x"),
            #"{"op":0,"s":9,"t":"MESSAGE_DELETE","d":{"id":"1002","channel_id":"10"}}"#,
            #"{"op":0,"s":10,"t":"MESSAGE_CREATE","d":{"id":""#,
        ]
        for frame in frames { try apply(frame, to: &state) }
        return state
    }

    private static func apply(_ frame: String, to state: inout LogState, source: String = "guild") throws {
        let sequence = state.sequence.rawValue + 1
        let envelope = Envelope(
            sequence: SequenceNumber(sequence),
            recordedAt: Timestamp(seconds: Int64(sequence)),
            source: try SourceName(source),
            kind: try EventKind("gateway.frame/1"),
            key: nil,
            attributes: try Attributes([]),
            holding: .whole
        )
        Array(frame.utf8).withUnsafeBytes { state.apply(envelope, payload: $0) }
    }

    private static func message(_ id: Int, _ channel: String, _ content: String) -> String {
        #"{"op":0,"s":\#(id),"t":"MESSAGE_CREATE","d":{"id":"\#(id)","channel_id":"\#(channel)","author_id":"7","#
            + #""content":"\#(content)","created_at":"2026-01-01T00:00:00Z"}}"#
    }

    @Test(arguments: [
        #"messages["guild/10/1003"].content == "x""#, #"messages["10/1003"].content = 'x'"#,
        #"messages["1003"].content == "x""#, #"messages["guild/10/9"].content == null"#,
        #"not exists(messages["guild/10/1002"])"#, #"exists(deletedMessages["guild/10/1002"])"#,
        #"deletedMessages["1002"].cause == "deleted""#, "count(messages) == 3", #"count(messages[channel="10"]) = 2"#,
        #"count(messages[channel="10", content="x"]) == 2"#, #"count(messages[channel="10" and not content="x"]) == 0"#,
        #"count(messages[content contains "x" or channel="20"]) >= 3"#, #"duplicate(messages[channel="10"], content)"#,
        #"!duplicate(messages[channel="20"], content)"#, "duplicate(messages, content)",
        #"channels["10"].name == "general" && channels["guild/10"].position == 7"#,
        #"channels["10"].position > 6 and channels["10"].position <= 7 and not channels["10"].position < 7"#,
        "exists(issues)", "count(issues) == 1", "count(rows) == 0", #"exists(messages["1001"].content)"#,
        #"!exists(messages["1001"].editedAt)"#, #"(count(messages) > 5 or true) and (1 < 2)"#,
        #"messages["1001"].revisions == 1"#, #"count(messages[source="nope"]) == 0"#, #""b" > "a""#,
        #"not (messages["1001"].content > 5)"#, "2 > 1", "not (1 > 2)", #"messages["1001"].reactions[0].emoji == null"#,
    ])
    func holds(text: String) throws {
        #expect(try StateExpression(parsing: text).holds(in: Self.state()))
    }

    /// An issue is named by source and reason, as everywhere; the reason may have slashes.
    @Test func anIssueIsNamedByItsReason() throws {
        let state = try Self.state()
        let issue = try #require(state.issues.first?.issue)
        for id in ["guild/\(issue.reason)", issue.reason, "guild/\(issue.sequence)", "\(issue.sequence)"] {
            #expect(try StateExpression(parsing: "exists(issues[\"\(id)\"])").holds(in: state), "\(id)")
            let sequence = #"issues["\#(id)"].sequence == "\#(issue.sequence)""#
            #expect(try StateExpression(parsing: sequence).holds(in: state), "\(id)")
        }
        for id in ["nobody/\(issue.reason)", "nobody/\(issue.sequence)", "guild", "guild/1"] {
            #expect(try !StateExpression(parsing: "exists(issues[\"\(id)\"])").holds(in: state), "\(id)")
        }
        let reference = EntityReference(kind: .issue, parts: ["guild", issue.reason])
        #expect(state.document(of: reference)["issues"]?.array?.count == 1)
    }

    @Test(arguments: [
        ("", 1), ("count(messages", 15), ("cont(messages)", 1), ("count(mesages) > 1", 7), ("messages.content", 1),
        (#"messages["1"].content == "x"#, 26), ("1 < ", 5), ("1 2", 3), ("count(messages) > 99999999999999999999", 19),
        (#"messages[""]"#, 12), ("duplicate(messages)", 19), ("@", 1),
    ])
    func saysWhereItCannotBeRead(text: String, column: Int) throws {
        let error = #expect(throws: ExpressionError.self) { try StateExpression(parsing: text) }
        #expect(error?.column == column, "\(error.map(String.init(describing:)) ?? "")")
    }

    @Test(arguments: [
        (#"exists(messages[contnt="x"])"#, 17, "content"), (#"messages["1"].contnt == "x""#, 15, "content"),
        (#"messages["1"].replyTo.stat == "x""#, 23, "state"), ("duplicate(messages, contnt)", 21, "content"),
        ("exists(messages[\"1\"].editedat)", 22, "editedAt"), ("exists(rows[tabel=\"notes\"])", 13, "table"),
        ("exists(messages[exist(reactions)])", 17, "exists"),
        ("exists(messages[duplicate(reactions, emojy)])", 38, "emoji"),
        ("exists(messages[count(messages) > 1])", 23, "a part of the state"),
        (#"exists(sessions[status.x="a"])"#, 24, "has no members"),
    ])
    func namesTheNearestMember(text: String, column: Int, hint: String) throws {
        let error = try #require(#expect(throws: ExpressionError.self) { try StateExpression(parsing: text) })
        #expect(error.column == column && error.reason.contains(hint), "\(error)")
    }

    /// Below these a remote decides which members there are.
    @Test(arguments: [#"exists(rows[record.anything.at.all="x"])"#, #"exists(messages[extra.mood="x"])"#])
    func remotesNameTheirOwnMembers(text: String) throws {
        #expect(try !StateExpression(parsing: text).holds(in: Self.state()))
    }

    /// A row with two reactions, and one with two of one tag.
    @Test(arguments: [
        ("exists(messages[count(reactions) > 1])", true), ("exists(messages[count(reactions) > 2])", false),
        ("exists(messages[count(tags) > 0])", false), ("exists(messages[exists(reactions)])", true),
        ("count(messages[not exists(reactions)]) > 0", true), ("exists(messages[duplicate(reactions, emoji)])", false),
        ("exists(messages[duplicate(reactions[0].users)])", false),
    ])
    func functionsWithinFiltersAskOfTheRow(text: String, answer: Bool) throws {
        var state = try Self.state()
        for (number, emoji) in ["a", "b"].enumerated() {
            let reaction = #"{"message_id":"1001","channel_id":"10","user_id":"7","emoji":"\#(emoji)"}"#
            let frame = #"{"op":0,"s":\#(90 + number),"t":"MESSAGE_REACTION_ADD","d":\#(reaction)}"#
            try Self.apply(frame, to: &state)
        }
        #expect(try StateExpression(parsing: text).holds(in: state) == answer)
    }

    @Test(arguments: ["count(messages)", #"messages["1001"].content"#, "1"])
    func refusesAnAnswerThatIsNeitherTrueNorFalse(text: String) throws {
        let expression = try StateExpression(parsing: text)
        #expect(throws: ExpressionError.self) { try expression.holds(in: Self.state()) }
    }

    @Test func refusesAnIDThatSeveralRowsHave() throws {
        var state = try Self.state()
        try Self.apply(Self.message(1001, "20", "another"), to: &state, source: "other")
        let expression = try StateExpression(parsing: #"exists(messages["1001"]) and messages["1001"].content == "x""#)
        #expect(throws: ExpressionError.self) { try expression.holds(in: state) }
    }

    @Test(arguments: ["(", "not ", "count(messages[", "!"])
    func refusesWhatIsNestedTooDeeply(part: String) {
        let text = String(repeating: part, count: 10_000)
        #expect(throws: ExpressionError.self) { try StateExpression(parsing: text) }
    }

    /// A chain is a list, however long: evaluating it must not exhaust the stack.
    @Test(arguments: [("or", false), ("and", true), ("||", false), ("&&", true)])
    func aLongChainIsAnsweredLikeAShortOne(word: String, answer: Bool) throws {
        let text = [String](repeating: word == "or" || word == "||" ? "1==2" : "1==1", count: 7_000)
            .joined(separator: " \(word) ")
        #expect(try StateExpression(parsing: text).holds(in: Self.state()) == answer)
    }

    @Test func knowsWhatItDependsOn() throws {
        let expression = try StateExpression(parsing: #"exists(items) or count(messages[channel="1"]) > 1"#)
        #expect(expression.sections == [.items, .messages])
        #expect(!expression.dependsOnTime)
        #expect(try StateExpression(parsing: "exists(sessions)").dependsOnTime)
    }
}
