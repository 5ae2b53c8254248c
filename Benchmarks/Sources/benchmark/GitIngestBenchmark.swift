import EventLog
import Foundation
import Ingest

/// A branch of so many commits recorded from a clone, beside `git log --raw` and then `git cat-file --batch` over the
/// same objects, whose output is read and dropped.
struct GitIngestBenchmark {
    let commits: Int
    let scratch: Scratch
    var rounds = 3

    func run() throws -> [Figure] {
        let repository = try makeRepository()
        let objects = scratch.fresh("objects")
        let count = try listObjects(of: repository, to: objects)
        var rates: [Double] = []
        var plain: [Double] = []
        for round in 0..<rounds {
            plain.append(
                Double(commits)
                    / (try seconds {
                        _ = try git(Self.log, in: repository)
                        _ = try git(["cat-file", "--batch"], in: repository, input: objects)
                    })
            )
            rates.append(Double(commits) / (try seconds { try record(repository, round: round) }))
        }
        return [
            Figure("ingest git (\(count) objects)", events: commits, rates: rates, beside: "git", plain, goal: 0.5)
        ]
    }

    private func record(_ repository: String, round: Int) throws {
        let source = GitSource(
            repository: repository,
            branch: "vibechannel",
            name: try SourceName("vibe"),
            clock: { Timestamp(seconds: 1_767_225_600) }
        )
        let store = try EventStore.openOrCreate(at: scratch.fresh("git-\(round).eventlog"))
        let summary = try Recorder.record(source, into: store)
        guard summary.appended == commits else { throw CocoaError(.fileReadCorruptFile) }
    }

    private static let log = ["log", "--raw", "--no-abbrev", "--no-renames", "--root", "refs/heads/vibechannel"]
}

extension GitIngestBenchmark {
    /// A bare repository with a branch `vibechannel` of so many commits; its path.
    func makeRepository() throws -> String {
        let path = scratch.fresh("chat.git")
        let stream = scratch.fresh("stream")
        var generated = GeneratedCommits()
        try generated.stream(commits).write(toFile: stream, atomically: false, encoding: .utf8)
        _ = try git(["init", "--quiet", "--bare", path], in: "/")
        _ = try git(["fast-import", "--quiet"], in: path, input: stream)
        return path
    }

    /// Writes the ids of every commit and of every file that a commit brings; how many there are.
    private func listObjects(of repository: String, to path: String) throws -> Int {
        let format = ["log", "--raw", "--no-abbrev", "--no-renames", "--root", "--format=%H", "refs/heads/vibechannel"]
        let text = try git(format, in: repository, keepsOutput: true)
        var ids: [Substring] = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count == 1 {
                ids.append(line)
            } else if !fields[3].allSatisfy({ $0 == "0" }) {
                ids.append(fields[3])
            }
        }
        try (ids.joined(separator: "\n") + "\n").write(toFile: path, atomically: false, encoding: .utf8)
        return ids.count
    }

    /// Runs git; its output is read, and kept only where that is asked for.
    @discardableResult
    private func git(_ arguments: [String], in folder: String, input: String? = nil, keepsOutput: Bool = false) throws
        -> String
    {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git", "-C", folder, "--no-pager"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardInput =
            try input.map { try FileHandle(forReadingFrom: URL(filePath: $0)) }
            ?? FileHandle.nullDevice
        try process.run()
        var kept = Data()
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = read(output.fileHandleForReading.fileDescriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            if keepsOutput { kept += buffer[..<count] }
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        return String(decoding: kept, as: UTF8.self)
    }
}
