/// Which messages events have named, with their channels: finds the channel of a message by its id alone. A mention
/// does not prove that the message exists.
struct MessageMentions {
    /// A message that an event named.
    private struct Mention: Comparable, BitwiseCopyable {
        let source: Int
        let id: UInt64
        /// The channel's id; `otherChannel` if that is no number.
        let channel: UInt64

        static func < (left: Mention, right: Mention) -> Bool {
            (left.source, left.id, left.channel) < (right.source, right.id, right.channel)
        }
    }

    /// Stands for every channel whose id is no number.
    static let otherChannel = UInt64.max
    /// A block ends at the next id once it has this many mentions, so that little is read to find one.
    private static let blockCountMin = 4096

    private var mentions: [Mention] = []

    init() {}

    /// Adds a message. One whose id is no number is left out: it cannot be found by its id.
    @inline(__always)
    mutating func add(_ key: MessageKey, source: Int) {
        guard let id = key.id.number else { return }
        mentions.append(Mention(source: source, id: id, channel: key.channel.number ?? Self.otherChannel))
    }

    /// The channels named with a message's id. Cost: O(mentions).
    func channels(of id: UInt64, source: Int) -> [UInt64] {
        mentions.filter { $0.id == id && $0.source == source }.map(\.channel)
    }

    /// The mentions in blocks, each of one source, sorted by source and id, each mention once. All mentions of an id
    /// are in one block.
    ///
    /// A block is the number of its channels, these, the number of its mentions, and for each the difference of its id
    /// to the one before and the place of its channel; all numbers have variable length (LEB128).
    var blocks: [(source: Int, lastID: UInt64, bytes: [UInt8])] {
        let isFull = { (block: [Mention]) in block.count >= Self.blockCountMin }
        var blocks: [(source: Int, lastID: UInt64, bytes: [UInt8])] = []
        var block: [Mention] = []
        for mention in mentions.sorted() where mention != block.last {
            if let last = block.last, last.source != mention.source || (isFull(block) && last.id != mention.id) {
                blocks.append((last.source, last.id, Self.bytes(of: block)))
                block.removeAll(keepingCapacity: true)
            }
            block.append(mention)
        }
        if let last = block.last { blocks.append((last.source, last.id, Self.bytes(of: block))) }
        return blocks
    }

    /// The block's bytes, as documented at `blocks`. All mentions must be of one source, sorted.
    private static func bytes(of block: [Mention]) -> [UInt8] {
        var bytes: [UInt8] = []
        let channels = Set(block.map(\.channel)).sorted()
        let places = Dictionary(uniqueKeysWithValues: zip(channels, (0 as UInt64)...))
        bytes.appendNumber(UInt64(channels.count))
        for channel in channels { bytes.appendNumber(channel) }
        bytes.appendNumber(UInt64(block.count))
        var last: UInt64 = 0
        for mention in block {
            bytes.appendNumber(mention.id - last)
            bytes.appendNumber(places[mention.channel] ?? 0)
            last = mention.id
        }
        return bytes
    }

    /// The channels named with a message's id in a block; `nil` if the block is malformed up to the id. O(block): the
    /// numbers have variable length.
    static func channels(of id: UInt64, in block: UnsafeRawBufferPointer) -> [UInt64]? {
        var numbers = NumberReader(block)
        guard let channelCount = numbers.number(), channelCount <= UInt64(block.count) else { return nil }
        var channels: [UInt64] = []
        for _ in 0..<channelCount {
            guard let channel = numbers.number() else { return nil }
            channels.append(channel)
        }
        guard let count = numbers.number() else { return nil }
        var (last, found): (UInt64, [UInt64]) = (0, [])
        for _ in 0..<min(count, UInt64(block.count)) {
            guard let step = numbers.number(), let place = numbers.number(), place < channels.count else { return nil }
            last &+= step
            if last == id { found.append(channels[Int(place)]) }
            if last > id { break }
        }
        return found
    }
}
