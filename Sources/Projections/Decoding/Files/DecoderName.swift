/// The names of the ids and members that effects have.
enum DecoderName: Int, CaseIterable, Sendable {
    case channel, id, guild, scope, user, emoji, before, mark, table, list
    case author, authorName, content, createdAt, editedAt, replyTo, tags, attachments, version
    case name, kind, topic, text, done, status, created, order, parent, section, assignee, due, labels, doneAt
    case project, timestamp, device
    case by, deletedAt

    private static let texts = allCases.map { "\($0)" }
    private static let all: [String: DecoderName] = Dictionary(uniqueKeysWithValues: allCases.map { ($0.text, $0) })

    /// The name as a file writes it.
    var text: String { Self.texts[rawValue] }

    /// The name that a file writes; `nil` for any other.
    init?(_ text: String) {
        guard let name = Self.all[text] else { return nil }
        self = name
    }
}

extension DecoderName: Comparable {
    static func < (left: DecoderName, right: DecoderName) -> Bool { left.rawValue < right.rawValue }
}

/// The values that an effect reads, by the names of its ids or members. Columns of rows have any name.
struct DecoderValues: Sendable {
    /// In the order of the names.
    let pairs: [(name: String, value: DecoderValue)]
    /// By the number of the name, the place in `pairs`; -1 without one. Empty without any.
    private let places: [Int]

    init(_ values: [String: DecoderValue]) {
        pairs = values.sorted { ExactText.precedes($0.key, $1.key) }.map { ($0.key, $0.value) }
        guard !pairs.isEmpty else {
            places = []
            return
        }
        var places = Array(repeating: -1, count: DecoderName.allCases.count)
        for (place, pair) in pairs.enumerated() {
            if let name = DecoderName(pair.name) { places[name.rawValue] = place }
        }
        self.places = places
    }

    static let none = DecoderValues([:])

    subscript(name: DecoderName) -> DecoderValue? {
        if places.isEmpty { return nil }
        let place = places[name.rawValue]
        return place < 0 ? nil : pairs[place].value
    }

    /// The value under any name. Cost: O(values).
    subscript(named name: String) -> DecoderValue? {
        pairs.first { ExactText.areSame($0.name, name) }?.value
    }
}
