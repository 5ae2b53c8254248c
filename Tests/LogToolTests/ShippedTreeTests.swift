import EventLog
import Foundation
import Shipping
import TestSupport
import Testing

/// Trees whose files come from an enemy: a pull takes what the checkpoint proves, or nothing.
@Suite struct ShippedTreeTests {
    /// The files of a tree, by their paths.
    fileprivate struct Files: TreeSource {
        var name: String { "tree" }
        var bytes: [String: [UInt8]] = [:]

        init(at path: String) throws {
            for file in try FileManager.default.subpathsOfDirectory(atPath: path) {
                if let data = FileManager.default.contents(atPath: "\(path)/\(file)") { bytes[file] = Array(data) }
            }
        }

        func bytes(at path: [String], bytesMax: Int) throws -> [UInt8]? {
            bytes[path.joined(separator: "/")].flatMap { $0.count <= bytesMax ? $0 : nil }
        }

        func file(at path: [String], bytesMax: UInt64) throws -> (any TreeFile)? {
            bytes[path.joined(separator: "/")].flatMap { UInt64($0.count) <= bytesMax ? Bytes(bytes: $0) : nil }
        }
    }

    private struct Bytes: TreeFile {
        let bytes: [UInt8]
        var byteCount: UInt64 { UInt64(bytes.count) }

