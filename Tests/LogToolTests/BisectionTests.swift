import EventLog
import Testing

@testable import Reduction

@Suite struct BisectionTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func findsTheFirstBadPointInFewStates(first: UInt64) throws {
        for last in max(first, 2)...41 {
            var bisection = Bisection(good: .zero, bad: SequenceNumber(last))
            var seen: Set<UInt64> = []
            let outcome = try bisection.run { point in
                #expect(seen.insert(point.rawValue).inserted, "tested \(point) twice")
                return point.rawValue >= first ? .bad : .good
            }
            #expect(outcome == .first(SequenceNumber(first)))
            #expect(bisection.tested == seen.count)
            let bound = 2 + (UInt64.bitWidth - (last - 1).leadingZeroBitCount)
            #expect(bisection.tested <= bound)
        }
    }

    /// Of the points before the first that can be bad none is tested but the end.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func beginsWhereTheAnswerCanBe(chance: UInt64) throws {
        for first in chance...41 {
            var bisection = Bisection(good: .zero, bad: SequenceNumber(41))
            var seen: [UInt64] = []
            let outcome = try bisection.run(from: SequenceNumber(chance)) { point in
                seen.append(point.rawValue)
                return point.rawValue >= first ? .bad : .good
            }
            #expect(outcome == .first(SequenceNumber(first)))
            #expect(seen.dropFirst().allSatisfy { $0 >= chance } && Set(seen).count == seen.count)
            #expect(bisection.tested == seen.count)
            if first == chance { #expect(seen.count <= 3) }
        }
    }

    /// A point that cannot be the first bad one, as it lies behind the end or before the beginning, is passed over.
    @Test func aBeginningOutsideTheEndsIsPassedOver() throws {
        for chance in [3, 10, 21, 99] as [UInt64] {
            var bisection = Bisection(good: SequenceNumber(10), bad: SequenceNumber(20))
            let outcome = try bisection.run(from: SequenceNumber(chance)) { $0.rawValue >= 14 ? .bad : .good }
            #expect(outcome == .first(SequenceNumber(14)))
        }
    }

    @Test func pointsThatCannotBeToldAreNamed() throws {
        var bisection = Bisection(good: SequenceNumber(10), bad: SequenceNumber(20))
        let outcome = try bisection.run { point in
            switch point.rawValue {
            case ...13: .good
            case 14...16: .skip
            default: .bad
            }
        }
        #expect(outcome == .among([14, 15, 16, 17].map { SequenceNumber($0) }))
    }

    @Test func aSkippedMiddleDoesNotHideTheAnswer() throws {
        var bisection = Bisection(good: .zero, bad: SequenceNumber(100))
        let outcome = try bisection.run { point in
            (40...60).contains(point.rawValue) ? .skip : point.rawValue >= 70 ? .bad : .good
        }
        #expect(outcome == .first(SequenceNumber(70)))
    }

    @Test func endsThatTellNothingAreSaid() throws {
        func outcome(_ test: (SequenceNumber) -> Verdict) throws -> Bisection.Outcome {
            var bisection = Bisection(good: SequenceNumber(1), bad: SequenceNumber(9))
            return try bisection.run(test)
        }
        #expect(try outcome { _ in .good } == .same(.good))
        #expect(try outcome { _ in .bad } == .same(.bad))
        #expect(try outcome { $0.rawValue > 4 ? .good : .bad } == .reversed)
        #expect(try outcome { $0.rawValue == 9 ? .skip : .good } == .unknownEnd(SequenceNumber(9)))
    }
}
