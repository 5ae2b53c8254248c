import EventLog
import JSON

/// A prepared search for a message in a store: its channel's place and its hash, computed once for several look-ups.
///
/// Valid for one store and for as long as it lives: channels and messages are only added, never moved.
/// `ReplayedState` prepares many lookups at once, so that their cache misses overlap.
struct MessageLookup: BitwiseCopyable, Sendable {
    /// The channel's index in `MessageStore.channels`.
    let channel: Int
    /// The hash of id and channel for the table of messages. Depends on the process's `TableKey`, so it is never saved.
    let hash: UInt64
    /// The message's place, if found in advance. `nil` means not looked up or not known at that time; a later frame may
    /// have added the message since, so the caller searches again.
    var place: Int?
    /// The place of the frame's author in `MessageStore.authors`, if found in advance. Places never change.
    var author: UInt32?
}

/// The messages of one source: a cell for each, in the order in which they became known.
///
/// Most messages come from plain gateway frames alone. They stay *packed*: they contain no references, take about a
/// hundred bytes beside their text, and change without allocating one by one. Other messages are *written* until a second
/// change comes (`WrittenMessage`). A change that a packed or written message cannot express turns it into a
/// `MessageRecord`, which can express everything. All forms give the same state (I18).
///
/// A *place* is a cell's index. Cells are never removed or moved, so places stay valid for the life of the store; a
/// compaction makes a new store (`kept`). Links between cells and entries are 32-bit numbers that count from 1, with 0
/// for none. A value without locks: one thread changes it, and many may read a store that nobody changes.
struct MessageStore: Sendable {
    /// One channel and its known messages.
    /// `named` and `isKnown` only save work. They are not saved: after loading, the next frame tells the folds once
    /// more, which changes nothing.
    struct Channel: Sendable {
        let id: EntityID
        /// Whether the ids of its messages are one kind with those of all such channels: a server gives each id once, in
        /// whatever channel. In other channels, a message is known by channel and id. Never changes.
        let isOfServer: Bool
        /// True if the channel is not in the store's share, so that the store takes no message of it.
        fileprivate(set) var isLeftOut = false
        /// The places of the first and the last message in order of arrival, counted from 1; 0 if no message is known.
        var first: UInt32 = 0
        var last: UInt32 = 0
        /// No message here has an id with a greater `rawValue`; 0 without messages. An upper bound for searches, not an
        /// order of messages: the `rawValue` of an interned text means nothing. For channels of a server, see
        /// `greatestOfServer`.
        fileprivate(set) var greatest: UInt64 = 0
        /// The guild that the last frames named with the channel. Every fold knows the pair, so it is not spread again.
        var named: EntityID?
        /// True once the fold of channels knows the channel.
        var isKnown = false
    }

    /// All channels that a message or a plain frame has named, in order of arrival. Some have no message.
    var channels: [Channel] = []
    /// One cell for each message, by place.
    var cells = Pages<MessageCell>()
    /// The entries of all packed messages, in order of arrival. Those of a message that became a record stay here,
    /// unused.
    var entries = Pages<PackedEntry>()
    /// The messages that are not packed, in the order in which they became records; a cell's `last` is the index.
    var records: [MessageRecord] = []
    /// The texts and authors of packed versions. Both only grow.
    var texts = TextPool()
    var authors = AuthorTable()
    /// Who made the writes of written messages. Only grows.
    var editors = TextTable()
    /// The place of each listed message in its client's list, by the message's own place; 0 for other messages. As long as up to
    /// the last listed message, so empty in the canonical reading.
    var listPlaces = Pages<UInt32>()
    /// The reactions to messages of every form.
    var reactions = ReactionTable()
    /// The extent of the last saving, and the places changed since.
    var saved = SavedExtent()
    /// The channels whose messages the fold takes; set before the first event. Not saved: only compactions set it.
    var share = ChannelShare.whole {
        didSet { for index in channels.indices { channels[index].isLeftOut = !share.contains(channels[index].id) } }
    }
    /// No message of a server's channels has an id with a greater `rawValue`.
    private var greatestOfServer: UInt64 = 0
    /// The messages that left the channel in which they became known, for another channel of the server.
    private var rehomed = RehomedMessages()
    /// Which messages may be live in channels that were emptied.
    private var emptied = EmptiedChannels()
    /// Finds a channel by its id, and a message by its id and channel; in a server's channels by its id alone.
    private var channelTable = PlaceTable()
    private var table = PlaceTable()

    init() {}

    var count: Int { cells.count }

