import EventLog

/// Remembers the parts of each list's last snapshot: nearly all parts of the next one are equal, byte for byte.
///
/// A pure cache: equal bytes give equal tickets, because a state never changes its reading rules and its handles stay
/// valid. Memory: the texts of one snapshot for each list.
struct TicketMemo: Sendable {
    private struct Snapshot: Sendable {
        var texts: [[UInt8]]
        var tickets: [Ticket]
        /// The items, if each part is one and none has the id of another; `nil` if that is not known.
        var items: [ItemFields]?
    }

    /// The number of changed or moved parts that are read again before a lookup table is worth its cost.
    private static let readMax = 4

    private var lists: [EntityID: Snapshot] = [:]

    init() {}

    /// Reads the parts of a snapshot; parts of the last one give the tickets that they gave then. Cost: one comparison
    /// for each part at the same place, and one `read` for each part that is new.
    mutating func tickets(of texts: [[UInt8]], in list: EntityID, read: ([UInt8]) -> Ticket) -> [Ticket] {
        guard var next = lists.removeValue(forKey: list) else {
            let tickets = texts.map(read)
            lists[list] = Snapshot(texts: texts, tickets: tickets)
            return tickets
        }
        assert(next.texts.count == next.tickets.count, "each part has its ticket")
        let changed = texts.indices.filter { $0 >= next.texts.count || !Self.isSame(texts, next.texts, at: $0) }
        var places: [Part: Int]?
        if texts.count != next.texts.count || changed.count > Self.readMax {
            // An inserted part shifts all later ones, which a lookup finds. The closure keeps the last of equal parts; their
            // tickets are equal too.
            places = Dictionary(next.texts.enumerated().map { (Part($0.element), $0.offset) }) { $1 }
            next.items = nil
        }
        let before = places == nil ? [] : next.tickets
        if next.tickets.count > texts.count { next.tickets.removeLast(next.tickets.count - texts.count) }
        for place in changed {
            let text = texts[place]
            let ticket = places?[Part(text)].map { before[$0] } ?? read(text)
            if place < next.tickets.count { next.tickets[place] = ticket } else { next.tickets.append(ticket) }
            if case .item(let item) = ticket, item.id == next.items?[place].id {
                next.items?[place] = item
            } else {
                next.items = nil
            }
        }
        next.texts = texts
        lists[list] = next
        return next.tickets
    }

    private static func isSame(_ left: [[UInt8]], _ right: [[UInt8]], at place: Int) -> Bool {
        left[place].withUnsafeBytes { left in
            right[place].withUnsafeBytes { right in
                // Parts that were not read again are the same memory.
                left.count == right.count && (left.baseAddress == right.baseAddress || sameBytes(left, right))
            }
        }
    }

    /// The items of a list's last snapshot, if each part is one, as `note` said of the snapshot before, and the ids are those of
    /// that one in the same order.
    func items(of list: EntityID) -> [ItemFields]? { lists[list]?.items }

    /// Notes the items of the last snapshot, each of which is one part, and none of which has the id of another.
    mutating func note(_ items: [ItemFields], of list: EntityID) { lists[list]?.items = items }
}

/// Bytes compared and hashed as a whole; an array would hash them one by one.
private struct Part: Hashable {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func == (left: Part, right: Part) -> Bool {
        left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { sameBytes(left, $0) } }
    }

    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
