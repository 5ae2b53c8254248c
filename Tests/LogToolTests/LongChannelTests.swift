import EventLog
import Foundation
import Ingest
import Projections
import TestSupport
import Testing

/// Chat branches of real size, by the libraries, from a repository to a compacted log.
@Suite struct LongChannelTests {
    @Test func twoThousandMessagesAreCompactedToFiveHundred() throws {
        let directory = try TemporaryDirectory()
        let branch = GeneratedBranch(messages: 2000, seed: 20_260_119)
        try Self.makeRepository(of: branch, at: directory.path("chat"))
        let store = try Self.ingest(directory.path("chat"), into: directory)
        let full = try store.read { try Replay.logState(of: $0) }
        #expect(full.rows(in: .messages, asOf: Timestamp(seconds: 0)).count == branch.liveCount)

        let policy = RetentionPolicy(messagesPerChannel: 500)
        let summary = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_800_000_000))
        var retained = full.retained(by: policy)
        var found = try store.read { try Replay.logState(of: $0) }
        #expect(summary.digest == retained.digest())
        #expect(found.digest() == retained.digest())
        // The newest five hundred, and what they answer.
        var whole = full
        let newest = (whole.document()["messages"]?.array ?? []).suffix(500)
        let ids = Set(newest.compactMap { $0["id"]?.string })
        let answered = newest.compactMap { $0["replyTo"] }.filter { $0["state"] == .string("live") }
        let parents = Set(answered.compactMap { $0["id"]?.string }).subtracting(ids)
        #expect(!parents.isEmpty)
        #expect(summary.channels.map(\.after) == [500 + parents.count])
        #expect(summary.bytes.after < summary.bytes.before)
        let again = try Compaction.run(store, policy: policy, now: Timestamp(seconds: 1_800_000_001))
        #expect(again.events.before == again.events.after)
        let report = try store.verify()
        #expect(report.damage == nil)

        let later = try Recorder.record(Self.source(directory.path("chat")), into: store)
        #expect(later.appended == 0)
    }

    @Test(.needs(shared: "data/vibechannel.bundle"))
    func theRealBranchIsShownWhole() throws {
        let bundle = try #require(PackageRoot.shared("data/vibechannel.bundle"))
        let directory = try TemporaryDirectory()
        try Self.git(["clone", "-q", "-b", "vibechannel", bundle.path, directory.path("chat")])
        let store = try Self.ingest(directory.path("chat"), into: directory)
        var state = try store.read { try Replay.logState(of: $0) }
        let document = state.document()
        let messages = document["messages"]?.array ?? []
        #expect(document["channels"]?.array?.compactMap { $0["id"]?.string } == ["general", "random"])
        #expect(messages.count == 7)
        #expect(messages.first?["createdAt"]?.string == "2025-11-29T17:35:33.000000Z")
        #expect(document["issues"]?.array?.isEmpty == true)
        let deleted = document["deletedMessages"]?.array ?? []
        #expect(deleted.count == 9)
        #expect(deleted.allSatisfy { $0["content"] != nil && $0["deletedBy"]?.string == "Lucas Gu" })
        let threads = state.threads(source: try SourceName("vibe"), channel: "random")
        #expect(threads.map(\.depth) == [0, 0, 1, 2, 0])
    }

    private static func ingest(_ repository: String, into directory: TemporaryDirectory) throws -> EventStore {
        let store = try EventStore.openOrCreate(at: directory.path("chat.eventlog"))
        _ = try Recorder.record(source(repository), into: store)
        return store
    }

    private static func source(_ repository: String) throws -> GitSource {
        GitSource(
            repository: repository,
            branch: "vibechannel",
            name: try SourceName("vibe"),
            clock: { Timestamp(seconds: 1_780_000_000) }
        )
    }

    private static func makeRepository(of branch: GeneratedBranch, at path: String) throws {
        try git(["init", "-q", "--bare", path])
        try git(["-C", path, "fast-import", "--quiet"], input: branch.fastImportStream)
    }

    private static func git(_ arguments: [String], input: String = "") throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git"] + arguments
        process.environment = ["PATH": "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin", "GIT_CONFIG_NOSYSTEM": "1"]
        let file = FileManager.default.temporaryDirectory.appending(path: "git-input-\(UUID().uuidString)")
        try Data(input.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        process.standardInput = try FileHandle(forReadingFrom: file)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "git \(arguments.first ?? "")")
    }
}
