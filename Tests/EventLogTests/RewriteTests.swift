import EventLog
import Foundation
import TestSupport
import Testing

@Suite struct RewriteTests {
    private func log(_ count: Int) throws -> TemporaryLog {
        try TemporaryLog(try (1...count).map { try .sample($0, key: $0 % 3 == 0 ? nil : "key \($0)") })
    }

    /// Processes that only read make derived data without the lock that a rewrite holds.
    @Test func aRewriteLeavesWhatALivingProcessMakes() throws {
        let log = try log(20)
        let living = getppid()
        let made = ["birth-cache-\(living)-1", "gone-cache-000001-\(living)"]
        let left = ["birth-1-7", "gone-000007"]
        for name in made + left {
            try FileManager.default.createDirectory(atPath: "\(log.path)/\(name)", withIntermediateDirectories: false)
        }
        _ = try log.store.rewrite(.dropping([3], decidedAt: SequenceNumber(20)))
        let names = try FileManager.default.contentsOfDirectory(atPath: log.path)
        #expect(Set(made).isSubset(of: names) && Set(left).isDisjoint(with: names), "\(names)")
    }

    @Test func droppedEventsLeaveTheirLeafHashesAndTheRoot() throws {
        let log = try log(700)
        let before = try log.events()
        let root = try log.store.read { try $0.root(size: 700) }
        let dropped = (1...650).filter { $0 % 5 != 0 }.map { UInt64($0) }
        let result = try log.store.rewrite(.dropping(dropped, decidedAt: SequenceNumber(700)))
        #expect(result.act == SequenceNumber(701))
        #expect(result.heldBefore == 700 && result.heldAfter == UInt64(700 - dropped.count))
        let after = try log.events()
        let gone = Set(dropped)
        #expect(Array(after.dropLast()) == before.filter { !gone.contains($0.envelope.sequence.rawValue) })
        #expect(after.last?.envelope.isAct == true)
        try log.store.read { session in
            let rootAfter = try session.root(size: 700)
            #expect(rootAfter == root)
            #expect(session.head == SequenceNumber(701) && session.decidedAt == SequenceNumber(700))
            let one = try session.event(at: SequenceNumber(1))
            #expect(one == nil)
            let holding = try session.holding(at: SequenceNumber(1))
            #expect(holding == .dropped)
            for event in before {
                let hash = try session.leafHash(at: event.envelope.sequence)
                #expect(hash == event.leafHash)
            }
            let clock = try session.clock(at: SequenceNumber(700))
            #expect(clock == Timestamp(seconds: 700))
        }
        let report = try log.store.verify()
        #expect(report.isIntact, "\(report.damage.map(String.init(describing:)) ?? "")")
        #expect(report.dropped == UInt64(dropped.count) && report.whole == UInt64(701 - dropped.count))
    }

    @Test func theActDoesNotMoveTheClock() throws {
        let log = try log(10)
        _ = try log.store.rewrite(.dropping([1], decidedAt: SequenceNumber(10)))
        #expect(try log.store.read { try $0.clock(at: $0.head) } == Timestamp(seconds: 10))
    }

    @Test func keysOfDroppedEventsAreRemembered() throws {
        let log = try log(500)
        _ = try log.store.rewrite(.dropping((1...400).map { $0 }, decidedAt: SequenceNumber(500)))
        _ = try log.store.rewrite(.dropping((401...450).map { $0 }, decidedAt: SequenceNumber(501)))
        let again = try log.store.append(
            try [1, 2, 400, 430, 490].map { try .sample($0, key: "key \($0)", payload: $0 < 450 ? "other" : nil) }
        )
        #expect(again.sequences.map(\.rawValue) == [1, 2, 400, 430, 490])
        #expect(again.appended == 0)
        #expect(try log.store.verify().isIntact)
    }

