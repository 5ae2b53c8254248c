import Foundation
import TestSupport

/// A `logtool` that is running: to be watched from outside and ended by a signal.
final class ToolProcess {
    private let process = Process()
    private let outputPath: String
    private let errorsPath: String

    init(
        _ arguments: [String],
        in folder: TemporaryDirectory,
        environment: [String: String] = [:],
        input: FileHandle = .nullDevice
    ) throws {
        (outputPath, errorsPath) = (folder.path(".out-\(UUID().uuidString)"), folder.path(".err-\(UUID().uuidString)"))
        for path in [outputPath, errorsPath] { try Data().write(to: URL(filePath: path)) }
        process.executableURL = try ToolRun.executable
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = ["PATH": "/usr/bin:/bin"].merging(environment) { _, given in given }
        process.standardInput = input
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: outputPath))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: errorsPath))
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var isRunning: Bool { process.isRunning }

    /// What it has printed so far.
    var output: String {
        String(decoding: FileManager.default.contents(atPath: outputPath) ?? Data(), as: UTF8.self)
    }

    /// What it has said so far.
    var errors: String {
        String(decoding: FileManager.default.contents(atPath: errorsPath) ?? Data(), as: UTF8.self)
    }

    /// What everybody sees of it in the list of processes; empty where there is no /proc.
    var commandLine: String { information("cmdline") }

    /// What the system says of its memory; empty where there is no /proc.
    var memoryMap: String { information("smaps") }

    /// The most memory that it has had, in bytes; `nil` where there is no /proc.
    var peakMemory: Int? {
        let line = information("status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split { !$0.isNumber }.first.flatMap { Int($0) }.map { $0 << 10 }
    }

    private func information(_ name: String) -> String {
        // `FileManager` reads no more than one piece of such a file.
        let file = FileHandle(forReadingAtPath: "/proc/\(process.processIdentifier)/\(name)")
        return String(decoding: ((try? file?.readToEnd()) ?? nil) ?? Data(), as: UTF8.self)
    }

    /// Sends a signal and waits for the end.
    func end(_ signal: Int32) -> ToolRun {
        kill(process.processIdentifier, signal)
        return wait()
    }

    /// Waits for the end.
    func wait() -> ToolRun {
        process.waitUntilExit()
        let texts = [outputPath, errorsPath].map {
            String(decoding: FileManager.default.contents(atPath: $0) ?? Data(), as: UTF8.self)
        }
        return ToolRun(output: texts[0], errors: texts[1], exitCode: process.terminationStatus)
    }
}
