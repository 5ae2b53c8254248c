import Foundation
import TestSupport
import Testing

@testable import logtool

/// Where `-o` leads: a file is replaced once the new one is whole, anything else is written to as it is.
@Suite struct OutputFileTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    private func exported() throws -> String {
        try ToolRun.run(["export", "L"], in: folder).output
    }

    /// Runs a line of the shell with the tool as `$0`.
    private func shell(_ line: String) throws -> ToolRun {
        try ToolRun.run(["-c", line, try ToolRun.executable.path], in: folder, program: URL(filePath: "/bin/sh"))
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }

    @Test func aFIFOIsWrittenToAndStays() throws {
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        let run = try shell("cat pipe > got & \"$0\" export L -o pipe --yes && wait && test -p pipe")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(try text("got") == exported())
    }

    /// The link stands for the device: were it replaced, so would a device be by root.
    @Test func aDeviceIsWrittenToAndNeverReplaced() throws {
        try FileManager.default.createSymbolicLink(atPath: folder.path("null"), withDestinationPath: "/dev/null")
        for arguments in [["export", "L", "-o", "null"], ["export", "L", "-o", "null", "--yes"]] {
            let run = try ToolRun.run(arguments, in: folder)
            #expect(run.exitCode == 0 && run.output.isEmpty, "\(run.errors)")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("null")) == "/dev/null")
        }
    }

    @Test(arguments: ["/dev/stdout", "/dev/fd/1"])
    func standardOutputHasAPath(path: String) throws {
        let whole = try exported()
        #expect(try ToolRun.run(["export", "L", "-o", path], in: folder).output == whole)
        #expect(try shell("\"$0\" export L -o \(path) | cat").output == whole)
        // What is there already stays: the shell said to append.
        #expect(try shell("echo before > f; \"$0\" export L -o \(path) >> f; cat f").output == "before\n" + whole)
    }

    @Test func aLinkToAFileStaysAndTheFileIsReplaced() throws {
        try folder.write("old", to: "real.ndjson")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "real.ndjson")
        #expect(try ToolRun.run(["export", "L", "-o", "link"], in: folder).exitCode == 4)
        #expect(try ToolRun.run(["export", "L", "-o", "link", "--yes"], in: folder).exitCode == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link")) == "real.ndjson")
        #expect(try text("real.ndjson") == exported())
    }

    @Test func aLinkToNothingAndADirectoryAreRefused() throws {
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "none")
        for name in ["link", "L"] {
            let run = try ToolRun.run(["export", "L", "-o", name, "--yes"], in: folder)
            #expect(run.exitCode == 2 && run.errors.contains("write \"\(name)\""), "\(run.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
    }

    /// A cache holds what the log holds: nobody else reads it, whatever the umask.
    @Test(arguments: ["000", "022", "077"])
    func cachesAndLocksAreTheirOwnersAlone(umask: String) throws {
        let run = try shell("umask \(umask); \"$0\" rebuild L --to c.sqlite && \"$0\" rebuild L --to c.sqlite")
        #expect(run.exitCode == 0, "\(run.errors)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("c.sqlite.d"))
        #expect(Set(files) == ["001.sqlite", "002.sqlite", "lock"])
        for name in files {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("c.sqlite.d/" + name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("c.sqlite.d"))
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func aCacheIsMadeNowhereButInItsFolder() throws {
        try FileManager.default.createDirectory(atPath: folder.path("other"), withIntermediateDirectories: false)
        try folder.write("precious", to: "other/001.sqlite.unfinished")
        try FileManager.default.createSymbolicLink(atPath: folder.path("c.sqlite.d"), withDestinationPath: "other")
        let run = try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"], in: folder)
        #expect(run.exitCode != 0 && run.errors.contains("c.sqlite.d"), "\(run.errors)")
        #expect(try text("other/001.sqlite.unfinished") == "precious")
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        #expect(try ToolRun.run(["rebuild", "L", "--to", "pipe", "--yes"], in: folder).exitCode == 2)
    }

    @Test func aLineHasALimit() throws {
        try folder.write("header\n" + String(repeating: "x", count: 100) + "\n1234567890\nlast", to: "lines")
        let limits = LineReader.Limits(firstBytesMax: 6, bytesMax: 100)
        let reader = try LineReader(folder.path("lines"), limits: limits)
        for length in [6, 100, 10, 4] { #expect(try reader.next()?.count == length) }
        #expect(try reader.next() == nil)
        let short = try LineReader(folder.path("lines"), limits: .init(firstBytesMax: 6, bytesMax: 99))
        _ = try short.next()
        #expect(throws: Failure.self) { try short.next() }
        #expect(throws: Failure.self) {
            try LineReader(folder.path("lines"), limits: .init(firstBytesMax: 5, bytesMax: 100)).next()
        }
        // A line that never ends is not read to its end.
        let endless = try LineReader("/dev/zero", limits: .init(firstBytesMax: 1 << 20, bytesMax: 1 << 20))
        #expect(throws: Failure.self) { try endless.next() }
    }
}
