import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Reduction
@testable import logtool

/// Ctrl-C and kill -9 at random moments: the log stays as it was, the next run goes on or starts anew, and leaves nothing of the
/// one before.
///
/// `EVENTLOG_LONG_TESTS=1` interrupts each command 60 times over a longer log; `INTERRUPT_SEED` is the first seed.
@Suite(.serialized) struct InterruptTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isLong = environment["EVENTLOG_LONG_TESTS"] != nil
    private static let seed = environment["INTERRUPT_SEED"].flatMap { UInt64($0) } ?? 1
    private static let rounds = isLong ? 60 : 1

    private let folder: TemporaryDirectory
    private let root: Hash256
    /// What a message of the log says that is there from the middle on.
    private let expression: String

    init() throws {
        folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: folder.path("T"), withIntermediateDirectories: false)
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        var traffic = try NormalTraffic("retrocast-normal", around: [], seed: Self.seed)
        let count = Self.isLong ? 12_000 : 300
        let drafts = try traffic.drafts(count, around: Timestamp(seconds: 1_772_366_400), before: true)
        _ = try store.append(drafts)
        root = try Self.root(of: store)
        expression = try Self.expression(for: drafts)
    }

    @Test(arguments: InterruptedCommand.all)
    func anInterruptedCommandLeavesTheLogAndTheNextOneItsWay(command: InterruptedCommand) throws {
        var random = SeededGenerator(seed: Self.seed)
        for arguments in command.preparation { try expectEnd(arguments, 0) }
        let arguments = command.arguments.map { $0 == "EXPRESSION" ? expression : $0 }
        try spoil(command)
        let clock = ContinuousClock()
        let (begin, whole) = (clock.now, try run(arguments))
        let time = begin.duration(to: clock.now)
        #expect(whole.exitCode == command.exitCode, "\(whole.errors)")
        let (entries, products) = (try entries(), try products(of: command, whole))

        var hits = 0
        for round in 0..<Self.rounds {
            try removeProducts(of: command)
            for attempt in 0...random.below(3) {
                try removeFinished(command)
                try spoil(command)
                let signal = random.below(2) == 0 ? SIGINT : SIGKILL
                let place = "seed \(Self.seed), round \(round), attempt \(attempt), signal \(signal)"
                if try interrupt(arguments, within: time, by: signal, place, &random) { hits += 1 }
                try expectUntouched(place)
                try expectWholeOrNothing(of: command, products, place)
            }
            try removeFinished(command)
            let again = try run(arguments)
            let place = "seed \(Self.seed), round \(round)"
            #expect(again.exitCode == command.exitCode, "\(place): \(again.errors)")
            let left = try self.entries()
            #expect(left == entries, "\(place): \(Set(left).symmetricDifference(entries).sorted())")
            #expect(try self.products(of: command, again) == products, "\(place)")
        }
        print("\(command.testDescription): \(hits) interrupted, seed \(Self.seed)")
    }

    // MARK: - Runs

    private var variables: [String: String] { ["TMPDIR": folder.path("T")] }

    private func run(_ arguments: [String]) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder, environment: variables)
    }

    private func expectEnd(_ arguments: [String], _ code: Int32) throws {
        let run = try run(arguments)
        #expect(run.exitCode == code, "\(arguments): \(run.errors)")
    }

    /// Whether it ran when the signal came.
    private func interrupt(
        _ arguments: [String],
        within time: Duration,
        by signal: Int32,
        _ place: String,
        _ random: inout SeededGenerator
    ) throws -> Bool {
        let process = try ToolProcess(arguments, in: folder, environment: variables)
        usleep(UInt32(Double.random(in: 0..<1.1, using: &random) * (time / .seconds(1)) * 1_000_000))
        let isHit = process.isRunning
        let ended = process.end(signal)
        // The program may be at its end, or not yet have begun.
        let codes: Set<Int32> = [0, 1, signal, 128 + signal]
        #expect(codes.contains(ended.exitCode), "\(place): \(ended.exitCode) \(ended.errors)")
        return isHit
    }

    private func expectUntouched(_ place: String) throws {
        #expect(try Self.root(of: EventStore.open(at: folder.path("L"))) == root, "\(place)")
        let verified = try run(["verify", "L"])
        #expect(verified.exitCode == 0, "\(place): \(verified.output)\(verified.errors)")
    }

    // MARK: - What lies there

    /// The names in the folder, in the log and in the folder for temporary files.
    private func entries() throws -> [String] {
        let manager = FileManager.default
        return try [".", "L", "T"].flatMap { part in
            try manager.contentsOfDirectory(atPath: folder.path(part))
                .filter { !$0.hasPrefix(".out-") && !$0.hasPrefix(".err-") }
                .map { "\(part)/\($0)" }
        }.sorted()
    }

    private func products(of command: InterruptedCommand, _ run: ToolRun) throws -> [String] {
        try (command.isAnswer ? [run.output] : []) + command.products.map(content)
    }

    /// The bytes of a file, the payloads of a log.
    private func content(_ name: String) throws -> String {
        guard FileManager.default.fileExists(atPath: folder.path(name + "/FORMAT")) else {
            return try String(contentsOfFile: folder.path(name), encoding: .utf8)
        }
        let events = try EventStore.open(at: folder.path(name)).read { try Candidate.whole(of: $0) }.events
        return events.map { Hasher256.hash($0.draft.payload).hex }.joined(separator: " ")
    }

    private func expectWholeOrNothing(
        of command: InterruptedCommand,
        _ products: [String],
        _ place: String
    ) throws {
        for name in command.products where FileManager.default.fileExists(atPath: folder.path(name)) {
            let found = try content(name)
            let isPart = command.goesOn && products.contains { $0.hasPrefix(found) }
            let isOld = command.spoils.contains(name) && found == Self.spoiled
            #expect(isPart || isOld || products.contains(found), "\(place): \(name)")
        }
    }

    private func removeProducts(of command: InterruptedCommand) throws {
        for name in Set(command.products.map { $0.prefix { $0 != "/" } })
        where !command.spoils.contains(where: { $0.hasPrefix(name) }) {
            try? FileManager.default.removeItem(atPath: folder.path(String(name)))
        }
    }

    /// What a command made before the signal came, it does not make again.
    private func removeFinished(_ command: InterruptedCommand) throws {
        if !command.goesOn { try removeProducts(of: command) }
    }

    private static let spoiled = #"{"profile":"canonical"}"#

    /// Puts something there that the command has to write anew.
    private func spoil(_ command: InterruptedCommand) throws {
        for name in command.spoils { try folder.write(Self.spoiled, to: name) }
    }

    // MARK: - The log

    private static func root(of store: EventStore) throws -> Hash256 {
        try store.read { try $0.root(size: $0.head.rawValue) }
    }

    /// Holds from a message of the middle on, which nobody deletes.
    private static func expression(for drafts: [DraftEvent]) throws -> String {
        let frames = try drafts.filter { $0.kind.rawValue == "gateway.frame/1" }.map { try JSONValue.parse($0.payload) }
        let deleted = Set(frames.filter { $0["t"]?.string == "MESSAGE_DELETE" }.compactMap { $0["d"]?["id"]?.string })
        let created = frames.filter { $0["t"]?.string == "MESSAGE_CREATE" }.compactMap { $0["d"] }
            .filter { !deleted.contains($0["id"]?.string ?? "") }
        let message = try #require(created.dropFirst(created.count * 3 / 5).first)
        let ids = ["channel_id", "id"].compactMap { message[$0]?.string }
        return "exists(messages[\"app/\(ids.joined(separator: "/"))\"])"
    }
}

