import EventLog
import Foundation
import Joining
import Projections
import TestSupport
import Testing

/// Several logs as one: the joined log is the one that would have received their changes in the promised order.
@Suite(.hangGuard) struct LogJoinTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: folder.path("year"), withIntermediateDirectories: true)
    }

    private func tool(_ arguments: String...) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }

    private func path(_ name: String) -> String { folder.path("year/\(name)") }

    private func append(_ drafts: [DraftEvent], to name: String) throws {
        _ = try EventStore.openOrCreate(at: path(name)).append(drafts)
    }

    // MARK: - The model

    /// A chat of one source: creates, edits and deletes of a few messages, keyed by number. Times rise; several changes may have one.
    private static func chat(_ source: String, count: Int, _ random: inout SeededGenerator) throws -> [DraftEvent] {
        var time: Int64 = 1_767_225_600
        return try (1...count).map { number in
            time += Int64.random(in: 0...5, using: &random)
            let id = Int.random(in: 1...25, using: &random)
            let place = #""id":"\#(id)","channel_id":"1\#(id % 3)""#
            let start = #"{"op":0,"s":\#(number),"t":"#
            let text = #""author_id":"7","content":"\#(source) says \#(number)","created_at":"2026-01-01T00:00:00Z""#
            let payload =
                switch Int.random(in: 0...9, using: &random) {
                case 0, 1: start + #""MESSAGE_DELETE","d":{\#(place)}}"#
                case 2...5: start + #""MESSAGE_CREATE","d":{\#(place),\#(text)}}"#
                default:
                    start
                        + #""MESSAGE_UPDATE","d":{\#(place),\#(text),"edited_at":"2026-01-02T00:00:\#(10 + number % 50)Z"}}"#
                }
            return DraftEvent(
                recordedAt: Timestamp(seconds: time),
                source: try SourceName(source),
                kind: try EventKind("gateway.frame/1"),
                key: try EventKey("k/\(number)"),
                attributes: ["dir": "in", "connection": "c"],
                payload: Array(payload.utf8)
            )
        }
    }

    /// The order that the documentation promises, made without the code under test.
    private static func order(_ logs: [String: [DraftEvent]]) -> [DraftEvent] {
        var all: [(clock: Int64, name: String, place: Int, draft: DraftEvent)] = []
        for (name, drafts) in logs {
            var clock = Int64.min
            for (place, draft) in drafts.enumerated() {
                clock = max(clock, draft.recordedAt.microseconds)
                all.append((clock, name, place, draft))
            }
        }
        return all.sorted { ($0.clock, $0.name, $0.place) < ($1.clock, $1.name, $1.place) }.map(\.draft)
    }

    /// Logs by source and month, the months of a source overlapping; one log with everything; one log for each source.
    @Test(arguments: 1...4 as ClosedRange<UInt64>) func itIsTheLogThatReceivedEverything(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var logs: [String: [DraftEvent]] = [:]
        var overlap = 0
        for source in ["ada", "bob", "eve"] {
            let chat = try Self.chat(source, count: 120, &random)
            _ = try EventStore.openOrCreate(at: folder.path(source)).append(chat)
            let cuts = [0, Int.random(in: 20...60, using: &random), Int.random(in: 61...100, using: &random), 120]
            for month in 0..<3 {
                let start = max(0, cuts[month] - Int.random(in: 0...10, using: &random))
                overlap += cuts[month] - start
                logs["\(source)-\(month)"] = Array(chat[start..<cuts[month + 1]])
            }
            // Times of one log need not rise; the order is that of its clock.
            var odd = try Self.chat("odd \(source)", count: 30, &random)
            for place in odd.indices where Int.random(in: 0..<4, using: &random) == 0 {
                odd[place].recordedAt = Timestamp(seconds: odd[place].recordedAt.microseconds / 1_000_000 - 20)
            }
            logs["odd-\(source)"] = odd
        }
        for (name, drafts) in logs { try append(drafts, to: name) }
        _ = try EventStore.openOrCreate(at: folder.path("one")).append(Self.order(logs))

        for arguments in [
            ["replay", "LOG", "--json"], ["replay", "LOG", "--json", "--at", "200"], ["audit", "LOG", "--json"],
            ["history", "LOG", "message:ada/11/1", "--json"], ["history", "LOG", "--match", "says 7", "--json"],
            ["diff", "LOG@100", "LOG", "--explain", "--json"], ["replay", "LOG", "--digest", "--each"],
            ["replay", "LOG", "--step", "--jsonl"], ["replay", "LOG@2026-01-01T00:03:00Z", "--json"],
        ] {
            let runs = try ["one", "year"].map { log in
                try ToolRun.run(arguments.map { $0.replacingOccurrences(of: "LOG", with: log) }, in: folder)
            }
            #expect(runs[0].exitCode <= 1 && runs[0].output.count > 200, "\(arguments): \(runs[0].errors)")
            #expect(
                runs[0].output == runs[1].output && runs[0].exitCode == runs[1].exitCode,
                "seed \(seed): \(arguments)"
            )
            #expect(runs[1].errors.contains("12 logs as one"), "\(runs[1].errors)")
        }
        let stats = try ["one", "year"].map { try Self.json(tool("stats", $0, "--json").output) }
        for member in ["head", "events", "sources", "state", "digest"] {
            #expect(stats[0][member] as? NSObject == stats[1][member] as? NSObject, "\(member)")
        }
        let duplicates = (stats[1]["logs"] as? [[String: Any]] ?? []).compactMap { $0["duplicates"] as? Int }
        #expect(duplicates.count == 12 && duplicates.reduce(0, +) == overlap && overlap > 0)
        // Each source's part is that of its own log.
        for source in ["ada", "bob", "eve"] {
            let alone = try tool("replay", source, "--digest")
            let part = try tool("replay", "year", "--source", source, "--digest")
            #expect(alone.exitCode == 0 && alone.output == part.output, "\(source)")
        }
    }

    private static func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    // MARK: - Growth

    /// The joined log of a folder that was joined before.
    private func join(in place: String) throws -> JoinedLog {
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let names = LogFolder.logs(at: folder.path("year"))
        return try LogJoin(
            of: names.map { name in
                let path = path(name)
                return LogJoin.Input(name: name) { try EventStore.open(at: path) }
            }
        ).run(in: place)
    }

    private static func lines(of joined: JoinedLog) throws -> [String] {
        try joined.store.allEvents().map { event in
            let origin = joined.origin(of: event.envelope.sequence).map { "\($0.log):\($0.sequence)" } ?? "act"
            return "\(event.envelope) \(event.payload.count) \(origin)"
        }
    }

    /// Whatever is appended where, the kept log is the one that a new join makes; in order, it grows.
    @Test(arguments: 1...3 as ClosedRange<UInt64>) func itGrowsIntoWhatANewJoinMakes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (count, time, grown) = (0, Int64(1000), 0)
        for step in 0..<14 {
            let name = ["a", "b", "c", "d"].prefix(1 + step / 3).randomElement(using: &random) ?? "a"
            let isLate = Int.random(in: 0..<4, using: &random) == 0
            let drafts = try (0..<Int.random(in: 0...5, using: &random)).map { _ in
                (count, time) = (count + 1, time + Int64.random(in: 0...3, using: &random))
                return try DraftEvent.sample(
                    Int(time - (isLate ? 30 : 0)),
                    source: "s",
                    key: "\(count)",
                    payload: "p \(count)"
                )
            }
            try append(drafts, to: name)
            let before = try? FileManager.default.contentsOfDirectory(atPath: folder.path("kept")).sorted()
            let kept = try join(in: folder.path("kept"))
            let new = try join(in: folder.path("new \(step)"))
            #expect(try Self.lines(of: kept) == Self.lines(of: new), "seed \(seed), step \(step)")
            #expect(kept.members.map(\.head) == new.members.map(\.head))
            #expect(kept.members.map(\.duplicates) == new.members.map(\.duplicates))
            let after = try FileManager.default.contentsOfDirectory(atPath: folder.path("kept")).sorted()
            if before == after { grown += 1 }
            #expect(after.count == 3, "what was replaced is gone: \(after)")
        }
        #expect(grown > 5)
    }

    /// A joined log without its record, or with places missing, is not believed.
    @Test func whatWasCutShortIsMadeAnew() throws {
        try append((1...20).map { try .sample($0, key: "\($0)") }, to: "a")
        let lines = try Self.lines(of: join(in: folder.path("kept")))
        try Data().write(to: URL(filePath: folder.path("kept/1.places")))
        #expect(try Self.lines(of: join(in: folder.path("kept"))) == lines)
        // As if a process had been killed behind an append.
        _ = try EventStore.open(at: folder.path("kept/2.eventlog")).append([.sample(99, key: "99")])
        #expect(try Self.lines(of: join(in: folder.path("kept"))) == lines)
    }

    /// A folder that comes from elsewhere may bring a joined log with other events.
    @Test func aJoinedLogIsBelievedOnlyWhereItWasMade() throws {
        try append((1...20).map { try .sample($0, key: "\($0)") }, to: "a")
        let lines = try Self.lines(of: join(in: folder.path("kept")))
        _ = try join(in: folder.path("kept"))
        #expect(FileManager.default.fileExists(atPath: folder.path("kept/1.eventlog")))
        try FileManager.default.copyItem(atPath: folder.path("kept"), toPath: folder.path("copy"))
        #expect(try Self.lines(of: join(in: folder.path("copy"))) == lines)
        #expect(!FileManager.default.fileExists(atPath: folder.path("copy/1.eventlog")))
    }

    // MARK: - Acts

    @Test func aDecoderFileOfOneLogReadsTheSourceInAll() throws {
        let scenario = Scenario(folder: PackageRoot.scenarios.appending(path: "any-message-again-after-a-reconnect"))
        let events = try scenario.log(in: folder).allEvents()
        let drafts = events.filter { !$0.envelope.isAct }.map { DraftEvent(again: $0) }
        let (first, second) = (Array(drafts.prefix(drafts.count / 2)), Array(drafts.dropFirst(drafts.count / 2)))
        try append(first, to: "a")
        try append(second, to: "b")
        let source = try #require(drafts.first?.source)
        try Decoders.set(
            scenario.decoders[source],
            for: source,
            in: .open(at: path("b")),
            at: Timestamp(seconds: 1_900_000_000)
        )
        let whole = try tool("replay", "scenario.eventlog", "--digest")
        #expect(whole.exitCode == 0 && whole.output.count == 65)
        #expect(try tool("replay", "year", "--digest").output == whole.output)
        // Another file for the same source.
        let text = try #require(scenario.decoders[source]?.text)
        try Decoders.set(
            DecoderFile("# another one\n" + text),
            for: source,
            in: .open(at: path("a")),
            at: Timestamp(seconds: 1)
        )
        let run = try tool("replay", "year")
        #expect(run.exitCode == 2, "\(run.errors)")
        for word in ["\"a\"", "\"b\"", "source \(source)", "logtool decoder LOG set"] {
            #expect(run.errors.contains(word))
        }
    }

    // MARK: - What cannot be joined

    @Test func aCompactedLogIsRefusedByNameUntilItsArchiveIsGiven() throws {
        try folder.makeLog(messages: 60)
        try FileManager.default.moveItem(atPath: folder.path("L"), toPath: path("a"))
        try append([.sample(1, source: "other", key: "1")], to: "b")
        let before = try tool("replay", "year", "--json")
        let compact = try tool("compact", "year/a", "--keep", "5", "--force", "--archive", "gone")
        #expect(compact.exitCode == 0, "\(compact.errors)")
        let refused = try tool("replay", "year")
        #expect(
            refused.exitCode == 1 && refused.errors.contains("join \"a\": it lacks "),
            "\(refused.errors)"
        )
        let with = try tool("replay", "year", "--json", "--with-archive", "gone")
        #expect(with.exitCode == 0 && with.output == before.output, "\(with.errors)")
    }

    @Test func whatIsTwoThingsUnderOneNameIsRefused() throws {
        try append([.sample(1, key: "1")], to: "a")
        try append([.sample(2, key: "2")], to: "b")
        try FileManager.default.copyItem(atPath: path("a"), toPath: path("c"))
        let copy = try tool("stats", "year")
        #expect(copy.exitCode == 2 && copy.errors.contains("join \"c\": it is a copy of \"a\""), "\(copy.errors)")
        try FileManager.default.removeItem(atPath: path("c"))
        try append([.sample(9, key: "1", payload: "something else")], to: "d")
        let conflict = try tool("stats", "year")
        for word in ["join \"d\": event 1 has key \"1\" of source \"test\"", "event 1 of \"a\""] {
            #expect(conflict.exitCode == 2 && conflict.errors.contains(word), "\(conflict.errors)")
        }
        let twice = try tool("stats", "year/a+year/a")
        #expect(twice.exitCode == 2 && twice.errors.contains("named twice"), "\(twice.errors)")
        try append([.sample(3, key: "3")], to: "d")
        let part = try tool("export", "year/d", "--without", "1", "-o", "part.ndjson")
        #expect(part.exitCode == 0, "\(part.errors)")
        try FileManager.default.removeItem(atPath: path("d"))
        #expect(try tool("import", "year/d", "part.ndjson").exitCode == 0)
        let refused = try tool("stats", "year")
        #expect(refused.exitCode == 2 && refused.errors.contains("join \"d\": the log is a part"), "\(refused.errors)")
    }

    /// A redacted text is in no joined log, and the other copy of the event does not count as another one.
    @Test func whatIsRedactedGoesFromTheKeptLog() throws {
        try folder.makeLog(messages: 30)
        try FileManager.default.copyItem(atPath: folder.path("L"), toPath: path("a"))
        try folder.write(SampleCaptures.gateway(messages: 30), to: "again")
        let again = try tool("ingest", "year/b", "capture", "again", "--kind", "gateway", "--as", "guild")
        #expect(again.exitCode == 0)
        #expect(try tool("replay", "year").output.contains("message 29"))
        #expect(FileManager.default.fileExists(atPath: path(".joined/1.eventlog")))
        #expect(try tool("redact", "year/a", "--match", "message 29", "--yes").exitCode == 0)
        #expect(!FileManager.default.fileExists(atPath: path(".joined/1.eventlog")))
        let marked = try tool("events", "year", "--jsonl").output.split(separator: "\n").filter {
            $0.contains("\"redacted\":true")
        }
        #expect(marked.count == 1 && marked.allSatisfy { $0.contains("\"log\":\"a\"") })
        let run = try tool("events", "year", "--match", "message 29")
        #expect(run.exitCode == 1 && run.errors.contains("redacted: "), "\(run.errors)")
    }

    /// The folder is no log for what writes, and the logs stay as they are.
    @Test func nothingIsWrittenToSeveralLogs() throws {
        try append([.sample(1, key: "1")], to: "a")
        try append([.sample(2, key: "2")], to: "b")
        try folder.write(SampleCaptures.gateway(messages: 2), to: "c")
        #expect(try tool("replay", "year").exitCode == 0)
        let roots = try ["a", "b"].map { try tool("root", "year/\($0)").output }
        for arguments in [
            ["ingest", "year", "capture", "c", "--kind", "gateway"], ["compact", "year"],
            ["ship", "year", "--to", "tree"],
            ["redact", "year", "--match", "payload", "--yes"], ["policy", "year", "set", "--keep", "5"],
        ] {
            let run = try ToolRun.run(arguments, in: folder)
            #expect(run.exitCode != 0 && run.errors.contains("it is a folder of 2 logs"), "\(arguments): \(run.errors)")
        }
        #expect(try ["a", "b"].map { try tool("root", "year/\($0)").output } == roots)
        let proof = try tool("audit", "year", "--prove", "--json")
        #expect(proof.exitCode == 2 && proof.errors.contains("under the root of one log"), "\(proof.errors)")
    }

    @Test func eventsTellTheirOwnLog() throws {
        try append([.sample(1, key: "1"), .sample(5, key: "5")], to: "a")
        try append([.sample(1, key: "1"), .sample(2, key: "2")], to: "b")
        for path in ["year", "year/a+year/b"] {
            let run = try tool("events", path, "--jsonl")
            let origins = try run.output.split(separator: "\n").map { line in
                let json = try Self.json(String(line))
                return "\(json["log"] ?? ""):\(json["logSequence"] ?? "")".replacingOccurrences(of: "year/", with: "")
            }
            #expect(origins == ["a:1", "b:2", "a:2"], "\(path): \(run.errors)")
            #expect(run.errors.contains("left out what a log before has: 1 event"))
        }
    }
}
