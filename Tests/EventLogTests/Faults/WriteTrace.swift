import Foundation
import TestSupport

/// What a run did to the disk, in order, as the library `WriteTrace` noted it.
struct WriteTrace {
    enum Step {
        case created(inode: UInt64, path: String)
        case madeDirectory(inode: UInt64, path: String)
        case renamed(path: String, to: String)
        case removed(path: String)
        case wrote(inode: UInt64, offset: Int, bytes: [UInt8], isSynced: Bool)
        case truncated(inode: UInt64, size: Int)
        case synced(inode: UInt64)
        case said(String)
    }

    let steps: [Step]

    /// Runs a test of this bundle in a process of its own, with every write below a path noted.
    static func recording(_ test: String, environment: [String: String], root: String, to file: String) throws -> Self {
        let run = try TracedRun(test, environment: environment, root: root, trace: file)
        guard run.exitCode == 0 else { throw TracedRun.Failure(output: run.output) }
        return WriteTrace(try Data(contentsOf: URL(filePath: file)))
    }

    private init(_ data: Data) {
        var steps: [Step] = []
        var rest = [UInt8](data)[...]
        while rest.count >= 25 {
            let head = Array(rest.prefix(25))
            let numbers = (Self.number(head, 1, 8), Self.number(head, 9, 8))
            let counts = (Int(Self.number(head, 17, 4)), Int(Self.number(head, 21, 4)))
            rest = rest.dropFirst(25)
            let first = Array(rest.prefix(counts.0))
            let second = Array(rest.dropFirst(counts.0).prefix(counts.1))
            rest = rest.dropFirst(counts.0 + counts.1)
            if let step = Self.step(head[0], numbers.0, numbers.1, first, second) { steps.append(step) }
        }
        self.steps = steps
    }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
        bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func step(
        _ what: UInt8,
        _ inode: UInt64,
        _ offset: UInt64,
        _ first: [UInt8],
        _ second: [UInt8]
    ) -> Step? {
        let text = String(decoding: first, as: UTF8.self)
        switch UnicodeScalar(what) {
        case "c": return .created(inode: inode, path: text)
        case "m": return .madeDirectory(inode: inode, path: text)
        case "r": return .renamed(path: text, to: String(decoding: second, as: UTF8.self))
        case "u", "d": return .removed(path: text)
        case "w": return .wrote(inode: inode, offset: Int(offset), bytes: first, isSynced: false)
        case "W": return .wrote(inode: inode, offset: Int(offset), bytes: first, isSynced: true)
        case "t": return .truncated(inode: inode, size: Int(offset))
        case "s": return .synced(inode: inode)
        case "a": return .said(text)
        default: return nil
        }
    }
}

/// One test of this bundle, run in a process of its own with the library `WriteTrace` loaded.
struct TracedRun {
    struct Failure: Error {
        let output: String
    }

    let output: String
    let exitCode: Int32

    /// - Parameter trace: the file to note everything in; nothing is noted if `nil`.
    init(_ test: String, environment: [String: String], root: String, trace: String?) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", test]
        var all = ProcessInfo.processInfo.environment.merging(environment) { _, given in given }
        all["LD_PRELOAD"] = Self.library
        all["WRITE_TRACE_ROOT"] = root
        all["WRITE_TRACE"] = trace
        process.environment = all
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = pipe
        try process.run()
        pipe.fileHandleForWriting.closeFile()
        output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        exitCode = process.terminationStatus
    }

    /// The library lies beside the test bundle.
    private static let library: String = {
        let bundle = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appending(path: "libWriteTrace.so").path
    }()

    /// True if the library is there.
    static let isAvailable = FileManager.default.fileExists(atPath: library)
}
