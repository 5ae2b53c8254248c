import EventLog
import Foundation
import Shipping
import TestSupport
import Testing

/// `catalog` and `pull --all`: many trees, some of them broken or hostile.
@Suite(.hangGuard) struct CatalogCommandTests {
    let folder: TemporaryDirectory

    /// Three trees in a folder.
    init() throws {
        folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: folder.path("trees"), withIntermediateDirectories: true)
        for name in ["a", "b", "c"] {
            let store = try EventStore.openOrCreate(at: folder.path("logs-\(name)"))
            _ = try store.append((1...20).map { try .sample($0, source: name, key: "\($0)") })
            _ = try LogShipment(of: store, to: folder.path("trees/\(name)")).run()
        }
    }

    private func tool(_ arguments: String...) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }

    private func list(_ run: ToolRun) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
    }

    @Test func logsAndTreesAreListed() throws {
        let trees = try list(tool("catalog", "trees", "--json"))
        #expect(trees.map { $0["name"] as? String } == ["a", "b", "c"])
        #expect(
            trees.allSatisfy { $0["head"] as? String == "20" && ($0["lagSeconds"] as? Int).map { $0 < 600 } ?? false }
        )
        #expect(try tool("pull", "--all", "--from", "trees", "--to", "far").exitCode == 0)
        let logs = try list(tool("catalog", "far", "--json"))
        for (log, tree) in zip(logs, trees) {
            for member in ["name", "identity", "head", "root"] {
                #expect(log[member] as? String == tree[member] as? String)
            }
            #expect(log["what"] as? String == "log" && log["sources"] as? [String] == [log["name"] as? String ?? ""])
            #expect(log["clock"] as? String == "1970-01-01T00:00:20.000000Z" && log["seen"] != nil)
            #expect((log["lagSeconds"] as? Int ?? 0) > 1_000_000_000)
        }
        let none = try tool("catalog", "trees/a")
        #expect(none.exitCode == 1 && none.errors.contains("neither a log nor a tree"), "\(none.errors)")
        // As one, they are what their sources are.
        #expect(try tool("stats", "far", "-q").output.contains("60 events"))
    }

    @Test func aBrokenTreeStopsNoOther() throws {
        try folder.write("nonsense", to: "trees/b/checkpoint")
        let catalog = try tool("catalog", "trees", "--json", "--write")
        #expect(try catalog.exitCode == 1 && list(catalog).map { $0["error"] != nil } == [false, true, false])
        let written = try String(contentsOfFile: folder.path("trees/catalog.json"), encoding: .utf8)
        #expect(written.contains(#""name":"c""#) && !written.contains(#""name":"b""#))
        // What is at a log's place stays as it is.
        try FileManager.default.createDirectory(atPath: folder.path("far"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: folder.path("elsewhere"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("far/a"),
            withDestinationPath: folder.path("elsewhere")
        )
        let pull = try tool("pull", "--all", "--from", "trees", "--to", "far")
        #expect(pull.exitCode == 2 && pull.output.hasSuffix("1 tree pulled, 2 not\n"), "\(pull.output)")
        #expect(pull.output.contains("a: not pulled: pull into ") && pull.output.contains("b: not pulled: read tree "))
        #expect(pull.output.contains("c: took 20 events"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("elsewhere")).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("far")).sorted() == ["a", "c"])
    }

    /// The worst code counts: a tree that is not whole yet is less than one that forks off.
    @Test func theExitCodeIsTheWorst() throws {
        try FileManager.default.removeItem(atPath: folder.path("trees/b/manifest"))
        let waits = try tool("pull", "--all", "--from", "trees", "--to", "far", "--json")
        #expect(waits.exitCode == 1, "\(waits.output)")
        #expect(try list(waits).map { $0["exitCode"] as? Int } == [nil, 1, nil])
        _ = try EventStore.open(at: folder.path("far/c")).append([.sample(77, source: "c", key: "77")])
        let store = try EventStore.open(at: folder.path("logs-c"))
        _ = try store.append([.sample(78, source: "c", key: "78"), .sample(79, source: "c", key: "79")])
        _ = try LogShipment(of: store, to: folder.path("trees/c")).run()
        let fork = try tool("pull", "--all", "--from", "trees", "--to", "far")
        #expect(fork.exitCode == 2 && fork.output.contains("c: not pulled: pull into "), "\(fork.output)")
    }

    @Test func namesLeadNowhereElse() {
        for name in ["a", "chat.eventlog", "A_1-b", String(repeating: "x", count: 100)] {
            #expect(TreeCatalog.isName(name))
        }
        for name in [
            "", ".", "..", ".a", "-a", "a/b", "/a", "a\\b", "a b", "a\n", "a\0", "ä", "a%2fb", "../a", "catalog.json",
            String(repeating: "x", count: 101),
        ] {
            #expect(!TreeCatalog.isName(name), "\(name)")
        }
    }

    /// A source whose one file is a catalogue.
    private struct Served: TreeSource {
        let text: String
        var name: String { "served" }

        func bytes(at path: [String], bytesMax: Int) throws -> [UInt8]? {
            guard path == ["catalog.json"] else { return nil }
            guard text.utf8.count <= bytesMax else { throw TreeFault.tooLong("catalog.json", UInt64(bytesMax)) }
            return Array(text.utf8)
        }

        func file(at path: [String], bytesMax: UInt64) throws -> (any TreeFile)? { nil }
    }

    private static func catalogue(_ names: [String]) throws -> String {
        let trees = names.map { ["name": $0] }
        let json: [String: Any] = ["format": "eventlog.catalog/1", "trees": trees]
        return String(decoding: try JSONSerialization.data(withJSONObject: json), as: UTF8.self)
    }

    @Test func nothingOfAHostileCatalogueIsBelieved() throws {
        let good = try TreeCatalog.entries(of: Served(text: Self.catalogue(["a", "b"])))
        #expect(good.map(\.name) == ["a", "b"])
        let many = (0..<10_001).map { "t\($0)" }
        #expect(try TreeCatalog.entries(of: Served(text: Self.catalogue(Array(many.dropLast())))).count == 10_000)
        for text in [
            try Self.catalogue(["a", "../b"]), try Self.catalogue(["a", "a"]), try Self.catalogue([".ssh"]),
            try Self.catalogue(["a/b"]), try Self.catalogue(many), try Self.catalogue([""]), "", "{}", "[]",
            #"{"format":"eventlog.catalog/1"}"#, #"{"format":"eventlog.catalog/1","trees":[{}]}"#,
            #"{"format":"eventlog.catalog/1","trees":[{"name":7}]}"#,
            String(repeating: " ", count: 9 << 20) + "{}",
        ] {
            let error = #expect(throws: EventLogError.self) { try TreeCatalog.entries(of: Served(text: text)) }
            #expect(error?.code == .invalidArgument, "\(text.prefix(80))")
        }
    }

    #if Recorders
    @Test(.enabled(if: PythonPeer.isInstalled("http.server"), "it needs python3"))
    func aWebServersCatalogueIsPulled() throws {
        let server = try PythonPeer("file_server.py", [folder.path("trees"), "secret-token"])
        defer { server.stop() }
        let url = "http://127.0.0.1:\(server.port)/"
        try folder.write("secret-token\n", to: "token")
        let none = try tool("pull", "--all", "--from", url, "--to", "far", "--token-file", "token")
        #expect(none.exitCode == 1 && none.errors.contains("there is no catalog.json"), "\(none.errors)")
        #expect(try tool("catalog", "trees", "--write").exitCode == 0)
        let pull = try tool("pull", "--all", "--from", url, "--to", "far", "--token-file", "token")
        #expect(pull.exitCode == 0 && pull.output.hasSuffix("3 trees pulled\n"), "\(pull.output)\(pull.errors)")
        let catalog = try list(tool("catalog", url, "--json", "--token-file", "token"))
        #expect(
            catalog.map { $0["head"] as? String } == ["20", "20", "20"] && catalog.allSatisfy { $0["seen"] != nil }
        )
    }
    #endif
}
