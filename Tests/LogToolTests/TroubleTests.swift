import EventLog
import Foundation
import TestSupport
import Testing

@testable import logtool

/// What scripts see when something is wrong with the log or the reader goes away.
@Suite struct TroubleTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test(arguments: [
        ["events", "F"], ["replay", "F"], ["stats", "F"], ["verify", "F"], ["compact", "F"],
        ["history", "F", "message:1"],
        ["root", "F"], ["rebuild", "F", "--to", "c.sqlite"], ["diff", "F", "F"],
    ])
    func aFolderOrFileThatIsNoLogEndsWith10Or2(arguments: [String]) throws {
        try FileManager.default.createDirectory(atPath: folder.path("F"), withIntermediateDirectories: false)
        try folder.write("precious", to: "F/notes.txt")
        let inFolder = try ToolRun.run(arguments, in: folder)
        #expect([2, 10].contains(inFolder.exitCode))
        #expect(inFolder.output.isEmpty)
        #expect(inFolder.errors.split(separator: "\n").count == 1)
        let file = try ToolRun.run(arguments.map { $0 == "F" ? "F/notes.txt" : $0 }, in: folder)
        #expect([2, 10].contains(file.exitCode))
        #expect(try String(contentsOfFile: folder.path("F/notes.txt"), encoding: .utf8) == "precious")
    }

    @Test(arguments: [("eventlog 99\n", Int32(2)), ("hello\n", Int32(3)), ("", Int32(3))])
    func aFormatThatCannotBeReadIsRefused(format: String, code: Int32) throws {
        try folder.makeLog(messages: 1)
        try folder.write(format, to: "L/FORMAT")
        let run = try ToolRun.run(["replay", "L"], in: folder)
        #expect(run.exitCode == code)
        #expect(run.output.isEmpty)
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test(arguments: [["replay", "L"], ["stats", "L"], ["root", "L"], ["verify", "L"], ["backup", "L", "B"]])
    func aMissingOrEmptyDataFileIsExit3InWords(arguments: [String]) throws {
        try folder.makeLog(messages: 1)
        let file = folder.path("L/gen-000001/data.mdb")
        let other = ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"]
        try Data().write(to: URL(filePath: file))
        for arguments in [arguments, other] {
            let run = try ToolRun.run(arguments, in: folder)
            #expect(run.exitCode == 3)
            // `verify` reports it as damage of the first page.
            let isVerify = arguments[0] == "verify"
            let words = isVerify ? "page 0 of the data file: it is no meta page" : "gen-000001/data.mdb is empty"
            #expect((run.output + run.errors).contains(words), "\(run.output)\(run.errors)")
        }
        try FileManager.default.removeItem(atPath: file)
        for arguments in [arguments, other] {
            let run = try ToolRun.run(arguments, in: folder)
            #expect(run.exitCode == 3)
            let reason = "the data file gen-000001/data.mdb is missing; restore a backup"
            #expect(run.errors.contains(reason), "\(run.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: file), "nothing is made in its place")
    }

    /// The file is mapped: what is cut off is SIGBUS for whoever reads it.
    @Test func aLogThatIsCutOffWhileItIsReadIsExit3() throws {
        let large = String(repeating: "x", count: 4_000)
        _ = try EventStore.openOrCreate(at: folder.path("L")).append(
            (1...2_000).map { try .sample($0, key: "key \($0)", payload: large) }
        )
        let process = Process()
        process.executableURL = try ToolRun.executable
        process.arguments = ["events", "L", "--payload"]
        process.currentDirectoryURL = folder.url
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        // It writes more than the pipe takes, and so waits in the middle of the log.
        #expect(try output.fileHandleForReading.read(upToCount: 1)?.count == 1)
        try #require(truncate(folder.path("L/gen-000001/data.mdb"), 64 << 10) == 0)
        _ = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(process.terminationReason == .exit && process.terminationStatus == 3)
        #expect(text.hasPrefix("logtool: read log: a file became shorter or cannot be read"), "\(text)")
    }

    @Test func aReaderThatGoesAwayIsNoTrouble() throws {
        try folder.makeLog(messages: 300)
        let command = "'\(try ToolRun.executable.path)' replay L --json | head -c 10; echo \"status $?\""
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.currentDirectoryURL = folder.url
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        process.waitUntilExit()
        #expect(errors.fileHandleForReading.readDataToEndOfFile().isEmpty)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(text.hasSuffix("status 0\n"))
    }

    @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
    func anInterruptedRunSaysSo(signal: Int32, code: Int32) throws {
        try folder.makeLog(messages: 1)
        let process = Process()
        process.executableURL = try ToolRun.executable
        process.arguments = ["events", "L", "--follow", "--jsonl"]
        process.currentDirectoryURL = folder.url
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
        try process.run()
        // The first bytes say that it has begun to follow.
        #expect(!output.fileHandleForReading.availableData.isEmpty)
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationStatus == code)
        #expect(process.terminationReason == .exit)
    }

    @Test func aSecondRecorderOfASourceIsLocked() throws {
        try folder.makeLog(messages: 1)
        let lock = try EventStore.open(at: folder.path("L")).acquireSourceLock(SourceName("guild"))
        let run = try ToolRun.run(
            ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"],
            in: folder
        )
        #expect(run.exitCode == 11)
        lock.release()
    }
}
