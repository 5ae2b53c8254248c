import EventLog

/// Where a message is looked for in a store.
struct MessageSpot: BitwiseCopyable, Sendable {
    /// The place of its channel.
    let channel: Int
    let hash: UInt64
    /// The message's place, once it was found; found places stay.
    var place: Int?
    /// The place of the frame's author, once it was found; so it stays, too.
    var author: UInt32?
}

/// Where the messages of one source are kept: a cell for each, in the order in which they were first heard of.
///
/// Most messages are what plain gateway frames make of them. These are *packed*: they hold no references, cost about a
/// hundred bytes beside their text, and change without anything being allocated. As soon as something happens to one that
/// a packed message cannot say, it becomes a `MessageRecord`, which can say everything. Both say the same of the same
/// message; which of the two it is shows nowhere.
struct MessageStore: Sendable {
    /// One channel and the messages heard of in it.
    struct Channel: Sendable {
        let id: EntityID
        /// The places of the first and the last message, counted from 1; 0 where there is none.
        var first: UInt32 = 0
        var last: UInt32 = 0
        /// The greatest `rawValue` of their ids: of none above it a message is there.
        fileprivate(set) var greatest: UInt64 = 0
        /// The guild that was last named together with the channel, once every fold has been told.
        var named: EntityID?
        /// Whether the fold of channels has been told of it.
        var isKnown = false
    }

    var channels: [Channel] = []
    var cells = Pages<MessageCell>()
    var entries = Pages<PackedEntry>()
    var records: [MessageRecord] = []
    var texts = TextPool()
    var authors = AuthorTable()
    /// What has come and changed since it was saved.
    var saved = SavedExtent()
    private var channelTable = PlaceTable()
    private var table = PlaceTable()

    init() {}

    var count: Int { cells.count }

    /// How many buckets searches for all messages and all channels pass over together.
    var stepCount: Int { table.stepCount + channelTable.stepCount }

    /// The place of a channel that a message was heard of in.
    @inline(__always)
    func channel(_ id: EntityID) -> Int? {
        channelTable.find(channelTable.hash(id.rawValue, 0)) { channels[$0].id == id }
    }

    @inline(__always)
    mutating func addedChannel(_ id: EntityID) -> Int {
        if let channel = channel(id) { return channel }
        channels.append(Channel(id: id))
        channelTable.add(channelTable.hash(id.rawValue, 0), place: channels.count - 1)
        return channels.count - 1
    }

    /// The place of a message.
    func place(of key: MessageKey) -> Int? {
        channel(key.channel).flatMap { place(of: key.id, channel: $0) }
    }

    func place(of id: EntityID, channel: Int) -> Int? {
        place(of: id, at: spot(of: id, channel: channel))
    }

    /// The place of the message at a spot.
    @inline(__always)
    func place(of id: EntityID, at spot: MessageSpot) -> Int? {
        // A new message has nearly always the greatest id of its channel: then there is nothing to look for.
        if id.rawValue > channels[spot.channel].greatest { return nil }
        return table.find(spot.hash) { place in cells[place].id == id && cells[place].channel == UInt32(spot.channel) }
    }

    /// Where a message of a known channel is looked for.
    @inline(__always)
    func spot(of key: MessageKey) -> MessageSpot? {
        channel(key.channel).map { spot(of: key.id, channel: $0) }
    }

    /// As `spot`; the channel is added if it is new.
    @inline(__always)
    mutating func addedSpot(of key: MessageKey) -> MessageSpot {
        // Not in one expression, for which the whole store would be copied: each new channel would cost O(channels).
        let channel = addedChannel(key.channel)
        return spot(of: key.id, channel: channel)
    }

    @inline(__always)
    private func spot(of id: EntityID, channel: Int) -> MessageSpot {
        MessageSpot(channel: channel, hash: hash(id, UInt32(truncatingIfNeeded: channel)))
    }

