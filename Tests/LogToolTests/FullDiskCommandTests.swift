#if os(Linux)
import Foundation
import TestSupport
import Testing

/// What the commands say and leave on a disk that is full: a small file system in memory of a test's own.
@Suite struct FullDiskCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// Commands that only read give their answer, also where nothing derived can be kept.
    @Test(
        .enabled(if: SmallDisk.isAvailable, "this user may not mount a file system"),
        arguments: [
            "replay L --digest", "verify L", "root L", "stats L", "events L", "history L message:1002", "diff L@3 L",
        ]
    )
    func whatReadsGivesItsAnswer(command: String) throws {
        try folder.makeLog(messages: 300)
        let run = try SmallDisk(folder).run([.copyLog, .fill, .tool(command), .empty, .tool("verify L")])
        #expect([0, 1].contains(run[0].exitCode), "\(run[0].errors)")
        #expect(run[0].errors.isEmpty && run[1].exitCode == 0, "\(run)")
    }

    /// Tables that are there answer on a full disk; new ones are made elsewhere, or the disk is called full.
    @Test(.enabled(if: SmallDisk.isAvailable, "this user may not mount a file system"))
    func sqlAnswersOrSaysThatTheDiskIsFull() throws {
        try folder.makeLog(messages: 300)
        let ask = "sql L 'SELECT count(*) AS n FROM messages'"
        let run = try SmallDisk(folder).run([
            .copyLog, .tool(ask), .fill, .tool(ask), .empty, .copyLog, .fill, .tool(ask), .empty, .tool("verify L"),
        ])
        #expect(run[0].output == "  n\n300\n" && run[1].output == run[0].output, "\(run[0].errors)\(run[1].errors)")
        #expect(run[2].output == run[0].output || run[2].errors.contains("the disk is full"), "\(run[2].errors)")
        #expect(run[3].exitCode == 0, "\(run[3].errors)")
    }

    /// A pull for which there is no room leaves what it has, and the next one goes on: into a new log, and into one that grows.
    @Test(.enabled(if: SmallDisk.isAvailable, "this user may not mount a file system"), arguments: [false, true])
    func aPullGoesOnWhereThereIsRoom(isNew: Bool) throws {
        func make(_ messages: Int, _ tree: String) throws {
            try folder.makeLog(messages: messages, isLarge: true)
            #expect(try ToolRun.run(["ship", "L", "--to", tree], in: folder).exitCode == 0)
        }
        try make(100, "first")
        try make(900, "second")
        let pull = "pull C --from $out/second"
        let run = try SmallDisk(folder).run(
            (isNew ? [] : [.tool("pull C --from $out/first")]) + [
                .fill, .tool(pull), .empty, .tool(pull), .tool("verify C --against $out/second"),
            ]
        )
        let full = run[isNew ? 0 : 1]
        #expect(full.exitCode == 2 && full.errors.contains("the disk is full"), "\(full.errors)")
        #expect(run.suffix(2).allSatisfy { $0.exitCode == 0 }, "\(run)")
        #expect(run.last?.output.contains(" has the same first ") == true)
    }

    /// None of them is called damage, and the log is whole afterwards.
    @Test(
        .enabled(if: SmallDisk.isAvailable, "this user may not mount a file system"),
        arguments: [
            "compact L --keep 3", "rebuild L --to c.sqlite", "export L -o e.ndjson", "backup L B", "salvage L -o S",
            "freeze L -o F", "import I saved.ndjson", "ingest L capture other.ndjson --kind gateway --as other",
        ]
    )
    func whatWritesSaysThatTheDiskIsFull(command: String) throws {
        try folder.makeLog(messages: 300)
        try folder.write(SampleCaptures.gateway(messages: 300), to: "other.ndjson")
        _ = try ToolRun.run(["export", "L", "-o", "saved.ndjson"], in: folder)
        let run = try SmallDisk(folder).run([.copyLog, .fill, .tool(command), .empty, .tool("verify L")])
        #expect(run[0].exitCode == 2, "\(run[0].errors)")
        #expect(run[0].errors.contains("the disk is full"), "\(run[0].errors)")
        #expect(run[0].errors.hasSuffix("make room on it and try again\n"), "\(run[0].errors)")
        #expect(run[0].errors.split(separator: "\n").count == 1)
        #expect(run[1].exitCode == 0 && run[1].output.hasPrefix("intact: sequences 1 to 302"), "\(run[1].errors)")
    }

    /// LMDB writes the table of readers through a map, where a hole that finds no room is a SIGBUS.
    @Test(
        .enabled(if: SmallDisk.isAvailable, "this user may not mount a file system"),
        arguments: ["replay L", "verify L", "root L", "events L", "compact L", "stats L", "backup L B"]
    )
    func aCopyWithASparseTableOfReadersIsNotDamaged(command: String) throws {
        try folder.makeLog(messages: 300)
        let run = try SmallDisk(folder).run([.copyLog, .makeSparse, .fill, .tool(command), .empty, .tool("verify L")])
        #expect(run[0].exitCode == 2 && run[0].errors.contains("the disk is full"), "\(run[0].errors)")
        #expect(run[1].exitCode == 0, "\(run[1].errors)")
    }

    /// Batches that were committed stay, and the message counts them; the next run goes on from there.
    @Test(.enabled(if: SmallDisk.isAvailable, "this user may not mount a file system"))
    func anIngestThatRunsOutOfRoomSaysWhatIsInTheLog() throws {
        let padding = String(repeating: ".", count: 60)
        try folder.write(SampleCaptures.gateway(messages: 9_000, padding: padding), to: "large.ndjson")
        let ingest = "ingest L capture large.ndjson --kind gateway --as guild"
        let run = try SmallDisk(folder, bytes: 3 << 20).run([
            .tool(ingest), .tool("verify L"), .tool("replay L --digest"), .tool(ingest), .tool("verify L"), .grow,
            .tool(ingest), .tool("verify L"),
        ])
        #expect(run[0].exitCode == 2 && run[0].errors.contains("the disk is full"), "\(run[0].errors)")
        #expect(!run[0].errors.contains("nothing was written"))
        let held = try #require(run[1].output.firstMatch(of: /sequences 1 to ([0-9]+)/)?.1)
        #expect(run[0].errors.contains("\(held) events of this run are in the log, the last of them at \(held);"))
        #expect(run[0].errors.hasSuffix("make room on it and try again: the next run goes on from there\n"))
        #expect(run[1].exitCode == 0 && run[2].exitCode == 0, "\(run[1].errors)\(run[2].errors)")
        #expect(
            run[3].errors.contains("this run has appended nothing, for \(held) of its events were in the log before")
        )
        #expect(run[4].output == run[1].output)
        let rest = try 9_002 - #require(Int(held))
        #expect(run[5].exitCode == 0 && run[5].output.hasPrefix("appended \(rest) events"), "\(run[5].output)")
        #expect(run[6].output.hasPrefix("intact: sequences 1 to 9002"))
    }
}

