import Foundation
import TestSupport
import Testing

/// What the program's modules may import.
@Suite struct ImportsTests {
    /// All of Foundation brings tables of ICU, 34 MB of a program that is linked statically, where FoundationEssentials would do.
    @Test(arguments: [
        "EventLog", "Projections", "Clients", "Ingest", "EventLogTesting", "Joining", "Playback", "Reduction",
        "CacheTables",
        "logtool",
    ])
    func allOfFoundationIsImportedOnlyWhereItsEssentialsAreNot(module: String) throws {
        let folder = PackageRoot.url.appending(path: "Sources/\(module)").path
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        #expect(!names.isEmpty)
        for name in names {
            let lines = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8).split(separator: "\n")
            for (before, line) in zip(lines, lines.dropFirst()) where line.hasSuffix("import Foundation") {
                #expect(line.hasPrefix(" ") || before == "#else", "\(module)/\(name)")
            }
        }
    }
}