    /// The sum of `PlaceTable.stepCount` of all tables.
    var stepCount: Int {
        table.stepCount { hash(cells[$0].id, cells[$0].channel) } + channelTable.stepCount { hash(channels[$0].id) }
            + reactions.stepCount
    }

    /// The place of a known channel.
    /// `nil` for a channel that no message or plain frame has named.
    @inline(__always)
    func channel(_ id: EntityID) -> Int? {
        channelTable.find(hash(id)) { channels[$0].id == id }
    }

    /// The place of a channel, added if new.
    ///
    /// - Parameter isOfServer: as in `Channel`; counts only for a new one.
    @inline(__always)
    mutating func addedChannel(_ id: EntityID, isOfServer: Bool) -> Int {
        if let channel = channel(id) { return channel }
        let place = channels.count
        if channelTable.isFull(for: place) {
            let known = self
            channelTable.grow(for: place) { known.hash(known.channels[$0].id) }
        }
        channelTable.add(hash(id), place: place)
        channels.append(Channel(id: id, isOfServer: isOfServer, isLeftOut: !share.contains(id)))
        return place
    }

    /// The hash of a channel.
    @inline(__always)
    private func hash(_ channel: EntityID) -> UInt64 { channelTable.hash(channel.rawValue, 0) }

    /// The place of a message.
    func place(of key: MessageKey) -> Int? {
        channel(key.channel).flatMap { place(of: key.id, channel: $0) }
    }

    /// The place of the message with an id in the channel at an index.
    func place(of id: EntityID, channel: Int) -> Int? {
        place(of: id, at: lookup(of: id, channel: channel))
    }

    /// The place of the message at a lookup.
    /// `lookup` must have been made for this id.
    @inline(__always)
    func place(of id: EntityID, at lookup: MessageLookup) -> Int? {
        if isNew(id, in: lookup.channel) { return nil }
        return table.find(lookup.hash) { place in
            cells[place].id == id && cells[place].channel == UInt32(lookup.channel)
        }
    }

    /// The place of the message at a lookup or, in a server's channel, of the message with the id in another channel of the
    /// server.
    @inline(__always)
    func anyPlace(of id: EntityID, at lookup: MessageLookup) -> Int? {
        if isNew(id, in: lookup.channel) { return nil }
        let channel = UInt32(truncatingIfNeeded: lookup.channel)
        return table.find(lookup.hash) { place in
            cells[place].id == id
                && (cells[place].channel == channel || isOnServer(cells[place], beside: lookup.channel))
        }
    }

    /// The place of the message with an id in any channel of a server.
    func placeOnServer(of id: EntityID) -> Int? {
        if id.rawValue > greatestOfServer { return nil }
        return table.find(table.hash(id.rawValue, Self.serverWord)) { place in
            cells[place].id == id && channels[Int(cells[place].channel)].isOfServer
        }
    }

    /// Whether a message and a channel are both of a server.
    @inline(never)
    private func isOnServer(_ cell: MessageCell, beside channel: Int) -> Bool {
        channels[channel].isOfServer && channels[Int(cell.channel)].isOfServer
    }

    /// Whether no message that a search in a channel could find has so great an id: a new message nearly always has the
    /// greatest id, which needs no search.
    @inline(__always)
    private func isNew(_ id: EntityID, in channel: Int) -> Bool {
        id.rawValue > (channels[channel].isOfServer ? greatestOfServer : channels[channel].greatest)
    }

    /// The lookup of a message; `nil` if its channel is not known.
    @inline(__always)
    func lookup(of key: MessageKey) -> MessageLookup? {
        channel(key.channel).map { lookup(of: key.id, channel: $0) }
    }

    /// The lookup of a message of a server. Adds the channel if it is new.
    @inline(__always)
    mutating func addedLookup(of key: MessageKey) -> MessageLookup {
        // Two statements, because a single expression copies the whole store: each new channel would cost O(channels).
        let channel = addedChannel(key.channel, isOfServer: true)
        return lookup(of: key.id, channel: channel)
    }

    @inline(__always)
    private func lookup(of id: EntityID, channel: Int) -> MessageLookup {
        MessageLookup(channel: channel, hash: hash(id, UInt32(truncatingIfNeeded: channel)))
    }

    /// Loads the buckets of these messages' hashes into the processor's cache; see `PlaceTable.readAhead`.
    @inline(__always)
    func readAhead(_ hashes: UnsafeBufferPointer<UInt64>) -> UInt64 { table.readAhead(hashes) }

