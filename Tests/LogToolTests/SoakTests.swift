#if Recorders
import Foundation
import TestSupport
import Testing

/// Every recorder at once, in the real program, against servers that fail by a seeded plan while it is killed again and
/// again (`Fixtures/soak`). The longer form: `EVENTLOG_LONG_TESTS=1 swift test --filter SoakTests`.
@Suite(.hangGuard) struct SoakTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == "1"
    /// `EVENTLOG_SOAK_SEED` runs a plan again that a failure named.
    private static let seed = ProcessInfo.processInfo.environment["EVENTLOG_SOAK_SEED"] ?? "1"

    @Test func theLogSaysInTheEndWhatTheServersKnow() throws {
        let python = "/usr/bin/python3"
        guard FileManager.default.isExecutableFile(atPath: python) else {
            return print("note: python3 is not installed; the soak is not run")
        }
        let folder = try TemporaryDirectory()
        let run = try ToolRun.run(
            [
                PackageRoot.url.appending(path: "Fixtures/soak/soak.py").path,
                "--logtool", try ToolRun.executable.path, "--seed", Self.seed,
                "--seconds", Self.isLong ? "120" : "4", "--patience", Self.isLong ? "120" : "40",
            ],
            in: folder,
            environment: ["TMPDIR": folder.url.path, "PYTHONDONTWRITEBYTECODE": "1"],
            program: URL(filePath: python)
        )
        print(run.output)
        #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
    }
}
#endif
