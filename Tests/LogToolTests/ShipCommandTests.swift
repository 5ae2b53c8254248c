import EventLog
import Foundation
import TestSupport
import Testing

/// `ship`, `pull` and `verify --against` as a person uses them, with programs of others.
@Suite(.hangGuard) struct ShipCommandTests: ShippingSuite {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 700)
    }

    private static let hasOpenSSL = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    private func run(_ program: String, _ arguments: [String]) throws -> (output: String, exitCode: Int32) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (String(decoding: bytes, as: UTF8.self), process.terminationStatus)
    }

    @Test func aLogTravels() throws {
        #expect(try done("ship", "L", "--to", "tree").contains("in 1 bundle of "))
        #expect(try done("pull", "copy", "--from", "tree").hasPrefix("took "))
        #expect(try areSame("L", "copy"))
        try append(1..<4)
        try done("ship", "L", "--to", "tree")
        #expect(try done("pull", "copy", "--from", "tree").hasPrefix("took 3 events: "))
        #expect(try areSame("L", "copy"))
        #expect(try done("pull", "copy", "--from", "tree").hasPrefix("the log has everything already: "))
        #expect(try done("ship", "L", "--to", "tree").contains(" has everything already: "))
        #expect(try tool("verify", "copy").exitCode == 0)
        #expect(try done("verify", "copy", "--against", "tree").contains("has the same first "))
    }

    /// A program that knows nothing but the specifications agrees, and `openssl` with the signature.
    @Test(.enabled(if: hasOpenSSL && PythonPeer.isInstalled("hashlib"), "it needs python3 and openssl"))
    func othersReadTheTree() throws {
        #expect(try run("/usr/bin/openssl", ["genpkey", "-algorithm", "ed25519", "-out", "key.pem"]).exitCode == 0)
        #expect(try run("/usr/bin/openssl", ["pkey", "-in", "key.pem", "-pubout", "-out", "pub.pem"]).exitCode == 0)
        let first = try done("ship", "L", "--to", "tree", "--key", "key.pem", "--origin", "example.org/l", "--entries")
        let verifier = try #require(first.split(separator: " ").last).trimmingCharacters(in: .newlines)
        let reader = PackageRoot.url.appending(path: "Fixtures/peers/tree_reader.py").path
        func minimum() throws -> String {
            let manifest = try Data(contentsOf: URL(filePath: folder.path("tree/manifest/\(head(of: "L"))")))
            let document = try JSONSerialization.jsonObject(with: manifest) as? [String: Any]
            return document?["minimumIndex"] as? String ?? "0"
        }
        for range in [1..<2, 2..<300, 300..<301] {
            try append(range)
            try done("ship", "L", "--to", "tree", "--key", "key.pem")
            #expect(try minimum() == "0")
            let read = try run("/usr/bin/python3", [reader, "tree", "pub.pem", "--minimum", "0"])
            let root = try JSONSerialization.jsonObject(with: Data(done("root", "L", "--json").utf8)) as? [String: Any]
            let (size, hash) = (root?["treeSize"] as? String ?? "", root?["root"] as? String ?? "")
            #expect(read.exitCode == 0 && read.output.hasPrefix("\(size) \(hash) "), "\(read.output)")
        }
        #expect(try done("pull", "copy", "--from", "tree", "--verifier", verifier).contains(", signed as asked"))
        try folder.write(done("prove", "L", "17", "--checkpoint", "tree/checkpoint"), to: "proof")
        #expect(
            try done("prove", "--check", "proof", "--verifier", verifier).hasPrefix("holds: event 17 is in the log ")
        )
        let checked = try run("/usr/bin/python3", [reader, "--proof", "proof", "pub.pem"])
        #expect(checked.exitCode == 0 && checked.output.hasPrefix("17 "), "\(checked.output)")
        let proof = try String(contentsOfFile: folder.path("proof"), encoding: .utf8)
        try folder.write(proof.replacingOccurrences(of: "index 16", with: "index 17"), to: "wrong")
        #expect(try tool("prove", "--check", "wrong").exitCode == 1)
        #expect(try tool("prove", "copy", "9999", "--checkpoint", "tree/checkpoint").exitCode == 1)
        // After a compaction the entries from the minimum index on are whole, and the hashes all there.
        try done("compact", "L", "--keep", "5", "--no-archive")
        for range in [400..<401, 401..<900] {
            try append(range)
            try done("ship", "L", "--to", "tree", "--key", "key.pem")
            let index = try minimum()
            #expect(Int(index).map { $0 > 0 } == true)
            let read = try run("/usr/bin/python3", [reader, "tree", "pub.pem", "--minimum", index])
            #expect(read.exitCode == 0, "\(read.output)")
            let below = try run(
                "/usr/bin/python3",
                [reader, "tree", "pub.pem", "--minimum", String((Int(index) ?? 0) - 1)]
            )
            #expect(below.exitCode == 1, "\(below.output)")
        }
        // A tree that anybody else has written.
        try done("ship", "L", "--to", "other", "--origin", "example.org/l")
        let unsigned = try tool("pull", "none", "--from", "other", "--verifier", verifier)
        #expect(unsigned.exitCode == 2 && unsigned.errors.contains("it has no signature of example.org/l"))
        #expect(try run("/usr/bin/openssl", ["genpkey", "-algorithm", "ed25519", "-out", "key.pem"]).exitCode == 0)
        try done("ship", "L", "--to", "forged", "--key", "key.pem", "--origin", "example.org/l")
        #expect(try tool("pull", "none", "--from", "forged", "--verifier", verifier).exitCode == 2)
        #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
    }

    @Test func aForkIsRefusedWhereItBegins() throws {
        try done("ship", "L", "--to", "tree")
        try done("pull", "copy", "--from", "tree")
        let size = try head(of: "L")
        try append(1..<3, to: "copy")
        #expect(try done("pull", "copy", "--from", "tree").hasPrefix("the log is ahead: "))
        try append(3..<9)
        try done("ship", "L", "--to", "tree")
        let pull = try tool("pull", "copy", "--from", "tree")
        #expect(pull.exitCode == 2 && pull.errors.contains("fork at sequence \(size + 1): "), "\(pull.errors)")
        let verify = try tool("verify", "copy", "--against", "tree")
        #expect(verify.exitCode == 1 && verify.errors.contains("from sequence \(size + 1) on"), "\(verify.errors)")
        let ship = try tool("ship", "copy", "--to", "tree")
        #expect(ship.exitCode == 2 && ship.errors.contains("not the first ones of this log"), "\(ship.errors)")
        #expect(try head(of: "copy") == size + 2)
    }

    /// What is redacted goes everywhere; what a compaction dropped goes where that is wanted.
    @Test func rewritesTravel() throws {
        try done("ship", "L", "--to", "tree")
        try done("pull", "copy", "--from", "tree")
        try done("redact", "L", "--match", "message 699", "--yes")
        let ship = try tool("ship", "L", "--to", "tree")
        #expect(ship.exitCode == 0 && ship.errors.contains("rsync --delete"))
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path("tree"))
        where file.hasSuffix(".zst") {
            #expect(!file.contains("1-\(try head(of: "copy"))-"))
        }
        #expect(try done("pull", "copy", "--from", "tree").contains(" and followed 1 rewrite: "))
        #expect(try areSame("L", "copy") && !done("export", "copy").contains("message 699"))
        try done("compact", "L", "--keep", "5", "--no-archive")
        try done("ship", "L", "--to", "tree")
        let refused = try tool("pull", "copy", "--from", "tree")
        #expect(refused.exitCode == 4 && refused.errors.contains("--compacted"), "\(refused.errors)")
        #expect(try done("pull", "copy", "--from", "tree", "--compacted").contains(" and followed 1 rewrite: "))
        #expect(try areSame("L", "copy"))
        try append(1..<3)
        try done("ship", "L", "--to", "tree")
        #expect(try done("pull", "copy", "--from", "tree").hasPrefix("took 2 events: "))
        try done("pull", "new", "--from", "tree")
        #expect(try areSame("L", "new") && tool("verify", "new", "--deep").exitCode == 0)
        #expect(try done("replay", "L", "--digest") == done("replay", "new", "--digest"))
    }

    /// A copy whose files arrive in any order gives the last whole tree, or waits.
    @Test func filesArriveInAnyOrder() throws {
        try done("ship", "L", "--to", "tree")
        try FileManager.default.copyItem(atPath: folder.path("tree"), toPath: folder.path("far"))
        try append(1..<400)
        try done("ship", "L", "--to", "tree")
        let before = try head(of: "L") - 399
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path("tree")).filter {
            !FileManager.default.fileExists(atPath: folder.path("far/\($0)")) && !$0.hasSuffix(".lock")
        }
        // The checkpoint first, as a tool may do; then one file after another.
        for file in ["checkpoint", "checkpoint.previous"] + files
        where !file.hasPrefix("checkpoint") || file.contains("c") {
            let (source, target) = (folder.path("tree/\(file)"), folder.path("far/\(file)"))
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: source, isDirectory: &isFolder), isFolder.boolValue {
                try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
                continue
            }
            try? FileManager.default.removeItem(atPath: target)
            try FileManager.default.copyItem(atPath: source, toPath: target)
            let pull = try tool("pull", "copy", "--from", "far")
            let isThere = try pull.exitCode != 0 || [before, before + 399].contains(head(of: "copy"))
            #expect(isThere && pull.exitCode <= 1, "\(file): \(pull.errors)")
        }
        #expect(try areSame("L", "copy"))
    }

    #if Recorders
    @Test(.enabled(if: PythonPeer.isInstalled("http.server"), "it needs python3"))
    func aWebServerCarriesIt() throws {
        try done("ship", "L", "--to", "tree")
        let server = try PythonPeer("file_server.py", [folder.path("tree"), "secret-token"])
        defer { server.stop() }
        let url = "http://127.0.0.1:\(server.port)/"
        let refused = try tool("pull", "copy", "--from", url)
        #expect(refused.exitCode == 2 && refused.errors.contains("status 403"), "\(refused.errors)")
        try folder.write("secret-token\n", to: "token")
        try done("pull", "copy", "--from", url, "--token-file", "token")
        #expect(try areSame("L", "copy"))
        #expect(try done("verify", "copy", "--against", url, "--token-file", "token").contains("has the same first "))
        let none = try tool("pull", "copy", "--from", url + "nothing", "--token-file", "token")
        #expect(none.exitCode == 1 && none.errors.contains("there is no checkpoint"), "\(none.errors)")
    }
    #endif

    /// Killed at any time, the tree can be pulled, and the next run of each goes on.
    @Test func kills() throws {
        let rounds = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 3 : 150
        try killBothEnds(
            ["ship", "L", "--to", "tree", "-q"],
            ["pull", "copy", "--from", "tree", "-q"],
            rounds: rounds,
            seed: 50
        )
    }
}
