import Foundation
import TestSupport
import Testing

@testable import logtool

/// Observations of clients against a model of a small chat, written from `docs/observed.md` alone.
@Suite struct ObservedTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func document(_ run: ToolRun) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    }

    /// Ingests capture lines as log L.
    private func ingest(_ lines: [String], as log: String = "L", kind: String = "gateway") throws {
        try folder.write(lines.joined(separator: "\n") + "\n", to: "\(log).ndjson")
        let run = try ToolRun.run(
            ["ingest", log, "capture", "\(log).ndjson", "--kind", kind, "--as", "chat"],
            in: folder
        )
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test(arguments: 1...40)
    func theFirstWrongScreenIsFound(seed: UInt64) throws {
        var chat = ObservedChat(seed: seed)
        let expected = chat.run()
        try ingest(chat.lines)
        let run = try ToolRun.run(["bisect", "L", "--observed", "--json"], in: folder)
        let found = try document(run)
        guard let expected else {
            #expect(run.exitCode == 1, "\(run.output)")
            #expect(
                found["reason"] as? String == "nothing found: the state agrees with \(chat.screenCount) observations"
            )
            return
        }
        #expect(run.exitCode == 0, "\(run.output)")
        #expect(found["observation"] as? String == String(expected.observation))
        #expect(found["at"] as? String == String(expected.point))
        let event = try #require((found["first"] as? String).flatMap { Int($0) })
        #expect(expected.events.contains(event), "event \(event), expected one of \(expected.events)")
        let names = (found["differences"] as? [[String: Any]])?.compactMap { $0["entity"] as? String } ?? []
        #expect(Set(names) == Set(expected.ids.map { "message:chat/10/\($0)" }))
    }

    @Test(arguments: [2, 5, 11] as [UInt64])
    func shrinkingKeepsWhatTheScreenTakes(seed: UInt64) throws {
        var chat = ObservedChat(seed: seed, bug: .appendsRepeats)
        let expected = chat.run()
        #expect(expected != nil)
        try ingest(chat.lines)
        let run = try ToolRun.run(["shrink", "L", "--observed", "-o", "S"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        let found = try document(try ToolRun.run(["bisect", "S", "--observed", "--json"], in: folder))
        #expect((found["differences"] as? [[String: Any]])?.first?["difference"] as? String == "repeated")
        // The message, its repeat, and the screen.
        let stats = try document(try ToolRun.run(["replay", "S", "--json"], in: folder))
        #expect(stats["sequence"] as? String == "3")
    }

    @Test func aClientMayLag() throws {
        let lines = [
            ObservedChat.create(1, "one", at: 0), ObservedChat.create(2, "two", at: 10_000),
            ObservedChat.screen(#"{"channel":"10","messages":[{"id":"1"}]}"#, at: 10_400),
        ]
        try ingest(lines)
        let lax = try ToolRun.run(["bisect", "L", "--observed"], in: folder)
        #expect(lax.exitCode == 1)
        #expect(lax.output == "nothing found: the state agrees with 1 observation\n")
        // It agrees with the state before the second message, and this is what is said.
        let shown = try ToolRun.run(["diff", "L", "--observed", "3"], in: folder)
        #expect(shown.output == "observation 3 agrees with the state at 1\n")
        let strict = try document(
            try ToolRun.run(["bisect", "L", "--observed", "--lag", "100ms", "--json"], in: folder)
        )
        #expect(strict["first"] as? String == "2")
    }

    /// A client that says how far it has read is compared with that state alone.
    @Test func aPositionIsExact() throws {
        let lines = [
            ObservedChat.create(1, "one", at: 0), ObservedChat.create(2, "two", at: 10),
            ObservedChat.screen(#"{"received":1,"channel":"10","messages":[{"id":1,"content":"one"}]}"#, at: 20),
            ObservedChat.screen(#"{"received":2,"channel":"10","messages":[{"id":1}]}"#, at: 30),
            ObservedChat.screen(#"{"sequence":"1","channel":"10","messages":[{"id":1}]}"#, at: 9_000),
        ]
        try ingest(lines)
        let found = try document(try ToolRun.run(["bisect", "L", "--observed", "--json"], in: folder))
        #expect(found["observation"] as? String == "4")
        #expect(found["at"] as? String == "2")
        let run = try ToolRun.run(["diff", "L", "--observed", "5"], in: folder)
        #expect(run.exitCode == 0)
        #expect(run.output == "observation 5 agrees with the state at 1\n")
    }

    @Test func observationsMayComeLaterThanTheTraffic() throws {
        try ingest([ObservedChat.create(1, "one", at: 0), ObservedChat.create(2, "two", at: 60_000)])
        let screens = [
            ObservedChat.screen(#"{"source":"chat","channel":"10","messages":[{"id":"1"}]}"#, at: 30_000),
            ObservedChat.screen(#"{"source":"chat","channel":"10","messages":[{"id":"1"}]}"#, at: 90_000),
        ]
        try folder.write(screens.joined(separator: "\n"), to: "screens.ndjson")
        for _ in 1...2 {
            let run = try ToolRun.run(["ingest", "L", "observed", "screens.ndjson"], in: folder)
            #expect(run.exitCode == 0, "\(run.errors)")
        }
        let found = try document(try ToolRun.run(["bisect", "L", "--observed", "--json"], in: folder))
        #expect(found["observation"] as? String == "4")
        #expect(found["first"] as? String == "2")
        #expect(found["observations"] as? Int == 2)
    }

    /// A client says in its own words what it shows; a decoder file knows them.
    @Test func aClientMaySpeakInItsOwnWords() throws {
        let file = """
            decoder: words/1
            rules:
            - {when: {/m: present}, make: message, at: {channel: /c, id: /m}, with: {content: /t, createdAt: {time: /at, as: seconds}}}
            observed:
            - when: {/screen: chat}
              client: {text: web}
              received: /count
              messages:
                within: /rooms
                each: /list
                when: {/kind: {not: banner}}
                with: {channel: ^key, id: /key, content: /text, createdAt: {time: /seconds, as: seconds}}
            samples:
            - payload: '{"m":"1","c":"a","t":"x"}'
              gives: '[{"message":{"channel":"a","id":"1","content":"x"}}]'
            - kind: client.observed/1
              payload: '{"screen":"chat","count":1,"rooms":{"a":{"list":[{"kind":"banner"},{"key":1,"text":"x","seconds":0}]}}}'
              gives: '[{"client":"web","received":1,"messages":[{"channel":"a","id":1,"content":"x","createdAt":"1970-01-01T00:00:00.000000Z"}]}]'
            """
        try folder.write(file, to: "words.decoder.yaml")
        let check = try ToolRun.run(["decoder", "check", "words.decoder.yaml"], in: folder)
        #expect(check.exitCode == 0, "\(check.output)\(check.errors)")
        func frame(_ payload: String, _ time: Int) -> String {
            #"{"t_ms":\#(1_767_258_000_000 + time),"dir":"in","raw":"\#(payload.replacing("\"", with: "\\\""))"}"#
        }
        func screen(_ count: Int, _ list: String, _ time: Int) -> String {
            #"{"t_ms":\#(1_767_258_000_000 + time),"observed":{"screen":"chat","count":\#(count),"rooms":{"a":{"list":[\#(list)]}}}}"#
        }
        let one = #"{"key":"1","text":"one","seconds":5}"#
        try ingest(
            [
                frame(#"{"m":"1","c":"a","t":"one","at":5}"#, 0), screen(1, one, 10),
                frame(#"{"m":"2","c":"a","t":"two","at":6}"#, 20),
                screen(2, one + #",{"key":"2","text":"tow","seconds":6}"#, 30),
                // No rule takes it, so it is an observation as it stands.
                #"{"t_ms":1767258000040,"observed":{"channel":"a","messages":[{"id":"1"},{"id":"2"}]}}"#,
            ],
            kind: "ws"
        )
        let set = try ToolRun.run(["decoder", "L", "set", "chat", "words.decoder.yaml"], in: folder)
        #expect(set.exitCode == 0, "\(set.errors)")
        let found = try document(try ToolRun.run(["bisect", "L", "--observed", "--json"], in: folder))
        #expect(found["observation"] as? String == "4")
        #expect(found["first"] as? String == "3")
        let difference = (found["differences"] as? [[String: Any]])?.first
        #expect(difference?["entity"] as? String == "message:chat/a/2")
        #expect(difference?["member"] as? String == "content")
        let last = try ToolRun.run(["diff", "L", "--observed", "5"], in: folder)
        #expect(last.exitCode == 0, "\(last.output)")
        let shrunk = try ToolRun.run(["shrink", "L", "--observed", "-o", "S"], in: folder)
        #expect(shrunk.exitCode == 0, "\(shrunk.errors)")
    }

    @Test(arguments: [
        ("- {channel: /c}", "line 5: a rule of observed has rows in one of"),
        ("- {messages: {each: /l}}", "line 5: messages has each, the place of the list, and with"),
        ("- {messages: {each: /l, with: {contnt: /t}}}", "line 5: a row of messages has no member \"contnt\""),
        ("- {mesages: {each: /l, with: {id: /t}}}", "line 5: a rule of observed has no member \"mesages\""),
    ])
    func wordsThatCannotBeReadAreNamed(rule: String, reason: String) throws {
        let file = """
            decoder: words/1
            rules:
            - {make: message, at: {channel: /c, id: /m}, with: {content: /t}}
            observed:
            \(rule)
            samples:
            - {payload: '{}', gives: '[]'}
            """
        try folder.write(file, to: "words.decoder.yaml")
        let check = try ToolRun.run(["decoder", "check", "words.decoder.yaml"], in: folder)
        #expect(check.exitCode == 2)
        #expect(check.errors.contains(reason), "\(check.errors)")
    }

    @Test(arguments: [
        (#"{"channel":"10","messages":[{"id":"1","contnt":"x"}]}"#, "contnt"),
        (#"{"messages":[{"id":"1"}]}"#, "has no \"channel\""),
        (#"{"channel":"10","mesages":[]}"#, "mesages"),
        (#"{"received":1,"sequence":"2","channel":"10"}"#, "exclude each other"),
        (#"{"channel":"10","messages":[7]}"#, "no object"),
    ])
    func whatCannotBeReadIsNamed(screen: String, reason: String) throws {
        try ingest([ObservedChat.create(1, "one", at: 0), ObservedChat.screen(screen, at: 10)])
        let run = try ToolRun.run(["bisect", "L", "--observed"], in: folder)
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("event 2"))
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(run.output == "nothing found: the state agrees with 0 observations, 1 cannot be read\n")
        let diff = try ToolRun.run(["diff", "L", "--observed", "2"], in: folder)
        #expect(diff.exitCode == 2)
        #expect(diff.errors.contains(reason), "\(diff.errors)")
    }

    @Test func aChannelMayBeShownEmpty() throws {
        try ingest([ObservedChat.create(1, "one", at: 0), ObservedChat.screen(#"{"channel":"10"}"#, at: 5_000)])
        let run = try ToolRun.run(["diff", "L", "--observed", "2", "--jsonl"], in: folder)
        #expect(run.output == #"{"entity":"message:chat/10/1","difference":"missing"}"# + "\n")
    }

    @Test func aLineWithoutObservationIsRefused() throws {
        try folder.write(ObservedChat.create(1, "one", at: 0), to: "no.ndjson")
        let run = try ToolRun.run(["ingest", "L", "observed", "no.ndjson"], in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("\"observed\" is missing"))
    }
}

/// A chat of one channel with a client that makes one kind of mistake, and what must be found.
struct ObservedChat {
    enum Bug: CaseIterable {
        case none, appendsRepeats, keepsDeleted, ignoresEdits, loses, arrivalOrder
    }

    struct Expected {
        let observation: Int
        let point: Int
        /// The last events that name each row that differs, up to `point`.
        let events: Set<Int>
        let ids: [Int]
    }

    private struct Message: Equatable {
        let id: Int
        var text: String
    }

    private var random: SeededGenerator
    private let bug: Bug
    private(set) var lines: [String] = []
    private var truth: [Message] = []
    private var screen: [Message] = []
    private var deleted: Set<Int> = []
    private var lastNamed: [Int: Int] = [:]
    private var received = 0
    private var clock: Int64 = 0
    /// How many screens there are.
    var screenCount: Int { lines.count { $0.contains("\"observed\"") } }

    init(seed: UInt64, bug: Bug? = nil) {
        random = SeededGenerator(seed: seed)
        self.bug = bug ?? Bug.allCases[Int(seed) % Bug.allCases.count]
    }

    static func frame(_ name: String, _ body: String, at time: Int64) -> String {
        let raw = #"{"op":0,"t":"\#(name)","d":\#(body)}"#
        let quoted = raw.replacing("\"", with: "\\\"")
        return #"{"t_ms":\#(1_767_225_600_000 + time),"dir":"in","raw":"\#(quoted)"}"#
    }

    static func message(_ id: Int, _ text: String, edited: Int64? = nil) -> String {
        let stamp = edited.map { #","edited_at":"2026-01-02T00:00:00.\#(String(format: "%06d", $0))Z""# } ?? ""
        return
            #"{"id":"\#(id)","channel_id":"10","content":"\#(text)","author_id":"5","created_at":"2026-01-01T00:00:00Z"\#(stamp)}"#
    }

    static func create(_ id: Int, _ text: String, at time: Int64) -> String {
        frame("MESSAGE_CREATE", message(id, text), at: time)
    }

    static func screen(_ json: String, at time: Int64) -> String {
        #"{"t_ms":\#(1_767_225_600_000 + time),"observed":\#(json)}"#
    }

    /// Makes the lines.
    ///
    /// - Returns: What must be found; `nil` if every screen is right.
    mutating func run() -> Expected? {
        var expected: Expected?
        for _ in 1...60 {
            step()
            if Int.random(in: 0..<4, using: &random) == 0 {
                let wrong = observe()
                expected = expected ?? wrong
            }
        }
        return expected
    }

    private mutating func add(_ name: String, _ id: Int, _ body: String) {
        clock += 10_000
        lines.append(Self.frame(name, body, at: clock))
        received += 1
        lastNamed[id] = lines.count
    }

    private mutating func step() {
        let known = truth.map(\.id)
        switch Int.random(in: 0..<10, using: &random) {
        case 0...4:
            // Ids come mostly, not always, in order.
            var id = 1_000 + lines.count * 10
            if Int.random(in: 0..<5, using: &random) == 0, let last = known.last { id = last - 3 }
            guard !known.contains(id), !deleted.contains(id) else { return }
            let message = Message(id: id, text: "text \(id)")
            truth.append(message)
            truth.sort { $0.id < $1.id }
            add("MESSAGE_CREATE", id, Self.message(id, message.text))
            if bug == .loses, Int.random(in: 0..<6, using: &random) == 0 { return }
            screen.append(message)
            if bug != .arrivalOrder { screen.sort { $0.id < $1.id } }
        case 5, 6:
            guard let place = truth.indices.randomElement(using: &random) else { return }
            truth[place].text = "edit \(lines.count)"
            let message = truth[place]
            add("MESSAGE_UPDATE", message.id, Self.message(message.id, message.text, edited: Int64(lines.count)))
            guard bug != .ignoresEdits else { return }
            for index in screen.indices where screen[index].id == message.id { screen[index] = message }
        case 7:
            guard let place = truth.indices.randomElement(using: &random) else { return }
            let message = truth.remove(at: place)
            deleted.insert(message.id)
            add("MESSAGE_DELETE", message.id, #"{"id":"\#(message.id)","channel_id":"10"}"#)
            if bug != .keepsDeleted { screen.removeAll { $0.id == message.id } }
        default:
            // A replay of a frame that is known: without an edit its text is the one that it has.
            guard let message = truth.randomElement(using: &random), message.text.hasPrefix("text") else { return }
            add("MESSAGE_CREATE", message.id, Self.message(message.id, message.text))
            if bug == .appendsRepeats, let place = screen.lastIndex(where: { $0.id == message.id }) {
                screen.insert(message, at: place)
            }
        }
    }

    /// Adds a screen; what must be found, if it is wrong.
    private mutating func observe() -> Expected? {
        clock += 3_000
        let rows = screen.map { #"{"id":"\#($0.id)","content":"\#($0.text)"}"# }.joined(separator: ",")
        let position = Int.random(in: 0..<2, using: &random) == 0 ? "" : #""received":\#(received),"#
        let point = lines.count
        lines.append(Self.screen(#"{\#(position)"channel":"10","messages":[\#(rows)]}"#, at: clock))
        let ids = wrongIDs
        guard !ids.isEmpty else { return nil }
        // A point that the client names is that of its last frame.
        let lastFrame = lines.indices.last { lines[$0].contains("\"raw\"") }.map { $0 + 1 } ?? 0
        return Expected(
            observation: lines.count,
            point: position.isEmpty ? point : lastFrame,
            events: Set(ids.compactMap { lastNamed[$0] }),
            ids: ids
        )
    }

    /// The ids of the rows that differ, each once: shown wrongly, twice or in the wrong place, or not shown behind the first one that
    /// is.
    private var wrongIDs: [Int] {
        var ids: [Int] = []
        var highest = Int.min
        for (index, message) in screen.enumerated() where screen.firstIndex(where: { $0.id == message.id }) == index {
            let isTwice = screen.count { $0.id == message.id } > 1
            guard let known = truth.first(where: { $0.id == message.id }) else {
                ids.append(message.id)
                continue
            }
            if isTwice || known.text != message.text || message.id < highest { ids.append(message.id) }
            highest = max(highest, message.id)
        }
        let shown = screen.map(\.id)
        let live = shown.filter { id in truth.contains { $0.id == id } }
        guard let first = screen.isEmpty ? Int.min : live.min() else { return ids }
        return ids + truth.map(\.id).filter { $0 >= first && !shown.contains($0) }
    }
}
