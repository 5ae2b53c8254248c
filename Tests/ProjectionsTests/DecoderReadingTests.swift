import EventLog
import Foundation
import TestSupport
import Testing

@testable import JSON
@testable import Projections

/// What decoder files keep of earlier events, streamed texts, expressions, and that a payload is read alike whatever else it has.
@Suite struct DecoderReadingTests {
    private static func fold(_ payloads: [String], by rules: String, _ head: String = "") throws -> LogState {
        var state = LogState()
        var decoders = Decoders()
        decoders[try SourceName("app")] = try DecoderFile(DecoderFileTests.file(rules, head))
        state.use(decoders)
        for (place, payload) in payloads.enumerated() {
            let attributes: Attributes = payload.contains(#""out":1"#) ? ["dir": "out"] : .none
            let envelope = try DecoderFileTests.envelope(attributes, at: UInt64(place + 1))
            Array(payload.utf8).withUnsafeBytes { state.apply(envelope, payload: $0) }
        }
        return state
    }

    private static func messages(_ state: LogState, _ members: String...) -> [String] {
        var state = state
        let document = state.document()
        #expect(document["issues"]?.array == [])
        return (document["messages"]?.array ?? []).map { row in
            members.map { row[$0]?.string ?? "-" }.joined(separator: " ")
        }
    }

    // MARK: - Kept values

    /// Users' names come in a list of their own, and an answer does not repeat what was asked.
    @Test func namesAndRequestsReachTheMessagesThatNeedThem() throws {
        let rules = """
            when: {/type: people}
              each: /people
              do:
              - keep: {name: /name}
                of: /id
            - when: {/type: ask, dir: out}
              keep: {room: /room}
              of: {join: [{text: "r"}, /request], by: "/"}
            - when: {/type: answer}
              each: /posts
              make: message
              at: {channel: {kept: room, of: {join: [{text: "r"}, ^/request], by: "/"}}, id: /id}
              with: {author: /by, authorName: {kept: name, of: /by}, content: /text}
            """
        let state = try Self.fold(
            [
                #"{"type":"people","people":[{"id":7,"name":"ada"},{"id":8,"name":"bo"},{"name":"nobody"}]}"#,
                #"{"out":1,"type":"ask","request":"x1","room":"lab"}"#,
                #"{"out":1,"type":"ask","request":2,"room":"hall"}"#,
                #"{"type":"answer","request":2,"posts":[{"id":1,"by":7,"text":"a"},{"id":2,"by":9,"text":"b"}]}"#,
                #"{"type":"people","people":[{"id":7,"name":"Ada"}]}"#,
                #"{"type":"answer","request":"x1","posts":[{"id":3,"by":7,"text":"c"},{"id":4,"by":"8","text":"d"}]}"#,
            ],
            by: rules
        )
        var document = state
        #expect(
            document.document()["issues"]?.array?.compactMap { $0["reason"]?.string } == [
                "decoder test/1, line 7: there is no value at of"
            ]
        )
        let shown = (document.document()["messages"]?.array ?? []).map { row in
            ["channel", "id", "authorName"].map { row[$0]?.string ?? "-" }.joined(separator: " ")
        }
        #expect(shown == ["hall 1 ada", "hall 2 -", "lab 3 Ada", "lab 4 bo"])
    }

    /// Of very many things those that came first are forgotten, and a compaction needs the events that changed a value alone.
    @Test func keptValuesHaveABound() {
        var kept = DecoderKept()
        for number in 0..<100_010 {
            kept.keep("\(number)", as: "n", of: .thing(ExactText("\(number)")), at: UInt64(number + 1))
        }
        #expect(kept.value("n", of: .thing(ExactText("9"))) == nil)
        #expect(kept.value("n", of: .thing(ExactText("10"))) == "10")
        #expect(kept.value("n", of: .connection(ExactText("10"))) == nil)
        kept.keep("10", as: "n", of: .thing(ExactText("10")), at: 200_000)
        kept.keep(nil, as: "n", of: .thing(ExactText("11")), at: 200_001)
        #expect(kept.value("n", of: .thing(ExactText("11"))) == nil)
        var needed = SequenceSet()
        kept.collectNeeded(into: &needed)
        #expect(!needed.contains(200_000) && needed.contains(200_001))
    }

