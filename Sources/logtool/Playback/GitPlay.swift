#if Recorders
import EventLog
import Foundation
import Projections

/// A bare repository whose branch grows commit by commit. Texts, paths, messages and times are the recorded ones; ids are
/// others, for the log does not hold every byte that they are made of.
struct GitPlay {
    private let play: PlayContext
    private let branch: String
    private var script: PlayScript
    private var ticker: PlayTicker
    private let writer: GitWriter
    /// The numbers of the commits that were written.
    private var marks: [String: Int] = [:]
    private var tip: String?

    init(_ play: PlayContext, directory: String, branch: String, mayOverwrite: Bool) throws {
        try PlayDirectory.prepare(directory, mayOverwrite: mayOverwrite)
        self.play = play
        self.branch = "refs/heads/\(branch)"
        script = PlayScript(store: play.store, source: play.source, end: play.end)
        ticker = PlayTicker(play)
        writer = try GitWriter(directory: directory, branch: branch)
    }

    /// Writes commits until the script ends.
    mutating func run() async throws {
        do {
            while let step = try script.step() {
                switch step.act {
                case .commit(let bytes): try await give(step) { try $0.commit(bytes) }
                case .rewrite(let bytes): try await give(step) { try $0.rewrite(bytes) }
                default: break
                }
            }
        } catch {
            try? writer.finish()
            throw error
        }
        try writer.finish()
        play.report.change {
            $0.sequence = play.end
            $0.isDone = true
        }
    }

    private mutating func give(_ step: PlayStep, _ body: (inout GitPlay) throws -> Void) async throws {
        let isPassed = step.sequence <= play.start
        if !isPassed { try await ticker.wait(for: step.recordedAt) }
        try body(&self)
        if !isPassed, !ticker.isImmediate { try writer.show() }
        play.report.change {
            $0.sequence = step.sequence
            $0.given += isPassed ? 0 : 1
        }
    }

    private mutating func commit(_ bytes: [UInt8]) throws {
        guard let document = try? JSONValue.parse(bytes), let id = document["commit"]?.string else { return }
        let parents = document["parents"]?.array ?? []
        let known = parents.compactMap { $0["commit"]?.string.flatMap { marks[$0] } }
        let isOnBranch = tip == nil || parents.contains { $0["commit"]?.string == tip }
        let reference = isOnBranch ? branch : "refs/play/side"
        let mark = marks.count + 1
        marks[id] = mark
        if known.isEmpty { writer.line("reset \(reference)\n") }
        writer.line("commit \(reference)")
        writer.line("mark :\(mark)")
        writer.line("author \(Self.person(document["author"]))")
        writer.line("committer \(Self.person(document["committer"]))")
        writer.data(Array((document["message"]?.string ?? "").utf8))
        for (place, parent) in known.enumerated() { writer.line("\(place == 0 ? "from" : "merge") :\(parent)") }
        write(parents.first?["changes"]?.array ?? [], files: document["files"]?.array ?? [])
        writer.line("")
        if isOnBranch { tip = id }
    }

    /// The branch was set to a commit that it did not grow to.
    private mutating func rewrite(_ bytes: [UInt8]) throws {
        guard let document = try? JSONValue.parse(bytes), let id = document["to"]?.string else { return }
        guard let mark = marks[id] else {
            return play.report.note(
                recorded: "the branch is set to \(id)",
                client: "left as it is: the commit is not in the log"
            )
        }
        writer.line("reset \(branch)")
        writer.line("from :\(mark)\n")
        tip = id
    }

    private func write(_ changes: [JSONValue], files: [JSONValue]) {
        let texts = Dictionary(files.compactMap { file in file["path"]?.string.map { ($0, file) } }) { first, _ in first
        }
        // A directory in the place of a file needs the file gone first.
        for change in changes where change["to"] == nil { writer.line("D \(Self.path(change))") }
        for change in changes {
            guard let to = change["to"], let name = change["path"]?.string else { continue }
            let mode = to["mode"]?.string ?? "100644"
            if mode == "160000" {
                writer.line("M 160000 \(to["blob"]?.string ?? "") \(Self.path(change))")
                continue
            }
            writer.line("M \(mode) inline \(Self.path(change))")
            writer.data(Array((texts[name]?["text"]?.string ?? Self.missing(texts[name])).utf8))
        }
    }

