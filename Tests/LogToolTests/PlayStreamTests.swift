#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// Event streams, status files and repositories, played and recorded again.
@Suite(.hangGuard) struct PlayStreamTests {
    let bench: PlayBench

    init() throws {
        bench = try PlayBench()
    }

    @Test(arguments: [["--speed", "max"], ["--speed", "20"]])
    func anEventStreamIsTheSameWhenItIsRecordedAgain(pace: [String]) async throws {
        var traffic = RecordedTraffic(kind: "sse.event/1")
        var number = 0
        for connection in 0..<10 {
            try traffic.open()
            try traffic.frame("retry: 1000\n\n")
            for place in 0..<4 {
                let lines = (0..<3).map { #"data: {"id":"w-\#($0)","title":"grün \#(number)","status":"open"}"# }
                try traffic.frame("id: \(place == 0 ? 0 : number)\r\n" + lines.joined(separator: "\n") + "\n\n")
                number += 2
                traffic.pass(milliseconds: 300)
            }
            if connection == 3 { try traffic.frame("id: 9\ndata: cut off") }
            let isOrderly = connection % 2 == 0
            if connection < 9 { try traffic.close(0, isOrderly ? "the server ended the stream" : "connection lost") }
        }
        try bench.makeLog("A", traffic.drafts)
        let expected = try bench.events("A").payloads(of: "sse.event/1")
        let (player, address) = try await bench.play("A", ["--as", "sse", "--json"] + pace)
        let recorder = try bench.record("B", "kind: sse, address: \"http://\(address)/subscribe/%23work\", as: chat")
        let events = try await bench.wait("B") { $0.payloads(of: "sse.event/1").count >= expected.count - 1 }
        // What was cut off is no event for a recorder; all others are the same bytes.
        let recorded = try await bench.wait("B") { $0.payloads(of: "sse.event/1").last == expected.last }
        #expect(events.count <= recorded.count)
        let whole = expected.filter { $0.hasSuffix("\n\n") }
        #expect(recorded.payloads(of: "sse.event/1").filter { $0.hasSuffix("\n\n") } == whole)
        _ = recorder.end(SIGTERM)
        let run = player.end(SIGTERM)
        #expect(run.output.contains(#""divergences":[]"#), "\(run.output)")
    }

    @Test func theCommandRouteAnswersFromTheState() async throws {
        var traffic = RecordedTraffic(kind: "sse.event/1")
        try traffic.open()
        let ticket =
            #"{"id":"wrk-1","title":"Milk","status":"open","created":"2026-03-04T05:06:07Z","modified":"2026-03-04T05:06:07Z"}"#
        try traffic.frame("id: 0\ndata: \(ticket)\n\n")
        try bench.makeLog("A", traffic.drafts)
        let (player, address) = try await bench.play("A", ["--as", "sse", "--json", "--from", "head"])
        let list = try bench.post(address, "/ko", #"{"argv":["ls","--all","--json"]}"#)
        #expect(list.contains(#""id":"wrk-1""#) && list.contains(#""title":"Milk""#), "\(list)")
        #expect(try bench.post(address, "/ko", #"{"argv":["close","wrk-1"]}"#) == "wrk-1 updated\n")
        #expect(try bench.post(address, "/ko", "nothing").hasPrefix("invalid JSON"))
        let run = player.end(SIGTERM)
        #expect(run.output.contains(#"sent \"close\""#), "\(run.output)")
    }

    @Test func aClientThatLeavesAStreamGetsTheRest() async throws {
        var traffic = RecordedTraffic(kind: "sse.event/1")
        try traffic.open()
        for number in 0..<6 { try traffic.frame("id: \(number)\ndata: \(number)\n\n") }
        try bench.makeLog("A", traffic.drafts)
        let (player, address) = try await bench.play("A", ["--as", "sse", "--speed", "max"])
        let first = try bench.get(address, "/subscribe/%23work", seconds: 1)
        #expect(first.contains("data: 0\n") && first.contains("data: 5\n"))
        let rest = try bench.get(address, "/subscribe/%23work", header: "Last-Event-ID: 3", seconds: 1)
        #expect(rest == "id: 4\ndata: 4\n\nid: 5\ndata: 5\n\n", "\(rest)")
        _ = player.end(SIGTERM)
    }

    /// A connection that is cut takes with it what was on its way: who names an earlier event gets the rest, and then the end, again.
    @Test func aClientGetsWhatWasLostWhenAStreamWasCut() async throws {
        var traffic = RecordedTraffic(kind: "sse.event/1")
        for connection in 0..<2 {
            try traffic.open()
            for number in 0..<3 { try traffic.frame("id: \(connection)\(number)\ndata: \(number)\n\n") }
            try traffic.frame("id: 9\ndata: cut off")
            try traffic.close(0, "connection lost")
        }
        try bench.makeLog("A", traffic.drafts)
        let (player, address) = try await bench.play("A", ["--as", "sse", "--speed", "max", "--json"])
        let rests = [
            ("", "id: 00\ndata: 0\n\nid: 01\ndata: 1\n\nid: 02\ndata: 2\n\nid: 9\ndata: cut off"),
            ("00", "id: 01\ndata: 1\n\nid: 02\ndata: 2\n\nid: 9\ndata: cut off"),
            ("unheard of", "id: 00\ndata: 0\n\nid: 01\ndata: 1\n\nid: 02\ndata: 2\n\nid: 9\ndata: cut off"),
            // This client has every whole event: the last one was cut off.
            ("02", "id: 10\ndata: 0\n\nid: 11\ndata: 1\n\nid: 12\ndata: 2\n\nid: 9\ndata: cut off"),
            ("11", "id: 12\ndata: 2\n\nid: 9\ndata: cut off"),
        ]
        for (id, rest) in rests {
            let header = id.isEmpty ? "X-Nothing: 1" : "Last-Event-ID: \(id)"
            let given = try bench.get(address, "/subscribe/%23work", header: header, seconds: 5)
            #expect(given == rest, "after \(id)")
        }
        let run = player.end(SIGTERM)
        #expect(run.output.contains(#""connections":2"#), "\(run.output)")
    }

    @Test func aClientThatAlwaysNamesTheSameEventStopsNothing() async throws {
        var traffic = RecordedTraffic(kind: "sse.event/1")
        for connection in 0..<2 {
            try traffic.open()
            for number in 0..<2 { try traffic.frame("id: \(connection)\(number)\ndata: \(number)\n\n") }
            try traffic.close(0, "connection lost")
        }
        try bench.makeLog("A", traffic.drafts)
        let (player, address) = try await bench.play("A", ["--as", "sse", "--speed", "max"])
        var given: [String] = []
        while given.last?.contains("id: 11") != true, given.count < 20 {
            given.append(try bench.get(address, "/subscribe/%23work", header: "Last-Event-ID: 00", seconds: 5))
        }
        #expect(given.first == "id: 00\ndata: 0\n\nid: 01\ndata: 1\n\n", "\(given)")
        #expect(given.last == "id: 10\ndata: 0\n\nid: 11\ndata: 1\n\n", "\(given)")
        #expect(given.dropFirst().dropLast().allSatisfy { $0 == "id: 01\ndata: 1\n\n" }, "\(given)")
        _ = player.end(SIGTERM)
    }

    @Test func statusFilesAppearChangeAndVanishAgain() async throws {
        var drafts: [DraftEvent] = []
        for number in 0..<60 {
            let isRemoved = number % 7 == 6
            drafts.append(
                DraftEvent(
                    recordedAt: Timestamp(microseconds: 1_767_225_600_000_000 + Int64(number) * 300_000),
                    source: try SourceName("status"),
                    kind: try EventKind("status.file/1"),
                    key: try EventKey("c1/\(number)"),
                    attributes: try Attributes([
                        Attributes.Pair(
                            name: "path",
                            value: "/tmp/vibestatus-\(number % 3 == 0 || isRemoved ? "a" : "b").json"
                        ),
                        Attributes.Pair(name: "op", value: isRemoved ? "remove" : "write"),
                    ]),
                    payload: Array((isRemoved ? "" : #"{"status":"working","n":\#(number)}"#).utf8)
                )
            )
        }
        try bench.makeLog("A", drafts)
        let folder = bench.folder.path("watched")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let recorder = try bench.record("B", "kind: status, address: \(folder), as: status", speed: 1)
        try await bench.wait("B") { !$0.isEmpty }
        let run = try ToolRun.run(["play", "A", "--as", "files", "--to", folder, "--speed", "max"], in: bench.folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        let count = drafts.count
        let events = try await bench.wait("B") { $0.payloads(of: "status.file/1").count >= count }
        #expect(events.payloads(of: "status.file/1") == drafts.map { String(decoding: $0.payload, as: UTF8.self) })
        _ = recorder.end(SIGTERM)
        let again = try ToolRun.run(["play", "A", "--as", "files", "--to", folder], in: bench.folder)
        #expect(again.exitCode == 4)
    }

    /// Under the temporary name of the process lies a second name of somebody's file, then a FIFO without a reader.
    @Test(arguments: ["ln '../precious'", "mkfifo"])
    func aPlantedTemporaryFileIsNotWrittenTo(plant: String) throws {
        let draft = DraftEvent(
            recordedAt: Timestamp(seconds: 1_767_225_600),
            source: try SourceName("status"),
            kind: try EventKind("status.file/1"),
            key: try EventKey("c1/1"),
            attributes: ["path": "/tmp/vibestatus-a.json", "op": "write"],
            payload: Array("{}".utf8)
        )
        try bench.makeLog("A", [draft])
        try bench.folder.write("precious\n", to: "precious")
        // `exec` keeps the process number that the name is made of.
        let script =
            "mkdir to && cd to && \(plant) .play-$$ && cd .. && exec \"$0\" play A --as files --to to --yes --speed max"
        let run = try ToolRun.run(
            ["-c", script, try ToolRun.executable.path],
            in: bench.folder,
            program: URL(filePath: "/bin/sh")
        )
        #expect(run.exitCode == 0, "\(run.errors)")
        let manager = FileManager.default
        #expect(manager.contents(atPath: bench.folder.path("precious")) == Data("precious\n".utf8))
        #expect(manager.contents(atPath: bench.folder.path("to/vibestatus-a.json")) == Data("{}".utf8))
        let mode = try manager.attributesOfItem(atPath: bench.folder.path("to/vibestatus-a.json"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func aRepositoryGrowsAsItDid() async throws {
        let source = bench.folder.path("source")
        let script = """
            set -e; export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:01Z'
            git init -q -b vibechannel '\(source)'; cd '\(source)'; git config user.name Ada; git config user.email ada@x
            mkdir -p "grün & co"; printf 'one\\n' > 'grün & co/a "b".md'; git add -A; git commit -qm 'first: grün'
            printf 'two\\nno end' > c.md; ln -s c.md link; git add -A; git commit -qm 'second' -m 'body'
            git checkout -qb side; printf 'side\\n' > s.md; git add -A; git commit -qm side
            git checkout -q vibechannel; git mv c.md d.md; git commit -qm move
            git merge -q --no-ff -m merge side; rm d.md; mkdir d.md; printf 'x' > d.md/e; git add -A; git commit -qm dir
            """
        let shell = try ToolRun.run(["-c", script], in: bench.folder, program: URL(filePath: "/bin/sh"))
        #expect(shell.exitCode == 0, "\(shell.errors)")
        for (log, repository) in [("A", source), ("B", bench.folder.path("play.git"))] {
            if log == "B" {
                let words = ["play", "A", "--as", "git", "--to", repository, "--speed", "max", "--json"]
                let run = try ToolRun.run(words, in: bench.folder)
                #expect(run.exitCode == 0 && run.output.contains(#""given":6"#), "\(run.output)\(run.errors)")
            }
            let words = ["ingest", log, "git", repository, "--branch", "vibechannel", "--as", "vibe"]
            #expect(try ToolRun.run(words, in: bench.folder).exitCode == 0)
        }
        #expect(try bench.commits("A") == bench.commits("B"))
        #expect(try bench.commits("A").count == 6)
        #expect(try ToolRun.run(["play", "A", "--as", "git", "--to", "play.git"], in: bench.folder).exitCode == 4)
    }

    /// More than waits in memory for git to read it, so that git is waited for between commits.
    @Test func commitsOfManyMegabytesArePlayedWhole() throws {
        let text = String(repeating: "0123456789abcde\\n", count: 20_000)
        let texts = ["a", "b", "c"].map { #"{"path":"\#($0)","text":"\#(text)"}"# }.joined(separator: ",")
        let changes = ["a", "b", "c"].map { #"{"path":"\#($0)","to":{"mode":"100644","blob":"\#(blob)"}}"# }
        let person = #"{"name":"Ada","email":"ada@x","time":1767225600}"#
        let drafts = try (1...24).map { number in
            let id = String(repeating: "0", count: 38) + (number < 10 ? "0\(number)" : "\(number)")
            let document =
                #"{"commit":"\#(id)","parents":[{"changes":[\#(changes.joined(separator: ","))]}],"author":\#(person),"#
                + #""committer":\#(person),"message":"\#(number)","files":[\#(texts)]}"#
            return DraftEvent(
                recordedAt: Timestamp(microseconds: 1_767_225_600_000_000),
                source: try SourceName("vibe"),
                kind: try EventKind("git.commit/1"),
                key: try EventKey("\(number)"),
                payload: Array(document.utf8)
            )
        }
        try bench.makeLog("A", drafts)
        let run = try ToolRun.run(["play", "A", "--as", "git", "--to", "play.git", "--speed", "max"], in: bench.folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(try git(["cat-file", "-s", "vibechannel:c"]) == "320000\n")
        let path = bench.folder.path("play.git")
        let files = try FileManager.default.subpathsOfDirectory(atPath: path).map { "\(path)/\($0)" } + [path]
        let open = try files.filter { file in
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int ?? 0
            return mode & 0o077 != 0
        }
        #expect(open == [])
    }

    @Test(arguments: [#"\n"#, #"\r\n"#])
    func whatALogSaysOfAFileIsNoCommandOfGit(end: String) async throws {
        let command = "\(end)reset refs/heads/evil\(end)from :1\(end)\(end)"
        let changes = [
            #"{"path":"a","to":{"mode":"100644 inline a\ndata 1\nx\#(command)","blob":"\#(blob)"}}"#,
            #"{"path":"b","to":{"mode":"160000","blob":"\#(blob) b\#(command)"}}"#,
            #"{"path":"c\#(command)","to":{"mode":"100755","blob":"\#(blob)"}}"#,
        ]
        let person = #"{"name":"Ada\#(command)","email":"ada@x\#(command)","time":1767225600}"#
        let document =
            #"{"commit":"\#(blob)","parents":[{"changes":[\#(changes.joined(separator: ","))]}],"author":\#(person),"#
            + #""committer":\#(person),"message":"m\#(command)","files":[{"path":"a","text":"t\#(command)"}]}"#
        let draft = DraftEvent(
            recordedAt: Timestamp(microseconds: 1_767_225_600_000_000),
            source: try SourceName("vibe"),
            kind: try EventKind("git.commit/1"),
            key: try EventKey("1"),
            payload: Array(document.utf8)
        )
        try bench.makeLog("A", [draft])
        let words = ["play", "A", "--as", "git", "--to", "play.git", "--speed", "max"]
        let run = try ToolRun.run(words, in: bench.folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(try git(["for-each-ref", "--format=%(refname)"]) == "refs/heads/vibechannel\n")
        // git prints a quoted name with the escapes that the document has.
        let files = #"100644 a|100644 b|100755 "c"# + command + #""|"#
        let listed = try git(["ls-tree", "-r", "--format=%(objectmode) %(path)", "vibechannel"])
        #expect(listed.replacing("\n", with: "|") == files)
    }

    private let blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

    /// What git prints of the repository that was played.
    private func git(_ arguments: [String]) throws -> String {
        let words = ["git", "--git-dir=\(bench.folder.path("play.git"))"] + arguments
        return try ToolRun.run(words, in: bench.folder, program: URL(filePath: "/usr/bin/env")).output
    }
}

extension PlayBench {
    /// The commit documents without ids.
    fileprivate func commits(_ log: String) throws -> [String] {
        try events(log).payloads(of: "git.commit/1").map {
            $0.replacing(/"(commit|blob)":"[0-9a-f]{40}"/) { "\"\($0.output.1)\"" }
        }
    }

    fileprivate func post(_ address: String, _ path: String, _ body: String) throws -> String {
        try get(address, path, method: "POST", body: body)
    }
}
#endif