        func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
            let rest = bytes.dropFirst(Int(clamping: offset)).prefix(buffer.count)
            rest.withUnsafeBytes { buffer.copyMemory(from: $0) }
            return rest.count
        }
    }

    private static func drafts(_ count: Int, from first: Int = 0) throws -> [DraftEvent] {
        try (first..<first + count).map { number in
            DraftEvent(
                recordedAt: Timestamp(microseconds: Int64(number) * 1000),
                source: try SourceName("s\(number % 3)"),
                kind: try EventKind("k/1"),
                key: try EventKey("key \(number)"),
                payload: Array("payload \(number)".utf8)
            )
        }
    }

    private static func lines(of store: EventStore) throws -> [[UInt8]] {
        var lines: [[UInt8]] = []
        try store.read { try $0.forEachLine { line, _ in lines.append(line) } }
        return Array(lines.dropFirst())
    }

    /// Rounds of appends, ships and pulls in random sizes: the copy has the same lines after each, and the tree few bundles.
    @Test(arguments: 1...8) func rounds(seed: UInt64) throws {
        let folder = try TemporaryDirectory()
        var random = SeededGenerator(seed: seed)
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        var count = 0
        for _ in 0..<12 {
            let new = [0, 1, 2, 255, 256, 257, 700].randomElement(using: &random) ?? 1
            _ = try store.append(try Self.drafts(new, from: count))
            count += new
            let shipped = try LogShipment(of: store, to: folder.path("T")).run()
            #expect(shipped.checkpoint.checkpoint.size == UInt64(count))
            if Bool.random(using: &random) { continue }
            let pull = LogPull(from: try FolderTree(at: folder.path("T")), into: folder.path("C"))
            #expect(try pull.run().head == UInt64(count))
            guard count > 0 else { continue }
            #expect(try Self.lines(of: store) == Self.lines(of: .open(at: folder.path("C"))))
        }
        let bundles = try FileManager.default.contentsOfDirectory(atPath: folder.path("T/bundle"))
        // Those of the checkpoint before stay for one round: O(log n) of each.
        #expect(bundles.count <= 24, "\(bundles)")
    }

    /// Mutated files: whatever is believed is what the log has.
    @Test func nothingFalseIsBelieved() throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append(try Self.drafts(300))
        _ = try LogShipment(of: store, to: folder.path("T")).run()
        _ = try LogPull(from: Files(at: folder.path("T")), into: folder.path("base")).run()
        _ = try store.append(try Self.drafts(600, from: 300))
        _ = try LogShipment(of: store, to: folder.path("T")).run()
        _ = try store.append(try Self.drafts(60, from: 900))
        _ = try LogShipment(of: store, to: folder.path("T")).run()
        let lines = try Self.lines(of: store)
        let files = try Files(at: folder.path("T"))
        var random = SeededGenerator(seed: 17)
        let count = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 150 : 5000
        var refused = 0
        for round in 0..<count {
            let mutated = try Self.mutated(files, &random)
            let path = folder.path("C\(round)")
            if round.isMultiple(of: 2) {
                try FileManager.default.copyItem(atPath: folder.path("base"), toPath: path)
            }
            do {
                _ = try LogPull(from: mutated, into: path).run()
            } catch let error as EventLogError {
                #expect(
                    [.invalidArgument, .notFound, .io, .invalidEnvelope].contains(error.code),
                    "\(round): \(error)"
                )
                refused += 1
            }
            if let copy = try? EventStore.open(at: path) {
                let held = try Self.lines(of: copy)
                #expect(held == Array(lines.prefix(held.count)), "round \(round)")
                #expect(try EventStore.verify(at: path).isIntact)
            }
            try? FileManager.default.removeItem(atPath: path)
        }
        #expect(refused > count / 4)
    }

    /// Changes a file as an enemy, or a bad disk, would.
    private static func mutated(_ files: Files, _ random: inout SeededGenerator) throws -> Files {
        var mutated = files
        let names = files.bytes.keys.sorted().filter { !$0.hasSuffix(".lock") }
        let kinds = ["checkpoint", "manifest", "bundle", "tile"]
        let kind = kinds.randomElement(using: &random) ?? ""
        let name = names.filter { $0.hasPrefix(kind) }.randomElement(using: &random) ?? names[0]
        var bytes = files.bytes[name] ?? []
        switch Int.random(in: 0..<7, using: &random) {
        case 0: bytes = []
        case 1: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
        case 2: bytes += bytes
        case 3: return Files.without(name, files)
        case 4: bytes = files.bytes[names.randomElement(using: &random) ?? name] ?? []
        case 5 where kind == "manifest":
            // Numbers and names of its own.
            let text = String(decoding: bytes, as: UTF8.self)
            let others = [
                "\"0\"", "\"1\"", "\"18446744073709551615\"", "\"../checkpoint\"", "[]", "null", "\"300\"", "\"960\"",
            ]
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            let place = Int.random(in: 1..<parts.count, using: &random)
            let rest = parts[place].drop { $0 != "," && $0 != "}" && $0 != "]" }
            let other = others.randomElement(using: &random) ?? ""
            bytes = Array((parts[..<place] + ["\(other)\(rest)"] + parts[(place + 1)...]).joined(separator: ":").utf8)
        default:
            guard !bytes.isEmpty else { break }
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
        }
        mutated.bytes[name] = bytes
        return mutated
    }

    /// Every wrong tile is found where a fork is looked for.
    @Test func aForkIsFoundByTiles() throws {
        let folder = try TemporaryDirectory()
        for fork in [1, 2, 256, 257, 512, 700, 1025, 1300] {
            let (left, right) = (folder.path("A\(fork)"), folder.path("B\(fork)"))
            let store = try EventStore.openOrCreate(at: left)
            _ = try store.append(try Self.drafts(fork - 1))
            try FileManager.default.copyItem(atPath: left, toPath: right)
            let other = try EventStore.open(at: right)
            _ = try store.append(try Self.drafts(1400 - fork, from: 5000))
            _ = try other.append(try Self.drafts(1900 - fork, from: 9000))
            _ = try LogShipment(of: store, to: folder.path("T\(fork)")).run()
            let tree = try TreeState(of: FolderTree(at: folder.path("T\(fork)")))
            #expect(try other.read { try tree.firstDifference($0) } == SequenceNumber(UInt64(fork)))
            #expect(try store.read { try tree.firstDifference($0) } == nil)
        }
    }

    /// The program that counts what trees take has the bundles that `ship` writes.
    @Test(.enabled(if: PythonPeer.isInstalled("argparse"), "it needs python3"))
    func countedAsShipped() throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        var random = SeededGenerator(seed: 7)
        var rounds: [Int] = []
        for _ in 0..<10 {
            rounds.append(Int.random(in: 1...([3, 40, 900].randomElement(using: &random) ?? 1), using: &random))
            _ = try store.append(try Self.drafts(rounds[rounds.count - 1], from: rounds.dropLast().reduce(0, +)))
            _ = try LogShipment(of: store, to: folder.path("T")).run()
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/python3")
            let program = PackageRoot.url.appending(path: "docs/scale.py").path
            process.arguments = [program, "--rounds", rounds.map(String.init).joined(separator: ",")]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let counted = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let manifest = try Data(contentsOf: URL(filePath: folder.path("T/manifest/\(rounds.reduce(0, +))")))
            let document = try JSONSerialization.jsonObject(with: manifest) as? [String: Any]
            let bundles = (document?["bundles"] as? [[String: Any]] ?? []).map {
                "\($0["from"] ?? "")-\($0["to"] ?? "")"
            }
            #expect(counted.split(separator: " ").dropLast(2).map(String.init) == bundles, "\(rounds)")
        }
    }

    /// What is no tree's stays where it is.
    @Test func whatIsNoTreeIsLeftAlone() throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append(try Self.drafts(3))
        for name in ["project/bundle", "project/src", "T/bundle", "T/manifest"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        try Data("mine".utf8).write(to: URL(filePath: folder.path("project/bundle/a-b-c.zst")))
        #expect(throws: EventLogError.self) { try LogShipment(of: store, to: folder.path("project")).run() }
        try Data("mine".utf8).write(to: URL(filePath: folder.path("T/bundle/Gemfile")))
        try Data("mine".utf8).write(to: URL(filePath: folder.path("T/manifest/notes")))
        for _ in 0..<3 {
            _ = try store.append(try Self.drafts(1, from: Int(try store.read { $0.head.rawValue })))
            _ = try LogShipment(of: store, to: folder.path("T")).run()
        }
        for name in ["project/bundle/a-b-c.zst", "T/bundle/Gemfile", "T/manifest/notes"] {
            #expect(FileManager.default.contents(atPath: folder.path(name)) == Data("mine".utf8))
        }
        // A tree is no place for another log.
        let other = try EventStore.openOrCreate(at: folder.path("M"))
        #expect(throws: EventLogError.self) { try LogShipment(of: other, to: folder.path("T")).run() }
        _ = try other.append(try Self.drafts(9))
        #expect(throws: EventLogError.self) { try LogShipment(of: other, to: folder.path("T")).run() }
    }

    /// A writer that comes between, or a log that has other events, changes nothing.
    @Test func copiesGoToTheirPlacesOnly() throws {
        let folder = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        _ = try store.append(try Self.drafts(4))
        let events = try store.read { session in
            try (1...4).compactMap { try session.event(at: SequenceNumber($0)) }
        }
        #expect(throws: EventLogError.self) { try store.append(copies: Array(events[1...])) }
        #expect(throws: EventLogError.self) { try store.append(copies: [events[0], events[2]]) }
        #expect(try store.read { $0.head } == SequenceNumber(4))
        #expect(try EventStore.verify(at: folder.path("L")).isIntact)
    }
}

extension ShippedTreeTests.Files {
    fileprivate static func without(_ name: String, _ files: Self) -> Self {
        var files = files
        files.bytes[name] = nil
        return files
    }
}
