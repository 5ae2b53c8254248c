#if Recorders
import Foundation
import TestSupport
import Testing

/// A logtool that listens, and the clients of other programs.
enum ProxyTool {
    /// Starts `proxy` or `observe`, and returns once clients can connect.
    static func start(_ arguments: [String], in folder: TemporaryDirectory) async throws -> (
        tool: ToolProcess, port: Int
    ) {
        let tool = try ToolProcess(arguments, in: folder)
        while tool.isRunning {
            if let match = tool.errors.firstMatch(of: /at http:\/\/127\.0\.0\.1:([0-9]+)[ \/]/) {
                return (tool, try #require(Int(match.1)))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw CocoaError(.fileReadUnknown, userInfo: ["stderr": tool.errors])
    }

    /// Runs a script of `Fixtures/peers` to its end.
    static func run(_ script: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [PackageRoot.url.appending(path: "Fixtures/peers/\(script)").path] + arguments
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let told = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(String(decoding: told, as: UTF8.self))")
    }
}
#endif
