import Foundation
import TestSupport

/// One run of the built `logtool` on a terminal of its own: what came to the screen, and how it ended.
struct TerminalRun {
    let screen: String
    let exitCode: Int32

    /// Runs the tool with its output and errors on a pseudo-terminal, and reads all that it writes there.
    static func run(
        _ arguments: [String],
        in folder: TemporaryDirectory,
        environment: [String: String] = [:],
        columns: UInt16 = 100
    ) throws -> TerminalRun {
        let terminal = try PseudoTerminal(columns: columns)
        let process = Process()
        process.executableURL = try ToolRun.executable
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = ["PATH": "/usr/bin:/bin", "TERM": "xterm"].merging(environment) { _, given in given }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = terminal.device
        process.standardError = terminal.device
        try process.run()
        try terminal.device.close()
        let screen = terminal.readToEnd()
        process.waitUntilExit()
        return TerminalRun(screen: screen, exitCode: process.terminationStatus)
    }
}

/// A pair of a terminal and what is behind it.
final class PseudoTerminal {
    /// What a program sees.
    let device: FileHandle
    private let screen: Int32

    init(columns: UInt16) throws {
        var (outside, inside): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&outside, &inside, nil, nil, &size) == 0 else { throw CocoaError(.fileReadUnknown) }
        for descriptor in [outside, inside] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        screen = outside
        device = FileHandle(fileDescriptor: inside, closeOnDealloc: true)
    }

    deinit {
        close(screen)
    }

    /// Types a text at it.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(screen, bytes, bytes.count)
    }

    /// All that is written until nobody has the terminal open any more, with plain line ends.
    func readToEnd() -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(screen, &piece, piece.count)
            if count > 0 {
                bytes.append(contentsOf: piece[..<count])
            } else if count == 0 || errno != EINTR {
                return String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
            }
        }
    }
}
