import Foundation
import TestSupport
import Testing

@testable import EventLog

/// What is saved of a damaged log is right, and what is lost is said.
@Suite struct SalvageTests {
    private let log: TemporaryLog
    private let events: [UInt64: RecordedEvent]

    init() throws {
        let attributes = try Attributes([.init(name: "dir", value: "in")])
        log = try TemporaryLog(
            (1...900).map { number in
                try .sample(
                    number,
                    source: number % 5 == 0 ? "b" : "a",
                    key: number % 2 == 0 ? "key/\(number)" : nil,
                    attributes: number % 3 == 0 ? attributes : .none,
                    payload: number % 60 == 7 ? String(repeating: "long \(number) ", count: 700) : nil
                )
            }
        )
        events = Dictionary(uniqueKeysWithValues: try log.events().map { ($0.envelope.sequence.rawValue, $0) })
    }

    @Test func aSoundLogIsTheSameLog() throws {
        let (store, report) = try salvage("sound")
        #expect(report.lost.isEmpty && report.keepsIdentity && report.held == 900)
        #expect(store.identity == log.store.identity)
        #expect(try root(of: store) == root(of: log.store))
    }

    /// Checksums have no key, so anybody can make such values.
    @Test(arguments: [(1 << 47 + 1, 47, 1), (1, 47, 1), (1 << 46 + 1, 1, 16)] as [(UInt64, UInt8, UInt64)])
    func aFewForgedGapsArePassedOver(first: UInt64, level: UInt8, count: UInt64) throws {
        let before = try root(of: log.store)
        try forge(first, level: level, count: count)
        let (store, report) = try salvage("saved")
        #expect(report.lost.isEmpty && report.held == 900 && report.head == SequenceNumber(900))
        #expect(try root(of: store) == before)
    }

    /// Puts adjacent runs of one subtree each into the log.
    private func forge(_ first: UInt64, level: UInt8, count: UInt64) throws {
        let generation = log.store.core.current
        let transaction = try generation.environment.beginWrite()
        for number in 0..<count {
            let run = GapRun(first: first + number << level, level: level, rewrite: 1, clock: 0, hashes: [.zero])
            let key = withUnsafeBytes(of: run.first.bigEndian) { Array($0) }
            try transaction.putSummed(run.bytes, at: key, in: generation.tables.gaps)
        }
        try transaction.commit()
    }