    /// Adds the cell of a message that the store lacks, and returns its place. The caller makes sure that the message
    /// is new: of two cells of one message, one would never be found.
    mutating func add(_ cell: MessageCell) -> Int {
        add(cell, at: lookup(of: cell.id, channel: Int(cell.channel)))
    }

    /// Adds the cell of a message that the store lacks, at its lookup.
    @inline(__always)
    mutating func add(_ cell: MessageCell, at lookup: MessageLookup) -> Int {
        assert(lookup.hash == hash(cell.id, cell.channel), "the lookup is that of the cell's message")
        if table.isFull(for: cells.count) { growTable() }
        table.add(lookup.hash, place: cells.count)
        return append(cell)
    }

    @inline(never)
    private mutating func growTable() {
        let known = self
        table.grow(for: count) { known.hash(known.cells[$0].id, known.cells[$0].channel) }
    }

    @inline(__always)
    private func hash(_ id: EntityID, _ channel: UInt32) -> UInt64 {
        table.hash(id.rawValue, channels[Int(channel)].isOfServer ? Self.serverWord : UInt64(channel))
    }

    /// Takes the place of the channel in the hashes of a server's messages.
    private static let serverWord = UInt64.max

    /// Appends a cell and links it to its channel. The caller adds it to the table. Traps beyond 2^32 - 1 messages; a
    /// `PlaceTable` holds no more either.
    @inline(__always)
    private mutating func append(_ cell: MessageCell) -> Int {
        let place = cells.count
        cells.append(cell)
        let channel = Int(cell.channel)
        let last = channels[channel].last
        assert(last == 0 || cells[Int(last) - 1].next == 0, "nothing follows a channel's last message")
        if last == 0 {
            channels[channel].first = UInt32(place + 1)
        } else {
            cells[Int(last) - 1].next = UInt32(place + 1)
        }
        channels[channel].last = UInt32(place + 1)
        if channels[channel].isOfServer {
            greatestOfServer = max(greatestOfServer, cell.id.rawValue)
        } else {
            channels[channel].greatest = max(channels[channel].greatest, cell.id.rawValue)
        }
        return place
    }

    /// Appends a cell and returns its hash, for a loader that builds the table once at the end. The message cannot be
    /// found before `index` is called.
    @inline(__always)
    mutating func appendUnindexed(_ cell: MessageCell) -> UInt64 {
        _ = append(cell)
        return hash(cell.id, cell.channel)
    }

    /// Builds the lookup table; hash *i* belongs to cell *i*.
    mutating func index(_ hashes: [UInt64]) {
        assert(hashes.count == cells.count, "every cell has a hash")
        table = PlaceTable(hashes: hashes)
    }

    /// Adds a message, as an empty record. The message must be new. The record has no entries and the standing
    /// `nowhere`, as after a reaction to an unseen message.
    mutating func add(_ key: MessageKey, isOfServer: Bool = false) -> Int {
        let channel = addedChannel(key.channel, isOfServer: isOfServer)
        var cell = MessageCell(id: key.id, channel: UInt32(channel), form: .record)
        cell.last = UInt32(records.count)
        records.append(MessageRecord(key: key))
        return add(cell)
    }
}

extension MessageStore {
    /// The places of the messages of a channel, in order of arrival. O(messages of the channel), those that left it
    /// included.
    func places(in channel: EntityID) -> [Int] {
        guard let index = self.channel(channel) else { return [] }
        let places = chain(from: channels[index].first)
        if rehomed.isEmpty { return places }
        return arranged(places + rehomed.places(arrivedIn: UInt32(index)), in: index)
    }

    /// The places of the messages of a channel that may be live, in order of arrival: all of them, or those that changed since it
    /// was emptied. O(these).
    func placesPerhapsLive(in channel: EntityID) -> [Int] {
        guard let index = self.channel(channel) else { return [] }
        guard let since = emptied.since(UInt32(index)) else { return places(in: channel) }
        let newer = chain(from: since.newest == 0 ? channels[index].first : cells[Int(since.newest) - 1].next)
        return since.changed.isEmpty && rehomed.isEmpty ? newer : arranged(newer + since.changed, in: index)
    }

    /// Notes that no message of a channel is live.
    mutating func noteEmptied(_ channel: EntityID) {
        guard let index = self.channel(channel) else { return }
        emptied.note(UInt32(index), newest: channels[index].last)
    }

    /// Notes that the message at a place was not live, and is.
    mutating func noteLive(_ place: Int) { emptied.note(place, in: cells[place].channel) }

