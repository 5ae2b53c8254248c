import EventLog
import TestSupport
import Testing

@testable import JSON
@testable import Projections

/// What one statement of a decoder file does to another: in one event, in another order, beside a snapshot, and after a compaction.
@Suite struct DecoderStatementTests {
    /// A log of one source that a decoder file reads.
    struct Scene {
        let decoders: Decoders
        private(set) var payloads: [String]

        init(_ rules: String, _ payloads: [String], head: String = "") throws {
            try self.init(file: DecoderFileTests.file(rules, head), payloads)
        }

        init(file: String, _ payloads: [String]) throws {
            var decoders = Decoders()
            decoders[try SourceName("app")] = try DecoderFile(file)
            (self.decoders, self.payloads) = (decoders, payloads)
        }

        /// Folds the events whose sequences are kept, from a state on.
        func fold(from start: LogState = LogState(), _ isKept: (UInt64) -> Bool = { _ in true }) throws -> LogState {
            var state = start
            state.use(decoders)
            for (place, payload) in payloads.enumerated() where isKept(UInt64(place + 1)) {
                let envelope = try DecoderFileTests.envelope(.none, at: UInt64(place + 1))
                Array(payload.utf8).withUnsafeBytes { state.apply(envelope, payload: $0) }
            }
            return state
        }

        func document() throws -> JSONValue {
            var state = try fold()
            return state.document()
        }

        /// The texts of a member of the rows of a section.
        func texts(_ section: String, _ member: String) throws -> [String] {
            (try document()[section]?.array ?? []).map { $0[member]?.string ?? "" }
        }

        var issues: [String] {
            get throws { (try document()["issues"]?.array ?? []).map { $0["reason"]?.string ?? "" } }
        }

        /// Whether what a compaction leaves gives the same state, and takes what comes then alike.
        func compacts(keeping count: Int) throws -> Bool {
            let policy = RetentionPolicy(messagesPerChannel: count)
            let retained = try fold().retained(by: policy)
            let kept = retained.neededSequences
            let facts = retained.facts(keeping: kept)
            let refolded = try fold(from: LogState(facts: facts)) { kept.contains($0) }
            return refolded.normalFormHash == retained.normalFormHash
        }
    }

    // MARK: - Rows

    private static let rows = """
        each: /all
          do:
          - {when: {/op: put}, patch: row, at: {table: {text: t}, id: /id}, with: {a: /a, version: {time: /v, as: seconds}}}
          - {when: {/op: set}, replace: row, at: {table: {text: t}, id: /id}, with: {a: /a, version: {time: /v, as: seconds}}}
          - {when: {/op: del}, delete: row, at: {table: {text: t}, id: /id}}
        """

