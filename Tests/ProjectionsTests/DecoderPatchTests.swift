import Clients
import EventLog
import TestSupport
import Testing

@testable import JSON
@testable import Projections

/// Patches of channels and items by decoder files, beside a model that follows `docs/decoders.md`.
@Suite struct DecoderPatchTests {
    private static let file = """
        decoder: test/1
        rules:
        - {when: {/op: make}, make: item, at: {list: /l, id: /id}, with: {text: /text, done: /done, due: /due, version: /v}}
        - {when: {/op: replace}, replace: item, at: {list: /l, id: /id}, with: {text: /text, done: /done, due: /due, version: /v}}
        - {when: {/op: patch}, patch: item, at: {list: /l, id: /id}, with: {text: /text, done: /done, due: /due, version: /v}}
        - {when: {/op: listed}, replace: item, set: all, at: {list: /l, id: /id}, with: {text: /text, done: /done}}
        - {when: {/op: all}, snapshot: all}
        - {when: {/op: drop}, delete: item, set: all, at: {list: /l, id: /id}, deleted: until-stated}
        - {when: {/op: end}, delete: item, at: {id: /id}}
        - {when: {/op: channel}, replace: channel, at: {id: /id}, with: {name: /text, topic: /due, version: /v}}
        - {when: {/op: rename}, patch: channel, at: {id: /id}, with: {name: /text, topic: /due, version: /v}}
        - {when: {/op: hint}, make: channel, at: {id: /id}, with: {name: /text}}
        - {when: {/op: close}, delete: channel, at: {id: /id}}
        - {when: {/op: guest}, make: user, at: {id: /id}, with: {name: /text}}
        - {when: {/op: user}, replace: user, at: {id: /id}, with: {name: /text}}
        - {when: {/op: types}, replace: typing, at: {channel: /l, user: /id}}
        - {when: {/op: rests}, delete: typing, at: {channel: /l, user: /id}}
        - {when: {/op: post}, make: message, at: {channel: /l, id: /id}, with: {content: /text}}
        - {when: {/op: react}, add: reaction, at: {channel: /l, id: /id, user: /u, emoji: /e}}
        - {when: {/op: unreact}, clear: reaction, at: {channel: /l, id: /id, user: /u}}
        samples:
        - payload: '{}'
          gives: '[]'
        """

    private static func state(_ payloads: [String], rules: ReadingRules = .canonical) throws -> JSONValue {
        var state = try DecoderStatementTests.Scene(file: file, payloads).fold(from: LogState(rules: rules))
        return state.document()
    }

    /// Whether what a compaction leaves gives the same state.
    private static func compacts(_ payloads: [String]) throws -> Bool {
        try DecoderStatementTests.Scene(file: file, payloads).compacts(keeping: 1)
    }

    private static func rows(_ section: String, _ payloads: [String]) throws -> [String] {
        let members = ["list", "id", "name", "topic", "text", "done", "nickname"]
        return (try state(payloads)[section]?.array ?? []).map { row in
            let told = members.compactMap { name in row[name].map { "\(name)=\($0.writtenText ?? "")" } }
            return (told + [row["extra"]?["due"]?.string.map { "due=\($0)" }].compactMap { $0 }).joined(separator: " ")
        }
    }

    // MARK: - Items

