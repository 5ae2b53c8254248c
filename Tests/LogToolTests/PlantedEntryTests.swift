import Foundation
import TestSupport
import Testing

@testable import logtool

/// A log from elsewhere, with links, FIFOs and worse in the place of its files: nothing outside its folder is touched, nothing
/// hangs, and what is there is named (I22). Run by root and by an ordinary user alike.
///
/// `EVENTLOG_LONG_TESTS=1` tries every name with every entry and every command.
@Suite(.serialized) struct PlantedEntryTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil

    /// What a log has names for, at every depth.
    private static let names = [
        "FORMAT", "FORMAT.new", "write.lock", "rewrite.lock", "sources",
        "sources/0123456789abcdef0123456789abcdef.lock",
        "gen-000001", "gen-000001/data.mdb", "gen-000001/lock.mdb", "gen-000002", "gen-000002/data.mdb",
        "cache-000001", "cache-000001/data.mdb", "cache-000001/lock.mdb", "cache-000001/checked",
        "cache-000001/checked.new", "cache-000001/merge.lock", "cache-000001/place", "cache-000002", "gone-000001",
        "gone-cache-000001-1",
        "birth-1-1", "birth-cache-1-1", "gone-000007/data.mdb", "birth-2-1/lock.mdb",
    ]

    private static let commands = [
        ["verify", "L"], ["replay", "L", "--digest"], ["replay", "L", "--channel", "guild/10"],
        ["history", "L", "message:guild/10/1001"], ["diff", "L@1", "L"], ["events", "L"], ["stats", "L"],
        ["status", "L"],
        ["gaps", "L"], ["root", "L"], ["prove", "L", "1"], ["export", "L", "-o", "out/export.ndjson"],
        ["backup", "L", "out/backup"], ["salvage", "L", "-o", "out/salvaged"],
        ["rebuild", "L", "--to", "out/c.sqlite"],
        ["compact", "L", "--keep", "1"], ["import", "L", "whole.ndjson"],
        ["ingest", "L", "capture", "more.ndjson", "--kind", "gateway", "--as", "guild"],
    ]

    /// A log with derived data, its export, and what lies beside it.
    private static func folder() throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40)
        try folder.write(SampleCaptures.gateway(messages: 60), to: "more.ndjson")
        _ = try ToolRun.run(
            ["ingest", "L", "capture", "more.ndjson", "--kind", "gateway", "--as", "guild"],
            in: folder
        )
        _ = try ToolRun.run(["replay", "L", "--channel", "guild/10"], in: folder)
        _ = try ToolRun.run(["export", "L", "-o", "whole.ndjson"], in: folder)
        let manager = FileManager.default
        for name in ["outside/folder", "out"] {
            try manager.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        for name in ["outside/file", "outside/folder/data.mdb", "outside/folder/notes", "outside/folder/lock.mdb"] {
            try folder.write(String(repeating: "precious \(name)\n", count: 50), to: name)
        }
        return folder
    }

    private struct Trial: CustomStringConvertible {
        let name: String
        let entry: PlantedEntry
        let command: [String]

        var description: String { "\(entry) at \(name): \(command.joined(separator: " "))" }

        /// Whether the command has to name the entry: whoever opens a log looks at everything but what lies in remains, and
        /// salvage opens nothing but data. No file of a cache is named `checked.new` any more.
        var isNamed: Bool {
            !entry.isHarmless(as: name) && command[0] != "salvage" && !name.hasPrefix("gone-000007")
                && !name.hasPrefix("birth-2") && name != "cache-000001/checked.new"
        }
    }

    private static var trials: [Trial] {
        let all = names.flatMap { name in
            PlantedEntry.allCases.flatMap { entry in commands.map { Trial(name: name, entry: entry, command: $0) } }
        }
        if isLong { return all }
        var random = SeededGenerator(seed: 22)
        return Array(all.shuffled(using: &random).prefix(40))
    }

    @Test func whatIsPlantedIsNamedAndLeadsNowhere() throws {
        let template = try Self.folder()
        for trial in Self.trials {
            let folder = try copy(of: template)
            try trial.entry.put(trial.name, in: folder)
            let before = try outside(folder)
            let run = try limited(trial.command, in: folder)
            #expect([0, 1, 2, 3, 4, 10, 11].contains(run.exitCode), "\(trial): \(run.exitCode) \(run.errors)")
            #expect(try outside(folder) == before, "\(trial)")
            guard trial.isNamed else { continue }
            #expect(run.exitCode == 3, "\(trial): \(run.errors)")
            #expect(run.errors.contains("L/\(trial.name)\""), "\(trial): \(run.errors)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(trial): \(run.errors)")
        }
    }

    /// What lies in the remains of a rewrite is met by the next one, which removes them.
    @Test(arguments: [PlantedEntry.linkToFile, .fifo, .folder])
    func remainsThatHoldSomethingElseStay(entry: PlantedEntry) throws {
        let folder = try Self.folder()
        try entry.put("gone-000007/data.mdb", in: folder)
        let run = try limited(["compact", "L", "--keep", "1"], in: folder)
        #expect(run.exitCode == 3 && run.errors.contains("L/gone-000007/data.mdb\""), "\(run.errors)")
        #expect((try? FileManager.default.attributesOfItem(atPath: folder.path("L/gone-000007/data.mdb"))) != nil)
    }

    private func copy(of template: TemporaryDirectory) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        try FileManager.default.removeItem(at: folder.url)
        try FileManager.default.copyItem(at: template.url, to: folder.url)
        return folder
    }

    /// Runs the tool; a command that hangs ends with 124 where the system has `timeout`.
    private func limited(_ arguments: [String], in folder: TemporaryDirectory) throws -> ToolRun {
        let timeout = URL(filePath: "/usr/bin/timeout")
        guard FileManager.default.isExecutableFile(atPath: timeout.path) else {
            return try ToolRun.run(arguments, in: folder)
        }
        let program = try ToolRun.executable.path
        return try ToolRun.run(["-k", "1", Self.limit, program] + arguments, in: folder, program: timeout)
    }

    /// A minute where other tests take the processors, too.
    private static let limit = isLong ? "10" : "60"

    /// Names, sizes, times and contents of everything beside the log.
    private func outside(_ folder: TemporaryDirectory) throws -> [String: String] {
        let manager = FileManager.default
        var found: [String: String] = [:]
        for name in try manager.subpathsOfDirectory(atPath: folder.path("outside")) + [""] {
            let path = folder.path("outside/" + name)
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            #if canImport(Darwin)
            let time = status.st_mtimespec
            #else
            let time = status.st_mtim
            #endif
            let content = manager.contents(atPath: path).map { "\($0.hashValue)" } ?? ""
            found[name] = "\(status.st_mode) \(status.st_size) \(time.tv_sec).\(time.tv_nsec) \(content)"
        }
        return found
    }
}
