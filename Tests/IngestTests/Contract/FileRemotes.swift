#if Recorders
import EventLog
import Foundation
import JSON
import TestSupport

@testable import Ingest

/// Texts of files, some of them odd.
enum OddFiles {
    static let all: [(name: String, bytes: [UInt8])] = [
        ("a.md", Array("---\r\nfrom: ada\r\n---\r\nhi \\u00fc \u{FEFF}\t \r\n".utf8)), ("b.md", []),
        ("c.md", Array("no line end \u{2028} \"q\"".utf8)), ("d.md", Array("\n\n \r\r\n".utf8)),
    ]
}

/// A folder of status files.
struct StatusRemote: ContractRemote {
    private let folder: TemporaryDirectory
    let kinds: Set = ["status.file/1"]
    let truths = ["idle", "[redacted]"]
    let odd = OddFiles.all.map(\.bytes) + [[0xFF, 0x00, 0x0D, 0x0A], Array("{ \"state\" :\r\n \"idle\"}".utf8)]
    let secrets = ["t0ken-5ecret"]

    init() throws {
        folder = try TemporaryDirectory()
        try write()
    }

    private func write() throws {
        let secret = Array("{\"access_token\":\"t0ken-5ecret\"}".utf8)
        for (number, bytes) in (odd + [secret]).enumerated() {
            let path = folder.path("new")
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            rename(path, folder.path("vibestatus-\(number).json"))
        }
    }

    func source(follows: Bool) throws -> any LiveSource {
        try StatusSource(
            directory: folder.url.path,
            patterns: ["vibestatus-*.json"],
            name: SourceName("vs"),
            mode: follows ? .watching : .once
        )
    }

    func sendAgain() throws {
        try write()
    }
}

/// A clone, read with the `git` program.
struct GitRemote: ContractRemote {
    private let repository: OddRepository
    let kinds: Set = ["git.commit/1", "git.rewrite/1"]
    let truths = ["ada", "no line end"]
    let odd = OddFiles.all.map(\.bytes)

    init() throws {
        repository = try OddRepository.shared.get()
    }

    func source(follows: Bool) throws -> any LiveSource {
        let clock = { @Sendable in Timestamp(seconds: 1_767_300_000) }
        let git = GitSource(repository: repository.path, name: try SourceName("vibe"), clock: clock)
        return follows ? FollowedGitSource(git, interval: .seconds(1)) : PulledSource(source: git)
    }

    func own(_ event: RecordedEvent) -> [[UInt8]] {
        event.fileTexts
    }
}

/// A repository that nobody changes: a commit a file, and a merge. Made once for all tests, for that takes long.
final class OddRepository: Sendable {
    static let shared = Result { try OddRepository() }

    let path: String
    private let folder: TemporaryDirectory
    /// What GitHub answers about it; the branch does not move, so every question has one answer.
    private let answers = Shared<[String: ScriptedServer.Answer]>([:])

    private init() throws {
        let scratch = try GitScratch()
        for (name, bytes) in OddFiles.all {
            try scratch.write("general/\(name)", bytes)
            try scratch.commit("add \(name)")
        }
        try scratch.git("checkout", "-q", "-b", "side", "HEAD~1")
        try scratch.write("general/side.md", "side")
        try scratch.commit("side")
        try scratch.git("checkout", "-q", "main")
        try scratch.git("merge", "-q", "--no-ff", "-m", "merge", "side")
        (path, folder) = (scratch.path, scratch.directory)
    }

    func answer(_ request: ScriptedServer.Request) throws -> ScriptedServer.Answer {
        let question = "\(request.path) \(request.query.sorted { $0.key < $1.key })"
        if let answer = answers.value[question] { return answer }
        let answer = try FakeGitHub(path).answer(request)
        answers.change { $0[question] = answer }
        return answer
    }
}

extension RecordedEvent {
    /// The texts of a commit document's files.
    var fileTexts: [[UInt8]] {
        let files = JSONValue(received: payload)?["files"]?.array ?? []
        return files.compactMap { $0["text"]?.string.map { Array($0.utf8) } }
    }
}

/// A capture file.
struct CaptureRemote: ContractRemote {
    private let folder: TemporaryDirectory
    let kinds: Set = ["gateway.frame/1"]
    let truths = ["\\u00fc", "READY"]
    let odd: [[UInt8]] = [[0xFF, 0x00], Array("{ \"op\":10,\r\n\"d\":{\"x\":\"\\u00fc \\/\"} }".utf8), []]
    let secrets = ["t0ken-5ecret"]

    init() throws {
        folder = try TemporaryDirectory()
        let lines = [
            #"{"t_ms":1767225600000,"link":"open"}"#,
            #"{"t_ms":1767225600001,"dir":"in","raw":"{ \"op\":10,\r\n\"d\":{\"x\":\"\\u00fc \\/\"} }"}"#,
            #"{"t_ms":1767225600002,"dir":"out","raw":"{\"op\":2,\"d\":{\"token\":\"t0ken-5ecret\"}}"}"#,
            #"{"t_ms":1767225600003,"dir":"in","rawBase64":"\/wA="}"#,
            #"{"t_ms":1767225600004,"dir":"in","raw":""}"#,
            #"{"t_ms":1767225600005,"dir":"in","raw":"{\"op\":0,\"t\":\"READY\",\"s\":1,\"d\":{}}"}"#,
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: folder.path("c.ndjson")))
    }

    func source(follows: Bool) throws -> any LiveSource {
        PulledSource(source: CaptureSource(path: folder.path("c.ndjson"), name: try SourceName("chat")))
    }
}
#endif
