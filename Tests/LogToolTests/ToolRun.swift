import Foundation
import TestSupport

/// One run of the built `logtool` in a folder of its own: what it printed, apart, and how it ended.
struct ToolRun {
    let output: String
    let errors: String
    let exitCode: Int32

    /// Runs the tool and waits for it.
    static func run(
        _ arguments: [String],
        in folder: TemporaryDirectory,
        input: Data = Data(),
        environment: [String: String] = [:],
        program: URL? = nil
    ) throws -> ToolRun {
        let process = Process()
        process.executableURL = try program ?? executable
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
            .merging(environment) { _, given in given }
        // Files, not pipes: nothing can fill up and hang.
        let names = ["in", "out", "err"].map { folder.path(".\($0)-\(UUID().uuidString)") }
        try input.write(to: URL(filePath: names[0]))
        for name in names.dropFirst() { try Data().write(to: URL(filePath: name)) }
        let handles = try (
            FileHandle(forReadingFrom: URL(filePath: names[0])),
            FileHandle(forWritingTo: URL(filePath: names[1])),
            FileHandle(forWritingTo: URL(filePath: names[2]))
        )
        (process.standardInput, process.standardOutput, process.standardError) = handles
        try process.run()
        process.waitUntilExit()
        let texts = try names.dropFirst().map {
            String(decoding: try Data(contentsOf: URL(filePath: $0)), as: UTF8.self)
        }
        for name in names { try FileManager.default.removeItem(atPath: name) }
        return ToolRun(output: texts[0], errors: texts[1], exitCode: process.terminationStatus)
    }

    /// Runs the tool and kills it at a time drawn from the first `time` and a little more.
    static func killed(
        _ arguments: [String],
        in folder: TemporaryDirectory,
        after time: Duration,
        _ random: inout SeededGenerator
    ) throws {
        let process = Process()
        process.executableURL = try executable
        (process.arguments, process.currentDirectoryURL) = (arguments, folder.url)
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        usleep(UInt32(Double.random(in: 0..<1.1, using: &random) * Double(time.microseconds)))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The program beside the test bundle, or the one that `LOGTOOL_PROGRAM` names, such as a release build.
    static var executable: URL {
        get throws {
            if let named = ProcessInfo.processInfo.environment["LOGTOOL_PROGRAM"] { return URL(filePath: named) }
            let candidates = folders.map { $0.appending(path: "logtool") }
            guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
                throw CocoaError(.fileNoSuchFile)
            }
            return found
        }
    }

    private static var folders: [URL] {
        let bundles = Bundle.allBundles.filter { $0.bundlePath.hasSuffix(".xctest") }.map(\.bundleURL)
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let arguments = CommandLine.arguments.prefix(1).map { URL(filePath: $0) }
        return (bundles + [program] + arguments).map { $0.deletingLastPathComponent() }
            + [PackageRoot.url.appending(path: ".build/debug")]
    }
}
