import Foundation
import TestSupport
import Testing

@testable import logtool

/// The scenarios as the tool sees them, in this build and in a release build.
@Suite struct ReleaseBuildTests {
    /// `scripts/test` makes one; where there is none, there is nothing to compare with.
    private static var release: URL? {
        let file = PackageRoot.url.appending(path: ".build/release/logtool")
        if FileManager.default.isExecutableFile(atPath: file.path) { return file }
        print("note: skipped, for there is no release build; make one with: swift build -c release --product logtool")
        return nil
    }

    @Test func debugAndReleaseGiveTheSameBytes() throws {
        guard let release = Self.release else { return }
        let folder = try TemporaryDirectory()
        let scenarios = try FileManager.default.contentsOfDirectory(
            at: PackageRoot.scenarios,
            includingPropertiesForKeys: nil
        )
        for scenario in scenarios.sorted(by: { $0.path < $1.path }) {
            let capture = scenario.appending(path: "capture.ndjson")
            guard FileManager.default.fileExists(atPath: capture.path),
                let about = try? String(contentsOf: scenario.appending(path: "about.md"), encoding: .utf8),
                let kind = about.firstMatch(of: /(?m)^kind: *(\w+)$/)?.1
            else { continue }
            let arguments = ["capture", capture.path, "--kind", String(kind), "--as", scenario.lastPathComponent]
            #expect(try ToolRun.run(["ingest", "L"] + arguments, in: folder).exitCode == 0)
        }
        for arguments in [["replay", "L", "--json"], ["replay", "L"], ["replay", "L", "--digest", "--each"]] {
            let debug = try ToolRun.run(arguments, in: folder)
            #expect(debug.exitCode == 0)
            #expect(try ToolRun.run(arguments, in: folder, program: release).output == debug.output)
        }
    }
}
