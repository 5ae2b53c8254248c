import Foundation
import TestSupport

/// A nats-server with JetStream on the loopback, with a folder of its own.
final class NATSServer {
    static let program = "/usr/sbin/nats-server"

    static var isThere: Bool {
        #if NATS
        FileManager.default.isExecutableFile(atPath: program)
        #else
        false
        #endif
    }

    let folder: TemporaryDirectory
    private let settings: String
    private var process: Process?
    private(set) var port = -1

    /// - Parameter settings: lines of the server's file.
    init(_ settings: String = "") throws {
        (folder, self.settings) = (try TemporaryDirectory(), settings)
        try start()
    }

    deinit { stop() }

    var address: String { "nats://127.0.0.1:\(port)" }

    /// Starts it, at the port that it had before.
    func start() throws {
        let text = "listen: \"127.0.0.1:\(port)\"\njetstream { store_dir: \"\(folder.path("store"))\" }\n\(settings)\n"
        try folder.write(text, to: "nats.conf")
        let (process, errors) = (Process(), Pipe())
        process.executableURL = URL(filePath: Self.program)
        process.arguments = ["-c", folder.path("nats.conf")]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, errors)
        try process.run()
        self.process = process
        // It says where it listens, and that it is ready.
        var said = ""
        while !said.contains("Server is ready") {
            let data = errors.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Fault(said: said) }
            said += String(decoding: data, as: UTF8.self)
        }
        let words = said.split(whereSeparator: \.isWhitespace)
        if let place = words.first(where: { $0.hasPrefix("127.0.0.1:") }), let port = Int(place.dropFirst(10)) {
            self.port = port
        }
        errors.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    /// Ends it as a crash does.
    func stop() {
        guard let process, process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// What it keeps of messages.
    func messageFiles() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path("store")).filter { $0.hasSuffix(".blk") }
            .sorted()
            .map { folder.path("store/\($0)") }
    }

    /// Takes away the end of what it keeps, while it is stopped: what was acknowledged and never synced.
    func loseTail() throws {
        for path in try messageFiles() {
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            try handle.truncate(atOffset: handle.seekToEnd() / 2)
            // An index of what was there would be believed.
            let folder = URL(filePath: path).deletingLastPathComponent()
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix(".blk") {
                try FileManager.default.removeItem(at: folder.appending(path: name))
            }
        }
    }

    struct Fault: Error {
        let said: String
    }
}
