import EventLog
import Foundation
import JSON
import Shipping
import TestSupport
import Testing

/// `ship`, `pull` and `events --follow` through a real server on this machine.
@Suite(.hangGuard, .enabled(if: NATSServer.isThere, "needs nats-server, and a build with the trait NATS"))
struct JetStreamTests: ShippingSuite {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 60)
    }

    private func append(_ number: Int, to log: String = "L") throws { try append(number..<number + 1, to: log) }

    private func counts(_ output: String) throws -> JSONValue { try JSONValue.parse(output) }

    @Test func aLogTravels() throws {
        let server = try NATSServer()
        let shipped = try counts(done("ship", "L", "--to", server.address, "--json"))
        #expect(shipped["published"]?.number?.int64 == shipped["acknowledged"]?.number?.int64)
        #expect(shipped["resent"]?.number?.int64 == 0)
        #expect(try done("pull", "copy", "--from", server.address).hasPrefix("took "))
        #expect(try areSame("L", "copy"))
        try append(1)
        let next = try counts(done("ship", "L", "--to", server.address, "--json"))
        #expect(next["published"]?.number?.int64 == 1)
        #expect(try done("pull", "copy", "--from", server.address).hasPrefix("took 1 event: "))
        #expect(try done("pull", "copy", "--from", server.address).hasPrefix("the log has everything already: "))
        #expect(try areSame("L", "copy"))
        // Again from a process that knows nothing: the stream has all.
        #expect(try counts(done("ship", "L", "--to", server.address, "--json"))["published"]?.number?.int64 == 0)
    }

    /// What was acknowledged is gone after a crash; the stream is told by what it holds.
    @Test func aLostTailIsPublishedAgain() throws {
        let server = try NATSServer()
        try done("ship", "L", "--to", server.address)
        for number in 1...4 {
            try append(number)
            try done("ship", "L", "--to", server.address)
        }
        server.stop()
        try server.loseTail()
        try server.start()
        let again = try counts(done("ship", "L", "--to", server.address, "--json"))
        #expect((again["published"]?.number?.int64 ?? 0) > 0)
        try done("pull", "copy", "--from", server.address)
        #expect(try areSame("L", "copy"))
    }

    /// Both ends are killed at any time, through a real server.
    @Test func kills() throws {
        try folder.makeLog(messages: 700)
        let server = try NATSServer()
        let rounds = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 2 : 150
        try killBothEnds(
            ["ship", "L", "--to", server.address, "-q"],
            ["pull", "copy", "--from", server.address, "-q"],
            rounds: rounds,
            seed: 51
        )
    }

    /// A pull that was killed once a redaction had taken effect leaves the old generation: the next one removes it, though nothing is new.
    @Test func leftoversAreRemoved() throws {
        let server = try NATSServer()
        try done("ship", "L", "--to", server.address)
        try done("pull", "copy", "--from", server.address)
        let left = folder.path("copy/gone-000009")
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        #expect(try done("pull", "copy", "--from", server.address).hasPrefix("the log has everything already: "))
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    /// Without a sender what is missing is named, and the exit code is 1; a sender that runs publishes it when it is asked.
    @Test func aSenderFillsAHole() async throws {
        let server = try NATSServer()
        try done("ship", "L", "--to", server.address)
        try done("pull", "copy", "--from", server.address)
        try append(1)
        try done("ship", "L", "--to", server.address)
        server.stop()
        try FileManager.default.removeItem(atPath: server.folder.path("store"))
        try server.start()
        let none = try ToolRun.run(["pull", "other", "--from", server.address], in: folder)
        #expect(none.exitCode == 1, "\(none.errors)")
        let sender = try ToolProcess(["ship", "L", "--to", server.address, "--follow"], in: folder)
        try await until(sender) { $0.contains(" published, ") }
        try done("pull", "copy", "--from", server.address, "--arrival", "60s")
        #expect(try areSame("L", "copy"))
        let run = sender.end(SIGINT)
        #expect(run.exitCode == 130 && run.output.contains(" published, "), "\(run.output) \(run.errors)")
    }

    @Test func aRedactionTravels() throws {
        let server = try NATSServer()
        try done("ship", "L", "--to", server.address)
        try done("pull", "copy", "--from", server.address)
        try done("redact", "L", "--match", "message 59", "--yes")
        let shipped = try counts(done("ship", "L", "--to", server.address, "--json"))
        #expect((shipped["removed"]?.number?.int64 ?? 0) > 0)
        #expect(try done("pull", "copy", "--from", server.address).contains(" and followed 1 rewrite: "))
        #expect(try areSame("L", "copy"))
        #expect(!(try done("export", "copy", "-q")).contains("message 59\""))
        try done("pull", "new", "--from", server.address)
        #expect(try areSame("L", "new"))
    }

    /// A copy that grows, and a list of what comes, while the server crashes between.
    @Test func copiesFollow() async throws {
        let server = try NATSServer()
        let sender = try ToolProcess(["ship", "L", "--to", server.address, "--follow"], in: folder)
        // Then there is a stream.
        try await until(sender) { $0.contains(" published, ") }
        let list = try ToolProcess(["events", "copy", "--follow", "--from", server.address, "--jsonl"], in: folder)
        let head = try EventStore.open(at: folder.path("L")).read { $0.head.rawValue }
        try await until(list) { $0.split(separator: "\n").count >= head }
        try append(1)
        try await until(list) { $0.split(separator: "\n").count >= head + 1 }
        server.stop()
        try append(2)
        try server.start()
        try await until(list) { $0.split(separator: "\n").count >= head + 2 }
        _ = (sender.end(SIGINT), list.end(SIGINT))
        #expect(try areSame("L", "copy"))
    }

    /// Waits for a process to print something; the suite's limit ends a wait in vain.
    private func until(_ process: ToolProcess, _ isDone: (String) -> Bool) async throws {
        while !isDone(process.output) {
            try #require(process.isRunning, "\(process.errors)")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test func tokensAreAskedForAndNotRepeated() throws {
        let server = try NATSServer("authorization { token: \"s3cret-t0ken\" }")
        try folder.write("s3cret-t0ken\n", to: "token")
        try folder.write("wr0ng-t0ken\n", to: "wrong")
        try done("ship", "L", "--to", server.address, "--token-file", "token")
        try done("pull", "copy", "--from", server.address, "--token-file", "token")
        let refused = try ToolRun.run(["pull", "copy", "--from", server.address, "--token-file", "wrong"], in: folder)
        #expect(refused.exitCode == 2 && !refused.errors.contains("wr0ng"), "\(refused.errors)")
    }

    /// The table "Subjects and rights" of docs/ship.md: its rows for one end.
    private func rights(of column: Int, stream: String, identity: String) throws -> (pub: [String], sub: [String]) {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "docs/ship.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") && $0.split(separator: "|").count == 4 }
        var (publishing, subscribing): ([String], [String]) = ([], [])
        for row in rows {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let subjects = cells[0].split(separator: "`").filter { $0.contains(".") }.map {
                $0.replacingOccurrences(of: "SOURCE", with: "*")
                    .replacingOccurrences(of: "eventlog.IDENTITY", with: "eventlog.\(identity)")
                    .replacingOccurrences(of: "$JS.API.STREAM", with: "$JS.API.\u{1}")
                    .replacingOccurrences(of: "STREAM", with: stream)
                    .replacingOccurrences(of: "\u{1}", with: "STREAM")
            }
            if cells[column].contains("publishes") { publishing += subjects }
            if cells[column].contains("subscribes") { subscribing += subjects }
        }
        return (publishing, subscribing)
    }

    /// Users with exactly the rights that the page lists: both ends work, and what else they try is denied by name.
    @Test func leastRightsAreEnough() async throws {
        let identity = try EventStore.open(at: folder.path("L")).identity.hexDigits
        let stream = "eventlog-\(identity)"
        let keys = NATSOperator()
        for (number, name) in [(1, "sender"), (2, "receiver")] {
            let rights = try rights(of: number + 1, stream: stream, identity: identity)
            #expect(rights.pub.count > 3 && rights.sub.count > 1, "\(rights)")
            try folder.write(
                keys.credentials(number: UInt8(10 + number), publishing: rights.pub, subscribing: rights.sub),
                to: name
            )
        }
        let server = try NATSServer(keys.settings)
        let sender = try ToolProcess(
            ["ship", "L", "--to", server.address, "--credentials", "sender", "--follow"],
            in: folder
        )
        try await until(sender) { $0.contains(" published, ") }
        try done("pull", "copy", "--from", server.address, "--credentials", "receiver")
        try append(1)
        try done("pull", "copy", "--from", server.address, "--credentials", "receiver", "--arrival", "60s")
        try done("redact", "L", "--match", "message 59", "--yes")
        try await until(sender) { $0.contains(" from before a rewrite removed") }
        try done("pull", "copy", "--from", "\(server.address)/\(stream)", "--credentials", "receiver")
        #expect(try areSame("L", "copy"))
        let compared = try done("verify", "copy", "--against", server.address, "--credentials", "receiver")
        #expect(compared.contains("the sender's log at "))
        #expect(sender.end(SIGINT).exitCode == 130)
        // What is not theirs.
        try append(2, to: "copy")
        let denied = try ToolRun.run(
            ["ship", "copy", "--to", server.address, "--credentials", "receiver"],
            in: folder
        )
        #expect(denied.exitCode == 2 && denied.errors.contains("Permissions Violation"), "\(denied.errors)")
        let nobody = try ToolRun.run(["pull", "other", "--from", server.address], in: folder)
        #expect(nobody.exitCode == 2 && nobody.errors.contains("Authentication Violation"), "\(nobody.errors)")
        let unnamed = try ToolRun.run(
            ["pull", "other", "--from", server.address, "--credentials", "sender"],
            in: folder
        )
        #expect(unnamed.exitCode == 2 && unnamed.errors.contains("Permissions Violation"), "\(unnamed.errors)")
    }

    /// A copy is compared with the stream, and with a sender that runs.
    @Test func copiesAreCompared() throws {
        let server = try NATSServer()
        try done("ship", "L", "--to", server.address)
        try done("pull", "copy", "--from", server.address)
        let against = ["verify", "copy", "--against", server.address]
        let same = try ToolRun.run(against, in: folder)
        #expect(
            same.exitCode == 0 && same.output.contains("the stream at nats://")
                && same.output.contains(" has the same first ")
        )
        let head = try EventStore.open(at: folder.path("L")).read { $0.head.rawValue }
        try append(1, to: "copy")
        let ahead = try ToolRun.run(against + ["--json"], in: folder)
        #expect(ahead.exitCode == 0 && ahead.output.contains(#""agrees":"\#(head)""#), "\(ahead.output)")
        try append(2)
        try done("ship", "L", "--to", server.address)
        let fork = try ToolRun.run(against, in: folder)
        #expect(fork.exitCode == 1 && fork.errors.contains("from sequence \(head + 1) on"), "\(fork.errors)")
        let none = try ToolRun.run(["verify", "copy", "--against", server.address + "/nothing"], in: folder)
        #expect(none.exitCode == 1, "\(none.errors)")
    }

    #if Recorders
    /// What is recorded comes into the stream, also when the server was away.
    @Test func recordersShipByThemselves() async throws {
        try FileManager.default.createDirectory(atPath: folder.path("one"), withIntermediateDirectories: true)
        try folder.write("first", to: "one/vibestatus-a.json")
        let server = try NATSServer()
        let source = "{kind: status, address: one, as: one, poll: true, interval: 20ms}"
        try folder.write(
            "logs: [{path: R, ship: {to: '\(server.address)', every: 1s}, sources: [\(source)]}]",
            to: "c.yaml"
        )
        let recorder = try ToolProcess(["record", "--config", "c.yaml"], in: folder)
        func arrives(_ text: String) async throws {
            while true {
                _ = try ToolRun.run(["pull", "copy", "--from", server.address], in: folder)
                if try ToolRun.run(["events", "copy", "--payload"], in: folder).output.contains(text) { return }
                try #require(recorder.isRunning, "\(recorder.errors)")
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        try await arrives("first")
        server.stop()
        try folder.write("second", to: "one/vibestatus-a.json")
        try server.start()
        try await arrives("second")
        #expect(recorder.end(SIGTERM).exitCode == 143)
    }
    #endif

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "needs openssl"))
    func certificatesAreChecked() throws {
        for (name, host) in [("server", "localhost"), ("other", "localhost"), ("elsewhere", "elsewhere.example")] {
            try openssl(
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=\(host)",
                "-addext",
                "subjectAltName=DNS:\(host)",
                "-keyout",
                "\(name).key",
                "-out",
                "\(name).pem"
            )
        }
        let server = try NATSServer(
            "tls { cert_file: \"\(folder.path("server.pem"))\", key_file: \"\(folder.path("server.key"))\", timeout: 10 }"
        )
        let address = "tls://localhost:\(server.port)"
        try done("ship", "L", "--to", address, "--ca-file", "server.pem")
        try done("pull", "copy", "--from", address, "--ca-file", "server.pem")
        #expect(try areSame("L", "copy"))
        let refused = try ToolRun.run(["pull", "no", "--from", address, "--ca-file", "other.pem"], in: folder)
        #expect(refused.exitCode == 2, "\(refused.errors)")
        // A trusted certificate of another server.
        let keys = "cert_file: \"\(folder.path("elsewhere.pem"))\", key_file: \"\(folder.path("elsewhere.key"))\""
        let elsewhere = try NATSServer("tls { \(keys), timeout: 10 }")
        let misled = try ToolRun.run(
            ["pull", "no", "--from", "tls://localhost:\(elsewhere.port)", "--ca-file", "elsewhere.pem"],
            in: folder
        )
        #expect(misled.exitCode == 2 && !FileManager.default.fileExists(atPath: folder.path("no")), "\(misled.errors)")
    }

    private func openssl(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        (process.arguments, process.currentDirectoryURL) = (arguments, folder.url)
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}

