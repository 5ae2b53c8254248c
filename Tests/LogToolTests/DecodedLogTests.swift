import EventLog
import Foundation
import JSON
import TestSupport
import Testing

@testable import Projections

/// Logs that a decoder file reads, of random events: compactions, kept states and what comes later change nothing (I36).
@Suite struct DecodedLogTests {
    /// Rows with and without versions, messages by place, reactions that are stated and cleared, repeats of few keys.
    private static let file = """
        decoder: random/1
        order: place
        dedupe: {key: /key, keep: 40}
        steps:
          message:
          - {make: message, at: {channel: /c, id: /id}, with: {content: /t, author: {first: [{kept: who}, /u]}}}
        rules:
        - {when: {/op: keep}, keep: {who: {first: [/w, /u]}}}
        - when: {/op: make}
          make: row
          at: {table: /c, id: /id}
          with: {text: /t, made: /n}
        - when: {/op: patch}
          patch: row
          at: {table: /c, id: /id}
          columns: {value: /r, when: {/r: {type: object}}}
          with: {version: {time: /v, as: ms}}
        - when: {/op: replace}
          replace: row
          at: {table: /c, id: /id}
          with: {text: /t, version: {time: /v, as: ms}}
        - when: {/op: remove}
          delete: row
          at: {table: /c, id: /id}
        - when: {/op: page}
          do:
          - {each: /ids, add: place, at: {channel: $/c, id: ., before: $/start, mark: $/end}}
          - {each: /ids, make: message, at: {channel: $/c, id: .}, with: {content: $/t}}
        - when: {/op: say}
          do:
          - {add: place, at: {channel: /c, id: /id, mark: /end}}
          - {do: message}
        - when: {/op: state}
          patch: message
          at: {channel: /c, id: /id}
          with: {content: /t}
          reactions: {each: /rs, emoji: key, users: .}
        - when: {/op: react}
          add: reaction
          at: {channel: /c, id: /id, user: /u, emoji: /e}
        - when: {/op: unreact}
          remove: reaction
          at: {channel: /c, id: /id, user: /u, emoji: /e}
        - when: {/op: clear}
          clear: reaction
          at: {channel: /c, id: /id, emoji: /e}
        - when: {/op: unreact-all}
          clear: reaction
          at: {channel: /c, id: /id, user: /u}
        - {when: {/op: hint}, make: channel, at: {id: /c}, with: {name: /u}}
        - {when: {/op: channel}, replace: channel, at: {id: /c}, with: {name: /u, topic: /e, version: {time: /v, as: ms}}}
        - {when: {/op: topic}, patch: channel, at: {id: /c}, with: {topic: /e, version: {time: /v, as: ms}}}
        - {when: {/op: closed}, delete: channel, at: {id: /c}}
        - {when: {/op: guest}, make: user, at: {id: /u}, with: {name: /c}}
        - {when: {/op: user}, replace: user, at: {id: /u}, with: {name: /c}}
        - {when: {/op: add-item}, make: item, at: {list: /c, id: /id}, with: {text: /t, due: /e}}
        - when: {/op: item}
          replace: item
          at: {list: /c, id: /id}
          set: items
          deleted: until-stated
          with: {text: /t, status: /e, due: /u, version: {time: /v, as: ms}}
        - when: {/op: edit-item}
          patch: item
          at: {list: {value: /c, when: {/e: present}}, id: /id}
          set: items
          with: {status: /e, due: /key, done: {first: [/done, {text: 0}]}, version: {time: /v, as: ms}}
        - {when: {/op: retitle}, patch: item, at: {list: /c, id: /id}, set: items, with: {text: /t}}
        - {when: {/op: drop-item}, delete: item, at: {id: /id}, set: items, deleted: until-stated}
        - {when: {/op: end-item}, delete: item, at: {id: /id}, set: items}
        - when: {/op: list}
          do:
          - {each: /ids, replace: item, at: {list: $/c, id: .}, set: items, with: {text: $/t}}
          - snapshot: items
        - when: {/op: gone}
          delete: message
          at: {channel: /c, id: /id}
        - when: {/op: put}
          replace: message
          at: {channel: /c, id: /id}
          set: messages
          with: {content: /t, version: {time: /v, as: ms}}
        - {when: {/op: edit}, patch: message, at: {channel: /c, id: /id}, with: {content: /t, version: {time: /v, as: ms}}}
        - when: {/op: away}
          delete: message
          deleted: until-stated
          at: {channel: /c, id: /id}
          set: messages
          with: {by: /u, version: {time: /v, as: ms}}
        - {when: {/op: pages}, do: [{each: /ids, replace: message, at: {channel: $/c, id: .}, with: {content: $/t}, set: messages}, {snapshot: messages}]}
        samples:
        - payload: '{"op":"remove","c":"c","id":"1"}'
          gives: '[{"row":{"table":"c","id":"1","operation":"DELETE","record":{}}}]'
        """