    @Test(arguments: ["put", "set"])
    func ofOneEventTheLaterStatementOfARowCounts(word: String) throws {
        let put = #"{"op":"\#(word)","id":1,"a":"x","v":100}"#
        let again = #"{"op":"\#(word)","id":1,"a":"y","v":100}"#
        let delete = #"{"op":"del","id":1}"#
        func state(_ events: [String]...) throws -> [String] {
            try Scene(Self.rows, events.map { #"{"all":[\#($0.joined(separator: ","))]}"# }).texts("rows", "id")
        }
        #expect(try state([put, delete]) == [])
        #expect(try state([put], [delete]) == [])
        #expect(try state([put, delete, again]) == ["1"])
        #expect(try state([put], [delete, again]) == ["1"])
        #expect(try state([put, again, delete]) == [])
    }

    // MARK: - Reactions

    private static let reactions = """
        when: {/op: make}
          make: message
          at: {channel: {text: c}, id: /id}
          with: {content: /text, version: {time: /v, as: seconds}}
          reactions: {each: /r, emoji: /e, users: /u}
        - when: {/op: page}
          replace: message
          at: {channel: {text: c}, id: /id}
          with: {content: /text, version: {time: /v, as: seconds}}
          reactions: {each: /r, emoji: /e, users: /u}
        - when: {/op: patch}
          patch: message
          at: {channel: {text: c}, id: /id}
          with: {content: /text}
          reactions: {each: /r, emoji: /e, users: /u}
        - when: {/op: more}
          append: message
          at: {channel: {text: c}, id: /id}
          with: {content: /text}
          reactions: {each: /r, emoji: /e, users: /u}
        """

    private static func page(_ word: String, _ reactions: String?, version: Int = 10) -> String {
        let told = reactions.map { #","r":\#($0)"# } ?? ""
        return #"{"op":"\#(word)","id":"1","text":"t\#(version)","v":\#(version)\#(told)}"#
    }

    /// The reactions of the one message, as `EMOJI USERS`.
    private static func shown(_ payloads: [String]) throws -> [String] {
        let message = try Scene(reactions, payloads).document()["messages"]?.array?.first
        return (message?["reactions"]?.array ?? []).map { reaction in
            let users = (reaction["users"]?.array ?? []).compactMap(\.string).joined(separator: "+")
            return "\(reaction["emoji"]?.string ?? "") \(users)"
        }
    }

    private static let (x, y) = (#"[{"e":"x","u":["ann"]}]"#, #"[{"e":"y","u":["bob"]}]"#)

    @Test func reactionsOfAVersionThatComesLateDoNotCount() throws {
        #expect(try Self.shown([Self.page("page", Self.x), Self.page("page", "[]", version: 5)]) == ["x ann"])
        #expect(try Self.shown([Self.page("page", Self.x), Self.page("page", Self.y, version: 5)]) == ["x ann"])
        #expect(try Self.shown([Self.page("page", Self.x), Self.page("page", Self.y)]) == ["y bob"])
        #expect(try Self.shown([Self.page("page", Self.x), Self.page("page", Self.y, version: 11)]) == ["y bob"])
        #expect(try Self.shown([Self.page("page", Self.x), Self.page("page", nil, version: 11)]) == [])
    }

    @Test func aRepeatedCreationLeavesTheReactionsAlone() throws {
        #expect(try Self.shown([Self.page("make", Self.x), Self.page("make", "[]")]) == ["x ann"])
        #expect(
            try Self.shown([Self.page("make", Self.x), Self.page("page", Self.y), Self.page("make", Self.x)]) == [
                "y bob"
            ]
        )
    }

    @Test func aPatchThatTellsNoReactionsLeavesThemAlone() throws {
        #expect(try Self.shown([Self.page("page", Self.x), Self.page("patch", nil)]) == ["x ann"])
        #expect(try Self.shown([Self.page("page", Self.x), Self.page("patch", "[]")]) == [])
        #expect(try Self.shown([Self.page("page", Self.x), Self.page("patch", "null")]) == [])
        #expect(try Self.shown([Self.page("page", Self.x), Self.page("more", nil)]) == ["x ann"])
        #expect(try Self.shown([Self.page("page", Self.x), Self.page("more", Self.y)]) == ["y bob"])
    }

    @Test(arguments: [#""x""#, "7", #"[{"u":["ann"]}]"#, #"[{"e":"y","u":[{"id":1}]}]"#, #"[{"e":"y"}]"#])
    func reactionsThatCannotBeReadAreAnIssue(text: String) throws {
        let payloads = [Self.page("page", Self.x), Self.page("page", text)]
        #expect(try Self.shown(payloads) == ["x ann"])
        #expect(try Scene(Self.reactions, payloads).issues.count == 1)
    }

    @Test func usersAreAListOrAnObjectOrOne() throws {
        #expect(try Self.shown([Self.page("page", #"[{"e":"x","u":"ann"},{"e":"x","u":7}]"#)]) == ["x 7+ann"])
        #expect(
            try Self.shown([Self.page("page", #"[{"e":"x","u":{"ann":true,"bob":false,"cy":null}}]"#)]) == ["x ann"]
        )
    }

    // MARK: - Events with ids of their own

    private static let own = """
        when: {/op: make}
          make: message
          at: {channel: /c, id: /id}
          with: {author: /by, content: /text}
          own: /id
        - when: {/op: page}
          replace: message
          at: {channel: /c, id: /id}
          with: {author: /by, content: /text}
          own: /id
        - when: {/op: edit}
          edit: message
          at: {channel: /c, id: /of}
          with: {author: /by, content: /text, version: {time: /v, as: seconds}}
          own: /id
        - when: {/op: react}
          add: reaction
          at: {channel: /c, id: /of, user: /by, emoji: {text: x}}
          own: /id
        - when: {/op: back}
          retract: event
          at: {id: /of}
        """

    private static let (make, edit) = (
        #"{"op":"make","c":"a","id":"m","by":"ann","text":"one"}"#,
        #"{"op":"edit","c":"a","of":"m","id":"e","by":"ann","text":"two","v":9}"#
    )

    private static func react(_ id: String, in channel: String = "a") -> String {
        #"{"op":"react","c":"\#(channel)","of":"m","id":"\#(id)","by":"bob"}"#
    }

    private static func back(_ id: String) -> String { #"{"op":"back","of":"\#(id)"}"# }

    /// An edit that is taken back changes the last text of a message only before the message is deleted.
    @Test func aDeletedMessageKeepsTheTextThatItHad() throws {
        let gone = Self.back("m")
        for (events, text) in [([gone, Self.back("e")], "two"), ([Self.back("e"), gone], "one")] {
            let scene = try Scene(Self.own, [Self.make, Self.edit] + events)
            #expect(try scene.texts("deletedMessages", "content") == [text])
            #expect(try scene.compacts(keeping: 1))
        }
    }

    /// A deletion tells by whom and when, a retraction too, and an edit is its author's.
    @Test func whoDeletedAndEditedIsTold() throws {
        let rules = """
            {when: {/op: make}, make: message, at: {channel: {text: c}, id: /id}, own: /id, with: {author: /by, content: /text}}
            - when: {/op: edit}
              edit: message
              at: {channel: {text: c}, id: /of}
              own: /id
              with: {author: /by, content: /text, version: {time: /v, as: seconds}}
            - {when: {/op: del}, delete: message, at: {channel: {text: c}, id: /of}, with: {by: /who, deletedAt: {time: /v, as: seconds}}}
            - {when: {/op: back}, retract: event, at: {id: /of}, with: {by: /who, deletedAt: {time: /v, as: seconds}}}
            """
        for operation in ["del", "back"] {
            let gone = #"{"op":"\#(operation)","of":"m","who":"eve","v":10}"#
            let scene = try Scene(rules, [Self.make, Self.edit, gone, gone.replacing("eve", with: "bob")])
            #expect(try scene.texts("deletedMessages", "deletedBy") == ["eve"])
            #expect(try scene.texts("deletedMessages", "deletedAt") == ["1970-01-01T00:00:10.000000Z"])
            let message = EntityReference(kind: .message, parts: ["app", "c", "m"])
            #expect(try scene.fold().history(of: message).map(\.by) == [nil, "ann", "eve"])
            #expect(try scene.compacts(keeping: 1))
        }
        let unread = try Scene(rules, [Self.make, #"{"op":"del","of":"m","who":{},"v":10}"#])
        #expect(try unread.texts("deletedMessages", "deletedBy") == [""])
        #expect(try unread.issues.count == 1)
        #expect(throws: DecoderFileError.self) {
            try Scene("{make: message, at: {channel: /c, id: /id}, with: {content: /t, by: /b}}", [])
        }
    }

    /// An event that stays for its message begins typing that a dropped one ended.
    @Test func typingThatWasEndedStaysEnded() throws {
        let rules = """
            each: /e
              do:
              - {when: {/t: new}, make: message, at: {channel: {text: c}, id: /id}, with: {author: /by, content: /id}}
              - {when: {/on: true}, replace: typing, at: {channel: {text: c}, user: /by}}
              - {when: {/on: false}, delete: typing, at: {channel: {text: c}, user: /by}}
            """
        let (begin, end) = (#"{"by":"ann","on":true}"#, #"{"by":"ann","on":false}"#)
        let (other, message) = (#"{"by":"cy","on":true}"#, #"{"t":"new","id":"m","by":"bo"}"#)
        for lists in [
            [[begin, message], [end]], [[other, begin, message], [end]], [[begin, message], [other], [end]],
            [[other], [begin, message], [end], [begin, end]], [[other], [begin, message], [begin], [end, message]],
        ] {
            let payloads = lists.map { #"{"e":[\#($0.joined(separator: ","))]}"# }
            #expect(try Scene(rules, payloads).compacts(keeping: 1), "\(payloads)")
        }
    }

    /// Whether the message has the reaction, the same in every order of the events.
    private static func hasReaction(_ events: [String]) throws -> Bool? {
        var found: Set<Bool> = []
        for events in events.orders {
            let message = try Scene(own, events).document()["messages"]?.array?.first
            found.insert(message?["reactions"]?.array?.isEmpty == false)
        }
        return found.count == 1 ? found.first : nil
    }

    @Test func aReactionGoesWithTheLastEventThatSaysIt() throws {
        #expect(try Self.hasReaction([Self.make, Self.react("r1"), Self.react("r2")]) == true)
        #expect(try Self.hasReaction([Self.make, Self.react("r1"), Self.react("r2"), Self.back("r1")]) == true)
        let both = [Self.back("r1"), Self.back("r2")]
        #expect(try Self.hasReaction([Self.make, Self.react("r1"), Self.react("r2")] + both) == false)
    }

    @Test func aReactionOfAnotherChannelDoesNotCount() throws {
        #expect(try Self.hasReaction([Self.make, Self.react("r1", in: "b")]) == false)
        #expect(try Self.hasReaction([Self.make, Self.react("r1", in: "b"), Self.react("r2")]) == true)
    }

    @Test func aPageWithTheMessagesOwnIdTakesWhatWaitsAndCountsAgain() throws {
        let page = Self.make.replacing("make", with: "page")
        for events in [page, Self.edit, Self.react("r")].orders {
            let message = try Scene(Self.own, events).document()["messages"]?.array?.first
            #expect(message?["content"]?.string == "two")
            #expect(message?["reactions"]?.array?.isEmpty == false)
        }
        #expect(
            try Scene(Self.own, [page, page.replacing("one", with: "more")]).texts("messages", "content") == ["more"]
        )
        #expect(try Scene(Self.own, [page, Self.back("m"), page]).texts("messages", "content") == [])
        for count in 0...2 {
            let events = [page, Self.react("r1"), Self.react("r2"), Self.back("r1"), page, Self.edit]
            #expect(try Scene(Self.own, events).compacts(keeping: count))
        }
    }

    // MARK: - Items and sets

    private static let items = """
        when: {/op: item}
          replace: item
          at: {list: /p, id: /id}
          with: {text: /t, version: {time: /v, as: ms}, done: /done}
          set: items
          scope: /p
        - {when: {/op: gone}, delete: item, at: {list: /p, id: /id}}
        - {when: {/op: away}, delete: item, deleted: until-stated, at: {list: /p, id: /id}, with: {version: {time: /v, as: ms}}}
        - when: {/op: all}
          do:
          - each: /items
            replace: item
            at: {list: $/p, id: /id}
            with: {text: /t, version: {time: /v, as: ms}}
            set: items
            scope: $/p
          - {snapshot: items, scope: /p}
        """

    private static func item(_ version: Int, in list: String = "P", id: String = "i") -> String {
        #"{"op":"item","p":"\#(list)","id":"\#(id)","t":"v\#(version)","v":\#(version)}"#
    }

    private static let (gone, all) = (#"{"op":"gone","p":"P","id":"i"}"#, #"{"op":"all","p":"P","items":[]}"#)

    private static func items(_ payloads: [String]) throws -> [String] {
        try Scene(items, payloads).texts("items", "text")
    }

    @Test func aSnapshotRevivesNoDeletedItem() throws {
        #expect(try Self.items([Self.item(1), Self.gone, Self.all, Self.item(1)]) == [])
        #expect(try Self.items([Self.item(1), Self.gone, Self.all, Self.item(9)]) == [])
    }

    @Test func aVersionOutlivesASnapshotThatLeavesItsItemOut() throws {
        #expect(try Self.items([Self.item(5), Self.all, Self.item(4)]) == [])
        #expect(try Self.items([Self.item(5), Self.all, Self.item(5)]) == ["v5"])
        #expect(try Self.items([Self.item(5), Self.all, Self.item(6)]) == ["v6"])
    }

    @Test func aThingIsInOneScopeOfASet() throws {
        #expect(try Self.items([Self.item(1), Self.item(2, in: "Q"), Self.all]) == ["v2"])
        #expect(try Self.items([Self.item(1), Self.item(2, in: "Q"), Self.item(3), Self.all]) == [])
        let other = Self.all.replacing("\"P\"", with: "\"Q\"")
        #expect(try Self.items([Self.item(1), Self.item(2, in: "Q"), other]) == [])
    }

    @Test func whatADoneItemSaysIsRead() throws {
        func done(_ text: String) throws -> String {
            let payload = #"{"op":"item","p":"P","id":"i","t":"t","v":1,"done":\#(text)}"#
            let scene = try Scene(Self.items, [payload])
            if try !scene.issues.isEmpty { return "issue" }
            return try scene.document()["items"]?.array?.first?["done"]?.canonicalText ?? "none"
        }
        #expect(try ["true", "1", #""true""#, #""1""#].map(done) == ["true", "true", "true", "true"])
        #expect(try ["false", "0", "null", #""""#].map(done) == ["false", "false", "false", "false"])
        #expect(try [#""2026-01-01T00:00:00Z""#, "{}", "[1]"].map(done) == ["issue", "issue", "issue"])
    }

    /// Any events, any cut: what a compaction keeps gives the same state.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func aCompactionKeepsWhatItemsNeed(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let events = (0..<Int.random(in: 2...14, using: &random)).map { number -> String in
            let (list, id) = (
                ["P", "Q"].randomElement(using: &random) ?? "P", ["i", "j"].randomElement(using: &random) ?? "i"
            )
            let version = Int.random(in: 1...9, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0...2: return Self.item(version, in: list, id: id)
            case 3: return #"{"op":"gone","p":"\#(list)","id":"\#(id)"}"#
            case 4: return #"{"op":"away","p":"\#(list)","id":"\#(id)","v":\#(version)}"#
            default:
                let stated = Bool.random(using: &random) ? #"{"id":"\#(id)","t":"s\#(number)","v":\#(version)}"# : ""
                return #"{"op":"all","p":"\#(list)","items":[\#(stated)]}"#
            }
        }
        #expect(try Scene(Self.items, events).compacts(keeping: 1), "\(events)")
    }

    /// Two names of the same characters in two forms are two names, in an order of their own.
    @Test func namesThatLookAlikeHaveAnOrder() throws {
        let names = ["\u{E9}", "e\u{301}"]
        let payloads = (0..<2).flatMap { number in
            names.map { #"{"op":"item","p":"P","id":"\#($0)","t":"\#(number)","v":\#(number + 1)}"# }
        }
        let channels = names.map { #"{"ch":"\#($0)"}"# }
        let head = "dedupe: {key: /no}"
        let rules = Self.items + "\n- {when: {/ch: present}, replace: channel, at: {id: /ch}, with: {name: /ch}}"
        for _ in 0..<20 { #expect(try Scene(rules, payloads + channels, head: head).compacts(keeping: 1)) }
    }

    /// The greatest version counts in every order, and of a thing that was deleted by one.
    @Test func versionsOrderChannelsAndUsers() throws {
        let rules = """
            when: {/op: room}
              replace: channel
              at: {id: /id}
              with: {name: /n, version: {time: /v, as: seconds}}
            - when: {/op: user}
              replace: user
              at: {id: /id}
              with: {name: /n, version: {time: /v, as: seconds}}
            - when: {/op: gone}
              delete: channel
              at: {id: /id}
              with: {version: {time: /v, as: seconds}}
            """
        func event(_ word: String, _ version: Int) -> String {
            #"{"op":"\#(word)","id":"a","n":"n\#(version)","v":\#(version)}"#
        }
        for events in [event("room", 3), event("room", 7), event("room", 5), event("user", 1), event("user", 2)].orders
        {
            let scene = try Scene(rules, events)
            #expect(try scene.texts("channels", "name") == ["n7"])
            #expect(try scene.texts("members", "nickname") == ["n2"])
            #expect(try scene.compacts(keeping: 1))
        }
        #expect(
            try Scene(rules, [event("room", 3), event("gone", 5), event("room", 4)]).texts("channels", "name") == []
        )
        #expect(
            try Scene(rules, [event("room", 3), event("gone", 5), event("room", 6)]).texts("channels", "name") == ["n6"]
        )
    }

    // MARK: - Values

    @Test func aNumberIsTheSameAsTheTextThatWasKeptOfIt() throws {
        let rules = """
            when: {/op: first}
              keep: {last: /n}
            - when: {/n: {same: {kept: last}}}
              make: message
              at: {channel: {text: c}, id: /n}
              with: {content: {text: same}}
            """
        #expect(
            try Scene(rules, [#"{"op":"first","n":7}"#, #"{"n":7}"#, #"{"n":8}"#]).texts("messages", "id") == ["7"]
        )
    }

    @Test func timesMayHaveAFractionOrAnExponent() throws {
        func time(_ form: String, _ number: String) throws -> String {
            let rule = """
                make: message
                  at: {channel: {text: c}, id: {text: i}}
                  with: {content: {text: t}, createdAt: {time: /at, as: \(form)}}
                """
            return try Scene(rule, [#"{"at":\#(number)}"#]).texts("messages", "createdAt").first ?? "none"
        }
        #expect(try time("ms", "1767225600000.5") == "2026-01-01T00:00:00.000500Z")
        #expect(try time("ms", "1.7672256e12") == "2026-01-01T00:00:00.000000Z")
        #expect(try time("seconds", "1767225600.25") == "2026-01-01T00:00:00.250000Z")
        #expect(try time("us", "1767225600000001.9") == "2026-01-01T00:00:00.000001Z")
        #expect(try time("seconds", "-0.5") == "1969-12-31T23:59:59.500000Z")
        #expect(try time("seconds", "1e-12") == "1970-01-01T00:00:00.000000Z")
        #expect(try time("seconds", "1e99") == "none")
    }

    @Test func stepsReadTheJSONThatATextHolds() throws {
        let rule = """
            when: {/event: put}
              from: {json: /data}
              do:
              - when: {/path: {pointer: "/rooms/{room}"}}
                do:
                - each: /data/messages
                  make: message
                  at: {channel: {path: room}, id: key}
                  with: {content: /text, author: ^/data/by}
            """
        let data =
            #"{\"path\":\"/rooms/lab\",\"data\":{\"by\":\"ann\",\"messages\":{\"a\":{\"text\":\"hi\"},\"b\":{\"text\":\"ho\"}}}}"#
        let scene = try Scene(rule, [#"{"event":"put","data":"\#(data)"}"#, #"{"event":"put","data":"no JSON"}"#])
        #expect(try scene.texts("messages", "id") == ["a", "b"])
        #expect(try scene.texts("messages", "channel") == ["lab", "lab"])
        #expect(try scene.issues == ["decoder test/1, line 4: there is no value at from"])
    }

    /// A change that comes in two answers counts once, also for a client that appends what it gets, if it finds repeats.
    @Test func anElementCountsOnce() throws {
        let rule = """
            each: /result
              once: /update
              append: message
              at: {channel: {text: c}, id: /id}
              with: {content: /text}
            """
        func answer(_ updates: Int...) -> String {
            let list = updates.map { #"{"update":\#($0),"id":"m","text":"\#($0)"}"# }.joined(separator: ",")
            return #"{"result":[\#(list)]}"#
        }
        let payloads = [answer(1, 2), answer(2, 3), answer(1), answer(4)]
        let scene = try Scene(rule, payloads)
        #expect(try scene.texts("messages", "content") == ["1234"])
        for count in 0...1 { #expect(try scene.compacts(keeping: count)) }
        let without = try Scene(rule.replacing("  once: /update\n", with: ""), payloads)
        #expect(try without.texts("messages", "content") == ["122314"])
    }

    @Test func eachSessionHasItsNumbers() throws {
        let rule = "{make: message, at: {channel: {text: c}, id: /id}, with: {content: {text: t}}}"
        let head = "dedupe: {grows: /n, begins: {/id: hello}, of: /on}"
        let payloads = ["a1", "b1", "a2", "a1", "b1", "b2"].map { name in
            #"{"on":"\#(name.prefix(1))","n":\#(name.suffix(1)),"id":"\#(name)"}"#
        }
        let scene = try Scene(rule, payloads, head: head)
        #expect(try scene.texts("messages", "id").sorted() == ["a1", "a2", "b1", "b2"])
        #expect(try scene.compacts(keeping: 1))
    }
}

extension Array {
    /// All orders of the elements.
    fileprivate var orders: [[Element]] {
        guard count > 1 else { return [self] }
        return indices.flatMap { index -> [[Element]] in
            var rest = self
            let first = rest.remove(at: index)
            return rest.orders.map { [first] + $0 }
        }
    }
}
