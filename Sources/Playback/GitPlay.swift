#if Recorders
import EventLog
import Ingest
import Projections

/// Writes a bare repository whose branch grows commit by commit. Texts, paths, messages, people and times are the
/// recorded ones. Commit ids differ, because the log does not hold every byte that they are made of.
///
/// Everything goes to one `git fast-import`. Texts from the log are quoted or cleaned here, because a line feed in them
/// would begin another command.
struct GitPlay {
    private let play: PlayContext
    private let branch: String
    private var script: PlayScript
    private var ticker: PlayTicker
    private let writer: GitFastImport
    /// The fast-import marks of written commits, by recorded id. Numbers count from 1.
    private var marks: [String: Int] = [:]
    /// The recorded id of the commit that the branch names; `nil` before the first.
    private var tip: String?

    init(_ play: PlayContext, directory: String, branch: String, mayOverwrite: Bool) throws {
        try PlayDirectory.prepare(directory, mayOverwrite: mayOverwrite)
        self.play = play
        self.branch = "refs/heads/\(branch)"
        script = PlayScript(store: play.store, source: play.source, end: play.end)
        ticker = PlayTicker(play)
        writer = try GitFastImport(directory: directory, branch: branch)
    }

    /// Writes commits until the script ends, and waits until git has written everything.
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
            // git must not outlive the playback; the first error is the one to report.
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
        // A checkpoint for each commit lets clients see it at its time. At full speed that would only be slow: `finish`
        // shows everything.
        if !isPassed, !ticker.isImmediate { try writer.show() }
        play.report.change {
            $0.sequence = step.sequence
            $0.given += isPassed ? 0 : 1
        }
    }

    /// Writes one commit. A payload that does not parse is left out.
    private mutating func commit(_ bytes: [UInt8]) throws {
        guard let document = try? JSONValue.parse(bytes), let id = document["commit"]?.string else { return }
        let parents = document["parents"]?.array ?? []
        // Parents that the log does not hold (dropped, or before a shallow recording) are left out.
        let known = parents.compactMap { $0["commit"]?.string.flatMap { marks[$0] } }
        // A commit that does not follow the tip belongs to a side history that is merged later. It gets a reference of
        // its own, so that the branch does not jump to it.
        let isOnBranch = tip == nil || parents.contains { $0["commit"]?.string == tip }
        let reference = isOnBranch ? branch : "refs/play/side"
        let mark = marks.count + 1
        marks[id] = mark
        // Without this, fast-import takes the reference's current commit as the parent.
        if known.isEmpty { writer.line("reset \(reference)\n") }
        writer.line("commit \(reference)")
        writer.line("mark :\(mark)")
        writer.line("author \(Self.person(document["author"]))")
        writer.line("committer \(Self.person(document["committer"]))")
        writer.data(Array((document["message"]?.string ?? "").utf8))
        for (place, parent) in known.enumerated() { writer.line("\(place == 0 ? "from" : "merge") :\(parent)") }
        // `changes` are relative to the first parent, as fast-import's commands are.
        write(parents.first?["changes"]?.array ?? [], files: document["files"]?.array ?? [])
        try writer.endCommit()
        if isOnBranch { tip = id }
    }

    /// Sets the branch to a commit that it did not grow to (a forced push).
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

    /// Writes a commit's changes. A file whose text the log lacks (a binary file, or one too large) gets a note in
    /// place of its text.
    private func write(_ changes: [JSONValue], files: [JSONValue]) {
        let texts = Dictionary(files.compactMap { file in file["path"]?.string.map { ($0, file) } }) { first, _ in first
        }
        // Deletions come first: a directory can replace a file only once the file is gone.
        for change in changes where change["to"] == nil { writer.line("D \(Self.path(change))") }
        for change in changes {
            guard let to = change["to"], let name = change["path"]?.string else { continue }
            let mode = to["mode"]?.string ?? ""
            // A submodule: the entry names a commit, not a blob.
            if mode == "160000", writer.link(Self.path(change), to: to["blob"]?.string ?? "") { continue }
            let text = texts[name]?["text"]?.string ?? Self.missing(texts[name])
            writer.file(Self.path(change), mode: mode, Array(text.utf8))
        }
    }

    private static func missing(_ file: JSONValue?) -> String {
        "the log does not hold this file: blob \(file?["blob"]?.string ?? "unknown")\n"
    }

    /// A path in fast-import's C-style quotes; bytes outside printable ASCII become three octal digits.
    private static func path(_ change: JSONValue) -> String {
        let text = Array((change["path"]?.string ?? "").utf8)
        let bytes = change["encoded"]?.bool == true ? UTF8Text.restoringPath(text) : text
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

    /// An author in fast-import's form. The characters that delimit it are removed, and so are control characters: a line
    /// feed would begin another command. Times before 1970 become 0, and the zone is UTC, because the log has none.
    static func person(_ value: JSONValue?) -> String {
        // By scalars: CR and LF together are one character, which equals neither of them.
        let clean = { (text: String?) in
            let scalars = (text ?? "").unicodeScalars.filter { $0 >= " " && $0 != "<" && $0 != ">" && $0 != "\u{7F}" }
            return String(String.UnicodeScalarView(scalars))
        }
        let time = max(value?["time"]?.number?.int64 ?? 0, 0)
        return "\(clean(value?["name"]?.string)) <\(clean(value?["email"]?.string))> \(time) +0000"
    }
}
#endif
