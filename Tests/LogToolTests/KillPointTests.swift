import EventLog
import Foundation
import TestSupport
import Testing

/// Whatever call that changes the disk a command is killed before, what it leaves is old or new, and the same command then
/// ends what was begun.
///
/// `EVENTLOG_LONG_TESTS=1` kills each command before each of its calls, up to 300, and prints how many those were.
@Suite struct KillPointTests {
    @Test(
        .enabled(if: WriteTraceLibrary.isAvailable, "it needs a library that is loaded before others"),
        arguments: KillTrial.all
    )
    func aKilledCommandLeavesOldOrNew(_ trial: KillTrial) throws {
        let before = try TemporaryDirectory()
        try trial.prepare(before)
        let after = try before.copied()
        let whole = try trial.run(in: after, killedBefore: 0)
        #expect(whole.run.exitCode == 0, "\(whole.run.errors)")
        let calls = try #require(whole.calls, "\(whole.run.errors)")
        let (old, new) = (try trial.state(before), try trial.state(after))
        #expect(old != new, "\(trial) changes nothing")
        var (olds, news) = (0, 0)
        for point in KillTrial.points(of: calls) {
            let now = try before.copied()
            let killed = try trial.run(in: now, killedBefore: point).run
            let label = "\(trial), call \(point) of \(calls): \(killed.errors)"
            #expect(killed.errors.contains("write-trace: killed before"), "\(label)")
            let left = try trial.state(now)
            if left == old { olds += 1 } else { news += 1 }
            #expect(left == old || left == new || trial.isBetween(old, left, new), "\(label)")
            let again = try trial.run(in: now).run
            // A redaction that took effect finds its text no more.
            #expect(again.exitCode == 0 || again.exitCode == 1 && left == new, "\(label)\(again.errors)")
            #expect(try trial.state(now) == new, "\(label)")
            #expect(try trial.leftovers(now) == [], "\(label)")
        }
        if KillTrial.isLong { print("\(trial): \(calls) calls; killed, \(olds) were old, \(news) new") }
    }
}

/// A command, what it finds, and what counts as the state that it changes.
struct KillTrial: CustomTestStringConvertible, Sendable {
    static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil

    let arguments: [String]
    /// Runs of the tool that make what it finds, besides the log `L`.
    var others: [[String]] = []
    /// The log whose state counts.
    var log = "L"
    /// Whether what the command has done so far may stay.
    var goesOn = false
    /// A text that is nowhere once the command has ended.
    var text: String?

    var testDescription: String { arguments.joined(separator: " ") }

    static let all: [KillTrial] = [
        KillTrial(arguments: ["compact", "L", "--keep", "5"]),
        KillTrial(arguments: ["compact", "L", "--keep", "5", "--seal", "--no-archive"]),
        KillTrial(arguments: ["seal", "L", "--force"]),
        KillTrial(arguments: ["redact", "L", "--match", "message 17", "--yes"], text: "message 17"),
        KillTrial(
            arguments: ["redact", "L", "--match", "message 17", "--yes"],
            others: [["seal", "L", "--force"]],
            text: "message 17"
        ),
        KillTrial(arguments: ["forget", "L", "--author", "7", "--yes", "--by", "keeper"], text: "message 17"),
        KillTrial(
            arguments: ["import", "L", "a.ndjson"],
            others: [["compact", "L", "--keep", "5", "--archive", "a.ndjson"]]
        ),
        KillTrial(
            arguments: ["import", "N", "x.ndjson"],
            others: [["export", "L", "-o", "x.ndjson"]],
            log: "N",
            goesOn: true
        ),
        KillTrial(arguments: ["backup", "L", "N"], log: "N"),
        KillTrial(arguments: ["salvage", "L", "-o", "N"], log: "N"),
        KillTrial(arguments: ["ship", "L", "--to", "tree"], log: "tree"),
        KillTrial(
            arguments: ["ship", "L", "--to", "tree"],
            others: [["ship", "L", "--to", "tree"], ["redact", "L", "--match", "message 17", "--yes"]],
            log: "tree",
            text: "message 17"
        ),
        KillTrial(
            arguments: ["pull", "N", "--from", "tree"],
            others: [["ship", "L", "--to", "tree"]],
            log: "N",
            goesOn: true
        ),
        KillTrial(
            arguments: ["pull", "N", "--from", "tree"],
            others: [
                ["ship", "L", "--to", "tree"], ["pull", "N", "--from", "tree"],
                ["redact", "L", "--match", "message 17", "--yes"], ["ship", "L", "--to", "tree"],
            ],
            log: "N"
        ),
    ]

