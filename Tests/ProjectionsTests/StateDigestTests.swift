import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct StateDigestTests {
    @Test func noRowsHaveOneDigestHoweverTheyWent() {
        var digest = StateDigest()
        let empty = digest.root()
        for number in 0..<100 { digest.set(key: hash(number), row: hash(number)) }
        for number in (0..<100).reversed() { digest.set(key: hash(number), row: nil) }
        #expect(digest.root() == empty)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func theWayThereDoesNotMatter(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var rows: [Int: Int] = [:]
        var walked = StateDigest()
        for step in 0..<3000 {
            let key = Int.random(in: 0..<400, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                rows[key] = nil
                walked.set(key: hash(key), row: nil)
            } else {
                rows[key] = step % 7
                walked.set(key: hash(key), row: hash(step % 7))
            }
            if step % 500 == 0 { #expect(walked.root() == rebuilt(rows, using: &random)) }
        }
        #expect(walked.root() == rebuilt(rows, using: &random))
    }

    @Test func anyDifferenceShows() {
        var digest = StateDigest()
        for number in 0..<1000 { digest.set(key: hash(number), row: hash(number)) }
        var seen: Set<Hash256> = [digest.root()]
        for number in 0..<1000 {
            var other = digest
            other.set(key: hash(number), row: hash(-1))
            #expect(seen.insert(other.root()).inserted)
            other.set(key: hash(number), row: nil)
            #expect(seen.insert(other.root()).inserted)
        }
    }

    @Test func copiesAreIndependent() {
        var first = StateDigest()
        first.set(key: hash(1), row: hash(1))
        var second = first
        second.set(key: hash(2), row: hash(2))
        second.set(key: hash(2), row: nil)
        #expect(first.root() == second.root())
        second.set(key: hash(1), row: hash(3))
        #expect(first.root() != second.root())
    }

    private func rebuilt(_ rows: [Int: Int], using random: inout SeededGenerator) -> Hash256 {
        var digest = StateDigest()
        for (key, row) in rows.shuffled(using: &random) { digest.set(key: hash(key), row: hash(row)) }
        return digest.root()
    }

    private func hash(_ number: Int) -> Hash256 {
        Hasher256.hash(Array("\(number)".utf8))
    }
}
