import EventLog

/// The values that order a message within its channel. `createdAt` counts only for `byCreation`; of a message without a
/// version it is `nil`.
struct OrderedMessage {
    let place: Int
    let id: EntityID
    let order: MessageOrder
    let createdAt: Timestamp?

    /// Whether one message precedes another of its channel in the remote's order. A strict total order, as no two
    /// messages of a channel have one id.
    ///
    /// Messages without a version (a delete named them) are ordered by id. If kinds of order mix within a channel, the
    /// kind decides first. Two messages at one place of a list are ordered by id.
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

    /// An unknown instant precedes all others.
    private static func precedes(_ left: Timestamp?, _ right: Timestamp?) -> Bool {
        guard let left else { return right != nil }
        return right.map { left < $0 } ?? false
    }

    /// A text whose bytes sort as `precedes` does: the kind of order, its value, the id. Tables outside the state sort
    /// by it.
    func text(_ names: Names) -> String {
        switch order {
        // The first character is the kind's `rank`.
        case .byID: return id.number.flatMap(Self.text) ?? "0" + names.sortedAsInteger(id)
        case .byCreation:
            // "-" sorts before the digits, so an unknown time comes first.
            guard let time = createdAt else { return "1-" + names.text(id) }
            // Inverting the sign bit puts times before 1970 first. Fixed widths (20 digits hold every `UInt64`, 9 every
            // count of nanoseconds) make texts sort as their numbers do.
            let seconds = UInt64(bitPattern: time.seconds) ^ 1 << 63
            return "1" + Self.padded(seconds, 20) + Self.padded(UInt64(time.nanoseconds), 9) + names.text(id)
        case .at(let place):
            return "2" + Self.padded(UInt64(bitPattern: Int64(place)) ^ 1 << 63, 20) + names.sortedAsInteger(id)
        }
    }

    /// The text of a message that the number of its id orders, which are nearly all, in one piece; `nil` for zero. Equals
    /// what `sortedAsInteger` gives, behind "0".
    private static func text(_ number: UInt64) -> String? {
        guard number > 0 else { return nil }
        let count = number.digitCount
        let start = count < 10 ? 3 : 4
        let length = start + count + 1
        return String(unsafeUninitializedCapacity: length) { text in
            text[length - 1] = UInt8(ascii: "~")
            (text[0], text[1]) = (UInt8(ascii: "0"), count < 10 ? UInt8(ascii: "a") : UInt8(ascii: "b"))
            Self.put(UInt64(count), behind: start, in: text)
            Self.put(number, behind: start + count, in: text)
            return length
        }
    }

    /// Writes decimal digits that end before an index.
    private static func put(_ number: UInt64, behind end: Int, in text: UnsafeMutableBufferPointer<UInt8>) {
        var (rest, index) = (number, end)
        while rest > 0 {
            index -= 1
            text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// The decimal digits with zeros in front, `width` characters long.
    private static func padded(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension MessageOrder {
    /// Orders kinds that mix within one channel.
    fileprivate var rank: Int {
        switch self {
        case .byID: 0
        case .byCreation: 1
        case .at: 2
        }
    }
}

extension Names {
    /// Whether one id precedes another: as integers of any size; ids that are no integers follow, by their UTF-8 bytes.
    /// Integers with leading zeros compare by value, equal values by their bytes.
    func precedesAsInteger(_ left: EntityID, _ right: EntityID) -> Bool {
        // The usual case: two snowflakes.
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

    /// A text whose bytes sort as `precedesAsInteger` does: the count of digits, the digits, and the id if zeros begin
    /// it.
    fileprivate func sortedAsInteger(_ id: EntityID) -> String {
        let text = text(id)
        guard let digits = Self.digits(Array(text.utf8)) else { return "~" + text }
        let count = String(digits.count)
        // A count of more digits begins with a later letter. "~" sorts behind every such letter.
        // The letter tells how many digits `count` has: "a" for one digit, "b" for two.
        let start = String(Character(UnicodeScalar(UInt8(clamping: 0x60 + count.utf8.count)))) + count
        // " " sorts before "~", so ids with leading zeros come before the plain number, as their bytes do.
        return start + String(decoding: digits, as: UTF8.self) + (digits.count < text.utf8.count ? " " + text : "~")
    }

    /// The digits of a number without leading zeros, none for zero; `nil` if the text is no number.
    private static func digits(_ text: [UInt8]) -> ArraySlice<UInt8>? {
        guard !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.drop { $0 == 0x30 }
    }
}

extension MessageKey {
    /// Whether one key precedes another by the bytes of the channels' ids, then the messages'.
    func precedes(_ other: MessageKey, _ names: Names) -> Bool {
        channel == other.channel ? names.precedes(id, other.id) : names.precedes(channel, other.channel)
    }
}
