import EventLog
import TestSupport
import Testing

@testable import JSON
@testable import Projections

/// What deletions of a decoder file do to what comes before and behind them, in any order.
@Suite struct DecoderDeletionTests {
    private typealias Scene = DecoderStatementTests.Scene

    private static let rules = """
        {when: {/op: put}, replace: message, at: {channel: /c, id: /id}, with: {content: /t, version: {time: /v, as: ms}}, set: all}
        - {when: {/op: patch}, patch: message, at: {channel: /c, id: /id}, with: {content: /t, version: {time: /v, as: ms}}}
        - when: {/op: away}
          delete: message
          deleted: until-stated
          at: {channel: /c, id: /id}
          with: {by: /u, version: {time: /v, as: ms}}
          set: all
        - {when: {/op: gone}, delete: message, at: {channel: /c, id: /id}, with: {by: /u}}
        - {when: {/op: none}, snapshot: all}
        """

    private static func event(_ operation: String, _ version: Int? = nil) -> String {
        let stated = version.map { #","v":\#($0)"# } ?? ""
        return #"{"op":"\#(operation)","c":"c","id":"m","u":"u\#(version ?? 0)","t":"t\#(version ?? 0)"\#(stated)}"#
    }

    /// The texts of the live and of the deleted messages.
    private static func texts(_ payloads: [String], head: String = "") throws -> [[String]] {
        let scene = try Scene(rules, payloads, head: head)
        return try ["messages", "deletedMessages"].map { try scene.texts($0, "content") }
    }

    // MARK: - Versions

    /// Every order of writes and deletions with versions comes to what the greatest of them says.
    @Test func theGreatestVersionCountsInEveryOrder() throws {
        let steps = [("put", 1), ("away", 2), ("put", 3), ("away", 4), ("put", 5)]
        for count in 1...steps.count {
            let chosen = steps.prefix(count)
            let isLive = chosen.last?.0 == "put"
            let text = "t\(chosen.last { $0.0 == "put" }?.1 ?? 0)"
            for order in Self.orders(of: Array(chosen)) {
                let payloads = order.map { Self.event($0.0, $0.1) }
                #expect(try Self.texts(payloads) == (isLive ? [[text], []] : [[], [text]]), "\(order)")
                // A repeat changes nothing.
                #expect(try Self.texts(payloads + payloads) == (isLive ? [[text], []] : [[], [text]]), "\(order)")
                let scene = try Scene(Self.rules, payloads)
                // Of the deletions, too, the greatest counts.
                let deleted = chosen.last { $0.0 == "away" }.map { "u\($0.1)" } ?? ""
                #expect(try isLive || scene.texts("deletedMessages", "deletedBy") == [deleted], "\(order)")
                #expect(try scene.compacts(keeping: 0) && scene.compacts(keeping: 9), "\(order)")
            }
        }
    }

    private static func orders<Element>(of elements: [Element]) -> [[Element]] {
        guard elements.count > 1 else { return [elements] }
        return elements.indices.flatMap { index in
            var rest = elements
            let first = rest.remove(at: index)
            return orders(of: rest).map { [first] + $0 }
        }
    }

    @Test func withoutAVersionArrivalDecides() throws {
        #expect(try Self.texts([Self.event("put", 2), Self.event("away"), Self.event("put", 2)]) == [["t2"], []])
        #expect(try Self.texts([Self.event("put"), Self.event("away", 3), Self.event("put")]) == [["t0"], []])
        #expect(try Self.texts([Self.event("put", 2), Self.event("away", 3), Self.event("patch")]) == [["t0"], []])
        // The patch came behind the deletion, so what is older than the deletion is older than the patch.
        let late = [Self.event("put", 2), Self.event("away", 4), Self.event("patch"), Self.event("put", 3)]
        #expect(try Self.texts(late) == [["t0"], []])
        #expect(try Self.texts([Self.event("put", 2), Self.event("gone"), Self.event("put", 9)]) == [[], ["t2"]])
    }

    @Test func aSnapshotLeavesOutWhatALateDeletionDidNot() throws {
        #expect(try Self.texts([Self.event("put", 5), Self.event("away", 4)]) == [["t5"], []])
        let left = [Self.event("put", 5), Self.event("away", 4), Self.event("none")]
        #expect(try Self.texts(left) == [[], ["t5"]])
    }

    @Test func aVersionOfADeletionForEverIsRefused() {
        #expect(throws: DecoderFileError.self) {
            try DecoderFile(
                DecoderFileTests.file("{delete: message, at: {channel: /c, id: /id}, with: {version: /v}}")
            )
        }
    }

