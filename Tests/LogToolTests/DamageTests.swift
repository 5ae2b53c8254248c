import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

/// Damages each file of a log at random: no command ends by a signal or hangs, each says in words what is wrong, and
/// `verify` reports what changes an answer.
///
/// The longer form: `EVENTLOG_LONG_TESTS=1 swift test --filter DamageTests`, 20,000 damages in place of 30. `LOGTOOL_PROGRAM`
/// names another build of the program to run, `DAMAGE_SEED` the first seed.
@Suite struct DamageTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isLong = environment["EVENTLOG_LONG_TESTS"] != nil
    private static let seeds: Range<UInt64> = {
        let first = environment["DAMAGE_SEED"].flatMap { UInt64($0) } ?? 1
        return first..<first + (isLong ? 20_000 : 30)
    }()

    @Test func noDamageEndsACommandByASignal() throws {
        let folder = try TemporaryDirectory()
        let log = try SampleLog(in: folder)
        let seeds = Array(Self.seeds)
        let tallies = try concurrently(seeds.count) { part in
            var tally = Tally()
            for index in part {
                try tally.add(Damage(seed: seeds[index], log: log))
                if index % 500 == 499 { print("damages: \(index + 1), \(tally.summary)") }
            }
            return tally
        }
        let tally = tallies.reduce(into: Tally()) { $0.add($1) }
        print("damages, seeds \(Self.seeds): \(tally.summary)")
        #expect(tally.faults.isEmpty, "\(tally.faults.prefix(20).joined(separator: "\n"))")
        #expect(tally.codes[3] ?? 0 > 0 && tally.codes[0] ?? 0 > 0, "some damages matter and some do not")
    }

    /// Runs two shares of a number of cases at once.
    private func concurrently<Result: Sendable>(
        _ count: Int,
        _ body: @Sendable (Range<Int>) throws -> Result
    ) throws -> [Result] {
        let results = Shares<Result>()
        DispatchQueue.concurrentPerform(iterations: 2) { part in
            results.add(Swift.Result { try body(count * part / 2..<count * (part + 1) / 2) })
        }
        return try results.all.map { try $0.get() }
    }
}

/// What the shares of a test give.
private final class Shares<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var results: [Result<Value, any Error>] = []

    var all: [Result<Value, any Error>] { lock.withLock { results } }

    func add(_ result: Result<Value, any Error>) {
        lock.withLock { results.append(result) }
    }
}

/// What became of the damages.
private struct Tally: Sendable {
    var damages = 0
    var codes: [Int32: Int] = [:]
    var faults: [String] = []

    var summary: String {
        let counts = codes.sorted { $0.key < $1.key }.map { "exit \($0.key): \($0.value)" }
        return "\(damages) damages, \(counts.joined(separator: ", ")), \(faults.count) faults"
    }

    mutating func add(_ damage: Damage) throws {
        damages += 1
        for (code, fault) in try damage.outcomes() {
            codes[code, default: 0] += 1
            if let fault { faults.append(fault) }
        }
    }

    mutating func add(_ other: Tally) {
        damages += other.damages
        codes.merge(other.codes, uniquingKeysWith: +)
        faults += other.faults
    }
}

/// A log with a rewrite behind it, derived data, events on many pages and values with pages of their own.
private struct SampleLog: Sendable {
    let path: String
    let exported: String
    /// A capture with some messages that the log lacks.
    let capture: String
    let files: [String]
    let digest: String

    init(in folder: TemporaryDirectory) throws {
        try folder.makeLog(messages: 700)
        path = folder.path("L")
        do {
            let store = try EventStore.open(at: path)
            _ = try store.rewrite(.dropping((3...40).map { $0 }, decidedAt: SequenceNumber(700)))
            let large = String(repeating: "large ", count: 2_000)
            for number in 1...4 {
                _ = try store.append([.sample(number, source: "other", key: "large \(number)", payload: large)])
            }
        }
        for arguments in [["replay", "L"], ["replay", "L", "--channel", "guild/10", "--at", "703"]] {
            let run = try ToolRun.run(arguments, in: folder)
            try #require(run.exitCode == 0, "\(run.errors)")
        }
        digest = try ToolRun.run(["replay", "L", "--digest"], in: folder).output
        _ = try ToolRun.run(["export", "L", "-o", "X.ndjson"], in: folder)
        exported = folder.path("X.ndjson")
        capture = folder.path("more.ndjson")
        try folder.write(SampleCaptures.gateway(messages: 720), to: "more.ndjson")
        files = try FileManager.default.subpathsOfDirectory(atPath: path).sorted().filter { [path] name in
            FileManager.default.fileExists(atPath: "\(path)/\(name)/.") == false
        }
        try #require(files.contains("gen-000002/data.mdb"))
    }

