/// The messages that a client's lists contain, each with the places of its copies. Remembers the keys of all messages that
/// were ever listed.
struct ListedMessages: Sendable {
    /// One message, in 24 bytes.
    private struct Entry: BitwiseCopyable, Sendable {
        let key: MessageKey
        /// The place of the only copy; `Int.min` without a copy, `Int.max` for several, which are in `copies`.
        var place: Int
    }

    private var entries = Pages<Entry>()
    /// The places of messages with several copies, by index in `entries`.
    private var copies: [Int: [Int]] = [:]
    private var table = PlaceTable()
    /// No message has an id with a greater `rawValue`: a new message nearly always has the greatest id, which needs no search.
    private var greatest: UInt64 = 0

    init() {}

    private func hash(_ key: MessageKey) -> UInt64 { table.hash(key.id.rawValue, key.channel.rawValue) }

    private func index(of key: MessageKey) -> Int? {
        key.id.rawValue > greatest ? nil : table.find(hash(key)) { entries[$0].key == key }
    }

    /// Whether a message is listed.
    func contains(_ key: MessageKey) -> Bool { index(of: key).map { entries[$0].place != .min } ?? false }

    /// The place of a message with one copy; `nil` for any other.
    func onlyPlace(of key: MessageKey) -> Int? {
        guard let index = index(of: key) else { return nil }
        let place = entries[index].place
        return place == .min || place == .max ? nil : place
    }

    /// The places of a message's copies; empty if it is not listed.
    func places(of key: MessageKey) -> [Int] { index(of: key).map(places(at:)) ?? [] }

    private func places(at index: Int) -> [Int] {
        switch entries[index].place {
        case .min: []
        case .max: copies[index] ?? []
        case let place: [place]
        }
    }

    /// Adds a copy at a place and returns its number, from 0.
    @discardableResult
    mutating func append(_ place: Int, of key: MessageKey) -> Int {
        guard let index = index(of: key) else {
            let index = entries.count
            if table.isFull(for: index) {
                let known = self
                table.grow(for: index) { known.hash(known.entries[$0].key) }
            }
            table.add(hash(key), place: index)
            entries.append(Entry(key: key, place: place))
            greatest = max(greatest, key.id.rawValue)
            return 0
        }
        let places = places(at: index) + [place]
        if places.count > 1 { copies[index] = places }
        entries[index].place = places.count > 1 ? .max : place
        return places.count - 1
    }

    /// Takes a message off the list and returns the places of its copies.
    mutating func remove(_ key: MessageKey) -> [Int] {
        guard let index = index(of: key) else { return [] }
        defer {
            copies[index] = nil
            entries[index].place = .min
        }
        return places(at: index)
    }

    /// The listed messages of a channel, in the order in which they were first listed. O(messages of all channels).
    func keys(in channel: EntityID) -> [MessageKey] {
        (0..<entries.count).compactMap { index in
            let entry = entries[index]
            return entry.key.channel == channel && entry.place != .min ? entry.key : nil
        }
    }
}

extension ListedMessages: Codable {
    private enum CodingKeys: CodingKey { case entries, repeated, places }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        entries = try container.decode(Pages<Entry>.self, forKey: .entries)
        let repeated = try container.decode([Int].self, forKey: .repeated)
        copies = Dictionary(zip(repeated, try container.decode([[Int]].self, forKey: .places))) { $1 }
        table = PlaceTable(hashes: (0..<entries.count).map { hash(entries[$0].key) })
        greatest = (0..<entries.count).reduce(0) { max($0, entries[$1].key.id.rawValue) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entries, forKey: .entries)
        let repeated = copies.keys.sorted()
        try container.encode(repeated, forKey: .repeated)
        try container.encode(repeated.map { copies[$0] ?? [] }, forKey: .places)
    }
}
