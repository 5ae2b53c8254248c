import Foundation
import TestSupport
import Testing

@testable import Ingest

@Suite(.hangGuard) struct GitProcessTests {
    private func start(_ arguments: [String], takesInput: Bool = false, among children: GitChildren = GitChildren())
        throws -> GitProcess
    {
        let command = SpawnedProgram(
            executable: "/usr/bin/env",
            arguments: arguments,
            environment: ["PATH": "/usr/bin:/bin"]
        )
        return try GitProcess(command, name: "test", takesInput: takesInput, among: children, subject: "test")
    }

    private func output(_ arguments: String...) throws -> [String] {
        let process = try start(arguments)
        let text = String(decoding: try process.output.readToEnd(limit: 1 << 20), as: UTF8.self)
        #expect(process.finish().status == 0)
        return text.split(separator: "\n").map(String.init)
    }

    private static let hasProcessFiles = FileManager.default.fileExists(atPath: "/proc/self/status")

    @Test(.enabled(if: hasProcessFiles, "it reads /proc")) func aProgramHasNoSignalOfOurs() throws {
        signal(SIGUSR2, SIG_IGN)
        var blocked = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGUSR1)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let own = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
        #expect(try set("SigBlk", in: own) & 0x200 != 0)
        #expect(try set("SigIgn", in: own) & 0x800 != 0)
        let status = try output("cat", "/proc/self/status").joined(separator: "\n")
        // Without the real-time signals that the C library keeps for itself.
        #expect(try set("SigBlk", in: status) & 0x7FFF_FFFF == 0)
        #expect(try set("SigIgn", in: status) & 0x7FFF_FFFF == 0)
    }

    private func set(_ name: String, in status: String) throws -> UInt64 {
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name + ":") })
        return try #require(UInt64(line.suffix(16), radix: 16))
    }

    @Test(.enabled(if: hasProcessFiles, "it reads /proc")) func aProgramInheritsNoDescriptorAndLeadsItsGroup() throws {
        let open = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/null"))
        defer { try? open.close() }
        // The fourth is the listing itself.
        #expect(try output("ls", "/proc/self/fd") == ["0", "1", "2", "3"])
        let fields = try output("cat", "/proc/self/stat").joined().split(separator: " ")
        #expect(fields[0] == fields[4])
    }

    @Test func aProgramThatIsDroppedEndsWithWhatItStarted() throws {
        var process: GitProcess? = try start(["sh", "-c", "sleep 1000 & echo $!; sleep 1000"])
        let line = try #require(try process?.output.read(upTo: 0x0A))
        let grandchild = try #require(pid_t(String(decoding: line, as: UTF8.self)))
        process = nil
        // Reaped by whoever adopts it; until then it is dead, not asleep.
        while kill(grandchild, 0) == 0, Self.state(of: grandchild) != "Z" { sched_yield() }
    }

    private static func state(of process: pid_t) -> String? {
        let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return text?.split(separator: " ").dropFirst(2).first.map(String.init)
    }

    @Test func endingTheProgramsOfASourceEndsWhatItWaitsFor() throws {
        let children = GitChildren()
        let process = try start(["sleep", "1000"], takesInput: true, among: children)
        Thread.detachNewThread { children.end() }
        #expect(try process.output.read(upTo: 0x0A) == nil)
        let ending = process.finish()
        #expect(ending.status == 128 + SIGKILL)
        #expect(ending.reason == "test was ended by signal 9")
        #expect(throws: IngestError.self) { try start(["true"], among: children) }
    }

    @Test func aProgramThatReadsEndsWhenItsInputDoes() throws {
        let process = try start(["cat"], takesInput: true)
        process.submit(Array("a\n".utf8))
        #expect(try process.output.read(upTo: 0x0A) == [0x61])
        #expect(process.finish().status == 0)
    }

    @Test func ofAComplaintOnlyAnIdIsPassedOn() throws {
        let id = String(repeating: "ab", count: 20)
        let named = try start(["sh", "-c", "echo 'fatal: hunter2 \(id).' >&2; exit 128"])
        #expect(named.finish().reason == "test: object \(id) is missing or damaged")
        let unnamed = try start(["sh", "-c", "echo 'fatal: bad line hunter2' >&2; exit 128"])
        #expect(unnamed.finish().reason == "test ended with status 128")
    }

    @Test func whatCannotBeStartedIsSaid() throws {
        let command = SpawnedProgram(executable: "/nonexistent", arguments: [], environment: [:])
        #expect(throws: IngestError.self) {
            try GitProcess(command, name: "test", takesInput: true, among: GitChildren(), subject: "test")
        }
    }
}