    /// Which of a command's calls to be killed before: the last, and some that lie evenly.
    static func points(of calls: Int) -> [Int] {
        let count = min(calls, isLong ? 300 : 4)
        return (1...count).map { $0 * calls / count }
    }

    func prepare(_ folder: TemporaryDirectory) throws {
        try folder.makeLog(messages: 40, isLarge: true)
        for other in others { _ = try run(other, in: folder) }
    }

    /// Runs the command, killed before the call of a number; with 0 it runs to its end and says how many calls there were.
    func run(in folder: TemporaryDirectory, killedBefore point: Int? = nil) throws -> (run: ToolRun, calls: Int?) {
        var environment: [String: String] = [:]
        if let point {
            environment = [
                "LD_PRELOAD": try WriteTraceLibrary.path, "WRITE_TRACE_ROOT": folder.url.path,
                "WRITE_TRACE_KILL": "\(point)",
            ]
        }
        let run = try ToolRun.run(arguments + ["--quiet"], in: folder, environment: environment)
        let words =
            run.errors.split(separator: "\n").last { $0.hasPrefix("write-trace: ") }?.split(separator: " ") ?? []
        return (run, words.count == 3 ? Int(words[1]) : nil)
    }

    private func run(_ arguments: [String], in folder: TemporaryDirectory) throws -> String {
        let run = try ToolRun.run(arguments + ["--quiet"], in: folder)
        #expect(run.exitCode == 0, "\(arguments): \(run.errors)")
        return run.output
    }

    /// What the log or the tree holds, line by line; of an act its kind alone, for another run writes it at another time.
    func state(_ folder: TemporaryDirectory) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path(log)) else { return [] }
        guard log == "tree" else { return try lines(of: log, in: folder) }
        guard FileManager.default.fileExists(atPath: folder.path("tree/checkpoint")) else { return [] }
        let name = "pulled-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder.path(name)) }
        _ = try run(["pull", name, "--from", "tree"], in: folder)
        return try lines(of: name, in: folder)
    }

    private func lines(of log: String, in folder: TemporaryDirectory) throws -> [String] {
        let store = try EventStore.open(at: folder.path(log))
        let report = try store.verify()
        #expect(report.isIntact, "\(testDescription): \(report.damage?.description ?? "")")
        let lines = try run(["export", log], in: folder).split(separator: "\n").dropFirst().map { line in
            let text = String(line)
            return text.range(of: "\"logtool.").map { "act " + text.suffix(from: $0.lowerBound).prefix(24) } ?? text
        }
        return try lines + ["sealed: \(store.statistics().sealed > 0)"]
    }

    /// Whether a state is old, and a part of what is new.
    func isBetween(_ old: [String], _ left: [String], _ new: [String]) -> Bool {
        goesOn && left.count > old.count && new.starts(with: left.dropLast())
    }

    /// The files that still have the text, and the generations beside the one.
    func leftovers(_ folder: TemporaryDirectory) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
        let generations = names.filter { $0.hasPrefix("\(log)/gen-") && $0.hasSuffix("data.mdb") }
        let holders = try names.filter { name in
            guard let text, name.hasPrefix("\(log)/") else { return false }
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: folder.path(name), isDirectory: &isFolder)
            return try !isFolder.boolValue
                && Data(contentsOf: URL(filePath: folder.path(name))).range(of: Data(text.utf8)) != nil
        }
        let halves = names.filter { name in ["\(log)/gone-", "\(log)/birth-"].contains { name.hasPrefix($0) } }
        return holders + generations.dropFirst() + halves + names.filter { $0.contains(".partial-") }
    }
}

extension TemporaryDirectory {
    /// A copy of the folder and of all that is in it.
    fileprivate func copied() throws -> TemporaryDirectory {
        let copy = try TemporaryDirectory()
        try FileManager.default.removeItem(at: copy.url)
        try FileManager.default.copyItem(at: url, to: copy.url)
        return copy
    }
}

/// The library that is loaded into a command to kill it; it lies beside the test bundle.
enum WriteTraceLibrary {
    static var path: String {
        get throws { try ToolRun.executable.deletingLastPathComponent().appending(path: "libWriteTrace.so").path }
    }

    static var isAvailable: Bool { (try? path).map { FileManager.default.fileExists(atPath: $0) } ?? false }
}
