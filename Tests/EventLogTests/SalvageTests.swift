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
            try transaction.putSealed(run.bytes, at: key, in: generation.tables.gaps)
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
