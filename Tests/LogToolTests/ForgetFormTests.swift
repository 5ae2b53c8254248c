import EventLog
import Foundation
import Projections
import Synchronization
import TestSupport
import Testing

@testable import Redaction

/// What a person wrote is nowhere afterwards, in no form, and what others can prove still holds.
@Suite struct ForgetFormTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// A user whose id no other thing has.
    static let person = "135653857714900992"
    static let other = "135653857714900993"
    static let now = ForgetTests.now

    /// A message, and all that surrounds one in a frame: the author as an object that no decoder reads, and the text in every form.
    static func frame(_ number: Int, _ text: String, by user: String, name: String, also: String = "") throws
        -> DraftEvent
    {
        var message: [String: Any] = [
            "id": "\(9_000 + number)", "channel_id": "200", "author_id": user, "content": text + also,
            "created_at": "2026-01-01T00:00:00Z", "author_username": name,
        ]
        message["author"] = ["id": user, "global_name": "\(name) the \(user.suffix(2))", "avatar": "/a/\(user)/x.png"]
        message["link"] = "https://example.org/?q=\(AnonymousLogTests.percent(text))"
        message["blob"] = Data(text.utf8).base64EncodedString()
        message["inner"] = AnonymousLogTests.json(["content": text, "by": user])
        let frame = AnonymousLogTests.json(["op": 0, "s": number, "t": "MESSAGE_CREATE", "d": message])
        return try RedactionTests.frame(payload: Array(frame.utf8), number)
    }

    static func planted(_ number: Int) -> String { "planted wörds \(number) / \"quoted\" \(number * 7919)" }

    static let name = "Marlene Dietz"

    private func log(_ name: String = "L", count: Int = 60) throws -> EventStore {
        let store = try EventStore.openOrCreate(at: folder.path(name))
        _ = try store.append(
            (1...count).map { number in
                number % 3 == 0
                    ? try Self.frame(
                        number,
                        "others \(number)",
                        by: Self.other,
                        name: "Ola",
                        also: " <@\(Self.person)> @\(Self.name)"
                    )
                    : try Self.frame(number, Self.planted(number), by: Self.person, name: Self.name)
            }
        )
        // In UTF-16, and a frame that the recorder sent: no decoder reads either.
        let wide = Self.planted(1).utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let sent = AnonymousLogTests.json(["op": 99, "d": ["content": Self.planted(2)]])
        _ = try store.append([
            try RedactionTests.frame(payload: wide, 9_998),
            DraftEvent(
                recordedAt: Timestamp(seconds: 1_770_009_999),
                source: try SourceName("chat"),
                kind: try EventKind("gateway.frame/1"),
                attributes: ["dir": "out", "connection": "c"],
                payload: Array(sent.utf8)
            ),
        ])
        return store
    }

    /// The forms of a text, made without the program's own code.
    static func forms(of text: String) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        let escaped = text.unicodeScalars.map { $0.value < 128 ? String($0) : String(format: "\\u%04x", $0.value) }
            .joined()
        let base64 = (0..<3).map { shift -> [UInt8] in
            let text = Data(Array(repeating: 0, count: shift) + bytes).base64EncodedString().replacing("=", with: "")
            return Array(text.utf8.dropFirst(shift == 0 ? 0 : shift + 1).dropLast(2))
        }
        let wide = Array(text.utf16)
        return [
            bytes, Array(AnonymousLogTests.json([text]).utf8.dropFirst(2).dropLast(2)), Array(escaped.utf8),
            Array(AnonymousLogTests.percent(text).utf8), wide.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
            wide.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] },
        ] + base64
    }

    /// The files of a folder that hold one of some texts, with the number of its form.
    static func found(_ texts: [String], in path: String) throws -> [String] {
        var found: [String] = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: path).sorted() {
            guard let data = FileManager.default.contents(atPath: path + "/" + name) else { continue }
            for text in texts {
                for (number, form) in forms(of: text).enumerated() where data.range(of: Data(form)) != nil {
                    found.append("\(name): \(text) in form \(number)")
                }
            }
        }
        return found
    }

    private static func expectNone(of texts: [String], in store: EventStore) throws {
        let found = try found(texts, in: store.path)
        #expect(found == [])
    }

    @Test(arguments: [false, true]) func nothingIsLeftInAnyForm(isCompacted: Bool) throws {
        let store = try log()
        if isCompacted {
            _ = try Compaction.run(
                store,
                policy: RetentionPolicy(messagesPerChannel: 30),
                now: Self.now,
                archiving: .none
            )
        }
        let texts = (1...60).filter { $0 % 3 != 0 }.map(Self.planted) + [Self.person, Self.name]
        #expect(try !Self.found(texts, in: store.path).isEmpty)
        let result = try LogForgetting(of: store, .init(people: [Self.person], by: "ada")).run(now: Self.now)
        try Self.expectNone(of: texts, in: store)
        let scan = try #require(result.scan)
        #expect(scan.hits.map { "\($0.sequence) \($0.part)" } == [])
        #expect(scan.fileHitCount == 0 && !result.areFactsHeld && result.heldParts.isEmpty)
        #expect(result.isComplete && scan.searchedCount >= (isCompacted ? 20 : 40))
        #expect(scan.byteCount > 4_096 && scan.forms.count == 6)
        #expect(result.redaction.held.isEmpty && result.otherEventCount == 0)
        #expect(try store.verify().isIntact)
        // What others said stays, but for the mentions.
        let others = try store.allEvents().filter { String(decoding: $0.payload, as: UTF8.self).contains("others 57") }
        #expect(others.count == 1)
        #expect(
            String(decoding: try #require(others.first).payload, as: UTF8.self).contains(
                "<@900000000000001> @forgotten-1"
            )
        )
    }

    @Test func proofsThatWereIssuedBeforeStillCheck() throws {
        let store = try log()
        let size = try store.read { $0.head.rawValue }
        let (proofs, root) = try store.read { session in
            (
                try (1...size).map { try InclusionProof(of: SequenceNumber($0), size: size, in: session).json },
                try session.root(size: size)
            )
        }
        let result = try LogForgetting(of: store, .init(people: [Self.name], by: "ada")).run(now: Self.now)
        let redacted = Set(result.redaction.events.map(\.sequence.rawValue))
        #expect(redacted.count > 40)
        try store.read { session in
            #expect(try session.root(size: size) == root)
            let consistency = try ConsistencyProof(from: size, to: session.head.rawValue, in: session)
            #expect(consistency.fault == nil && consistency.firstRoot == root)
            for sequence in 1...size {
                let old = try ProofCheck(proofs[Int(sequence) - 1])
                #expect(old.holds(forEnvelope: false) && old.inclusion?.root == root)
                let new = try ProofCheck(
                    InclusionProof(of: SequenceNumber(sequence), size: session.head.rawValue, in: session).json
                )
                #expect(new.holds(forEnvelope: false))
                #expect(new.text == (redacted.contains(sequence) ? .substitute : .original))
                if redacted.contains(sequence) { #expect(new.claim.contains("the act at \(session.head)")) }
            }
        }
    }

    /// Different people have different pseudonyms; one who comes back is somebody else.
    @Test func twoPeopleAndOneWhoComesBack() throws {
        let store = try log()
        let first = try LogForgetting(of: store, .init(people: [Self.person], by: "ada")).run(now: Self.now)
        let second = try LogForgetting(of: store, .init(people: [Self.other], by: "ada")).run(now: Self.now)
        #expect(first.pseudonyms == ["900000000000001"] && second.pseudonyms == ["900000000000002"])
        #expect(second.isComplete)
        _ = try store.append([try Self.frame(70, "once more, with feeling", by: Self.person, name: Self.name)])
        let third = try LogForgetting(of: store, .init(people: [Self.person], by: "ada")).run(now: Self.now)
        #expect(third.pseudonyms == ["900000000000003"])
        #expect(third.scan?.hits.map(\.sequence) == [] && third.scan?.fileHitCount == 0)
        let authors = try RedactionTests.state(of: store).authors().map { "\($0.id) \($0.name ?? "")" }
        #expect(authors == (1...3).map { "90000000000000\($0) forgotten-\($0)" })
        #expect(try store.verify().isIntact)
    }

    /// Both at once, in one act.
    @Test func twoPeopleAtOnce() throws {
        let store = try log()
        let result = try LogForgetting(of: store, .init(people: [Self.other, Self.person], by: "ada")).run(
            now: Self.now
        )
        #expect(result.pseudonyms == ["900000000000001", "900000000000002"] && result.redaction.acts.count == 1)
        try Self.expectNone(of: [Self.person, Self.other, Self.name], in: store)
        let authors = try RedactionTests.state(of: store).authors()
        #expect(authors.map(\.name) == ["forgotten-1", "forgotten-2"])
    }

    /// Ids keep their forms; what stands in a key or a path is told, and the rest goes.
    @Test func whatCannotBeReplacedIsTold() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        let event = try Self.frame(1, Self.planted(1), by: Self.person, name: Self.name)
        var keyed = event
        keyed.key = try EventKey("users/\(Self.person)/1")
        _ = try store.append([keyed, try Self.frame(2, Self.planted(2), by: Self.person, name: Self.name)])
        let result = try LogForgetting(of: store, .init(people: [Self.person], by: "ada")).run(now: Self.now)
        #expect(result.heldParts.map { "\($0.sequence) \($0.part)" } == ["1 key"])
        #expect(!result.isComplete && result.redaction.events.count == 2)
        let hits = try #require(result.scan).hits.map { "\($0.sequence) \($0.part)" }
        #expect(hits == ["1 key"])
        let certificate = try store.read { try ForgettingCertificate(of: result, in: $0) }
        let check = try #require(CertificateCheck(JSONValue.object(certificate.json).canonicalBytes))
        #expect(check.fault == nil && check.isScanned && !check.isComplete)
    }

    /// The reason stays for ever, so it may not name the person.
    @Test func theActTellsNothing() throws {
        let store = try log()
        for (by, why) in [(Self.name, nil), ("ada", "\(Self.person) asked"), ("ada", "about \(Self.planted(1))")] {
            #expect(throws: EngineError.self) {
                try LogForgetting(of: store, .init(people: [Self.person], by: by, why: why))
            }
        }
    }

    /// What the person says meanwhile goes, too; and a compaction in between stops nothing.
    @Test(arguments: [false, true]) func whatComesBetweenGoes(isCompacted: Bool) throws {
        let store = try log()
        let forgetting = try LogForgetting(of: store, .init(people: [Self.person], by: "ada"))
        var rounds = 0
        let result = try forgetting.run(now: Self.now) { step in
            guard step.hasPrefix("proving") else { return }
            rounds += 1
            guard rounds == 1 else { return }
            do {
                _ = try store.append([try Self.frame(80, "said in between", by: Self.person, name: "Marlene, again")])
                if isCompacted {
                    _ = try Compaction.run(
                        store,
                        policy: RetentionPolicy(messagesPerChannel: 20),
                        now: Self.now,
                        archiving: .none
                    )
                }
            } catch { Issue.record(error) }
        }
        #expect(rounds == 2)
        try Self.expectNone(of: ["said in between", "Marlene, again", Self.person, Self.name], in: store)
        #expect(result.redaction.held == [] && result.scan?.fileHitCount == 0 && !result.areFactsHeld)
        #expect(result.isComplete)
        #expect(try store.verify().isIntact)
        #expect(try RedactionTests.state(of: store).authors().map(\.id).contains(Self.person) == false)
    }

    /// While somebody appends all the time, nothing that was acknowledged is lost, and nothing of the person stays.
    @Test func anAppenderGoesOnMeanwhile() throws {
        let store = try log()
        let path = store.path
        let appended = Mutex(0)
        let isDone = Mutex(false)
        let thread = Thread {
            do {
                let writer = try EventStore.open(at: path)
                var number = 100
                while !isDone.withLock({ $0 }), number < 400 {
                    _ = try writer.append([
                        try Self.frame(number, "others go on \(number)", by: Self.other, name: "Ola")
                    ])
                    appended.withLock { $0 += 1 }
                    number += 1
                }
            } catch { Issue.record(error) }
            isDone.withLock { $0 = true }
        }
        thread.start()
        let result = try LogForgetting(of: store, .init(people: [Self.person], by: "ada")).run(now: Self.now)
        isDone.withLock { $0 = true }
        while !thread.isFinished { sched_yield() }
        #expect(result.isComplete && result.redaction.events.count > 40)
        let events = try EventStore.open(at: path).allEvents()
        let others = events.count { String(decoding: $0.payload, as: UTF8.self).contains("others go on") }
        #expect(others == appended.withLock { $0 })
        #expect(try EventStore.open(at: path).verify().isIntact)
        try Self.expectNone(of: [Self.person, Self.name], in: store)
    }

    /// More events than an act can name: several acts, one switch.
    @Test func manyEventsTakeSeveralActs() throws {
        let store = try log()
        var rounds = RedactionRounds(
            store: store,
            scope: RedactionScope(things: nil, columns: [], substitutes: Self.substitutes("planted wörds")),
            by: "ada",
            why: nil
        )
        rounds.eventsMax = 7
        let result = try rounds.run(now: Self.now, isDryRun: false, scratch: nil, { _ in }) { _, _ in }
        #expect(result.acts.count == 6 && result.act == result.acts.last)
        #expect(try store.verify().isIntact)
        try store.read { session in
            #expect(try session.acts() == result.acts)
            for event in result.events {
                let act = try #require(try session.actRedacting(event.sequence))
                #expect(result.acts.contains(act))
            }
        }
        // A compaction afterwards counts its rewrites on.
        _ = try Compaction.run(store, policy: RetentionPolicy(messagesPerChannel: 10), now: Self.now)
        #expect(try store.verify().isIntact)
        #expect(try EventStore.open(at: store.path).verify().isIntact)
    }

    private static func substitutes(_ text: String) -> TextSubstitutes {
        var substitutes = TextSubstitutes()
        substitutes.add(text)
        substitutes.number(besides: [])
        return substitutes
    }
}