    private static func missing(_ file: JSONValue?) -> String {
        "the log does not hold this file: blob \(file?["blob"]?.string ?? "unknown")\n"
    }

    /// A path as fast-import reads one: in quotes, bytes beyond ASCII in octal digits.
    private static func path(_ change: JSONValue) -> String {
        let text = Array((change["path"]?.string ?? "").utf8)
        let bytes = change["encoded"]?.bool == true ? FilesPlay.decoded(text) : text
        var quoted = "\""
        for byte in bytes {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                quoted += "\\" + String(UnicodeScalar(byte))
            } else if (0x20..<0x7F).contains(byte) {
                quoted += String(UnicodeScalar(byte))
            } else {
                let digits = String(byte, radix: 8)
                quoted += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        return quoted + "\""
    }

    private static func person(_ value: JSONValue?) -> String {
        let clean = { (text: String?) in String((text ?? "").filter { !"<>\n\0".contains($0) }) }
        let time = max(value?["time"]?.number?.int64 ?? 0, 0)
        return "\(clean(value?["name"]?.string)) <\(clean(value?["email"]?.string))> \(time) +0000"
    }
}

/// `git fast-import` at work on a repository of its own.
final class GitWriter {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffer: [UInt8] = []
    private var trouble: (any Error)?
    private var shown = 0
    private static let bufferBytesMax = 1 << 18

    /// Makes a bare repository.
    init(directory: String, branch: String) throws {
        let made = Process()
        try Self.run(made, ["init", "-q", "--bare", "--template=", "-b", branch, directory], wait: true)
        let options = ["--git-dir=\(directory)", "fast-import", "--quiet", "--force", "--done", "--date-format=raw"]
        process.standardInput = input
        process.standardOutput = output
        try Self.run(process, options, wait: false)
    }

    func line(_ text: String) {
        buffer.append(contentsOf: text.utf8)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.bufferBytesMax { flush() }
    }

    func data(_ bytes: [UInt8]) {
        line("data \(bytes.count)")
        buffer.append(contentsOf: bytes)
        line("")
    }

    /// Lets everybody see what was written.
    func show() throws {
        shown += 1
        line("checkpoint\n")
        line("progress \(shown)")
        flush()
        try check()
        var said: [UInt8] = []
        while !said.contains(UInt8(ascii: "\n")) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Failure("play: git fast-import has ended; see its message") }
            said.append(contentsOf: more)
        }
    }

    /// Ends the child.
    func finish() throws {
        line("done")
        flush()
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        try check()
        guard process.terminationStatus == 0 else {
            throw Failure("play: git fast-import ended with \(process.terminationStatus)")
        }
    }

    private func flush() {
        defer { buffer.removeAll(keepingCapacity: true) }
        guard trouble == nil else { return }
        do {
            try input.fileHandleForWriting.write(contentsOf: buffer)
        } catch {
            trouble = error
        }
    }

    private func check() throws {
        if let trouble { throw Failure("play: git fast-import: \(trouble.localizedDescription)") }
    }

    private static func run(_ process: Process, _ arguments: [String], wait: Bool) throws {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git"] + arguments
        // Nothing of this user's configuration, hooks or templates takes part.
        process.environment = [
            "PATH": path, "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
            "LC_ALL": "C",
        ]
        do {
            try process.run()
        } catch {
            throw Failure("play: git cannot be run: \(error.localizedDescription)")
        }
        guard wait else { return }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("play: git \(arguments[0]) ended with \(process.terminationStatus)")
        }
    }
}
#endif
