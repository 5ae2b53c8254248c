import EventLog
import Foundation
import TestSupport

@testable import Ingest

/// A repository of one test's own, made with the `git` program and none of the user's configuration.
final class GitScratch {
    let directory: TemporaryDirectory
    let path: String
    private var second = 1_767_225_600

    init(name: String = "repository", arguments: [String] = ["-b", "main"]) throws {
        directory = try TemporaryDirectory()
        path = directory.path(name)
        try Self.run(["init", "-q"] + arguments + [path])
    }

    func write(_ name: String, _ text: String) throws {
        try write(name, Array(text.utf8))
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        let url = URL(fileURLWithPath: path).appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    /// Adds everything and commits; gives the commit's id.
    @discardableResult
    func commit(_ message: String, allowEmpty: Bool = true) throws -> String {
        try git("add", "-A")
        try git("commit", "-q", "--no-verify", "--allow-empty", "--allow-empty-message", "-m", message)
        return try git("rev-parse", "HEAD")
    }

    @discardableResult
    func git(_ arguments: String..., input: [UInt8] = []) throws -> String {
        second += 1
        return try Self.run(["-C", path] + arguments, input: input, date: "\(second) +0000")
    }

    @discardableResult
    static func run(_ arguments: [String], input: [UInt8] = [], date: String = "1767225600 +0000") throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "-c", "protocol.file.allow=always"] + arguments
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin", "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C",
            "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_NAME": "Bo", "GIT_COMMITTER_EMAIL": "bo@example.org", "GIT_COMMITTER_DATE": date,
        ]
        let output = Pipe()
        let inputFile = FileManager.default.temporaryDirectory.appendingPathComponent("git-\(UUID().uuidString)")
        try Data(input).write(to: inputFile)
        defer { try? FileManager.default.removeItem(at: inputFile) }
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw GitFailed(arguments: arguments, status: process.terminationStatus)
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    struct GitFailed: Error {
        let arguments: [String]
        let status: Int32
    }
}

extension EventSource {
    /// Everything that the source hands out.
    func all(after history: RecordedHistory = .empty) throws -> [SourceItem] {
        var drafts = try drafts(after: history)
        var items: [SourceItem] = []
        while let item = try drafts.next() { items.append(item) }
        return items
    }

    func allDrafts(after history: RecordedHistory = .empty) throws -> [DraftEvent] {
        try all(after: history).compactMap {
            if case .draft(let draft, _) = $0 { return draft }
            return nil
        }
    }
}

extension GitSource {
    init(_ scratch: GitScratch, branch: String? = nil) throws {
        self.init(
            repository: scratch.path,
            branch: branch,
            name: try SourceName("vibe"),
            clock: { Timestamp(seconds: 1_767_300_000) }
        )
    }
}

/// The history of a source whose log holds the given drafts.
func history(of drafts: [DraftEvent], bookmark: String? = nil) -> RecordedHistory {
    let keys = drafts.compactMap(\.key)
    return RecordedHistory(
        bookmark: bookmark.map { Array($0.utf8) },
        holdsKey: { keys.contains($0) },
        latestKey: { keys.last }
    )
}

extension DraftEvent {
    var text: String { String(decoding: payload, as: UTF8.self) }

    /// The payload as JSON.
    func object() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any] ?? [:]
    }
}
