import EventLog

/// The parts of each list's last snapshots, as they were read: nearly all parts of the next one are the same, byte for byte.
struct TicketMemo: Sendable {
    /// How many parts are kept beyond twice those of the last snapshot.
    private static let countMin = 64

    private var lists: [EntityID: [[UInt8]: Ticket]] = [:]

    init() {}

    /// Reads the parts of a snapshot; what was read before is what it was then.
    mutating func tickets(of texts: [[UInt8]], in list: EntityID, read: ([UInt8]) -> Ticket) -> [Ticket] {
        // Taken out, for a second reference would have it copied.
        var known = lists.removeValue(forKey: list) ?? [:]
        if known.count > 2 * texts.count + Self.countMin {
            let wanted = Set(texts)
            known = known.filter { wanted.contains($0.key) }
        }
        let tickets = texts.map { text in
            if let ticket = known[text] { return ticket }
            let ticket = read(text)
            known[text] = ticket
            return ticket
        }
        lists[list] = known
        return tickets
    }
}
