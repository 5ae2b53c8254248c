import EventLog
import Foundation
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

    /// A million edits with `EVENTLOG_LONG_TESTS=1`. Whether two states are the same is told by sums of random numbers, one
    /// for each (key, row), which have nothing to do with the digest.
    @Test func twoStatesShareADigestOnlyIfTheyAreTheSame() {
        let edits = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == nil ? 100_000 : 1_000_000
        var random = SeededGenerator(seed: 5)
        let keys = (0..<64).map { hash($0) }
        let numbers = (0..<64).map { _ in (0..<8).map { _ in UInt64.random(in: .min ... .max, using: &random) } }
        var rows = [Int](repeating: 0, count: keys.count)
        var sum: UInt64 = 0
        var digest = StateDigest()
        var sums: [Hash256: UInt64] = [:]
        var digests: [UInt64: Hash256] = [:]
        var repeats = 0
        for _ in 0..<edits {
            let key = Int.random(in: 0..<keys.count, using: &random)
            let row = Int.random(in: 0..<8, using: &random)
            sum = sum &- (rows[key] == 0 ? 0 : numbers[key][rows[key]]) &+ (row == 0 ? 0 : numbers[key][row])
            rows[key] = row
            digest.set(key: keys[key], row: row == 0 ? nil : keys[row])
            let root = digest.root()
            if let known = sums.updateValue(sum, forKey: root) {
                repeats += 1
                #expect(known == sum)
            }
            if let known = digests.updateValue(root, forKey: sum) { #expect(known == root) }
        }
        print("\(edits) edits, \(sums.count) states, \(repeats) seen again")
        #expect(sums.count == digests.count && repeats > 0)
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

    @Test(arguments: [0, 1, 2, 3, 17, 4095, 4096, 20_000])
    func rowsAtOnceHaveTheDigestOfRowsOneByOne(count: Int) {
        let leaves = (0..<count).map { StateDigest.Leaf(key: hash($0), row: hash(-$0)) }
        #expect(StateDigest.root(of: slices(leaves, each: 1000) as [WholeSlice]) == walked(leaves))
        // A key that stands in two slices counts once.
        let twice: [WholeSlice] = slices(leaves, each: 700) + slices(leaves, each: 1000)
        #expect(StateDigest.root(of: twice) == walked(leaves))
    }

    /// Keys that are no hashes: branches in chains, first digits that lead to one leaf, and to none.
    @Test(arguments: [100, 5000])
    func keysMayShareLongBeginnings(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        var leaves = (0..<count).map { number in
            StateDigest.Leaf(key: key([0x5A], ending: number), row: hash(number))
        }
        #expect(StateDigest.root(of: slices(leaves, each: 900) as [WholeSlice]) == walked(leaves))
        for (number, first) in [[0x50], [0x70, 1], [0x70, 2], [0xFF]].enumerated() {
            leaves.insert(
                StateDigest.Leaf(key: key(first.map(UInt8.init), ending: number), row: hash(number)),
                at: Int.random(in: 0..<leaves.count, using: &random)
            )
            #expect(StateDigest.root(of: slices(leaves, each: 900) as [WholeSlice]) == walked(leaves))
        }
    }

    @Test(arguments: [0, 1, 2, 17, 4095, 4096, 20_000])
    func shortLeavesGiveTheSameDigestOrNone(count: Int) {
        var leaves = (0..<count).map { StateDigest.Leaf(key: hash($0), row: hash(-$0)) }
        #expect(StateDigest.root(of: slices(leaves, each: 1000) as [LeafSlice<ShortLeaf>]) == walked(leaves))
        // Two keys with the same eight bytes at the beginning, and one that differs in the last of them.
        let start = [UInt8](repeating: 0x5A, count: 7)
        for (last, ending) in [(1, 1), (2, 2)] as [(UInt8, Int)] {
            leaves.append(StateDigest.Leaf(key: key(start + [last], ending: ending), row: hash(1)))
        }
        #expect(StateDigest.root(of: slices(leaves, each: 1000) as [LeafSlice<ShortLeaf>]) == walked(leaves))
        leaves.append(StateDigest.Leaf(key: key(start + [2], ending: 3), row: hash(1)))
        #expect(StateDigest.root(of: slices(leaves, each: 1000) as [LeafSlice<ShortLeaf>]) == nil)
    }

    private func slices<Leaf: DigestLeaf>(_ leaves: [StateDigest.Leaf], each: Int) -> [LeafSlice<Leaf>] {
        stride(from: 0, to: leaves.count, by: each).map { start in
            LeafSlice(leaves[start..<min(leaves.count, start + each)].map { Leaf($0) })
        }
    }

    private func walked(_ leaves: [StateDigest.Leaf]) -> Hash256 {
        var digest = StateDigest()
        for leaf in leaves { digest.set(leaf) }
        return digest.root()
    }

    /// A key of these first bytes, zeros, and a number in its last two bytes.
    private func key(_ first: [UInt8], ending number: Int) -> Hash256 {
        let bytes = first + [UInt8](repeating: 0, count: 30 - first.count) + [UInt8(number >> 8), UInt8(number & 0xFF)]
        return Hash256(bytes) ?? hash(number)
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