    @Test func aPatchKeepsWhatItDoesNotTell() throws {
        let made = #"{"op":"replace","l":"a","id":"1","text":"milk","done":true,"due":"today"}"#
        #expect(
            try Self.rows("items", [made, #"{"op":"patch","id":"1","text":"bread"}"#])
                == ["list=a id=1 text=bread done=true due=today"]
        )
        #expect(
            try Self.rows("items", [made, #"{"op":"patch","id":"1","due":null,"done":false}"#])
                == ["list=a id=1 text=milk done=false"]
        )
        #expect(
            try Self.rows("items", [made, #"{"op":"patch","l":"b","id":"1","done":0}"#])
                == ["list=b id=1 text=milk done=false due=today"]
        )
    }

    @Test func aPatchMakesAnItemOnlyOfAListAndAText() throws {
        #expect(try Self.rows("items", [#"{"op":"patch","l":"a","id":"1","done":true}"#]) == [])
        #expect(try Self.rows("items", [#"{"op":"patch","id":"1","text":"milk"}"#]) == [])
        #expect(
            try Self.rows("items", [#"{"op":"patch","l":"a","id":"1","text":"milk","due":null}"#])
                == ["list=a id=1 text=milk done=false"]
        )
        // What made nothing is not known, so an older version counts.
        #expect(
            try Self.rows(
                "items",
                [
                    #"{"op":"patch","l":"a","id":"1","done":true,"v":9}"#,
                    #"{"op":"replace","l":"a","id":"1","text":"milk","v":5}"#,
                ]
            ) == ["list=a id=1 text=milk done=false"]
        )
    }

    /// What a generated event says; `due` is `null` where it says that there is none.
    private struct Said {
        let op, id: String
        let list, text, due: String?
        let isDone: Bool?
        let version: Int?

        init(using random: inout SeededGenerator) {
            func one(_ texts: String?...) -> String? { texts.randomElement(using: &random) ?? nil }
            op = one("make", "replace", "patch", "patch", "patch", "patch", "drop", "replace", "make", "end") ?? ""
            id = one("1", "2", "3", "4", "5", "6", "7", "8") ?? ""
            let named = one("a", "b", nil)
            list = op == "make" || op == "replace" ? named ?? "a" : named
            (text, due) = (one("t1", "t2", nil), one("d1", "null", nil))
            isDone = one("true", "false", nil).map { $0 == "true" }
            version = one(nil, nil, "1", "2", "3", "4").flatMap { Int($0) }
        }

        var payload: String {
            let members = [
                #""op":"\#(op)","id":"\#(id)""#, list.map { #""l":"\#($0)""# }, text.map { #""text":"\#($0)""# },
                due.map { $0 == "null" ? #""due":null"# : #""due":"\#($0)""# }, isDone.map { #""done":\#($0)"# },
                version.map { #""v":\#($0)"# },
            ]
            return "{\(members.compactMap { $0 }.joined(separator: ","))}"
        }

        var valueOfDue: String? { due == "null" ? nil : due }
    }

    /// An item as the docs say it is.
    private struct Item {
        var list: String?
        var text: String?
        var isDone = false
        var due: String?
        var version: Int?
        var isThere = true
        var isGone = false

        /// The item that an event states whole, with the version that counts afterwards.
        init(_ said: Said, after known: Item?) {
            (list, text, isDone) = (said.list, said.text, said.isDone ?? false)
            (due, version) = (said.valueOfDue, said.version ?? known?.version)
        }

        mutating func patch(_ said: Said) {
            list = said.list ?? list
            text = said.text ?? text
            isDone = said.isDone ?? isDone
            if said.due != nil { due = said.valueOfDue }
            version = said.version ?? version
        }

        /// The item after an event; `nil` of one that is not known.
        static func after(_ said: Said, _ known: Item?) -> Item? {
            let isKnown = known?.isThere ?? false
            if known?.isGone ?? false || (said.op == "make" && isKnown) { return known }
            if said.op == "drop" || said.op == "end" {
                // Until stated it is of the list that it names.
                if said.op == "drop", isKnown, let list = said.list, list != known?.list { return known }
                var item = known ?? Item(said, after: nil)
                // A deletion tells no list, and these rules read no version of it.
                if known == nil { (item.list, item.version) = (nil, nil) }
                (item.isThere, item.isGone) = (false, said.op == "end")
                return item
            }
            if let version = known?.version, let number = said.version, number < version { return known }
            if said.op == "patch", isKnown {
                var item = known
                item?.patch(said)
                return item
            }
            if said.op == "patch", said.text == nil || said.list == nil { return known }
            return Item(said, after: known)
        }

        func row(_ id: String) -> String {
            let members = [
                "list=\(list ?? "") id=\(id)", text.map { "text=\($0)" }, "done=\(isDone)", due.map { "due=\($0)" },
            ]
            return members.compactMap { $0 }.joined(separator: " ")
        }
    }

    @Test(arguments: UInt64(1)...60) func itemsAreAsTheDocsSay(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var payloads: [String] = []
        var model: [String: Item] = [:]
        for _ in 0..<60 {
            let said = Said(using: &random)
            payloads.append(said.payload)
            model[said.id] = Item.after(said, model[said.id])
        }
        let expected = model.filter(\.value.isThere).map { $0.value.row($0.key) }
        let rows = try Self.rows("items", payloads)
        #expect(Set(rows) == Set(expected) && rows.count == expected.count, "\(payloads)")
    }

    /// The statement by which a thing joined its set says nothing new, and yet the snapshot leaves it out only because of it.
    @Test func aCompactionKeepsWhatASnapshotLeftOut() throws {
        let payloads = [
            #"{"op":"make","l":"a","id":"1","text":"milk","done":false}"#,
            #"{"op":"listed","l":"a","id":"1","text":"milk","done":false}"#, #"{"op":"all"}"#,
        ]
        #expect(try Self.rows("items", payloads) == [])
        #expect(try Self.compacts(payloads))
    }

    /// A deletion of what a snapshot left out before says nothing of its set.
    @Test func aCompactionKeepsWhatWasLeftOutBeforeItsDeletion() throws {
        let payloads = [
            #"{"op":"listed","l":"a","id":"1","text":"milk"}"#, #"{"op":"all"}"#, #"{"op":"drop","id":"1"}"#,
            #"{"op":"make","l":"b","id":"1","text":"bread"}"#,
        ]
        #expect(try Self.rows("items", payloads) == ["list=b id=1 text=bread done=false"])
        #expect(try Self.compacts(payloads))
    }

    /// What is deleted says nothing of where a later patch puts it, and a list of another type is none.
    @Test func aListIsThatOfAStatement() throws {
        let patch = #"{"op":"patch","id":"1","text":"milk"}"#
        #expect(try Self.rows("items", [#"{"op":"drop","l":"c","id":"1"}"#, patch]) == [])
        let made = #"{"op":"replace","l":"a","id":"1","text":"bread"}"#
        #expect(try Self.rows("items", [made, #"{"op":"drop","l":"a","id":"1"}"#, patch]) == [])
        #expect(try Self.rows("items", [made, #"{"op":"drop","id":"1"}"#, patch]) == [])
        let fault = try Self.state([made, #"{"op":"patch","l":[1],"id":"1","text":"milk"}"#])
        #expect(fault["issues"]?.array?.first?["reason"]?.string?.hasSuffix("the item has no list") == true)
        #expect(fault["items"]?.array?.first?["text"]?.string == "bread")
    }

    // MARK: - Channels and users

    /// What states a thing whole counts against `make`, whether it changed something or not.
    @Test func aCompactionKeepsThatAThingWasStated() throws {
        let channel = [
            #"{"op":"hint","id":"c","text":"Lobby"}"#, #"{"op":"channel","id":"c","text":"Lobby"}"#,
            #"{"op":"hint","id":"c","text":"Hall"}"#,
        ]
        #expect(try Self.compacts(channel))
        #expect(try Self.rows("channels", channel) == ["id=c name=Lobby"])
        #expect(try Self.compacts([#"{"op":"guest","id":"u","text":"A"}"#, #"{"op":"user","id":"u","text":"A"}"#]))
    }

    @Test func aChannelKeepsWhatAPatchDoesNotTell() throws {
        let made = #"{"op":"channel","id":"c","text":"Lobby","due":"talk","v":5}"#
        func after(_ payloads: String...) throws -> [String] { try Self.rows("channels", [made] + payloads) }
        #expect(try after(#"{"op":"rename","id":"c","text":"Hall"}"#) == ["id=c name=Hall topic=talk"])
        #expect(try after(#"{"op":"rename","id":"c","due":null}"#) == ["id=c name=Lobby"])
        #expect(try after(#"{"op":"rename","id":"c","text":"Hall","v":4}"#) == ["id=c name=Lobby topic=talk"])
        #expect(try after(#"{"op":"close","id":"c"}"#, #"{"op":"rename","id":"c","text":"Hall"}"#) == [])
        #expect(try Self.rows("channels", [#"{"op":"rename","id":"c","due":"talk"}"#]) == ["id=c topic=talk"])
        let fault = try Self.state([made, #"{"op":"rename","id":"c","text":[1]}"#])
        #expect(
            fault["issues"]?.array?.first?["reason"]?.string?.hasSuffix("the channel's name has another type") == true
        )
    }

    @Test func aMadeUserCountsUntilItIsStated() throws {
        let (guest, user) = (#"{"op":"guest","id":"u","text":"Guest"}"#, #"{"op":"user","id":"u","text":"Ada"}"#)
        #expect(try Self.rows("members", [guest]) == ["nickname=Guest"])
        #expect(try Self.rows("members", [user, guest]) == ["nickname=Ada"])
    }

    @Test func typingEnds() throws {
        let types = #"{"op":"types","l":"c","id":"u"}"#
        #expect(try Self.state([types])["typing"]?.array?.count == 1)
        #expect(try Self.state([types, #"{"op":"rests","l":"c","id":"u"}"#])["typing"]?.array ?? [] == [])
    }

    @Test func theReactionsOfOneUserAreCleared() throws {
        func react(_ user: String, _ emoji: String) -> String {
            #"{"op":"react","l":"c","id":"1","u":"\#(user)","e":"\#(emoji)"}"#
        }
        let payloads = [
            #"{"op":"post","l":"c","id":"1","text":"hi"}"#, react("ada", "x"), react("ada", "y"), react("bo", "x"),
            #"{"op":"unreact","l":"c","id":"1","u":"ada"}"#, react("ada", "z"),
        ]
        let reactions = try Self.state(payloads)["messages"]?.array?.first?["reactions"]
        #expect(reactions?.canonicalText == #"[{"emoji":"x","users":["bo"]},{"emoji":"z","users":["ada"]}]"#)
    }

    /// A client that counts reactions has them all taken away.
    @Test func countedReactionsOfOneUserAreCleared() throws {
        let react = #"{"op":"react","l":"c","id":"1","u":"ada","e":"x"}"#
        let payloads = [#"{"op":"post","l":"c","id":"1","text":"hi"}"#, react, react]
        func shown(_ payloads: [String]) throws -> String? {
            try Self.state(payloads, rules: [.reactionsAreCounted])["messages"]?.array?.first?["reactions"]?
                .canonicalText
        }
        #expect(try shown(payloads)?.contains("ada#2") == true)
        let cleared = try shown(payloads + [#"{"op":"unreact","l":"c","id":"1","u":"ada"}"#])
        #expect(cleared == nil || cleared == "[]")
    }

    @Test func aClientThatTakesAPatchForTheWholeLosesTheRest() throws {
        let payloads = [
            #"{"op":"replace","l":"a","id":"1","text":"milk","done":true,"due":"today"}"#,
            #"{"op":"patch","id":"1","text":"bread"}"#,
            #"{"op":"channel","id":"c","text":"Lobby","due":"talk"}"#, #"{"op":"rename","id":"c","text":"Hall"}"#,
        ]
        let shown = try Self.state(payloads, rules: [.patchReplacesTheWhole])
        #expect(shown["items"]?.array?.first?["done"]?.bool == false)
        #expect(shown["items"]?.array?.first?["extra"] == nil)
        #expect(shown["channels"]?.array?.first?["topic"] == nil)
        let kept = try Self.state(payloads, rules: [.editsAreIgnored])
        #expect(kept["items"]?.array?.first?["text"]?.string == "milk")
    }

    @Test func aSampleTellsWhatAPatchTells() throws {
        let item = try DecoderFileTests.read(#"{"op":"patch","l":"a","id":"1","due":null,"done":true}"#, by: Self.file)
        #expect(
            item.changes.map(\.json.canonicalText) == [
                #"{"item":{"done":true,"extra":{"due":null},"id":"1","list":"a","patches":["done","due"]}}"#
            ]
        )
        let homeless = try DecoderFileTests.read(#"{"op":"patch","id":"1","done":true}"#, by: Self.file)
        #expect(homeless.changes.map(\.json.canonicalText) == [#"{"item":{"done":true,"id":"1","patches":["done"]}}"#])
        let channel = try DecoderFileTests.read(#"{"op":"rename","id":"c","due":null}"#, by: Self.file)
        #expect(channel.changes.map(\.json.canonicalText) == [#"{"channel":{"id":"c","patches":["topic"]}}"#])
    }
}
