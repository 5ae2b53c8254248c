import Foundation
import TestSupport
import Testing

/// What the apps' own clients and servers held after they were given the same frames and files: `compare.py` in the folder
/// `shared` beside the package counts the facts that differ, and there are none.
///
/// By default the small cases, each of which shows one thing; `EVENTLOG_LONG_TESTS=1` takes all (minutes in a debug
/// build). `LOGTOOL_PROGRAM` names another program to ask.
@Suite struct ClientStateTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test(
        .needs(shared: "clients/compare.py"),
        arguments: ["retrocast-web", "sidebar-web", "vibechannel-vscode", "retrocast-server", "punchlist-server"]
    )
    func showsWhatTheClientHeld(client: String) throws {
        let script = try #require(PackageRoot.shared("clients/compare.py"))
        let cases = try Self.cases(of: client, beside: script)
        let run = try Self.run(script, cases)
        #expect(run.exitCode == 0, "\(run.output.suffix(4_000))")
        #expect(run.output.contains("facts agree"))
    }

    /// The names of the cases to compare.
    private static func cases(of client: String, beside script: URL) throws -> [String] {
        if environment["EVENTLOG_LONG_TESTS"] != nil { return [client] }
        let folder = script.deletingLastPathComponent().appending(path: client)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let names = files.filter { $0.hasSuffix(".client.json.gz") }.map { $0.dropLast(".client.json.gz".count) }
        let small = names.filter { $0.hasPrefix("small-") }
        return (small.isEmpty ? names.prefix(1) : small[...]).map { "\(client)/\($0)" }
    }

    private static func run(_ script: URL, _ cases: [String]) throws -> ToolRun {
        let directory = try TemporaryDirectory()
        let output = directory.path("output")
        try Data().write(to: URL(filePath: output))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        let program = try ToolRun.executable.path
        process.arguments = [script.path, program] + cases
        process.environment = ["PATH": "/usr/bin:/bin", "SHOW": "40", "TMPDIR": directory.url.path]
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        process.standardError = process.standardOutput
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let text = String(decoding: FileManager.default.contents(atPath: output) ?? Data(), as: UTF8.self)
        return ToolRun(output: text, errors: "", exitCode: process.terminationStatus)
    }
}
