/// Which messages events have named, with their channels: finds the channel of a message by its id alone. A mention
/// does not prove that the message exists.
struct MessageMentions {
    /// A message that an event named.
    private struct Mention: Comparable, BitwiseCopyable {
        let source: Int
        let id: UInt64
        let channel: UInt64

        static func < (left: Mention, right: Mention) -> Bool {
            (left.source, left.id, left.channel) < (right.source, right.id, right.channel)
        }
    }

    /// Set in the code of an id that is no number: a hash of its text. Two texts may have one code.
    private static let textBit: UInt64 = 1 << 63
    /// A block ends at the next id once it has this many mentions, so that little is read to find one.
    private static let blockCountMin = 4096

    private var mentions: [Mention] = []

    init() {}

    /// Adds a message whose two ids are numbers.
    @inline(__always)
    mutating func add(_ key: MessageKey, source: Int) {
        assert(key.id.number != nil && key.channel.number != nil, "a plain frame's ids are numbers")
        mentions.append(Mention(source: source, id: key.id.rawValue, channel: key.channel.rawValue))
    }

    /// Adds a message.
    mutating func add(_ key: MessageKey, source: Int, _ text: (EntityID) -> String) {
        let (id, channel) = (Self.code(of: key.id, text), Self.code(of: key.channel, text))
        mentions.append(Mention(source: source, id: id, channel: channel))
    }

    /// A number for an id; handles mean nothing outside their state. For a text it is FNV-1a of its bytes.
    private static func code(of id: EntityID, _ text: (EntityID) -> String) -> UInt64 {
        if let number = id.number { return number }
        return text(id).utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } | textBit
    }

    /// Whether a code stands for a channel whose id is no number.
    static func isText(_ code: UInt64) -> Bool { code & textBit != 0 }

    var isEmpty: Bool { mentions.isEmpty }

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

    /// The sources of which an id was named with several channels, here or among stored mentions.
    ///
    /// - Parameter stored: gives, for a source, the stored mentions of some ids, which are ascending; false if a block is malformed.
    /// - Returns: `nil` if a block is malformed.
    func strays(
        _ stored: (_ source: Int, _ ids: [UInt64], _ take: (_ id: UInt64, _ channel: UInt64) -> Void) -> Bool
    ) -> Set<Int>? {
        var strays: Set<Int> = []
        for (source, mentions) in Dictionary(grouping: mentions, by: \.source) {
            let sorted = mentions.sorted()
            let isStray = zip(sorted, sorted.dropFirst()).contains { $0.id == $1.id && $0.channel != $1.channel }
            if isStray { strays.insert(source) }
            var place = 0
            let ids = sorted.map(\.id)
            // Each block is ascending, but blocks of several scans follow one another.
            let isWhole = stored(source, ids) { id, channel in
                if place >= ids.count || ids[place] > id { place = 0 }
                if ids[place] < id { place = ids.partitioningIndex { $0 >= id } }
                if place < ids.count, ids[place] == id, sorted[place].channel != channel { strays.insert(source) }
            }
            if !isWhole { return nil }
        }
        return strays
    }

    /// Gives all mentions of a block, ascending; false if it is malformed.
    static func forEach(in block: UnsafeRawBufferPointer, _ take: (_ id: UInt64, _ channel: UInt64) -> Void) -> Bool {
        var numbers = NumberReader(block)
        guard let channelCount = numbers.number(), channelCount <= UInt64(block.count) else { return false }
        var channels: [UInt64] = []
        for _ in 0..<channelCount {
            guard let channel = numbers.number() else { return false }
            channels.append(channel)
        }
        guard let count = numbers.number() else { return false }
        var last: UInt64 = 0
        for _ in 0..<min(count, UInt64(block.count)) {
            guard let step = numbers.number(), let place = numbers.number(), place < channels.count else {
                return false
            }
            last &+= step
            take(last, channels[Int(place)])
        }
        return true
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

    /// The channels named with a message's id in a block; `nil` if the block is malformed. O(block): the numbers have
    /// variable length.
    static func channels(of id: UInt64, in block: UnsafeRawBufferPointer) -> [UInt64]? {
        var found: [UInt64] = []
        return forEach(in: block) { if $0 == id { found.append($1) } } ? found : nil
    }
}