    private static func lines(seed: UInt64, count: Int) -> [String] {
        var random = SeededGenerator(seed: seed)
        let operations = [
            "keep", "make", "patch", "patch", "replace", "remove", "page", "say", "say", "say", "state", "react",
            "react",
            "react", "unreact", "clear", "gone", "unreact-all", "hint", "channel", "topic", "topic", "closed", "guest",
            "user", "add-item", "item", "item", "edit-item", "edit-item", "retitle", "drop-item", "end-item", "list",
            "put", "put", "edit", "away", "away", "away", "pages",
        ]
        return (0..<count).map { place in
            func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
            func id() -> String { "m\(number(0..<24))" }
            let operation = operations.randomElement(using: &random) ?? "say"
            var parts = [
                #""op":"\#(operation)","c":"c\#(number(0..<2))","id":"\#(id())","t":"t\#(place)","n":\#(place)"#,
                #""u":"u\#(number(0..<3))","start":"k\#(number(0..<6))","end":"k\#(number(0..<6))""#,
                #""ids":["\#(id())","\#(id())","\#(id())"],"r":{"a\#(number(0..<3))":\#(number(0..<9))}"#,
                #""rs":{"x":["u\#(number(0..<3))"],"y":[]}"#,
            ]
            if number(0..<2) == 0 { parts.append(#""v":\#(1_767_225_600_000 + number(0..<50))"#) }
            if number(0..<3) > 0 { parts.append(#""e":"\#(["x", "y"][number(0..<2)])""#) }
            if number(0..<3) == 0 { parts.append(#""key":"\#(number(0..<60))""#) }
            let raw = JSONValue.string("{\(parts.joined(separator: ","))}").canonicalText
            return #"{"t_ms":\#(1_767_225_600_000 + place * 1000),"dir":"in","raw":\#(raw)}"#
        }
    }

    @Test(arguments: UInt64(1)...12) func aCompactionChangesNothingThatIsKept(seed: UInt64) throws {
        let lines = Self.lines(seed: seed, count: 400)
        let whole = try FormatLog(file: Self.file, lines, "whole")
        let compacted = try FormatLog(file: Self.file, lines, "compacted", 240)
        let policy = RetentionPolicy(messagesPerChannel: 10_000)
        let first = try Compaction.run(compacted.store, policy: policy, now: Timestamp(seconds: 1_900_000_000))
        #expect(first.refused == nil)
        // What is left is all needed.
        let second = try Compaction.run(compacted.store, policy: policy, now: Timestamp(seconds: 1_900_000_001))
        #expect((second.refused?.events ?? second.events.after) == second.events.before, "\(second.events)")
        try compacted.ingest(lines)
        let (left, right) = (try whole.state(), try compacted.state())
        #expect(StateDiff.differences(left, right).isEmpty, "\(StateDiff.differences(left, right).prefix(2))")
        #expect((left["rows"]?.array?.count ?? 0) > 3 && !(left["messages"]?.array?.isEmpty ?? true))
        #expect(!(left["items"]?.array?.isEmpty ?? true))
        let few = try Compaction.run(
            compacted.store,
            policy: RetentionPolicy(messagesPerChannel: 3),
            now: Timestamp(seconds: 1_900_000_002)
        )
        #expect(few.refused == nil)
        _ = try compacted.store.verify()
    }

    @Test(arguments: UInt64(1)...6) func aKeptStateGoesOnAsItWas(seed: UInt64) throws {
        let lines = Self.lines(seed: seed, count: 200)
        let log = try FormatLog(file: Self.file, lines, "kept", 100)
        var options = ReplayOptions()
        var keeping = KeptStateOptions(build: "test")
        (keeping.eventsMin, keeping.decodedPercentMax, keeping.bytesFactors) = (1, nil, (records: 0, rest: 0))
        options.keeping = keeping
        options.chunkEvents = 16
        _ = try log.store.read { try Replay.logState(of: $0, options: options) }
        try log.ingest(lines)
        var left = try log.store.read { try Replay.logState(of: $0, options: options) }
        var right = try log.store.read { try Replay.logState(of: $0) }
        #expect(left.digest() == right.digest())
        #expect(left.normalFormHash == right.normalFormHash)
    }
}
