import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct StatsCommandTests {
    @Test func cachesCountAsDisk() throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 20)
        let before = try bytes(of: folder)
        #expect(before["caches"] == 0)
        // Makes the index of channels, which is a cache.
        _ = try ToolRun.run(["replay", "L", "--channel", "10"], in: folder)
        let caches = try FileManager.default.contentsOfDirectory(atPath: folder.path("L"))
            .filter { $0.hasPrefix("cache-") }
        try #require(caches.count == 1)
        let after = try bytes(of: folder)
        #expect(try #require(after["caches"]) > 0)
        #expect(after["disk"] == (before["disk"] ?? 0) + (after["caches"] ?? 0))
        #expect(try ToolRun.run(["stats", "L"], in: folder).output.contains("of it caches)"))
    }

    private func bytes(of folder: TemporaryDirectory) throws -> [String: Int] {
        let run = try ToolRun.run(["stats", "L", "--json"], in: folder)
        let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        return try #require(document?["bytes"] as? [String: Int])
    }
}