    // MARK: - Histories

    /// The words of the message's history.
    private static func words(_ payloads: [String], head: String) throws -> [String] {
        let state = try Scene(rules, payloads, head: head).fold()
        let message = EntityReference(kind: .message, parts: ["app", "c", "m"])
        return try state.history(of: message).map(\.change)
    }

    /// Only commits select a version; a late one changes nothing that a deletion could start from.
    @Test(arguments: ["", "order: creation", "order: place"], ["away", "gone"])
    func aDeletionBehindALateVersionSelectsNone(head: String, operation: String) throws {
        let payloads = [Self.event("put", 2), Self.event("put", 1), Self.event(operation)]
        #expect(try Self.words(payloads, head: head) == ["created", "edited", "deleted"])
        #expect(try Self.texts(payloads, head: head) == [[], ["t2"]])
        #expect(
            try Self.words(payloads + [Self.event("put", 1), Self.event("gone")], head: head).filter {
                $0 == "selected"
            }
                == []
        )
    }

    // MARK: - Items

    private static let items = """
        {when: {/op: put}, replace: item, at: {list: /l, id: /id}, with: {text: /t, version: {time: /v, as: ms}}}
        - when: {/op: away}
          delete: item
          deleted: until-stated
          at: {list: /l, id: /id}
          with: {version: {time: /v, as: ms}}
        - {when: {/op: gone}, delete: item, at: {list: /l, id: /id}}
        """

    /// A move is told as an addition to the one list and a removal from the other, in either order.
    @Test func aRemovalFromAListIsOfThatList() throws {
        func item(_ operation: String, _ list: String) -> String {
            #"{"op":"\#(operation)","l":"\#(list)","id":"1","t":"t"}"#
        }
        func lists(_ payloads: [String]) throws -> [String] { try Scene(Self.items, payloads).texts("items", "list") }
        #expect(try lists([item("put", "a"), item("put", "b"), item("away", "a")]) == ["b"])
        #expect(try lists([item("put", "a"), item("away", "a"), item("put", "b")]) == ["b"])
        #expect(try lists([item("put", "a"), item("put", "b"), item("away", "b")]) == [])
        #expect(try lists([item("put", "a"), item("put", "b"), item("gone", "a")]) == [])
        // Of versions the greatest counts, in either order.
        func item(_ operation: String, _ list: String, _ version: Int) -> String {
            item(operation, list).dropLast() + #","v":\#(version)}"#
        }
        #expect(try lists([item("put", "a", 1), item("put", "b", 2), item("away", "a", 3)]) == [])
        #expect(try lists([item("put", "a", 1), item("away", "a", 3), item("put", "b", 2)]) == [])
    }

    // MARK: - What deletions tell

    /// A decoder tells what a deletion states beside; a fold and a trial of the file do not.
    @Test func aDeletionTellsWhatItStatesBeside() throws {
        let rules = """
            {when: {/op: message}, delete: message, at: {channel: /c, id: /id}, with: {content: /t, author: /u}}
            - {when: {/op: item}, delete: item, at: {list: /c, id: /id}, with: {text: /t}}
            - {when: {/op: row}, delete: row, at: {table: /c, id: /id}, with: {body: /t}}
            - {when: {/op: channel}, delete: channel, at: {id: /c}, with: {name: /t}}
            - {when: {/op: user}, delete: user, at: {id: /u}, with: {name: /t}}
            - {when: {/op: session}, delete: session, at: {id: /id}, with: {project: /t}}
            """
        var decoders = Decoders()
        decoders[try SourceName("app")] = try DecoderFile(DecoderFileTests.file(rules))
        for operation in ["message", "item", "row", "channel", "user", "session"] {
            var state = LogState()
            state.use(decoders)
            let payload = Array(Self.event(operation, 7).utf8)
            let envelope = try DecoderFileTests.envelope(.none, at: 1)
            let event = payload.withUnsafeBytes { state.decode(envelope, payload: $0, tells: true) }
            let told = event.told.map(\.json.canonicalText).joined()
            #expect(told.contains("\"t7\""), "\(operation): \(told)")
            #expect(!event.changes.map(\.json.canonicalText).joined().contains("t7"), "\(operation)")
            #expect(event.issues.isEmpty, "\(operation)")
        }
    }
}