/// A file system in memory that a shell mounts in a namespace of its own, so that nobody else sees it and it goes with
/// the shell.
private struct SmallDisk {
    /// What the shell does, in order.
    enum Step {
        /// Copies the log `L` of the test's folder to the disk.
        case copyLog
        /// Makes the log's tables of readers files of one hole.
        case makeSparse
        /// Writes a file until nothing more fits; removes it.
        case fill, empty
        /// Makes the disk larger.
        case grow
        /// Runs the program.
        case tool(String)
    }

    struct Run {
        let output: String
        let errors: String
        let exitCode: Int32
    }

    private let folder: TemporaryDirectory
    private let bytes: Int

    init(_ folder: TemporaryDirectory, bytes: Int = 8 << 20) {
        (self.folder, self.bytes) = (folder, bytes)
    }

    /// True if this user may mount one, in a namespace (unshare -rm).
    static let isAvailable = (try? shell("mount -t tmpfs -o size=64k tmpfs /tmp", in: URL(filePath: "/"))) == 0

    /// Takes the steps; gives what each run of the program printed and how it ended.
    func run(_ steps: [Step]) throws -> [Run] {
        let tool = try ToolRun.executable.path
        var lines = ["set -e", "mkdir disk", "mount -t tmpfs -o size=\(bytes) tmpfs disk"]
        // The inputs lie outside, and are reached by links.
        lines.append("for file in *.ndjson; do [ -e \"$file\" ] && ln -s \"$PWD/$file\" disk/; done")
        lines.append("out=$PWD; cd disk")
        var runs = 0
        for step in steps {
            switch step {
            case .copyLog: lines.append("cp -r \"$out/L\" L; rm -rf L/cache-*")
            case .makeSparse:
                lines.append("for table in L/*/lock.mdb; do truncate -s 0 $table; truncate -s 65664 $table; done")
            case .fill: lines.append("dd if=/dev/zero of=filler bs=4096 2>/dev/null || true")
            case .empty: lines.append("rm filler")
            case .grow: lines.append("mount -o remount,size=64m disk \"$out/disk\"")
            case .tool(let arguments):
                lines.append("code=0; '\(tool)' \(arguments) >$out/out\(runs) 2>$out/err\(runs) || code=$?")
                lines.append("echo $code >$out/code\(runs)")
                runs += 1
            }
        }
        try folder.write(lines.joined(separator: "\n"), to: "steps.sh")
        #expect(try Self.shell("sh steps.sh", in: folder.url) == 0)
        return try (0..<runs).map { place in
            let texts = try ["out", "err", "code"].map {
                try String(contentsOfFile: folder.path("\($0)\(place)"), encoding: .utf8)
            }
            let code = try #require(Int32(texts[2].dropLast()))
            return Run(output: texts[0], errors: texts[1], exitCode: code)
        }
    }

    private static func shell(_ line: String, in folder: URL) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["unshare", "-rm", "sh", "-c", line]
        process.currentDirectoryURL = folder
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
#endif