    @Test func appendsGoOnInTheNewGeneration() throws {
        let log = try log(300)
        _ = try log.store.rewrite(.dropping([5, 6, 7], decidedAt: SequenceNumber(300)))
        let more = try log.store.append(try (1...300).map { try .sample($0 + 1000, key: "more \($0)") })
        #expect(more.first == SequenceNumber(302))
        #expect(try log.store.verify().isIntact)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: log.path).filter { $0.hasPrefix("g") }
                == ["gen-000002"]
        )
    }

    @Test func aReaderGoesOnInWhatItReads() throws {
        let log = try log(100)
        try log.store.read { session in
            _ = try log.store.rewrite(.dropping((1...90).map { $0 }, decidedAt: SequenceNumber(100)))
            let event = try session.event(at: SequenceNumber(1))
            #expect(event?.payload == Array("payload 1".utf8))
            #expect(session.head == SequenceNumber(100))
        }
        #expect(try log.store.read { try $0.event(at: SequenceNumber(1)) } == nil)
    }

    @Test func aProofThatThrowsLeavesTheLogAsItWas() throws {
        struct Refused: Error {}
        let log = try log(100)
        let before = try log.events()
        #expect(throws: Refused.self) {
            try log.store.rewrite(.dropping([1, 2], decidedAt: SequenceNumber(100))) { session in
                let gone = try session.event(at: SequenceNumber(2))
                #expect(gone == nil && session.head == SequenceNumber(100))
                throw Refused()
            }
        }
        #expect(try log.events() == before)
        #expect(try log.store.statistics().generation == 1)
        #expect(try log.store.append([.sample(1)]).first == SequenceNumber(101))
        _ = try log.store.rewrite(.dropping([1, 2], decidedAt: SequenceNumber(101)))
        #expect(try log.store.verify().isIntact)
    }

    @Test func eventsThatArriveDuringTheProofAreKept() throws {
        let log = try log(100)
        let result = try log.store.rewrite(.dropping([1, 2], decidedAt: SequenceNumber(100))) { _ in
            _ = try log.store.append(
                [.sample(7, key: "late")],
                bookmark: Bookmark(source: SourceName("test"), bytes: [9])
            )
        }
        #expect(result.act == SequenceNumber(102))
        let source = try SourceName("test")
        #expect(try log.store.read { try $0.bookmark(of: source) } == [9])
        #expect(try log.store.append([.sample(7, key: "late")]).sequences == [SequenceNumber(101)])
        #expect(try log.store.verify().isIntact)
    }

    @Test func factsStayUntilTheyAreReplaced() throws {
        let log = try log(20)
        let large = [UInt8](repeating: 3, count: 100_000)
        _ = try log.store.rewrite(.dropping([1], decidedAt: SequenceNumber(20), facts: ["a": [1], "b": large]))
        _ = try log.store.rewrite(.dropping([2], decidedAt: SequenceNumber(21), facts: ["a": [2]]))
        #expect(try log.store.read { try $0.fact("a") } == [2])
        #expect(try log.store.read { try $0.fact("b") } == large)
        #expect(try log.store.read { try $0.fact("c") } == nil)
    }

    @Test(arguments: [[2, 1], [1, 1], [0], [99], [21]] as [[UInt64]])
    func aPlanThatDoesNotFitIsRefused(dropped: [UInt64]) throws {
        let log = try log(20)
        let error = #expect(throws: EventLogError.self) {
            try log.store.rewrite(.dropping(dropped, decidedAt: SequenceNumber(20)))
        }
        #expect(error?.code == .invalidArgument)
        #expect(try log.store.statistics().generation == 1)
    }

    @Test func aSubstituteBeyondThePayloadLimitIsRefused() throws {
        let log = try log(4)
        var plan = try RewritePlan.dropping([], decidedAt: SequenceNumber(4))
        plan.substitutes = [SequenceNumber(2): [UInt8](repeating: 0x20, count: EnvelopeLimits.payloadBytesMax + 1)]
        let error = #expect(throws: EventLogError.self) { try log.store.rewrite(plan) }
        #expect(error?.code == .invalidArgument && error?.reason.contains("the substitute of sequence 2") == true)
        #expect(try log.store.statistics().generation == 1)
    }

    @Test func anActIsNeverDroppedNorAnEventTwice() throws {
        let log = try log(20)
        _ = try log.store.rewrite(.dropping([3], decidedAt: SequenceNumber(20)))
        for dropped in [[21], [3]] as [[UInt64]] {
            let error = #expect(throws: EventLogError.self) {
                try log.store.rewrite(.dropping(dropped, decidedAt: SequenceNumber(21)))
            }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test func droppedEventsThatTheActDoesNotNameAreDamage() throws {
        let log = try log(20)
        var plan = try RewritePlan.dropping([1, 2], decidedAt: SequenceNumber(20))
        plan.dropped = [SequenceNumber(1), SequenceNumber(3)]
        _ = try log.store.rewrite(plan)
        #expect(try log.store.verify().damage != nil)
    }

    @Test func aSubstituteKeepsTheLeafHash() throws {
        let log = try log(20)
        let before = try log.events()
        let substitute = Array("[redacted]".utf8)
        let hash = Hasher256.hash(substitute).hex
        var plan = try RewritePlan.dropping([], decidedAt: SequenceNumber(20))
        plan.substitutes = [SequenceNumber(4): substitute]
        plan.act.payload = Array("{\"redacted\":[{\"sequence\":\"4\",\"substituteHash\":\"\(hash)\"}]}".utf8)
        _ = try log.store.rewrite(plan)
        let event = try #require(try log.store.read { try $0.event(at: SequenceNumber(4)) })
        #expect(event.payload == substitute && event.salt == nil && event.envelope.holding == .redacted)
        #expect(event.leafHash == before[3].leafHash && event.commitment == before[3].commitment)
        let report = try log.store.verify()
        #expect(report.isIntact && report.redacted == 1)
        #expect(try log.store.append([.sample(4, key: "key 4", payload: "anything")]).sequences.first?.rawValue == 4)
    }

    @Test func diskSpaceShrinks() throws {
        let log = try TemporaryLog(try (1...3000).map { try .sample($0, payload: String(repeating: "x", count: 900)) })
        let result = try log.store.rewrite(.dropping((1...2900).map { $0 }, decidedAt: SequenceNumber(3000)))
        #expect(result.bytesAfter * 4 < result.bytesBefore)
        #expect(try log.store.statistics().bytesOnDisk < result.bytesBefore / 4)
    }
}
