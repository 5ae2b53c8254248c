import EventLog
import Foundation
import TestSupport
import Testing

@testable import Shipping

/// Logs that a bad courier carries: the copy is equal in the end, and what is not proved never enters it.
@Suite struct CourierTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil

    @Test(arguments: 1...UInt64(isLong ? 1000 : 12)) func aBadCourierBringsAll(seed: UInt64) throws {
        let bench = try CourierBench(seed: seed)
        let steps = Int.random(in: 3...8, using: &bench.random)
        for _ in 0..<steps {
            try bench.append([0, 1, 2, 15, 16, 17, 60].randomElement(using: &bench.random) ?? 1)
            if Int.random(in: 0..<8, using: &bench.random) == 0 { try bench.redact() }
            try bench.ship()
            switch Int.random(in: 0..<6, using: &bench.random) {
            case 0, 1: bench.courier.forgetTail()
            case 2: bench.courier.forgetAll()
            case 3: try bench.restartSender()
            case 4: bench.restartReceiver()
            default: break
            }
            if Bool.random(using: &bench.random) { bench.connect() } else { bench.courier.sender = nil }
            do {
                _ = try bench.pull.run(bench.taking)
            } catch let error as EventLogError where error.code == .notFound {}
        }
        try bench.append(1)
        try bench.ship()
        bench.connect()
        var result: CourierPull.Result?
        // A question may get lost, too; then a receiver believes that nobody is there.
        for _ in 0..<50 where try result?.head != bench.store.read({ $0.head.rawValue }) {
            do {
                result = try bench.pull.run(bench.taking)
            } catch let error as EventLogError where error.code == .notFound {}
        }
        let copy = try EventStore.open(at: bench.folder.path("C"))
        #expect(try CourierBench.lines(of: bench.store) == CourierBench.lines(of: copy), "seed \(seed)")
        #expect(try EventStore.verify(at: bench.folder.path("C")).isIntact, "seed \(seed)")
        Self.totals.add(bench.sum)
    }

    private static let totals = Totals()

    /// Counters of all seeds, for a long run to print.
    private final class Totals: @unchecked Sendable {
        private let lock = NSLock()
        private var (sum, seeds) = (CourierShipment.Counts(), 0)

        func add(_ counts: CourierShipment.Counts) {
            lock.withLock {
                sum = sum + counts
                seeds += 1
                if seeds.isMultiple(of: 100) { print("\(seeds) seeds: \(sum)") }
            }
        }
    }

    /// A receiver far behind, and a stream that lost its end: a few messages tell where each of them is.
    @Test func whatIsMissingIsFoundInFewMessages() throws {
        let bench = try CourierBench(seed: 1)
        bench.courier.mischief = 0
        for _ in 0..<20 {
            try bench.append(500)
            _ = try bench.shipment.round()
        }
        bench.connect()
        _ = try bench.pull.run()
        try bench.append(16)
        _ = try bench.shipment.round()
        // As a process that begins: it has seen nothing.
        bench.restartReceiver()
        let (reads, ids, questions) = (bench.courier.reads, bench.courier.ids, bench.courier.questions)
        let result = try bench.pull.run()
        #expect(result.head == 10016 && result.before == 10000)
        // Some 1,900 messages: 11 of them tell where to begin.
        #expect(bench.courier.ids - ids <= 100)
        #expect(bench.courier.reads - reads <= 6)
        #expect(bench.courier.questions - questions == 1)
    }

    /// Two logs with one identity that part: the sender's hashes tell where, a tile for each level.
    @Test(arguments: [true, false]) func aForkIsNamed(hasSender: Bool) throws {
        let bench = try CourierBench(seed: 2)
        bench.courier.mischief = 0
        try bench.append(700)
        _ = try bench.shipment.round()
        _ = try bench.pull.run()
        let copy = try EventStore.open(at: bench.folder.path("C"))
        _ = try copy.append(try CourierBench.drafts(1, from: 5000))
        try bench.append(600)
        _ = try bench.shipment.round()
        if hasSender { bench.connect() }
        let questions = bench.courier.questions
        let error = #expect(throws: EventLogError.self) { _ = try bench.pull.run() }
        #expect(error?.code == .invalidArgument && error?.sequence?.rawValue == 701, "\(String(describing: error))")
        #expect(bench.courier.questions - questions <= 8)
    }

    /// Mutated messages: whatever is believed is what the log has, and a sender mends the stream.
    @Test(arguments: 1...UInt64(isLong ? 300 : 8)) func nothingFalseIsBelieved(seed: UInt64) throws {
        let bench = try CourierBench(seed: seed)
        bench.courier.mischief = 0
        try bench.append(100)
        _ = try bench.shipment.round()
        if Bool.random(using: &bench.random) { _ = try bench.pull.run() }
        try bench.append(150)
        if seed.isMultiple(of: 3) { try bench.redact() }
        _ = try bench.shipment.round()
        let lines = try CourierBench.lines(of: bench.store, header: false)
        for _ in 0..<Int.random(in: 1...6, using: &bench.random) { bench.courier.mutate() }
        do {
            _ = try bench.pull.run()
        } catch let error as EventLogError {
            #expect(
                [.invalidArgument, .notFound, .io, .invalidEnvelope].contains(error.code),
                "seed \(seed): \(error)"
            )
        }
        if let copy = try? EventStore.open(at: bench.folder.path("C")),
            try copy.read({ try !$0.acts().isEmpty }) || !seed.isMultiple(of: 3)
        {
            let held = try CourierBench.lines(of: copy, header: false)
            #expect(held == Array(lines.prefix(held.count)), "seed \(seed)")
        }
        bench.connect()
        _ = try bench.pull.run()
        let copy = try EventStore.open(at: bench.folder.path("C"))
        #expect(try CourierBench.lines(of: copy, header: false) == lines, "seed \(seed)")
    }

    /// A whole stream of another log under this one's identity and origin: a receiver that asks for a signature takes nothing of it.
    @Test func aForgedStreamIsRefused() throws {
        let bench = try CourierBench(seed: 3)
        bench.courier.mischief = 0
        try bench.append(40)
        _ = try bench.shipment.round()
        var request = LogPull.Request()
        request.verifiers = [VerifierKey(name: "log", key: [UInt8](repeating: 7, count: 32))]
        let error = #expect(throws: EventLogError.self) { _ = try bench.pull.run(request) }
        #expect(error?.code == .notFound)
        #expect(!FileManager.default.fileExists(atPath: bench.folder.path("C")))
    }

    @Test func idsAndQuestionsAreReadAsTheyAreWritten() throws {
        let state = RewriteState(acts: [3, 9], decidedAt: 2)
        let name = BatchName(what: .events, first: 5, last: 9, parts: 3, state: state, root: "ab", digest: "cd")
        let id = PartID(identity: "00ff", batch: name, part: 2, attempt: 7)
        #expect(PartID(id.text) == id)
        for wrong in ["", "x", id.text + ".1", id.text.replacingOccurrences(of: "5-9", with: "9-5")] {
            #expect(PartID(wrong) == nil, "\(wrong)")
        }
        #expect(CourierQuestion(Array("{}".utf8)) == nil)
        for (level, index, width) in [(0, UInt64(0), 256), (2, 1_234_067, 17), (7, 1, 1)] {
            let parsed = TilePath.parse(TilePath.hashes(level: level, index: index, width: width))
            #expect(parsed.map { $0 == (level, index, width) } == true)
        }
        #expect(TilePath.parse(["tile", "0", "..", "1"]) == nil)
    }
}
