import Foundation

/// `docs/reader.py`, another program that reads logs by `docs/format.md` alone, with Debian's python3-lmdb.
public enum PythonReader {
    private static let python = "/usr/bin/python3"

    /// True if it can run. On Debian: apt-get install python3-lmdb.
    public static let isInstalled = PythonPeer.isInstalled("lmdb")

    /// Reads logs; gives what the reader prints of them, one line each, errors included.
    public static func run(_ paths: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = [PackageRoot.url.appending(path: "docs/reader.py").path] + paths
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }
}