    // MARK: - Streamed texts

    private static let streamRules = """
        when: {/op: start}
          make: message
          at: {channel: /c, id: /id}
          with: {author: /by, content: /text}
        - when: {/op: more}
          append: message
          at: {channel: /c, id: /id}
          with: {content: /text, tags: /tags}
          needs: [author]
        - when: {/op: edit}
          patch: message
          at: {channel: /c, id: /id}
          with: {content: /text}
        - when: {/op: gone}
          delete: message
          at: {channel: /c, id: /id}
        """

    private static func more(_ id: String, _ text: String) -> String {
        #"{"op":"more","c":"r","id":"\#(id)","text":"\#(text)"}"#
    }

    @Test func aStreamedTextGrowsAndIsOneRevision() throws {
        let payloads =
            [#"{"op":"start","c":"r","id":"1","by":"ai","text":"Well"}"#, Self.more("2", "unknown")]
            + [", ", "I", " ", "", "think"].map { Self.more("1", $0) }
        var state = try Self.fold(payloads, by: Self.streamRules)
        #expect(Self.messages(state, "id", "author", "content") == ["1 ai Well, I think"])
        #expect(state.document()["messages"]?.array?.first?["revisions"] == .int(1))
        // A text that stands is replaced by an edit and goes on from there; what was deleted does not come back.
        state = try Self.fold(
            payloads + [
                #"{"op":"edit","c":"r","id":"1","text":"No."}"#, Self.more("1", " Yes."), Self.more("1", "!"),
                #"{"op":"start","c":"r","id":"3","by":"ai","text":"x"}"#, #"{"op":"gone","c":"r","id":"3"}"#,
                Self.more("3", "y"),
            ],
            by: Self.streamRules
        )
        #expect(Self.messages(state, "id", "content") == ["1 No. Yes.!"])
    }

    /// The pieces of a text take room for the text, not for its square, and a compaction keeps all of them.
    @Test func aLongStreamCostsItsLength() throws {
        let count = 4_000
        let start = #"{"op":"start","c":"r","id":"1","by":"ai","text":""}"#
        let state = try Self.fold([start] + (0..<count).map { Self.more("1", "\($0) ") }, by: Self.streamRules)
        let text = (0..<count).map { "\($0) " }.joined()
        #expect(Self.messages(state, "content") == [text])
        let source = try #require(state.state(of: try SourceName("app")))
        let record = source.parts.messages.store.record(at: 0)
        #expect(record.entries.count == 2)
        var sequences: Set<UInt64> = []
        source.parts.messages.store.forEachSequence(at: 0) { sequences.insert($0) }
        #expect(sequences == Set(1...UInt64(count + 1)))
    }

    /// Each piece is an entry of the history, with the text as it was, and stays as it is.
    @Test func theHistoryOfAStreamHasItsPieces() throws {
        let payloads =
            [#"{"op":"start","c":"r","id":"1","by":"ai","text":"é"}"#] + ["a", "é", "b"].map { Self.more("1", $0) }
        func history(_ count: Int) throws -> [String] {
            let source = try SourceName("app")
            let state = try #require(
                try Self.fold(Array(payloads.prefix(count)), by: Self.streamRules).state(of: source)
            )
            let record = state.parts.messages.store.record(at: 0)
            return record.history.map { "\($0.event.sequence) \($0.revision?.saying.text.string ?? "-")" }
        }
        let all = ["1 é", "2 éa", "3 éaé", "4 éaéb"]
        for count in 1...4 { #expect(try history(count) == Array(all.prefix(count))) }
    }

    /// Random streams give what the page says: a piece goes on with the text that stands, an edit replaces it, what is deleted
    /// stays so. In the remote's own order each piece takes the way that an edit takes; both ways agree.
    @Test(arguments: 1...10 as ClosedRange<UInt64>) func anyStreamGivesWhatThePageSays(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (payloads, model, gone): ([String], [String: String], Set<String>) = ([], [:], [])
        for number in 0..<80 {
            let id = "\(Int.random(in: 1...3, using: &random))"
            let text = ["", "a", "é", "\(number) "].randomElement(using: &random) ?? ""
            switch Int.random(in: 0...9, using: &random) {
            case 0:
                payloads.append(#"{"op":"start","c":"r","id":"\#(id)","by":"ai","text":"\#(text)"}"#)
                if !gone.contains(id), model[id] == nil { model[id] = text }
            case 1:
                payloads.append(#"{"op":"edit","c":"r","id":"\#(id)","text":"\#(text)"}"#)
                // The page: a patch makes a message that is not known if it tells its content.
                if !gone.contains(id) { model[id] = text }
            case 2 where number % 3 == 0:
                payloads.append(#"{"op":"gone","c":"r","id":"\#(id)"}"#)
                (model[id], _) = (nil, gone.insert(id))
            default:
                let tags = Bool.random(using: &random) ? #","tags":["t"]"# : ""
                payloads.append(#"{"op":"more","c":"r","id":"\#(id)","text":"\#(text)"\#(tags)}"#)
                model[id]? += text
            }
        }
        let expected = model.map { "\($0.key) \($0.value)" }.sorted()
        for head in ["", "order: creation", "order: place"] {
            let state = try Self.fold(payloads, by: Self.streamRules, head)
            #expect(Self.messages(state, "id", "content").sorted() == expected, "\(head)")
        }
    }

    // MARK: - Expressions

    @Test(arguments: [
        (#"type == "post" and count(posts) > 1"#, #"{"type":"post","posts":[1,2]}"#, true),
        (#"type == "post" and count(posts) > 1"#, #"{"type":"post","posts":[1]}"#, false),
        (#"not exists(gone), kind = 3"#, #"{"kind":3.0}"#, true),
        (#"not exists(gone), kind = 3"#, #"{"kind":3,"gone":1}"#, false),
        (#"a.b[1].c contains "x""#, #"{"a":{"b":[0,{"c":"axe"}]}}"#, true),
        (#"duplicate(posts, id)"#, #"{"posts":[{"id":1},{"id":1}]}"#, true),
        (#"version >= 18446744073709551"#, #"{"version":18446744073709551616}"#, true),
        // Neither yes nor no.
        (#"type"#, #"{"type":"post"}"#, false), (#"type"#, #"[]"#, false), ("true", #"7"#, true),
    ])
    func anExpressionChoosesEvents(expression: String, payload: String, isTaken: Bool) throws {
        let rule = """
            when: '\(expression)'
              make: channel
              at: {id: {text: c}}
            """
        let read = try DecoderFileTests.read(payload, by: DecoderFileTests.file(rule))
        #expect(read.changes.count == (isTaken ? 1 : 0))
        #expect(read.issues == [])
        let inner = """
            when: {/in: {holds: '\(expression)'}}
              make: channel
              at: {id: {text: c}}
            """
        let wrapped = try DecoderFileTests.read(#"{"in":\#(payload)}"#, by: DecoderFileTests.file(inner))
        #expect(wrapped.changes.count == (isTaken ? 1 : 0))
    }

    @Test func anExpressionThatCannotBeReadIsNamed() {
        #expect(throws: DecoderFileError(4, "in the expression, column 8: a value is missing at the end")) {
            try DecoderFile(DecoderFileTests.file("when: 'type ==' \n  make: channel\n  at: {id: /id}"))
        }
    }
}
