import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Redaction

/// What a redaction promises, tested by what the log and its state say before and after (`docs/design.md`, redaction).
@Suite struct RedactionTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    static let now = Timestamp(seconds: 1_900_000_000)

    // MARK: - Whole logs

    @Test(arguments: Scenario.all) func ofEachScenarioOnlyTheTextsOfAThingGo(scenario: Scenario) throws {
        try check(each: 1) {
            let directory = try TemporaryDirectory()
            return (try scenario.log(in: directory), directory)
        }
    }

    /// How many seeds and things are tried: more with `EVENTLOG_LONG_TESTS`.
    private static let effort = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 1 : 4

    @Test(arguments: DenseTraffic.allCases, UInt64(1)...UInt64(effort))
    func ofDenseTrafficOnlyTheTextsOfAThingGo(traffic: DenseTraffic, seed: UInt64) throws {
        let events = try traffic.events(count: 60, seed: seed)
        try check {
            let directory = try TemporaryDirectory()
            // Half of them lie in compressed blocks.
            let isSealed = traffic == .rows || traffic == .conversations
            return (try Self.log(of: events, in: directory, isSealed: isSealed), directory)
        }
    }

    /// Logs of other apps, whose formats decoder files describe: quoted messages, rich text beside the plain one, pages.
    @Test(.needs(shared: "formats/genlib.py"), arguments: FormatStateTests.protocols)
    func ofAnyAppOnlyTheTextsOfAThingGo(name: String) throws {
        let capture = try FormatCapture(of: name, seed: 5)
        try check(each: Self.effort) {
            let log = try FormatLog(capture.name, capture.lines, "redacted")
            return (log.store, log)
        }
    }

    /// Redacted and then compacted is compacted and then redacted.
    @Test(arguments: DenseTraffic.allCases) func aCompactionChangesNothingOfIt(traffic: DenseTraffic) throws {
        let events = try traffic.events(count: 60, seed: 1)
        let policy = RetentionPolicy(messagesPerChannel: 2)
        var tried = 0
        for (number, thing) in try Self.things(in: Self.log(of: events, in: folder), each: Self.effort).enumerated() {
            let first = try Self.log(of: events, in: folder, "first\(number)")
            let second = try Self.log(of: events, in: folder, "second\(number)")
            _ = try Compaction.run(second, policy: policy, now: Self.now)
            guard let redaction = try Self.redaction(of: thing, in: first),
                let later = try Self.redaction(of: thing, in: second)
            else { continue }
            do { _ = try redaction.run(now: Self.now) } catch is EngineError { continue }
            _ = try Compaction.run(first, policy: policy, now: Self.now)
            _ = try later.run(now: Self.now)
            let (left, right) = (try Self.state(of: first), try Self.state(of: second))
            #expect(StateDiff.differences(left, right).isEmpty, "\(thing)")
            #expect(try second.verify().isIntact)
            tried += 1
        }
        // A branch of few contents shares each among its messages.
        #expect(tried > 0 || traffic == .branches)
    }

    /// Redacts some things of a log, each in a log of its own.
    ///
    /// - Parameter log: makes the log, and gives what keeps its folder.
    private func check(each count: Int = 2, _ log: () throws -> (store: EventStore, keeper: Any)) throws {
        let whole = try log()
        defer { withExtendedLifetime(whole) {} }
        for thing in try Self.things(in: whole.store, each: count) {
            let (store, keeper) = try log()
            defer { withExtendedLifetime(keeper) {} }
            guard let redaction = try Self.redaction(of: thing, in: store) else { continue }
            let before = try RedactionSnapshot(of: store, thing)
            let result: RedactionResult
            do {
                result = try redaction.run(now: Self.now)
            } catch let error as EngineError {
                // One file of a branch may be two messages, which share one text; and a text may be an id as well.
                #expect(error.code == .no, "\(thing): \(error)")
                #expect(try RedactionSnapshot(of: store, thing).payloads == before.payloads)
                continue
            }
            let after = try RedactionSnapshot(of: store, thing, after: before)
            try before.check(after, result, thing)
            #expect(try store.verify().isIntact)
            #expect(try Self.redaction(of: thing, in: store)?.textCount == nil)
        }
    }

    // MARK: - Wherever a text stands

    @Test(arguments: AnonymousLogTests.apps) func aTextGoesInEveryForm(app: AnonymousLogTests.Planted) throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append(try app.events())
        // Not in names of sources, keys or attributes, which no redaction can change.
        var tried = 0
        for text in AnonymousLogTests.planted {
            let isThere = try store.allEvents().contains { event in
                !event.envelope.isAct && String(decoding: event.payload, as: UTF8.self).contains(text)
            }
            guard isThere else { continue }
            tried += 1
            let result = try LogRedaction(of: store, .init(texts: [text], by: "ada")).run(now: Self.now)
            let scan = try #require(result.scan)
            // Where it is an id, it stays, and is told.
            let held = Set(result.held)
            #expect(
                scan.hits.allSatisfy { $0.part != "payload" || held.contains($0.sequence) },
                "\(text): \(scan.hits)"
            )
            #expect(scan.eventCount > 1 && scan.byteCount > 4096)
            for event in try store.allEvents() where !held.contains(event.envelope.sequence) {
                let payload = String(decoding: event.payload, as: UTF8.self)
                for form in [text, AnonymousLogTests.percent(text), Data(text.utf8).base64EncodedString()] {
                    #expect(!payload.contains(form), "\(event.envelope.sequence): \(payload)")
                }
            }
        }
        #expect(tried > 0)
        #expect(try store.verify().isIntact)
    }

    /// The scan would find what is left: each form that it names.
    @Test func theScanFindsEachForm() throws {
        let text = "naïve/plan \"9\""
        let bytes = Array(text.utf8)
        let json = String(decoding: try JSONSerialization.data(withJSONObject: [text]), as: UTF8.self)
        let forms: [[UInt8]] = [
            bytes, Array(json.utf8), Array(JSONValue.string(#"["na\u00efve\/plan \"9\""]"#).canonicalText.utf8),
            Array(#""na\u00efve\/plan \u00229\u0022""#.utf8),
            Array(AnonymousLogTests.percent(text).utf8),
            Array((Data("x".utf8) + Data(bytes)).base64EncodedString().utf8),
            Array(bytes.map { String(format: "%02x", $0) }.joined().utf8),
            Array(text.utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
        ]
        for (number, form) in forms.enumerated() {
            let store = try EventStore.openOrCreate(at: folder.path("L\(number)"))
            _ = try store.append([try Self.frame("plain", 1), try Self.frame(payload: form, 2)])
            var substitutes = TextSubstitutes()
            substitutes.add(text)
            let scan = try RedactionScan(store, substitutes)
            #expect(scan.hits.map(\.sequence.rawValue) == [2], "form \(number)")
            #expect(scan.fileHitCount > 0, "form \(number)")
        }
    }

    /// The scan counts the texts that it does not look for: its "nowhere" means the others alone.
    @Test func aTextOfOneByteIsNotLookedFor() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append([try Self.frame("k", 1), try Self.frame("another", 2)])
        let thing = EntityReference(kind: .message, parts: ["chat", "200", "1"])
        let result = try LogRedaction(of: store, .init(entities: [thing], by: "nobody")).run(now: Self.now)
        #expect(result.scan?.unsearchedCount == 1)
        #expect(try store.allEvents()[0].payload == Self.frame("(redacted)", 1).payload)
    }

    /// A word of the protocol and an id stay, and are told; a name and a reason may not keep the text.
    @Test func whatMustStayIsTold() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append([try Self.frame("MESSAGE_CREATE it says", 1), try Self.frame("nothing", 2)])
        let result = try LogRedaction(of: store, .init(texts: ["MESSAGE_CREATE"], by: "ada")).run(now: Self.now)
        #expect(result.events.map(\.sequence.rawValue) == [1])
        #expect(result.held.map(\.rawValue) == [1, 2])
        #expect(try Self.document(of: store)["messages"]?.array?.count == 2)
        #expect(throws: EngineError.self) {
            try LogRedaction(of: store, .init(texts: ["ada"], by: "ada")).run(now: Self.now)
        }
    }

    /// A short text is part of names and words that are none of its message's.
    @Test(arguments: ["id", "op", "200", "a", "MESSAGE"]) func aShortTextStaysWithinOthers(text: String) throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        let others = try [Self.frame("another", 2), Self.frame("a \(text) of others", 3)]
        _ = try store.append([Self.frame(text, 1)] + others)
        let thing = EntityReference(kind: .message, parts: ["chat", "200", "1"])
        _ = try LogRedaction(of: store, .init(entities: [thing], by: "nobody")).run(now: Self.now)
        let events = try store.allEvents()
        let expected = try Self.frame("(redacted)", 1)
        #expect(events[0].payload == expected.payload, "\(String(decoding: events[0].payload, as: UTF8.self))")
        #expect(events[1...2].map(\.payload) == others.map(\.payload))
    }

    /// What people write may look like what programs write.
    @Test(arguments: [
        #"{"a":"secret plans"}"#, "[1, 2]", "\"", "{\n}", "c2VjcmV0IHBsYW5z", "(redacted) \u{1F600}", "é\r\nè",
    ])
    func aTextOfAnyFormGoes(text: String) throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append([Self.frame(text, 1), Self.frame("another", 2)])
        let thing = EntityReference(kind: .message, parts: ["chat", "200", "1"])
        _ = try LogRedaction(of: store, .init(entities: [thing], by: "nobody")).run(now: Self.now)
        #expect(try store.allEvents()[0].payload == Self.frame("(redacted)", 1).payload)
    }

    // MARK: - Others at work

    /// What another writer appends between the plan and the switch goes, too; and a compaction in between stops nothing.
    @Test(arguments: [false, true]) func whatComesBetweenIsRedacted(isCompacted: Bool) throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append((1...40).map { try Self.frame("planted words \($0)", $0) })
        let redaction = try LogRedaction(of: store, .init(texts: ["planted words"], by: "ada"))
        var rounds = 0
        let result = try redaction.run(now: Self.now) { step in
            guard step.hasPrefix("proving") else { return }
            rounds += 1
            guard rounds == 1 else { return }
            do {
                _ = try store.append([try Self.frame("late planted words", 41)])
                guard isCompacted else { return }
                let policy = RetentionPolicy(messagesPerChannel: 5)
                _ = try Compaction.run(store, policy: policy, now: Self.now)
            } catch {
                Issue.record(error)
            }
        }
        #expect(rounds == 2)
        #expect(result.scan?.hits.isEmpty == true && result.scan?.fileHitCount == 0)
        let messages = try Self.document(of: store)["messages"]?.array ?? []
        #expect(messages.count == (isCompacted ? 5 : 41))
        #expect(messages.allSatisfy { $0["content"]?.string?.contains("(redacted)") == true })
        #expect(try store.verify().isIntact)
    }

    /// A compaction that was planned before a redaction would bring texts back in what it stores: it is not carried out.
    @Test func aCompactionThatARedactionOvertakesIsVoid() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append((1...40).map { try Self.frame("planted words \($0)", $0) })
        let redaction = try LogRedaction(of: store, .init(texts: ["planted words"], by: "ada"))
        var isDone = false
        #expect(throws: EventLogError.self) {
            try Compaction.run(store, policy: RetentionPolicy(messagesPerChannel: 5), now: Self.now) { _, _ in
                if isDone { return }
                isDone = true
                do { _ = try redaction.run(now: Self.now) } catch { Issue.record(error) }
            }
        }
        #expect(isDone)
        #expect(try Self.document(of: store)["messages"]?.array?.count == 40)
        #expect(try RedactionScan(store, redaction.substitutes).hits.isEmpty)
        #expect(try store.verify().isIntact)
    }

    /// A frame that a gateway sent again stays a repeat, also where only the facts of a compaction know the first one.
    @Test(arguments: [false, true]) func aRepeatStaysARepeat(isCompacted: Bool) throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        let others = try (2...30).map { try Self.frame("another \($0)", $0) }
        _ = try store.append([Self.frame("first", 1), Self.frame("second", 1, edited: 2)] + others)
        if isCompacted {
            let policy = RetentionPolicy(messagesPerChannel: 100)
            _ = try store.append(
                (1...9).map { try Self.frame(payload: Array("{\"op\":11,\"n\":\($0)}".utf8), 400 + $0) }
            )
            let summary = try Compaction.run(store, policy: policy, now: Self.now)
            #expect(summary.events.after < summary.events.before)
        }
        _ = try store.append([Self.frame("first", 1), Self.frame("another", 40)])
        let thing = EntityReference(kind: .message, parts: ["chat", "200", "1"])
        _ = try LogRedaction(of: store, .init(entities: [thing], by: "nobody")).run(now: Self.now)
        let texts = try Self.state(of: store).history(of: thing).map { $0.fields["content"]?.string }
        #expect(texts == ["(redacted)", "(redacted 2)"])
        #expect(try store.verify().isIntact)
    }

    /// A later redaction gives no number again that an earlier one has given: two texts would be one.
    @Test func aNumberIsGivenOnce() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        let thing = EntityReference(kind: .message, parts: ["chat", "200", "1"])
        _ = try store.append([Self.frame("first words", 1), Self.frame("second words", 1, edited: 2)])
        for text in ["first words", "second words"] {
            _ = try LogRedaction(of: store, .init(texts: [text], by: "ada")).run(now: Self.now)
        }
        let texts = try Self.state(of: store).history(of: thing).map { $0.fields["content"]?.string }
        #expect(texts == ["(redacted)", "(redacted 2)"])
    }

    @Test func aDryRunChangesNothing() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append((1...5).map { try Self.frame("planted words \($0)", $0) })
        let before = try store.allEvents()
        let planned = try LogRedaction(of: store, .init(texts: ["planted words"], by: "ada"))
            .run(now: Self.now, isDryRun: true)
        #expect(planned.act == nil && planned.scan == nil && planned.events.count == 5)
        #expect(try store.allEvents() == before)
        let done = try LogRedaction(of: store, .init(texts: ["planted words"], by: "ada")).run(now: Self.now)
        #expect(done.events.map(\.sequence) == planned.events.map(\.sequence))
        #expect(done.act?.rawValue == 6)
    }

    /// Two versions that differ have substitutes that differ, also where one came after an earlier redaction.
    @Test func anEditAfterARedactionIsStillAnEdit() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        let thing = EntityReference(kind: .message, parts: ["chat", "200", "1"])
        _ = try store.append([
            try Self.frame("first", 1), try Self.frame("second", 1, edited: 2), try Self.frame("first", 1, edited: 3),
        ])
        func texts() throws -> [String?] {
            try Self.state(of: store).history(of: thing).map { $0.fields["content"]?.string }
        }
        #expect(try texts() == ["first", "second", "first"])
        _ = try LogRedaction(of: store, .init(entities: [thing], by: "ada")).run(now: Self.now)
        #expect(try texts() == ["(redacted)", "(redacted 2)", "(redacted)"])
        _ = try store.append([try Self.frame("third", 1, edited: 4)])
        _ = try LogRedaction(of: store, .init(entities: [thing], by: "ada")).run(now: Self.now)
        #expect(try texts() == ["(redacted)", "(redacted 2)", "(redacted)", "(redacted 3)"])
    }
}
