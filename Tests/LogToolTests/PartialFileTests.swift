import Foundation
import TestSupport
import Testing

@testable import EventLog
@testable import logtool

/// What a killed command leaves beside its target is removed by the next one, and nothing else.
@Suite struct PartialFileTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    /// The number of a process that has ended.
    private func deadProcess() throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "exit 0"]
        try process.run()
        process.waitUntilExit()
        return process.processIdentifier
    }

    private func makeFile(_ name: String) throws {
        let made = FileManager.default.createFile(
            atPath: folder.path(name),
            contents: Data("half".utf8),
            attributes: [.posixPermissions: 0o600]
        )
        #expect(made)
    }

    private func makeLogFolder(_ name: String) throws {
        let manager = FileManager.default
        for path in [name, name + "/gen-000001", name + "/sources"] {
            try manager.createDirectory(
                atPath: folder.path(path),
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        }
        try makeFile(name + "/gen-000001/data.mdb")
    }

    private var partials: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains(".partial-") }
        }
    }

    @Test func anExportRemovesWhatADeadOneLeft() throws {
        let (dead, alive) = (try deadProcess(), ProcessInfo.processInfo.processIdentifier)
        try makeFile("x.ndjson.partial-\(dead)")
        try makeFile("x.ndjson.partial-\(alive)")
        try makeFile("y.ndjson.partial-\(dead)")
        try makeFile("x.ndjson.partial-\(dead)0x")
        let run = try ToolRun.run(["export", "L", "-o", "x.ndjson"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        let left = ["x.ndjson.partial-\(alive)", "x.ndjson.partial-\(dead)0x", "y.ndjson.partial-\(dead)"]
        #expect(try partials.sorted() == left.sorted())
    }

    @Test(arguments: ["backup", "salvage", "import"])
    func aLogInTheMakingOfADeadProcessIsRemoved(command: String) throws {
        let (dead, alive) = (try deadProcess(), ProcessInfo.processInfo.processIdentifier)
        try makeLogFolder("N.partial-\(dead)")
        try makeLogFolder("N.partial-\(alive)")
        _ = try ToolRun.run(["export", "L", "-o", "x.ndjson"], in: folder)
        let arguments = ["backup": ["L", "N"], "salvage": ["L", "-o", "N"], "import": ["N", "x.ndjson"]]
        let run = try ToolRun.run([command] + #require(arguments[command]), in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(try partials == ["N.partial-\(alive)"])
        #expect(try EventStore.verify(at: folder.path("N")).isIntact)
    }

    @Test func linksAndWhatIsHeldStay() throws {
        let dead = try deadProcess()
        try makeFile("precious")
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder.path("x.ndjson.partial-\(dead)"), withDestinationPath: "precious")
        let held = try deadProcess()
        try makeFile("x.ndjson.partial-\(held)")
        let file = try #require(try Folder(at: folder.url.path).file("x.ndjson.partial-\(held)"))
        #expect(file.takeLock())
        try withExtendedLifetime(file) {
            let run = try ToolRun.run(["export", "L", "-o", "x.ndjson"], in: folder)
            #expect(run.exitCode == 0, "\(run.errors)")
        }
        #expect(try Set(partials) == ["x.ndjson.partial-\(dead)", "x.ndjson.partial-\(held)"])
        #expect(try String(contentsOfFile: folder.path("precious"), encoding: .utf8) == "half")
    }

    /// A link under the very name that is about to be made.
    @Test func aLinkInTheWayIsNotFollowed() throws {
        try makeFile("precious")
        let partial = Partial.name(for: "x.ndjson")
        try FileManager.default.createSymbolicLink(atPath: folder.path(partial), withDestinationPath: "precious")
        #expect(throws: EventLogError.self) { try OutputFile(folder.path("x.ndjson"), overwrites: true) }
        #expect(try String(contentsOfFile: folder.path("precious"), encoding: .utf8) == "half")
    }

    @Test func derivedDataThatWasHalfMadeGoesToo() throws {
        // This process would make its own draft under its own number.
        let (dead, alive) = (try deadProcess(), getppid())
        let manager = FileManager.default
        let names = ["birth-cache-\(dead)-1", "birth-cache-\(alive)-1", "gone-cache-000001-\(dead)"]
        for name in names {
            try manager.createDirectory(atPath: folder.path("L/" + name), withIntermediateDirectories: false)
            try makeFile("L/\(name)/data.mdb")
        }
        let store = try EventStore.open(at: folder.path("L"))
        _ = try store.derivedStore()
        let left = try manager.contentsOfDirectory(atPath: folder.path("L")).filter { names.contains($0) }
        #expect(left == ["birth-cache-\(alive)-1"])
    }
}