    /// Brings near what tells whether the messages of these hashes are there; see `PlaceTable.readAhead`.
    @inline(__always)
    func readAhead(_ hashes: UnsafeBufferPointer<UInt64>) -> UInt64 { table.readAhead(hashes) }

    /// Adds the cell of a message that is not there yet.
    mutating func add(_ cell: MessageCell) -> Int {
        add(cell, at: spot(of: cell.id, channel: Int(cell.channel)))
    }

    /// Adds the cell of a message that is not there yet, at its spot.
    @inline(__always)
    mutating func add(_ cell: MessageCell, at spot: MessageSpot) -> Int {
        table.add(spot.hash, place: cells.count)
        return append(cell)
    }

    @inline(__always)
    private func hash(_ id: EntityID, _ channel: UInt32) -> UInt64 {
        table.hash(id.rawValue, UInt64(channel))
    }

    /// Appends a cell that the table is told of.
    @inline(__always)
    private mutating func append(_ cell: MessageCell) -> Int {
        let place = cells.count
        cells.append(cell)
        let channel = Int(cell.channel)
        let last = channels[channel].last
        if last == 0 {
            channels[channel].first = UInt32(place + 1)
        } else {
            cells[Int(last) - 1].next = UInt32(place + 1)
        }
        channels[channel].last = UInt32(place + 1)
        channels[channel].greatest = max(channels[channel].greatest, cell.id.rawValue)
        return place
    }

    /// Appends a cell whose message is not to be found before `index` was called with the hash that is given back.
    @inline(__always)
    mutating func appendUnindexed(_ cell: MessageCell) -> UInt64 {
        _ = append(cell)
        return hash(cell.id, cell.channel)
    }

    /// Lets all messages be found, of which these are the hashes.
    mutating func index(_ hashes: [UInt64]) {
        table = PlaceTable(hashes: hashes)
    }

    /// Adds a message of which nothing is known yet.
    mutating func add(_ key: MessageKey) -> Int {
        var cell = MessageCell(id: key.id, channel: UInt32(addedChannel(key.channel)), form: .record)
        cell.last = UInt32(records.count)
        records.append(MessageRecord(key: key))
        return add(cell)
    }
}

extension MessageStore {
    /// The places of the messages of a channel, in order of arrival.
    func places(in channel: EntityID) -> [Int] {
        var places: [Int] = []
        var next = self.channel(channel).map { channels[$0].first } ?? 0
        while next > 0 {
            places.append(Int(next) - 1)
            next = cells[Int(next) - 1].next
        }
        return places
    }

    func key(at place: Int) -> MessageKey {
        let cell = cells[place]
        return MessageKey(channel: channels[Int(cell.channel)].id, id: cell.id)
    }

    /// All that is known of a message. Builds it where it is packed.
    func record(at place: Int) -> MessageRecord {
        let cell = cells[place]
        return cell.form == .record ? records[Int(cell.last)] : unpacked(cell)
    }

    /// Changes a message as a record, which it then stays.
    mutating func change<Result>(at place: Int, _ body: (inout MessageRecord) -> Result) -> Result {
        let cell = cells[place]
        saved.noteCell(place)
        if cell.form == .packed {
            cells[place].form = .record
            cells[place].last = UInt32(records.count)
            records.append(unpacked(cell))
        }
        saved.noteRecord(Int(cells[place].last))
        return body(&records[Int(cells[place].last)])
    }

    /// The messages for which `isKept` is true, in the same order, and what is known of channels.
    func kept(_ isKept: (Int) -> Bool) -> MessageStore {
        var store = MessageStore()
        for channel in channels {
            let index = store.addedChannel(channel.id)
            store.channels[index].named = channel.named
            store.channels[index].isKnown = channel.isKnown
        }
        for place in 0..<count where isKept(place) {
            let record = record(at: place)
            let copy = store.add(record.key)
            store.change(at: copy) { $0 = record }
        }
        return store
    }
}