/// A command that is interrupted.
struct InterruptedCommand: CustomTestStringConvertible, Sendable {
    var preparation: [[String]] = []
    let arguments: [String]
    /// The files and logs that it makes.
    var products: [String] = []
    /// Files that are there already, with something else in them.
    var spoils: [String] = []
    /// Whether what it prints is always the same.
    var isAnswer = false
    /// How it ends where nothing interrupts it.
    var exitCode: Int32 = 0
    /// Whether it goes on with a product that is there.
    var goesOn = false

    var testDescription: String { arguments.joined(separator: " ") }

    static let all = [
        InterruptedCommand(arguments: ["bisect", "L", "--when", "EXPRESSION"], isAnswer: true),
        InterruptedCommand(
            arguments: ["bisect", "L", "--run", "! grep -q editedAt", "--only", "messages"],
            isAnswer: true
        ),
        InterruptedCommand(arguments: ["shrink", "L", "--when", "EXPRESSION", "-o", "S"], products: ["S"]),
        InterruptedCommand(
            arguments: ["shrink", "L", "--run", "grep -q room-7", "--only", "channels", "-o", "S"],
            products: ["S"]
        ),
        InterruptedCommand(
            arguments: ["freeze", "L", "-o", "F"],
            products: ["F/events.ndjson", "F/expected.json", "F/about.md"]
        ),
        InterruptedCommand(
            preparation: [["freeze", "L", "-o", "G"]],
            arguments: ["check", "G", "--update", "--junit", "G/report.xml"],
            products: ["G/expected.json"],
            spoils: ["G/expected.json"]
        ),
        InterruptedCommand(arguments: ["audit", "L", "--html", "A.html"], products: ["A.html"]),
        InterruptedCommand(
            preparation: [["rebuild", "L", "--to", "c.sqlite"]],
            arguments: ["diff", "L", "c.sqlite"],
            isAnswer: true
        ),
        InterruptedCommand(arguments: ["diff", "L@head~100", "L", "--json"], isAnswer: true, exitCode: 1),
        InterruptedCommand(
            arguments: ["sql", "L", "SELECT count(*), (SELECT count(*) FROM messages) FROM events"],
            isAnswer: true
        ),
        InterruptedCommand(arguments: ["export", "L", "-o", "e.ndjson"], products: ["e.ndjson"]),
        InterruptedCommand(
            preparation: [["export", "L", "-o", "whole.ndjson"]],
            arguments: ["import", "N", "whole.ndjson"],
            products: ["N"],
            goesOn: true
        ),
    ]
}
