import EventLog

/// The messages of one channel, found without visiting those of others, by their places in the store.
///
/// No list is kept sorted: each call sorts anew, which is cheap while messages arrive in order.
extension Messages {
    /// All channels with a known message, live or not, by their ids' UTF-8 bytes. O(n log n) in the number of channels.
    func channels(_ names: Names) -> [EntityID] {
        store.channels.indices.filter { store.hadMessage($0) }.map { store.channels[$0].id }
            .sorted { names.precedes($0, $1) }
    }

    /// The live messages of one channel in the remote's order.
    func sortedLive(in channel: EntityID, _ names: Names) -> [MessageKey] {
        livePlaces(in: channel, names).map { store.key(at: $0) }
    }

    /// How many messages are in a state; compacted ones are not counted. O(messages).
    func count(being wanted: State) -> Int {
        (0..<store.count).reduce(0) { $0 + (state(at: $1) == wanted ? 1 : 0) }
    }

    /// The places of a channel's messages that have a row in a section, in the document's order; none for other
    /// sections.
    func places(in section: Section, of channel: EntityID, _ names: Names) -> [Int] {
        switch section {
        case .messages: livePlaces(in: channel, names)
        case .deletedMessages: deletedPlaces(in: channel, names)
        default: []
        }
    }

    /// The places of the live messages of a channel, in the remote's order. O(n) if they arrived in the order of
    /// numeric ids, else O(n log n).
    func livePlaces(in channel: EntityID, _ names: Names) -> [Int] {
        let places = places(in: channel, being: .live)
        return liveOrder(places, names) ?? places
    }

    /// The places of the deleted messages of a channel, by the bytes of their ids.
    func deletedPlaces(in channel: EntityID, _ names: Names) -> [Int] {
        let places = places(in: channel, being: .deleted)
        return deletedOrder(places, names) ?? places
    }

    /// The places of live messages of one channel in the remote's order; `nil` if they are in it already.
    func liveOrder(_ places: [Int], _ names: Names) -> [Int]? {
        switch orderByNumber(places) {
        case .kept: return nil
        case .sorted(let sorted): return sorted
        case .other:
            if isInListOrder(places) { return nil }
            return places.map { orderedMessage(at: $0) }.sorted { OrderedMessage.precedes($0, $1, names) }.map(\.place)
        }
    }

    /// The places of deleted messages of one channel by the bytes of their ids; `nil` if they are in this order
    /// already.
    func deletedOrder(_ places: [Int], _ names: Names) -> [Int]? {
        // By itself, because a comparison that reads it from the messages copies these.
        let cells = store.cells
        let isSorted = zip(places, places.dropFirst()).allSatisfy { left, right in
            !names.precedes(cells[right].id, cells[left].id)
        }
        if isSorted { return nil }
        return places.sorted { names.precedes(cells[$0].id, cells[$1].id) }
    }

    /// The places of the messages of a channel that are in a state, in order of arrival.
    func places(in channel: EntityID, being wanted: State) -> [Int] {
        store.places(in: channel).filter { state(at: $0) == wanted }
    }

    /// The values that order the message at a place. Builds no record.
    func orderedMessage(at place: Int) -> OrderedMessage {
        let cell = store.cells[place]
        return switch cell.form {
        // A packed message is ordered by its id.
        case .packed: OrderedMessage(place: place, id: cell.id, order: .byID, createdAt: nil)
        case .listed:
            OrderedMessage(place: place, id: cell.id, order: store.order(ofListed: place), createdAt: nil)
        case .written: orderedMessage(written: cell, at: place)
        case .record: orderedRecord(at: place, cell)
        }
    }

    private func orderedMessage(written cell: MessageCell, at place: Int) -> OrderedMessage {
        let order = store.order(ofWritten: cell)
        // Read only where it counts.
        let createdAt = order == .byCreation ? store.createdAt(ofWritten: cell) : nil
        return OrderedMessage(place: place, id: cell.id, order: order, createdAt: createdAt)
    }

    /// Whether each message has a later place in the remote's list than the one before. False proves nothing.
    private func isInListOrder(_ places: [Int]) -> Bool {
        var last = Int.min
        for place in places {
            guard case .at(let listed) = order(at: place), listed > last else { return false }
            last = listed
        }
        return true
    }

    /// The order of the message at a place; `nil` if no version is known.
    private func order(at place: Int) -> MessageOrder? {
        let cell = store.cells[place]
        return switch cell.form {
        case .packed: .byID
        case .listed: store.order(ofListed: place)
        case .written: store.order(ofWritten: cell)
        case .record: store.records[Int(cell.last)].current?.order
        }
    }

    private func orderedRecord(at place: Int, _ cell: MessageCell) -> OrderedMessage {
        let current = store.records[Int(cell.last)].current
        return OrderedMessage(
            place: place,
            id: cell.id,
            order: current?.order ?? .byID,
            createdAt: current?.saying.createdAt
        )
    }

    /// The places whose ids are numbers, in the order of these.
    private func numbered(_ places: [Int]) -> [(number: UInt64, place: Int)] {
        var numbered: [(number: UInt64, place: Int)] = []
        numbered.reserveCapacity(places.count)
        for place in places {
            if let number = store.cells[place].id.number { numbered.append((number, place)) }
        }
        numbered.sort { $0.number < $1.number }
        return numbered
    }

    /// How the numbers that ids are order some messages.
    private enum OrderByNumber {
        /// They are in this order already.
        case kept
        case sorted([Int])
        /// An id is not a number below 2^63, or the remote's order is another.
        case other
    }

    private func orderByNumber(_ places: [Int]) -> OrderByNumber {
        var (last, isSorted) = (UInt64(0), true)
        for place in places {
            let cell = store.cells[place]
            guard store.isByID(cell), let number = cell.id.number else { return .other }
            isSorted = isSorted && last <= number
            last = number
        }
        // Messages mostly arrive in this order.
        return isSorted ? .kept : .sorted(numbered(places).map(\.place))
    }
}
