import Foundation

/// A server of another program, written with a library of Python, in a process of its own; ends with its owner.
public final class PythonPeer {
    private let process = Process()
    private let input = Pipe()
    /// Where it listens, on 127.0.0.1.
    public let port: Int

    /// Starts a script of `Fixtures/peers`; `nil`, with a note, where the library is not installed.
    public init?(_ script: String, _ arguments: [String], library: String = "websockets") throws {
        let python = "/usr/bin/python3"
        guard FileManager.default.isExecutableFile(atPath: python), try Self.has(library, python) else {
            print("note: python3-\(library) is not installed; \(script) is not tested")
            return nil
        }
        let path = PackageRoot.url.appending(path: "Fixtures/peers/\(script)").path
        let output = Pipe()
        process.executableURL = URL(filePath: python)
        process.arguments = [path] + arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else { return nil }
        self.port = port
    }

    /// Ends it.
    public func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Whether a library is installed.
    public static func has(_ library: String, _ python: String) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = ["-c", "import \(library)"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
