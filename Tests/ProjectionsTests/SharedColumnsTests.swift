import EventLog
import JSON
import TestSupport
import Testing

@testable import Projections

/// Trees beside a dictionary and a list, which say the same slowly.
@Suite struct SharedColumnsTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func versionsAreWhatADictionaryIs(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var versions: [(tree: SharedColumns, values: [String: Int64])] = [(SharedColumns(), [:])]
        for _ in 0..<300 {
            // Most steps go on from the last version, some from an earlier one.
            let place =
                Int.random(in: 0..<4, using: &generator) > 0
                ? versions.count - 1 : versions.indices.randomElement(using: &generator) ?? 0
            var (tree, values) = versions[place]
            let name = "c\(Int.random(in: 0..<40, using: &generator))"
            let value = Int.random(in: 0..<3, using: &generator) == 0 ? nil : Int64.random(in: 0..<4, using: &generator)
            tree[name] = value.map { StoredJSON(.int(Int($0))) }
            values[name] = value
            versions.append((tree, values))
            #expect(tree.all.map(\.name) == values.keys.sorted())
            #expect(tree.all.allSatisfy { $0.value.isSame(as: StoredJSON(.int(Int(values[$0.name] ?? -1)))) })
            let before = versions[versions.indices.randomElement(using: &generator) ?? 0]
            let names = Set(values.keys).union(before.values.keys).filter { values[$0] != before.values[$0] }.sorted()
            #expect(tree.changes(since: before.tree).map(\.name) == names)
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func gapsAreFoundAsInAList(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let gaps = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
            let from = Int64.random(in: 0..<50, using: &generator)
            let to =
                Int.random(in: 0..<6, using: &generator) == 0 ? nil : from + Int64.random(in: 0..<10, using: &generator)
            return Gap(topic: nil, from: Timestamp(seconds: from), to: to.map { Timestamp(seconds: $0) }, reason: "x")
        }
        let index = GapIndex(gaps)
        for begin in -1...51 as ClosedRange<Int64> {
            for end in begin - 9...begin {
                let expected = gaps.indices.filter { place in
                    gaps[place].from.seconds <= begin && (gaps[place].to.map { $0.seconds >= end } ?? true)
                }.sorted { (gaps[$0].from, $0) < (gaps[$1].from, $1) }
                let found = index.first(3, from: Timestamp(seconds: begin), to: Timestamp(seconds: end))
                #expect(found == Array(expected.prefix(3)))
            }
        }
    }
}
