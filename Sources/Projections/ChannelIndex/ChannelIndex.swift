import EventLog

/// The `channels` table of the derived data: the events of each channel, so that its state can be folded without others
/// (I21).
///
/// Keys, with big-endian numbers:
/// - `h`: the head
/// - `c`, u32 source: what a scan needs to go on in the source
/// - `j`, u32 source, u16 length and text of a channel's id, u64 sequence of the first entry: a block of the channel's
///   entries; a length of `FFFF` without text is for events that concern all channels
/// - `m`, u32 source, u64 sequence up to which events were scanned when the block was stored, u64 last message id in
///   the block: a block of `MessageMentions`
///
/// Only blocks up to the head count. The head is written in one commit with what it covers, and only if the stored head
/// is still the one that was read. An index that cannot be read counts as absent (I17). Sources are numbered in the
/// order in which scans met them; `Head.sources` has their names.
struct ChannelIndex {
    static let name = "channels"
    /// The most bytes of an id that a key has room for; a source with a longer id is not divided.
    static let idBytesMax = 400

    /// How far the index reaches, and what it covers.
    struct Head: Encodable, Equatable {
        struct Source: Encodable, Equatable {
            var name: String
            /// Whether all its events were told apart by channel. If not, its postings are incomplete and never read.
            var isDivided: Bool
            /// Whether an id was named with several channels; see `SourceScan.hasStrays`.
            var hasStrays: Bool
        }

        var prefix: LogPrefix
        var sources: [Source]

        /// The last event that the index covers.
        var sequence: UInt64 { prefix.sequence }
    }

    private let table: DerivedTable
    private let frameKey: FrameKey
    /// The head as last read or stored; `nil` if the index has none.
    private(set) var head: Head?
    /// The stored bytes of `head`, with which `store` recognizes it.
    private var headBytes: [UInt8]?

    /// Opens the index of a program's build and discards one that does not fit the log; `nil` if nothing may be written
    /// beside the log. Reads the hash of all events up to the head.
    init?(_ session: borrowing ReadSession, build: String) {
        guard
            let table = (try? session.keptTable(Self.name, build: build, makes: true)) ?? nil,
            let identity = try? session.identity()
        else { return nil }
        self.table = table
        frameKey = FrameKey(identity)
        headBytes = try? table.value(at: Self.headKey)
        head = headBytes.flatMap { try? StateDecoder.value(from: $0, Head.init) }
        // Another process may have stored more than this session sees; that cannot be checked here.
        let isAnother = head.map { $0.sequence <= session.head.rawValue && !session.begins(with: $0.prefix) }
        if isAnother ?? (headBytes != nil) { discard() }
    }

    /// Removes the whole index.
    mutating func discard() {
        try? table.removeAll()
        (head, headBytes) = (nil, nil)
    }

    /// Whether the stored head is still the one that was read. If so, no block up to the head has been removed: a removal
    /// takes the head before any block of postings.
    var isCurrent: Bool { (try? table.value(at: Self.headKey)) == headBytes }

    /// A scan that goes on where the index ends, or from the first event without an index; `nil` if the stored part
    /// that it needs cannot be read.
    func scan() -> ChannelScan? {
        guard let head else { return ChannelScan(frameKey: frameKey) }
        var sources: [SourceScan] = []
        for (index, source) in head.sources.enumerated() {
            guard let bytes = try? table.value(at: Self.scanKey(index)), let name = try? SourceName(source.name),
                let connections = try? StateDecoder.value(GatewayConnections.self, from: bytes)
            else { return nil }
            sources.append(
                SourceScan(
                    name: name,
                    isDivided: source.isDivided,
                    hasStrays: source.hasStrays,
                    connections: connections,
                    frameKey: frameKey
                )
            )
        }
        return ChannelScan(after: SequenceNumber(head.sequence), sources: sources, frameKey: frameKey)
    }

    /// Lends the blocks of a channel that begin at or before a sequence, oldest first and all of one commit. Their
    /// entries may lie beyond the sequence; the reader stops there.
    ///
    /// The blocks are lent from the map: copying would cost more than reading them. They are valid only during the
    /// call.
    ///
    /// - Parameters:
    ///   - source: the source's index in `Head.sources`.
    ///   - channel: the channel's id; `nil` for the events that concern all channels.
    ///   - body: returns false to stop.
    /// - Returns: false if a block cannot be read, or `body` has stopped.
    func forEachBlock(
        source: Int,
        channel: String?,
        through last: SequenceNumber,
        _ body: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        // A key has no room for such an id, so the table contains no block of it.
        if let channel, channel.utf8.count > Self.idBytesMax { return true }
        let prefix = Self.prefix(source: source, channel: channel)
        // Another process may have stored blocks beyond the head that this value has read.
        let end = min(last.rawValue, head?.sequence ?? 0) + 1
        var isWhole = true
        do {
            try table.forEach(from: prefix, to: prefix + Self.bytes(end)) { _, block in
                isWhole = body(block)
                return isWhole
            }
        } catch {
            return false
        }
        return isWhole
    }

