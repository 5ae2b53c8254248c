import EventLog

/// Remembers the parts of each list's last snapshot: nearly all parts of the next one are equal, byte for byte.
///
/// A pure cache: equal bytes give equal tickets, because a state never changes its reading rules and its handles stay
/// valid. Memory: the texts of one snapshot for each list.
struct TicketMemo: Sendable {
    private struct Snapshot: Sendable {
        let texts: [[UInt8]]
        let tickets: [Ticket]
    }

    /// The number of changed or moved parts that are read again before a lookup table is worth its cost.
    private static let readMax = 4

    private var lists: [EntityID: Snapshot] = [:]

    init() {}

    /// Reads the parts of a snapshot; parts of the last one give the tickets that they gave then. Cost: one comparison
    /// for each part at the same place, and one `read` for each part that is new.
    mutating func tickets(of texts: [[UInt8]], in list: EntityID, read: ([UInt8]) -> Ticket) -> [Ticket] {
        guard let last = lists[list] else {
            let tickets = texts.map(read)
            lists[list] = Snapshot(texts: texts, tickets: tickets)
            return tickets
        }
        assert(last.texts.count == last.tickets.count, "each part has its ticket")
        var readCount = 0
        var places: [Part: Int]?
        let tickets = texts.enumerated().map { place, text in
            if place < last.texts.count, Part(text) == Part(last.texts[place]) { return last.tickets[place] }
            readCount += 1
            if readCount <= Self.readMax { return read(text) }
            // An inserted part shifts all later ones, which a lookup finds. The closure keeps the last of equal parts;
            // their tickets are equal too.
            let known = places ?? Dictionary(last.texts.enumerated().map { (Part($0.element), $0.offset) }) { $1 }
            places = known
            return known[Part(text)].map { last.tickets[$0] } ?? read(text)
        }
        lists[list] = Snapshot(texts: texts, tickets: tickets)
        return tickets
    }
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