    /// Runs of the program on a log `L` beside what was exported of it, `X.ndjson`; none of which asks for anything.
    static let commands: [[String]] = [
        ["replay", "L"], ["replay", "L", "--json"], ["replay", "L", "--channel", "guild/10", "--at", "703"],
        ["replay", "L", "--no-snapshots"], ["events", "L", "--payload"], ["events", "L", "--from", "300", "--jsonl"],
        ["export", "L", "-o", "X"], ["stats", "L"], ["status", "L"], ["gaps", "L"], ["root", "L"],
        ["prove", "L", "400"], ["history", "L", "message:1300"], ["diff", "L@703", "L"],
        ["compact", "L", "--dry-run"], ["compact", "L", "--keep", "100"], ["backup", "L", "B"],
        ["salvage", "L", "-o", "S"],
        ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"],
        ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "new"],
        ["import", "L", "X.ndjson"], ["rebuild", "L", "--to", "c.sqlite"], ["verify", "L"],
    ]
}

/// One damage of one file, in a copy of the log.
private struct Damage {
    let seed: UInt64
    let log: SampleLog

    /// A hang, even on a machine that does many things at once.
    private static let secondsMax = ProcessInfo.processInfo.environment["LOGTOOL_PROGRAM"] == nil ? 60.0 : 10.0
    private static let pageBytes = 4096