    /// The ids of the channels that events up to the head named with a message's id, some of them several times; `nil`
    /// if a block cannot be read, which discards the index, or another process has stored or removed something
    /// meanwhile.
    ///
    /// Cost: two searches in the table and a block for each scan that has stored something.
    mutating func channels(naming id: UInt64, source: Int) -> [UInt64]? {
        let start = Array("m".utf8) + Self.bytes(UInt32(source))
        var found: [UInt64] = []
        var isWhole = true
        var next = start
        do {
            // Of each scan, only the block in which the id would be is read.
            while let end = try scanEnd(from: next, start) {
                next = start + Self.bytes(end + 1)
                try table.forEach(from: start + Self.bytes(end) + Self.bytes(id), to: next) { _, block in
                    let channels = MessageMentions.channels(of: id, in: block)
                    found += channels ?? []
                    isWhole = isWhole && channels != nil
                    return false
                }
            }
            if isWhole { return try table.value(at: Self.headKey) == headBytes ? found : nil }
        } catch {
            // A block that does not fit its checksum is like one that is malformed.
        }
        discard()
        return nil
    }

    /// The end of the first scan at or behind a key, among those whose mentions begin with `start`; `nil` if none is
    /// left up to the head.
    private func scanEnd(from key: [UInt8], _ start: [UInt8]) throws -> UInt64? {
        var end: UInt64?
        try table.forEach(from: key) { key, _ in
            if key.starts(with: start) { end = Self.scanEnd(of: key) }
            return false
        }
        return end.flatMap { $0 <= head?.sequence ?? 0 ? $0 : nil }
    }

    /// The end of the scan that stored a block of mentions, from the block's key; `nil` if the key is malformed.
    private static func scanEnd(of key: UnsafeRawBufferPointer) -> UInt64? {
        key.count == 21 ? key[5..<13].reduce(0) { $0 << 8 | UInt64($1) } : nil
    }

    /// The sources of which an id is named with several channels among new mentions and the stored ones; `nil` if a block
    /// cannot be read.
    ///
    /// Cost: a look at each stored block, and a walk over those in which one of the ids may be.
    ///
    /// - Parameter last: the last event of the stored mentions that count.
    func strays(among mentions: MessageMentions, through last: UInt64 = .max) -> Set<Int>? {
        let bound = min(last, head?.sequence ?? 0)
        return mentions.strays { source, ids, take in
            let start = Array("m".utf8) + Self.bytes(UInt32(source))
            let end = Array("m".utf8) + Self.bytes(UInt32(source) + 1)
            var (isWhole, before): (Bool, (end: UInt64, id: UInt64)) = (true, (0, 0))
            do {
                try table.forEach(from: start, to: end) { key, block in
                    guard let scanEnd = Self.scanEnd(of: key) else { return true }
                    let lastID = key[13..<21].reduce(0) { $0 << 8 | UInt64($1) }
                    // A block has the ids behind those of the block before, if one scan stored both.
                    let first = before.end == scanEnd ? before.id &+ 1 : 0
                    before = (scanEnd, lastID)
                    let place = ids.partitioningIndex { $0 >= first }
                    guard scanEnd <= bound, place < ids.count, ids[place] <= lastID else { return true }
                    isWhole = MessageMentions.forEach(in: block, take)
                    return isWhole
                }
            } catch {
                return false
            }
            return isWhole
        }
    }

    /// Stores in one commit what a scan has found since the head was read; false, without a change, if another process
    /// stored a head in the meantime. The caller then forgets what was stored.
    mutating func store(_ scan: ChannelScan, in session: borrowing ReadSession) throws -> Bool {
        let head = Head(prefix: try session.prefix(through: scan.sequence), sources: scan.headSources)
        let bytes = try StateEncoder.bytes(of: head)
        var entries: [(key: [UInt8], value: [UInt8])] = [(Self.headKey, bytes)]
        for (index, source) in scan.sources.enumerated() {
            entries.append((Self.scanKey(index), try StateEncoder.bytes(of: source.connections)))
        }
        for block in scan.postings.blocks {
            let channel = block.owner.channel.map { scan.sources[block.owner.source].text($0) }
            let prefix = Self.prefix(source: block.owner.source, channel: channel)
            entries.append((prefix + Self.bytes(block.first), block.bytes))
        }
        for block in scan.mentions.blocks {
            let key = Array("m".utf8) + Self.bytes(UInt32(block.source)) + Self.bytes(scan.sequence.rawValue)
            entries.append((key + Self.bytes(block.lastID), block.bytes))
        }
        guard try table.put(entries, where: Self.headKey, holds: headBytes) else { return false }
        (self.head, headBytes) = (head, bytes)
        return true
    }

