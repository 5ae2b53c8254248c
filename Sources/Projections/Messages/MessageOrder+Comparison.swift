import EventLog

/// What decides where a message stands in its channel.
struct OrderedMessage {
    let place: Int
    let id: EntityID
    let order: MessageOrder
    let createdAt: Timestamp?

    init(place: Int, id: EntityID, order: MessageOrder, createdAt: Timestamp?) {
        (self.place, self.id, self.order, self.createdAt) = (place, id, order, createdAt)
    }

    /// What decides where a record stands.
    init(_ record: MessageRecord) {
        let current = record.current
        self.init(
            place: 0,
            id: record.key.id,
            order: current?.order ?? .byID,
            createdAt: current?.saying.createdAt
        )
    }

    /// Whether one message stands before another of its channel in the remote's order.
    ///
    /// Messages of which only the id is known (a delete named them) stand by id. Kinds of order never mix within one
    /// channel; should they, the kind decides first.
    static func precedes(_ left: OrderedMessage, _ right: OrderedMessage, _ names: Names) -> Bool {
        guard left.order.rank == right.order.rank else { return left.order.rank < right.order.rank }
        switch (left.order, right.order) {
        case (.at(let here), .at(let there)) where here != there: return here < there
        case (.byCreation, .byCreation):
            if left.createdAt != right.createdAt { return precedes(left.createdAt, right.createdAt) }
            return names.precedes(left.id, right.id)
        default: return names.precedesAsInteger(left.id, right.id)
        }
    }

    /// An unknown instant is before all others.
    private static func precedes(_ left: Timestamp?, _ right: Timestamp?) -> Bool {
        guard let left else { return right != nil }
        return right.map { left < $0 } ?? false
    }

    /// A text whose bytes sort as `precedes` does: the kind of order, what it goes by, the id.
    func text(_ names: Names) -> String {
        switch order {
        case .byID: return "0" + names.sortedAsInteger(id)
        case .byCreation:
            // The sign is turned, so that times before 1970 come first.
            guard let time = createdAt else { return "1-" + names.text(id) }
            let seconds = UInt64(bitPattern: time.seconds) ^ 1 << 63
            return "1" + Self.padded(seconds, 20) + Self.padded(UInt64(time.nanoseconds), 9) + names.text(id)
        case .at(let place):
            return "2" + Self.padded(UInt64(bitPattern: Int64(place)) ^ 1 << 63, 20) + names.sortedAsInteger(id)
        }
    }

    private static func padded(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension MessageOrder {
    fileprivate var rank: Int {
        switch self {
        case .byID: 0
        case .byCreation: 1
        case .at: 2
        }
    }
}

extension Names {
    /// Whether one id stands before another: as integers of any size, and those that are none after them, by their
    /// UTF-8 bytes.
    func precedesAsInteger(_ left: EntityID, _ right: EntityID) -> Bool {
        if let here = left.number, let there = right.number { return here < there }
        let (here, there) = (Array(text(left).utf8), Array(text(right).utf8))
        switch (Self.digits(here), Self.digits(there)) {
        case (let here?, let there?) where here != there:
            return here.count == there.count ? here.lexicographicallyPrecedes(there) : here.count < there.count
        case (.some, nil): return true
        case (nil, .some): return false
        default: return here.lexicographicallyPrecedes(there)
        }
    }

    /// A text whose bytes sort as `precedesAsInteger` does: the count of digits, the digits, and the id where zeros begin it.
    fileprivate func sortedAsInteger(_ id: EntityID) -> String {
        let text = text(id)
        guard let digits = Self.digits(Array(text.utf8)) else { return "~" + text }
        let count = String(digits.count)
        // Longer counts begin with a later letter; no id begins with "~".
        let start = String(Character(UnicodeScalar(UInt8(clamping: 0x60 + count.utf8.count)))) + count
        return start + String(decoding: digits, as: UTF8.self) + (digits.count < text.utf8.count ? " " + text : "~")
    }

    /// The digits of a number without its leading zeros; `nil` for what is no number.
    private static func digits(_ text: [UInt8]) -> ArraySlice<UInt8>? {
        guard !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.drop { $0 == 0x30 }
    }
}
