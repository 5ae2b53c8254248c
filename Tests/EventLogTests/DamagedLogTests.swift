import Foundation
import TestSupport
import Testing

@testable import EventLog

/// Everything that reads a damaged log agrees about it: `verify`, an open of a plain copy, a backup, a salvage, and
/// `docs/pages.py`, a reader in Python that knows nothing but `docs/format.md` and the pages of LMDB.
@Suite struct DamagedLogTests {
    /// How many logs are drawn: 6, or as many as `EVENTLOG_DAMAGED_LOGS` says. Each is damaged in `damages` ways.
    private static let count: UInt64 =
        ProcessInfo.processInfo.environment["EVENTLOG_DAMAGED_LOGS"].flatMap { UInt64($0) } ?? 6

    @Test(arguments: 0..<count)
    func everyReaderAgreesAboutADamagedLog(seed: UInt64) throws {
        var aged = try AgedLog(ofSomeAge: seed)
        let former = try Data(contentsOf: dataFile(of: aged.log.path)).prefix(8192)
        try aged.take(.grow)
        let original = try Original(aged.log)
        var random = SeededGenerator(seed: seed &+ 7_000)
        var cases: [(damage: DataDamage, path: String)] = []
        for damage in DataDamage.allCases {
            let path = aged.log.directory.path("\(damage).eventlog")
            try FileManager.default.copyItem(atPath: aged.log.path, toPath: path)
            let file = try dataFile(of: path)
            let data = damage.applied(to: try Data(contentsOf: file), former: former, &random)
            try data.write(to: file)
            cases.append((damage, path))
        }
        let judgements = try PagesReader.judge(cases.map(\.path))
        #expect(judgements.count == cases.count)
        for (place, judgement) in zip(cases, judgements) {
            let name = "seed \(seed), \(aged.steps.map(\.rawValue).joined(separator: ", ")): \(place.damage)"
            try compare(place.path, place.damage, judgement, original, name, aged.log.directory)
        }
    }

    private func compare(
        _ path: String,
        _ damage: DataDamage,
        _ judgement: PagesReader.Judgement,
        _ original: Original,
        _ name: String,
        _ directory: TemporaryDirectory
    ) throws {
        let report = try outcome { try EventStore.verify(at: path) }
        let words = report?.damage.map { "\($0)" } ?? "intact"
        #expect(
            (report?.isIntact ?? false) == judgement.intact,
            "\(name): verify: \(words); the reader: \(judgement.reason ?? "intact")"
        )
        // Opened without a mark that fits: every page is checked.
        let opened = try outcome { try EventStore.open(at: path).verify() }
        #expect((opened?.isIntact ?? false) == judgement.intact, "\(name): open of a copy")
        let backup = try outcome { try EventStore.open(at: path).backup(to: directory.path("b-\(UUID().uuidString)")) }
        #expect((backup != nil) == judgement.intact, "\(name): backup")
        for report in [report, opened, backup] where judgement.intact {
            #expect(report?.head.rawValue == judgement.head && report?.root.hex == judgement.root, "\(name)")
        }
        try compareSalvage(path, damage, judgement, original, name, directory.path("s-\(UUID().uuidString)"))
    }

    /// What is salvaged was appended, contains whatever the reader can prove, and nothing is said to be whole that is not.
    private func compareSalvage(
        _ path: String,
        _ damage: DataDamage,
        _ judgement: PagesReader.Judgement,
        _ original: Original,
        _ name: String,
        _ target: String
    ) throws {
        let salvage = try EventStore.salvage(path, to: target, now: Timestamp(seconds: 5_000_000))
        let store = try EventStore.open(at: target)
        let report = try store.verify()
        #expect(report.isIntact && report.root == salvage.root, "\(name): \(report.damage?.description ?? "root")")
        let saved = try Original(store)
        let held = saved.held.filter { $0.key <= salvage.head.rawValue }
        let isOwn = held.values.allSatisfy { original.hashes.contains($0) }
        #expect(isOwn, "\(name): it holds something that was never appended")
        let alone = Dictionary(grouping: judgement.events, by: \.sequence).filter { $0.value.count == 1 }
        for (sequence, proved) in alone {
            guard let hash = original.held[sequence], hash.hex == proved[0].hash else { continue }
            #expect(held[sequence] == hash, "\(name): sequence \(sequence) was there and is not saved")
        }
        if salvage.isComplete {
            #expect(held == original.held && salvage.root == original.root, "\(name): said to be complete")
            #expect(salvage.keepsIdentity, "\(name)")
        }
        if judgement.intact, damage != .staleMetaPages {
            #expect(salvage.isComplete, "\(name): \(salvage.lost) \(salvage.doubts)")
        }
    }

    /// The result; `nil` for an error that says that the log is damaged.
    private func outcome<Result>(_ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch let error as EventLogError where error.code == .damaged {
            return nil
        }
    }

    private func dataFile(of path: String) throws -> URL {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("gen-") }
        return URL(filePath: "\(path)/\(try #require(names.min()))/data.mdb")
    }

    /// What a log holds.
    private struct Original {
        /// The leaf hashes of held events.
        let held: [UInt64: Hash256]
        let hashes: Set<Hash256>
        let root: Hash256

        init(_ log: TemporaryLog) throws {
            try self.init(log.store)
        }

        init(_ store: EventStore) throws {
            var held: [UInt64: Hash256] = [:]
            root = try store.read { session in
                if session.head > .zero {
                    try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                        held[event.sequence.rawValue] = event.copied().leafHash
                        return true
                    }
                }
                return try session.root(size: session.head.rawValue)
            }
            self.held = held
            hashes = Set(held.values)
        }
    }
}

