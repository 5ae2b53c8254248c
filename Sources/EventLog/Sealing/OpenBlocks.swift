import Synchronization

/// The blocks of a generation that were opened last, so that a question for several of their events opens each once. A block
/// never changes within its generation. Any thread may use it.
final class OpenBlocks: Sendable {
    /// The most blocks that are kept: with `SealedBlock.payloadBytesMax`, some 8 MB.
    private static let countMax = 8

    private let kept = Mutex<[(last: UInt64, block: SealedBlock)]>([])
    private let decompressor = BlockDecompressor()

    /// The block that a value of the table `events` holds, whose key is `last`; `nil` if it is no block, or damaged.
    func block(_ value: UnsafeRawBufferPointer, last: UInt64) -> SealedBlock? {
        let known = kept.withLock { kept -> SealedBlock? in
            guard let place = kept.lastIndex(where: { $0.last == last }) else { return nil }
            // The one used last stands at the end.
            kept.append(kept.remove(at: place))
            return kept[kept.count - 1].block
        }
        if let known { return known }
        guard let block = SealedBlock.open(value, last: last, with: decompressor) else { return nil }
        kept.withLock { kept in
            if kept.count == Self.countMax { kept.removeFirst() }
            kept.append((last, block))
        }
        return block
    }
}

/// Where the record of an event lies.
struct RecordPlace {
    /// The value of the table `events` that has it, in the map.
    let stored: UnsafeRawBufferPointer
    /// The opened block that the record lies in; `nil` for a record in the map. Its owner keeps it alive while the record is lent.
    let block: Unmanaged<SealedBlock>?
}

/// How much of a log is sealed: the value `sealed` of the table `meta`.
struct Sealing: Equatable {
    /// The last sequence that sealing was told to cover; no block ends behind it.
    var through: UInt64
    /// How many values of the table `events` are blocks.
    var blocks: UInt64 = 0
    /// How many events the blocks hold.
    var events: UInt64 = 0

    init(through: UInt64) {
        self.through = through
    }

    /// Reads the value; `nil` if it is none.
    init?(_ bytes: [UInt8]) {
        let numbers = bytes.withUnsafeBytes { raw in
            stride(from: 0, to: raw.count, by: 8).compactMap { raw.bigEndian(at: $0, as: UInt64.self) }
        }
        guard bytes.count == 24, numbers.count == 3 else { return nil }
        (through, blocks, events) = (numbers[0], numbers[1], numbers[2])
    }

    /// The value.
    var bytes: [UInt8] { [through, blocks, events].flatMap { number in withKey(number) { Array($0) } } }
}
