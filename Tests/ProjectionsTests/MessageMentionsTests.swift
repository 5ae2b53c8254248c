import EventLog
import TestSupport
import Testing

@testable import Projections

/// What finds a message's channel by its id alone.
@Suite struct MessageMentionsTests {
    @Test(arguments: [1, 2] as [UInt64])
    func everyMentionIsFoundInItsBlocks(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var mentions = MessageMentions()
        var expected: [Int: [UInt64: Set<UInt64>]] = [:]
        for _ in 0..<20_000 {
            let source = Int.random(in: 0...1, using: &random)
            let id = UInt64.random(in: 0...1, using: &random) << 62 | UInt64.random(in: 0...6000, using: &random)
            let channel = UInt64.random(in: 0...30, using: &random)
            mentions.add(Self.key(channel, id), source: source)
            expected[source, default: [:]][id, default: []].insert(channel)
        }
        let blocks = mentions.blocks
        #expect(blocks.count > 4)
        for (source, ids) in expected {
            for (id, channels) in ids {
                // All mentions of an id are in the first block that ends at it or behind it.
                let block = blocks.first { $0.source == source && $0.lastID >= id }
                let found = block?.bytes.withUnsafeBytes { MessageMentions.channels(of: id, in: $0) } ?? []
                #expect(found.sorted() == channels.sorted())
                #expect(Set(mentions.channels(of: id, source: source)) == channels)
            }
        }
    }

    @Test func bytesThatAreNoBlockAreRefusedOrGiveNothing() {
        var mentions = MessageMentions()
        for id in 1...200 as ClosedRange<UInt64> { mentions.add(Self.key(id % 7, id * 1000), source: 0) }
        let block = mentions.blocks[0].bytes
        for end in block.indices {
            let cut = block[..<end].withUnsafeBytes { MessageMentions.channels(of: 200_000, in: $0) }
            #expect(cut == nil || cut == [])
            var altered = block
            altered[end] ^= 0x55
            _ = altered.withUnsafeBytes { MessageMentions.channels(of: 200_000, in: $0) }
        }
    }

    private static func key(_ channel: UInt64, _ id: UInt64) -> MessageKey {
        var names = Names()
        return MessageKey(channel: names.id(channel), id: names.id(id))
    }
}

/// The order of ids.
@Suite struct NamesTests {
    @Test func numbersSortAsTheirTextsDo() {
        var names = Names()
        let numbers: [UInt64] = [
            0, 1, 2, 9, 10, 11, 12, 19, 20, 99, 100, 119, 120, 125, 1 << 40, 1 << 62, .max >> 1, .max >> 1 - 9,
        ]
        for left in numbers {
            for right in numbers {
                let expected = String(left).utf8.lexicographicallyPrecedes(String(right).utf8)
                #expect(names.precedes(names.id(left), names.id(right)) == expected, "\(left) \(right)")
            }
        }
    }
}
