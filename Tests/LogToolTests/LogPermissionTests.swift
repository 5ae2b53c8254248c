import Foundation
import TestSupport
import Testing

@testable import logtool

/// A log that the user may only read, or not even that. Root may do everything, so that the commands are run as
/// `nobody` where the tests are run by root.
@Suite(.enabled(if: OtherUser.isAvailable, "root cannot run the program as another user"))
struct LogPermissionTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
        try folder.write(#"{"t_ms":1767225600000,"dir":"in","raw":"{}"}"# + "\n", to: "capture.ndjson")
    }

    /// Runs the tool without the rights of root.
    private func tool(_ arguments: [String]) throws -> ToolRun {
        guard geteuid() == 0 else { return try ToolRun.run(arguments, in: folder) }
        let program = try ToolRun.executable.path
        return try ToolRun.run(OtherUser.asNobody + [program] + arguments, in: folder, program: OtherUser.setpriv)
    }

    private func restrict(files: Int, folders: Int) throws {
        let manager = FileManager.default
        let names = try manager.subpathsOfDirectory(atPath: folder.path("L"))
        for name in names + [""] {
            let path = folder.path("L/" + name)
            var isFolder: ObjCBool = false
            _ = manager.fileExists(atPath: path, isDirectory: &isFolder)
            try manager.setAttributes([.posixPermissions: isFolder.boolValue ? folders : files], ofItemAtPath: path)
        }
    }

    private func data() throws -> Data {
        try Data(contentsOf: folder.url.appending(path: "L/gen-000001/data.mdb"))
    }

    @Test(arguments: [true, false])
    func aLogThatMayOnlyBeReadIsRead(hasLockFile: Bool) throws {
        let root = try ToolRun.run(["root", "L"], in: folder)
        let digest = try ToolRun.run(["replay", "L", "--digest"], in: folder)
        if !hasLockFile { try FileManager.default.removeItem(atPath: folder.path("L/gen-000001/lock.mdb")) }
        try restrict(files: 0o444, folders: 0o555)
        defer { try? restrict(files: 0o644, folders: 0o755) }
        let found = try tool(["root", "L"])
        #expect(found.output == root.output && found.exitCode == 0, "\(found.errors)")
        #expect(try tool(["replay", "L", "--digest"]).output == digest.output)
        for command in ["verify", "events", "stats", "gaps", "export"] {
            let run = try tool([command, "L"])
            #expect(run.exitCode == 0 && run.errors.isEmpty, "\(command): \(run.errors)")
        }
    }

    @Test func aLogThatMayOnlyBeReadRefusesToBeWritten() throws {
        try restrict(files: 0o444, folders: 0o555)
        defer { try? restrict(files: 0o644, folders: 0o755) }
        let before = try data()
        let ingest = ["ingest", "L", "capture", "capture.ndjson", "--kind", "gateway"]
        for arguments in [ingest, ["compact", "L", "--keep", "1"]] {
            let run = try tool(arguments)
            #expect(run.exitCode == 2, "\(arguments[0]): \(run.errors)")
            #expect(run.errors.contains("check the permissions"), "\(run.errors)")
            #expect(run.errors.split(separator: "\n").count == 1)
        }
        #expect(try data() == before)
    }

    @Test func aDryRunNeedsNoWritePermission() throws {
        try FileManager.default.removeItem(atPath: folder.path("L"))
        try folder.makeLog(messages: 40, isLarge: true)
        let options = ["compact", "L", "--keep", "5", "--dry-run", "--json"]
        let planned = try ToolRun.run(options, in: folder)
        #expect(planned.output.contains(#""proved":true"#), "\(planned.output)")
        try restrict(files: 0o444, folders: 0o555)
        defer { try? restrict(files: 0o644, folders: 0o755) }
        let before = try data()
        let run = try tool(options)
        #expect(run.exitCode == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.output == planned.output)
        #expect(try data() == before)
    }

    @Test(.enabled(if: geteuid() == 0, "for any other user the log stays open to its owner"))
    func aLogThatMayNotBeEnteredEndsWith2() throws {
        try restrict(files: 0o600, folders: 0o700)
        defer { try? restrict(files: 0o644, folders: 0o755) }
        for command in ["root", "verify", "replay", "stats", "events"] {
            let run = try tool([command, "L"])
            #expect(run.exitCode == 2, "\(command): \(run.errors)")
            #expect(run.errors.contains("check the permissions"), "\(command): \(run.errors)")
            #expect(run.errors.split(separator: "\n").count == 1)
        }
    }

    /// The folder may be entered, the data may not be read.
    @Test func dataThatMayNotBeReadEndsWith2() throws {
        try restrict(files: 0o000, folders: 0o755)
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: folder.path("L/FORMAT"))
        defer { try? restrict(files: 0o644, folders: 0o755) }
        for command in ["root", "verify", "replay"] {
            let run = try tool([command, "L"])
            #expect(run.exitCode == 2, "\(command): \(run.errors)")
            #expect(run.errors.contains("check the permissions"), "\(command): \(run.errors)")
        }
    }

    @Test func aFolderThatMayNotBeWrittenGetsNoLog() throws {
        let shut = folder.path("shut")
        try FileManager.default.createDirectory(
            atPath: shut,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o555]
        )
        let run = try tool(["ingest", "shut/N", "capture", "capture.ndjson", "--kind", "gateway"])
        #expect(run.exitCode == 2 && run.errors.contains("check the permissions"), "\(run.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: shut).isEmpty)
    }
}

/// The user as whom root runs the program.
private enum OtherUser {
    static let setpriv = URL(filePath: "/usr/bin/setpriv")
    static let asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]

    /// True if the program can be run without the rights of root.
    static let isAvailable =
        geteuid() != 0
        || (try? ToolRun.run(
            asNobody + [ToolRun.executable.path, "--version"],
            in: TemporaryDirectory(),
            program: setpriv
        ).exitCode) == 0
}