/// A way to damage a data file of pages of 4,096 bytes.
private enum DataDamage: CaseIterable {
    case bitFlips, cutOff, emptied, zeroedPages, swappedPages, copiedPages, garbagePages, garbageBehind, zeroedMetaPage,
        staleMetaPage, staleMetaPages

    func applied(to original: Data, former: Data, _ random: inout SeededGenerator) -> Data {
        var data = original
        let pages = data.count / 4096
        func page(_ random: inout SeededGenerator, from first: Int = 2) -> Range<Int> {
            let number = Int.random(in: first..<pages, using: &random)
            return number * 4096..<(number + 1) * 4096
        }
        switch self {
        case .bitFlips:
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                data[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
        case .cutOff: data = data.prefix(Int.random(in: 0..<data.count, using: &random))
        case .emptied: data = data.prefix([0, 4096, 8192, 40_960].randomElement(using: &random) ?? 0)
        case .zeroedPages:
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                data.replaceSubrange(page(&random), with: Data(count: 4096))
            }
        case .swappedPages:
            let (first, second) = (page(&random), page(&random))
            let held = data.subdata(in: first)
            data.replaceSubrange(first, with: data.subdata(in: second))
            data.replaceSubrange(second, with: held)
        case .copiedPages: data.replaceSubrange(page(&random), with: data.subdata(in: page(&random)))
        case .garbagePages:
            let bytes = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) }
            data.replaceSubrange(page(&random, from: 0), with: bytes)
        case .garbageBehind:
            data += Data((0..<20_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        case .zeroedMetaPage:
            let start = Bool.random(using: &random) ? 0 : 4096
            data.replaceSubrange(start..<start + 4096, with: Data(count: 4096))
        case .staleMetaPage:
            let start = Bool.random(using: &random) ? 0 : 4096
            data.replaceSubrange(start..<start + 4096, with: former.dropFirst(start).prefix(4096))
        case .staleMetaPages: data.replaceSubrange(0..<8192, with: former)
        }
        return data
    }
}

/// `docs/pages.py`.
private enum PagesReader {
    struct Judgement: Decodable {
        let intact: Bool
        let reason: String?
        let head: UInt64?
        let root: String?
        let events: [Proved]
    }

    struct Proved: Decodable {
        let sequence: UInt64
        let hash: String

        init(from decoder: any Decoder) throws {
            var pair = try decoder.unkeyedContainer()
            sequence = try pair.decode(UInt64.self)
            hash = try pair.decode(String.self)
        }
    }

    /// What the reader says of each log, in their order; needs no module.
    static func judge(_ paths: [String]) throws -> [Judgement] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", PackageRoot.url.appending(path: "docs/pages.py").path] + paths
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return try output.split(separator: UInt8(ascii: "\n")).map { line in
            try JSONDecoder().decode(Judgement.self, from: Data(line))
        }
    }
}
