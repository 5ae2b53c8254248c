import Foundation

/// A server of another program, written with a library of Python, in a process of its own; ends with its owner.
public final class PythonPeer {
    private let process = Process()
    private let input = Pipe()
    /// Where it listens, on 127.0.0.1.
    public let port: Int

    private static let python = "/usr/bin/python3"

    /// A script ended before it listened.
    public struct DidNotStart: Error {
        let script: String
    }

    /// Starts a script of `Fixtures/peers`, whose library must be installed.
    public init(_ script: String, _ arguments: [String]) throws {
        let path = PackageRoot.url.appending(path: "Fixtures/peers/\(script)").path
        let output = Pipe()
        process.executableURL = URL(filePath: Self.python)
        process.arguments = [path] + arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw DidNotStart(script: script)
        }
        self.port = port
    }

    /// Ends it.
    public func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// True if a library of Python is installed.
    public static func isInstalled(_ library: String) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = ["-c", "import \(library)"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// True if the peers that speak WebSocket can run: they need the server of python3-websockets 14.
    public static let hasWebSockets = isInstalled("websockets.asyncio.server")
}