    @Test func manyForgedGapsChooseNoMemory() throws {
        try forge(1 << 46 + 1, level: 1, count: 17)
        let target = log.directory.path("saved")
        let error = #expect(throws: EventLogError.self) {
            try EventStore.salvage(log.path, to: target, now: Timestamp(seconds: 1))
        }
        #expect(
            error?.code == .damaged && error?.reason.contains("at \(1 << 46 + 34)") == true,
            "\(String(describing: error))"
        )
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test func aCompactedLogIsTheSameLog() throws {
        let dropped = Array(10...700) as [UInt64]
        let plan = try RewritePlan.dropping(dropped, decidedAt: SequenceNumber(900), facts: ["f": [1]])
        _ = try log.store.rewrite(plan) { _ in }
        let (store, report) = try salvage("compacted")
        #expect(report.lost.isEmpty && report.keepsIdentity && report.dropped == 691)
        #expect(try root(of: store) == root(of: log.store))
        #expect(try store.read { try $0.fact("f") } == [1])
        let again = try store.append([.sample(1, source: "b", key: "key/20")])
        #expect(again.duplicates == 1, "keys of dropped events are kept")
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func whateverIsSavedIsWhatWasAppended(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let file = URL(filePath: log.path + "/gen-000001/data.mdb")
        var data = try Data(contentsOf: file)
        let pages = data.count / 4096
        switch seed % 4 {
        case 0:
            for _ in 0..<40 {
                data[Int.random(in: 0..<data.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
        case 1:
            for _ in 0..<4 {
                let page = Int.random(in: 0..<pages, using: &random)
                data.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
            }
        case 2: data = data.prefix(Int.random(in: 8192..<data.count, using: &random))
        default:
            // Both meta pages and a few others.
            data.replaceSubrange(0..<8192, with: Data(count: 8192))
            for _ in 0..<3 {
                let place = Int.random(in: 8192..<data.count - 200, using: &random)
                for byte in place..<place + 200 { data[byte] = UInt8.random(in: 0...255, using: &random) }
            }
        }
        let copy = log.directory.path("damaged")
        try FileManager.default.copyItem(atPath: log.path, toPath: copy)
        try data.write(to: URL(filePath: copy + "/gen-000001/data.mdb"))
        let (store, report) = try salvage("salvaged", from: copy)
        var held: UInt64 = 0
        try store.read { session in
            guard session.head > .zero else { return }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                let copy = event.copied()
                if copy.envelope.source == .logtool { return true }
                held += 1
                let isRight = copy == events[copy.envelope.sequence.rawValue]
                #expect(isRight, "sequence \(copy.envelope.sequence)")
                return true
            }
        }
        #expect(held == report.held && held + report.lostCount == report.head.rawValue)
        #expect(report.lost.isEmpty || report.keepsIdentity == (store.identity == log.store.identity))
        #expect(try store.append([.sample(1, key: "later")]).appended == 1)
    }

    @Test func aLostPageCostsItsEventsAndNoOthers() throws {
        let file = URL(filePath: log.path + "/gen-000001/data.mdb")
        var data = try Data(contentsOf: file)
        let place = try #require(data.range(of: Data("payload 500".utf8)))
        let page = place.lowerBound / 4096
        data.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
        let copy = log.directory.path("damaged")
        try FileManager.default.copyItem(atPath: log.path, toPath: copy)
        try data.write(to: URL(filePath: copy + "/gen-000001/data.mdb"))
        let (_, report) = try salvage("salvaged", from: copy)
        #expect(report.lost.count == 1 && report.lost[0].contains(SequenceNumber(500)))
        #expect((1...60).contains(report.lostCount) && report.held == 900 - report.lostCount)
        #expect(!report.keepsIdentity, "their leaf hashes are gone with them")
    }

    /// The act of the compaction and its last runs lie behind the cut; what stands beside the events names them.
    @Test(arguments: [40, 50, 60, 70, 80])
    func ofACompactedLogThatIsCutOffWhateverIsLeftComesOut(percent: Int) throws {
        let log = try TemporaryLog((1...3_000).map { try .sample($0, key: "key/\($0)") })
        let plan = try RewritePlan.dropping(Array(10...3_000), decidedAt: SequenceNumber(3_000), facts: ["f": [1]])
        _ = try log.store.rewrite(plan) { _ in }
        let before = try Dictionary(uniqueKeysWithValues: log.events().map { ($0.envelope.sequence, $0) })
        let copy = try cut(log, generation: 2) { $0 * percent / 100 }
        let (store, report) = try salvage("saved", from: copy)
        #expect(report.held >= 9 && report.dropped > 100 && report.head == SequenceNumber(3_001))
        #expect(report.lost.last?.upperBound == SequenceNumber(3_001), "the act is lost, and that is said")
        #expect(!report.doubts.isEmpty && !report.isComplete && !report.keepsIdentity)
        try store.read { session in
            for sequence in 1...9 as ClosedRange<UInt64> {
                let event = try session.event(at: SequenceNumber(sequence))
                #expect(event == before[SequenceNumber(sequence)], "sequence \(sequence)")
            }
        }
    }

    /// Hardly a byte is left that an event could lie in; the meta pages, the mark and derived data tell of more.
    @Test(arguments: [0, 4_096, 8_192, 40_960])
    func aFileThatIsCutShortIsNotSaidToBeWhole(byteCount: Int) throws {
        let copy = try cut(log) { _ in byteCount }
        let (store, report) = try salvage("saved", from: copy)
        #expect(report.head < SequenceNumber(900) && !report.isComplete && !report.keepsIdentity)
        #expect(store.identity != log.store.identity, "the lost sequences may come again with other events")
        let words = report.doubts.joined(separator: "\n")
        switch byteCount {
        case 0: #expect(words.contains("the mark beside the data file tells of") && words.contains("is empty"))
        case 4_096: #expect(words.contains("meta page 1 is damaged"))
        default: #expect(words.contains("ends after \(byteCount) bytes, and its meta page tells of"))
        }
    }

    @Test func anEmptyFileWithoutAMarkTellsOfNothing() throws {
        let copy = try cut(log) { _ in 0 }
        try FileManager.default.removeItem(atPath: copy + "/gen-000001/checked")
        let (_, report) = try salvage("saved", from: copy)
        #expect(report.doubts == ["the data file is empty, so nothing counts the events"])
    }

    /// The file is whole, but is an earlier state of itself.
    @Test func aFileThatIsOlderThanItsMarkIsNotSaidToBeWhole() throws {
        let older = log.directory.path("older")
        try FileManager.default.copyItem(atPath: log.path, toPath: older)
        _ = try log.store.append([.sample(901, key: "key/901")])
        for name in ["checked"] {
            try FileManager.default.removeItem(atPath: "\(older)/gen-000001/\(name)")
            try FileManager.default.copyItem(
                atPath: "\(log.path)/gen-000001/\(name)",
                toPath: "\(older)/gen-000001/\(name)"
            )
        }
        let (_, report) = try salvage("saved", from: older)
        #expect(report.held == 900 && report.doubts.count == 1, "\(report.doubts)")
        #expect(report.doubts.first?.hasPrefix("the mark beside the data file tells of commit") == true)
    }

    /// The events are all there; of the facts of the compaction one page is not.
    @Test func lostFactsAreSaid() throws {
        let fact = Array(repeating: UInt8(ascii: "f"), count: 20_000)
        let plan = try RewritePlan.dropping([5, 6], decidedAt: SequenceNumber(900), facts: ["fact": fact])
        _ = try log.store.rewrite(plan) { _ in }
        let file = URL(filePath: log.path + "/gen-000002/data.mdb")
        var data = try Data(contentsOf: file)
        let place = try #require(data.range(of: Data(fact)))
        let copy = log.directory.path("damaged")
        try FileManager.default.copyItem(atPath: log.path, toPath: copy)
        data[place.lowerBound + 9_000] ^= 1
        try data.write(to: URL(filePath: copy + "/gen-000002/data.mdb"))
        let (_, report) = try salvage("saved", from: copy)
        #expect(report.lost.isEmpty && report.doubts.count == 1 && !report.isComplete, "\(report.doubts)")
    }

    /// Nobody knows whether the second generation is the log, or is left from a rewrite that was cut short.
    @Test func aGenerationThatMayBeTheLogIsNamed() throws {
        let copy = try cut(log) { $0 / 2 }
        try FileManager.default.createDirectory(atPath: copy + "/gen-000002", withIntermediateDirectories: false)
        let (_, report) = try salvage("saved", from: copy)
        #expect(report.doubts.contains { $0.hasPrefix("whether gen-000002/data.mdb took the place") })
    }

    /// A copy of the log whose data file is cut to a length.
    private func cut(_ log: TemporaryLog, generation: Int = 1, to length: (Int) -> Int) throws -> String {
        let copy = log.directory.path("cut")
        try FileManager.default.copyItem(atPath: log.path, toPath: copy)
        let file = URL(filePath: "\(copy)/gen-00000\(generation)/data.mdb")
        let data = try Data(contentsOf: file)
        try data.prefix(length(data.count)).write(to: file)
        return copy
    }

    @Test func nothingIsWrittenOverAndNoLogIsNone() throws {
        let error = #expect(throws: EventLogError.self) {
            try EventStore.salvage(log.path, to: log.path, now: Timestamp(seconds: 1))
        }
        #expect(error?.code == .invalidArgument)
        let none = #expect(throws: EventLogError.self) {
            try EventStore.salvage(log.directory.path("none"), to: log.directory.path("x"), now: Timestamp(seconds: 1))
        }
        #expect(none?.code == .noLog)
    }

    private func salvage(_ name: String, from path: String? = nil) throws -> (EventStore, SalvageReport) {
        let target = log.directory.path(name)
        let report = try EventStore.salvage(path ?? log.path, to: target, now: Timestamp(seconds: 5_000))
        let store = try EventStore.open(at: target)
        let verified = try store.verify()
        #expect(verified.isIntact, "\(verified.damage?.description ?? "")")
        #expect(verified.root == report.root)
        return (store, report)
    }

    private func root(of store: EventStore) throws -> Hash256 {
        try store.read { try $0.root(size: $0.head.rawValue) }
    }
}