/// What needs no server.
@Suite(.hangGuard) struct StreamAddressTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    /// A password in an address stays out of every message.
    @Test(arguments: [["ship", "L", "--to"], ["pull", "copy", "--from"], ["events", "copy", "--follow", "--from"]])
    func passwordsAreRefused(command: [String]) throws {
        let run = try ToolRun.run(command + ["nats://me:s3cret@127.0.0.1:1/stream"], in: folder)
        #expect(run.exitCode == 2 && !run.errors.contains("s3cret") && !run.output.contains("s3cret"), "\(run.errors)")
    }

    /// A token is no secret on a line that anyone reads.
    @Test(.enabled(if: NATSServer.isThere, "needs a build with the trait NATS")) func aTokenGoesNowhereUnencrypted()
        throws
    {
        try folder.write("s3cret\n", to: "token")
        let run = try ToolRun.run(["ship", "L", "--to", "nats://192.0.2.1", "--token-file", "token"], in: folder)
        #expect(
            run.exitCode == 2 && run.errors.contains("use tls://") && !run.errors.contains("s3cret"),
            "\(run.errors)"
        )
    }

    @Test(arguments: ["tls://a,b", "nats://", "nats://a b", "nats://127.0.0.1/a.b", "nats://127.0.0.1/>"])
    func otherAddressesAreRefused(address: String) throws {
        #expect(try ToolRun.run(["ship", "L", "--to", address], in: folder).exitCode == 2)
    }

    /// No server, or no NATS in this build.
    @Test func nobodyAnswers() throws {
        let run = try ToolRun.run(["ship", "L", "--to", "nats://127.0.0.1:1"], in: folder)
        #expect(run.exitCode == 2, "\(run.errors)")
        #expect(run.errors.contains("nats://127.0.0.1:1"))
    }

    /// Only `pull` and `events --follow` read from a server.
    @Test(arguments: [["gaps", "L"], ["events", "L"], ["export", "L"]])
    func otherCommandsTakePoints(command: [String]) throws {
        let run = try ToolRun.run(command + ["--from", "nats://127.0.0.1:1"], in: folder)
        #expect(run.exitCode != 0 && run.exitCode != 1, "\(run.errors)")
    }
}