    // MARK: Checking

    /// The sums of all postings up to the head; `nil` if a block is malformed.
    func sums() -> PostingSums? {
        var sums = PostingSums()
        var isWhole = true
        try? table.forEach(from: Array("j".utf8), to: Array("k".utf8)) { key, block in
            guard let owner = Self.owner(of: key) else {
                isWhole = false
                return false
            }
            if owner.first > head?.sequence ?? 0 { return true }
            isWhole = sums.add(block, source: owner.source, channel: owner.channel)
            return isWhole
        }
        return isWhole ? sums : nil
    }

    /// The ends of the scans that stored mentions, ascending and up to the head. A check must scan in the same
    /// stretches, as blocks of mentions depend on them.
    func scanEnds() -> [UInt64] {
        var ends: Set<UInt64> = []
        try? table.forEach(from: Array("m".utf8), to: Array("n".utf8)) { key, _ in
            if let end = Self.scanEnd(of: key) { ends.insert(end) }
            return true
        }
        return ends.sorted().filter { $0 <= head?.sequence ?? 0 }
    }

    /// Whether the blocks of mentions that the scan up to `end` has stored equal others.
    func isMentions(_ mentions: MessageMentions, through end: UInt64) -> Bool {
        mentions.blocks.allSatisfy { block in
            let key = Array("m".utf8) + Self.bytes(UInt32(block.source)) + Self.bytes(end) + Self.bytes(block.lastID)
            return (try? table.value(at: key)) == block.bytes
        }
    }

    /// Whether the head and the stored scans of its sources equal those that `scan`, which ends at the head, would
    /// store.
    func isHead(of scan: ChannelScan) -> Bool {
        guard let stored = self.scan(), head?.sources == scan.headSources, head?.sequence == scan.sequence.rawValue
        else {
            return false
        }
        return zip(stored.sources, scan.sources).allSatisfy { left, right in
            (try? StateEncoder.bytes(of: left.connections)) == (try? StateEncoder.bytes(of: right.connections))
        }
    }

    /// The owner of a block and its first sequence, from its key; `nil` if the key is malformed. The inverse of
    /// `prefix`.
    private static func owner(of key: UnsafeRawBufferPointer) -> (source: Int, channel: String?, first: UInt64)? {
        guard key.count >= 15, key[0] == UInt8(ascii: "j") else { return nil }
        func number(_ range: Range<Int>) -> UInt64 { key[range].reduce(0) { $0 << 8 | UInt64($1) } }
        let length = number(5..<7)
        let count = length == 0xFFFF ? 0 : Int(length)
        guard key.count == 15 + count else { return nil }
        let channel = length == 0xFFFF ? nil : String(decoding: key[7..<7 + count], as: UTF8.self)
        return (Int(number(1..<5)), channel, number(key.count - 8..<key.count))
    }

    // MARK: Keys

    private static let headKey = Array("h".utf8)

    private static func scanKey(_ source: Int) -> [UInt8] {
        Array("c".utf8) + bytes(UInt32(source))
    }

    /// The key of a posting list's blocks without the sequence. The length in front keeps ids apart that begin alike.
    ///
    /// - Parameter channel: of at most `idBytesMax` bytes.
    private static func prefix(source: Int, channel: String?) -> [UInt8] {
        let id = channel.map { Array($0.utf8) }
        assert((id?.count ?? 0) <= idBytesMax, "a key has no room for a longer id")
        return Array("j".utf8) + bytes(UInt32(source)) + bytes(UInt16(clamping: id?.count ?? 0xFFFF)) + (id ?? [])
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

extension ChannelIndex.Head {
    /// Reads what the encoder wrote. By hand, since `Decodable` would take a millisecond of every query.
    init(_ decoder: StateDecoder) throws {
        prefix = LogPrefix(sequence: try decoder.readNumber(UInt64.self), hash: try .read(from: decoder))
        sources = []
        for _ in 0..<(try decoder.readNumber(UInt32.self)) {
            sources.append(
                Source(
                    name: try decoder.readText(),
                    isDivided: try decoder.readTruth(),
                    hasStrays: try decoder.readTruth()
                )
            )
        }
    }
}

extension ChannelScan {
    fileprivate var headSources: [ChannelIndex.Head.Source] {
        sources.map { .init(name: $0.name.rawValue, isDivided: $0.isDivided, hasStrays: $0.hasStrays) }
    }
}