    /// The places of a channel's links, from one on that is counted from 1.
    private func chain(from first: UInt32) -> [Int] {
        var places: [Int] = []
        var next = first
        while next > 0 {
            places.append(Int(next) - 1)
            next = cells[Int(next) - 1].next
        }
        Steps.count(places.count)
        return places
    }

    /// Those of some places whose message is in a channel, in order of arrival.
    private func arranged(_ places: [Int], in channel: Int) -> [Int] {
        places.filter { cells[$0].channel == UInt32(channel) }.sorted()
    }

    /// The `rawValue`s of the ids of all messages of a server's channels, in order of arrival.
    var serverIDs: [UInt64] {
        (0..<count).compactMap { channels[Int(cells[$0].channel)].isOfServer ? cells[$0].id.rawValue : nil }
    }

    /// Whether a channel, given by its index, has or had a message.
    func hadMessage(_ index: Int) -> Bool {
        channels[index].first > 0 || !rehomed.isEmpty && rehomed.isArrival(UInt32(index))
    }

    /// Puts a message of a server into another channel of the server. Its place stays, and so does its link in the channel
    /// in which it became known.
    mutating func rehome(_ place: Int, to channel: Int) {
        assert(
            channels[channel].isOfServer && channels[Int(cells[place].channel)].isOfServer,
            "only a server's ids are one kind"
        )
        saved.noteCell(place)
        rehomed.note(place, from: cells[place].channel, to: UInt32(channel))
        emptied.note(place, in: UInt32(channel))
        cells[place].channel = UInt32(channel)
        guard cells[place].form == .record else { return }
        records[Int(cells[place].last)].key.channel = channels[channel].id
        saved.noteRecord(Int(cells[place].last))
    }

    func key(at place: Int) -> MessageKey {
        let cell = cells[place]
        return MessageKey(channel: channels[Int(cell.channel)].id, id: cell.id)
    }

    /// The record of a message. A packed or written message is unpacked into a new record each time, and stays as it is.
    func record(at place: Int) -> MessageRecord {
        let cell = cells[place]
        return switch cell.form {
        case .record: records[Int(cell.last)]
        case .written: record(ofWritten: cell)
        case .packed: unpacked(cell, .byID)
        case .listed: record(ofListed: cell, at: place)
        }
    }

    /// Changes a message as a record. A packed or written message becomes a record for good, because nothing converts
    /// back: its cell keeps the place, and its entries and texts stay behind unused.
    mutating func change<Result>(at place: Int, _ body: (inout MessageRecord) -> Result) -> Result {
        let cell = cells[place]
        saved.noteCell(place)
        if cell.form != .record {
            records.append(record(at: place))
            // A new cell, because leftovers of a written message are no packed version.
            var changed = MessageCell(id: cell.id, channel: cell.channel, form: .record)
            (changed.next, changed.hasReactions) = (cell.next, cell.hasReactions)
            changed.last = UInt32(records.count - 1)
            cells[place] = changed
        }
        assert(cells[place].form == .record && cells[place].next == cell.next, "the message stays at its place")
        // Noted even if `body` changes nothing: comparing records would cost more than saving one again.
        saved.noteRecord(Int(cells[place].last))
        return body(&records[Int(cells[place].last)])
    }

    /// A store of the messages for which `isKept` is true, in the same order and form, and of all channels. Places
    /// differ from those of this store.
    ///
    /// The tables of texts, authors and entries are shared with this store, so the memory of dropped messages' texts is
    /// not freed. The next saving is a whole one.
    func kept(_ isKept: (Int) -> Bool) -> MessageStore {
        var store = self
        store.removeMessages()
        for place in 0..<count where isKept(place) {
            var cell = cells[place]
            // `add` links the cell anew; the old link may name a dropped message.
            cell.next = 0
            if cell.form == .record {
                store.records.append(records[Int(cell.last)])
                cell.last = UInt32(store.records.count - 1)
            }
            let kept = store.add(cell)
            if cell.form == .listed { store.note(listPlace: listPlaces[place], at: kept) }
            store.copyReactions(of: place, in: self, to: kept)
        }
        return store
    }

    /// Forgets all messages but not the channels.
    private mutating func removeMessages() {
        for channel in channels.indices {
            (channels[channel].first, channels[channel].last, channels[channel].greatest) = (0, 0, 0)
        }
        (greatestOfServer, rehomed, emptied) = (0, RehomedMessages(), EmptiedChannels())
        cells = Pages()
        listPlaces = Pages()
        records = []
        reactions = ReactionTable()
        table = PlaceTable()
        saved = SavedExtent()
    }
}
