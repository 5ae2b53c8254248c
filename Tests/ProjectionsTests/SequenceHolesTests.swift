import EventLog
import TestSupport
import Testing

@testable import Projections

/// Holes in the numbers of connections, against lists that are searched from end to end.
@Suite struct SequenceHolesTests {
    private struct Model {
        var holes: [(connection: UInt64, numbers: ClosedRange<Int64>)] = []

        mutating func fill(_ number: Int64, on connection: UInt64) {
            guard let index = holes.firstIndex(where: { $0.connection == connection && $0.numbers.contains(number) })
            else { return }
            let numbers = holes.remove(at: index).numbers
            if number < numbers.upperBound { holes.insert((connection, number + 1...numbers.upperBound), at: index) }
            if number > numbers.lowerBound { holes.insert((connection, numbers.lowerBound...number - 1), at: index) }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func holesOpenSplitAndClose(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (holes, model) = (SequenceHoles(), Model())
        var greatest: [UInt64: Int64] = [:]
        let instant = Timestamp(seconds: 0)
        for round in 0..<6_000 {
            let connection = UInt64.random(in: 1...3, using: &random)
            let last = greatest[connection] ?? 0
            if Int.random(in: 0..<3, using: &random) == 0 {
                let next = last + Int64.random(in: 1...9, using: &random)
                holes.open(after: last, before: next, on: connection, from: instant, to: instant)
                if next > last + 1 { model.holes.append((connection, last + 1...next - 1)) }
                greatest[connection] = next
            } else if last > 0 {
                let number = Int64.random(in: max(1, last - 2_000)...last, using: &random)
                holes.fill(number, on: connection)
                model.fill(number, on: connection)
            }
            guard round % 500 == 499 else { continue }
            // As saved and as facts they are the same, and go on as the same.
            if round % 1_000 == 999 { holes = try SequenceHoles(facts: holes.facts) }
            holes = try StateDecoder.value(SequenceHoles.self, from: StateEncoder.bytes(of: holes))
            #expect(holes.gaps.map(\.numbers) == model.holes.map { [$0.numbers] })
            for connection in 1...4 as ClosedRange<UInt64> {
                #expect(holes.hasHole(on: connection) == model.holes.contains { $0.connection == connection })
            }
        }
        #expect(model.holes.count > 600)
        for hole in model.holes { for number in hole.numbers { holes.fill(number, on: hole.connection) } }
        #expect(holes.gaps.isEmpty && !holes.hasHole(on: 1))
    }

    /// A hole may split as often as numbers come late.
    @Test func aSearchLooksAtFew() {
        var holes = SequenceHoles()
        holes.open(after: 0, before: 100_000, on: 1, from: Timestamp(seconds: 0), to: Timestamp(seconds: 0))
        let counter = Steps.Counter()
        Steps.$counter.withValue(counter) { for number in 1..<20_000 as Range<Int64> { holes.fill(2 * number, on: 1) } }
        #expect(holes.gaps.count == 20_000)
        #expect(counter.count < 20_000 * 20)
    }
}