    /// The exit code of each run, and what is wrong with it.
    func outcomes() throws -> [(Int32, String?)] {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: log.path, toPath: folder.path("L"))
        try FileManager.default.copyItem(atPath: log.exported, toPath: folder.path("X.ndjson"))
        try FileManager.default.copyItem(atPath: log.capture, toPath: folder.path("c.ndjson"))
        // Half of the damages come to a file that was opened here before, and so has a mark.
        if Bool.random(using: &random) { _ = try run(["root", "L"], in: folder) }
        let words = try damage(folder, using: &random)
        var outcomes: [(Int32, String?)] = []
        let digest = try run(["replay", "L", "--digest"], in: folder)
        outcomes.append((digest.code, fault(of: digest, words)))
        if digest.code == 0, digest.output != log.digest {
            let verify = try run(["verify", "L"], in: folder)
            outcomes.append((verify.code, verify.code == 3 ? nil : "\(words): another digest, and verify says nothing"))
        }
        let arguments = SampleLog.commands.randomElement(using: &random) ?? []
        let other = try run(arguments, in: folder)
        outcomes.append((other.code, fault(of: other, words)))
        return outcomes
    }

    private func fault(of run: Run, _ words: String) -> String? {
        let name = "seed \(seed), \(words), \(run.arguments.joined(separator: " "))"
        if run.isHang { return "\(name): did not end within \(Self.secondsMax) s" }
        if run.isSignal { return "\(name): ended by signal \(run.code): \(run.errors.suffix(300))" }
        guard (0...3).contains(run.code) else { return "\(name): exit \(run.code): \(run.errors)" }
        let isSaid = run.code == 0 || run.errors.hasPrefix("logtool: ") || !run.output.isEmpty
        return isSaid ? nil : "\(name): exit \(run.code) without a sentence"
    }

    // MARK: Damages

    private func damage(_ folder: TemporaryDirectory, using random: inout SeededGenerator) throws -> String {
        let data = log.files.filter { $0.hasSuffix("data.mdb") }
        let file = (Int.random(in: 0..<4, using: &random) == 0 ? log.files : data).randomElement(using: &random) ?? ""
        let path = folder.path("L/\(file)")
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let words = Self.damage(&bytes, using: &random)
        // In place: the file keeps its inode.
        let handle = try FileHandle(forUpdating: URL(filePath: path))
        try handle.write(contentsOf: bytes)
        try handle.truncate(atOffset: UInt64(bytes.count))
        try handle.close()
        return "\(file) \(words)"
    }

    private static func damage(_ bytes: inout [UInt8], using random: inout SeededGenerator) -> String {
        guard !bytes.isEmpty else {
            bytes = (0..<100).map { _ in UInt8.random(in: 0...255, using: &random) }
            return "filled"
        }
        let pages = max(1, bytes.count / pageBytes)
        // Half of the damages of bytes come near the beginning of a page, where its structure is.
        let page = Int.random(in: 0..<pages, using: &random)
        let room = Bool.random(using: &random) ? 64 : pageBytes
        let place = min(bytes.count - 1, page * pageBytes + Int.random(in: 0..<room, using: &random))
        let here = page * pageBytes..<min(bytes.count, (page + 1) * pageBytes)
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1:
            bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            return "bit at \(place)"
        case 2, 3:
            bytes[place] = UInt8.random(in: 0...255, using: &random)
            return "byte at \(place)"
        case 4:
            for index in place..<min(bytes.count, place + 8) {
                bytes[index] = [0, 0xFF].randomElement(using: &random) ?? 0
            }
            return "eight bytes at \(place)"
        case 5:
            for index in here { bytes[index] = 0 }
            return "page \(page) zeroed"
        case 6:
            let other = Int.random(in: 0..<pages, using: &random) * pageBytes
            guard other + here.count <= bytes.count else { return "nothing" }
            for (index, offset) in here.enumerated() { bytes.swapAt(offset, other + index) }
            return "pages \(page) and \(other / pageBytes) swapped"
        case 7:
            let other = Int.random(in: 0..<pages, using: &random) * pageBytes
            for (index, offset) in here.enumerated() where other + index < bytes.count {
                bytes[offset] = bytes[other + index]
            }
            return "page \(page) replaced by \(other / pageBytes)"
        default:
            bytes.removeSubrange((Bool.random(using: &random) ? here.lowerBound : place)...)
            return "cut to \(bytes.count)"
        }
    }

    // MARK: Runs

    private struct Run {
        let arguments: [String]
        let code: Int32
        let isSignal: Bool
        let isHang: Bool
        let output: String
        let errors: String
    }

    /// Not by Foundation's `Process`: with two threads it loses the end of one child in some thousands.
    private func run(_ arguments: [String], in folder: TemporaryDirectory) throws -> Run {
        let names = ["out", "err"].map { folder.path($0) }
        for name in names { try Data().write(to: URL(filePath: name)) }
        let files = try names.map { try FileHandle(forWritingTo: URL(filePath: $0)) }
        let program = SpawnedProgram(
            executable: "/bin/sh",
            arguments: ["-c", "cd \"$0\" && exec \"$@\"", folder.url.path, try ToolRun.executable.path] + arguments,
            environment: ["PATH": "/usr/bin:/bin"]
        )
        let child = try program.start(
            input: nil,
            output: files[0].fileDescriptor,
            errors: files[1].fileDescriptor,
            subject: "a damaged log"
        )
        let (status, isHang) = Self.end(of: child)
        for file in files { try file.close() }
        let texts = try names.map { String(decoding: try Data(contentsOf: URL(filePath: $0)), as: UTF8.self) }
        let signal = status & 0x7F
        return Run(
            arguments: arguments,
            code: signal == 0 ? status >> 8 & 0xFF : signal,
            isSignal: signal != 0,
            isHang: isHang,
            output: texts[0],
            errors: texts[1]
        )
    }

    private static func end(of child: pid_t) -> (status: Int32, isHang: Bool) {
        let limit = ContinuousClock.now + .seconds(secondsMax)
        var status: Int32 = 0
        while waitpid(child, &status, WNOHANG) == 0 {
            if ContinuousClock.now > limit {
                kill(-child, SIGKILL)
                waitpid(child, &status, 0)
                return (status, true)
            }
            usleep(500)
        }
        return (status, false)
    }
}
