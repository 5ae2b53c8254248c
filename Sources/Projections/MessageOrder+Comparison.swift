import EventLog

extension MessageOrder {
    /// Whether one message stands before another of its channel in the remote's order.
    ///
    /// Messages of which only the id is known (a delete named them) stand by id. Kinds of order never mix within one
    /// channel; should they, the kind decides first.
    static func precedes(_ left: MessageRecord, _ right: MessageRecord, _ names: Names) -> Bool {
        let (leftOrder, rightOrder) = (left.current?.order ?? .byID, right.current?.order ?? .byID)
        guard leftOrder.rank == rightOrder.rank else { return leftOrder.rank < rightOrder.rank }
        switch (leftOrder, rightOrder) {
        case (.at(let here), .at(let there)) where here != there: return here < there
        case (.byCreation, .byCreation):
            let (here, there) = (left.current?.saying.createdAt, right.current?.saying.createdAt)
            if here != there { return precedes(here, there) }
            return names.precedes(left.key.id, right.key.id)
        default: return names.precedesAsInteger(left.key.id, right.key.id)
        }
    }

    /// An unknown instant is before all others.
    private static func precedes(_ left: Timestamp?, _ right: Timestamp?) -> Bool {
        guard let left else { return right != nil }
        return right.map { left < $0 } ?? false
    }

    private var rank: Int {
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

    /// The digits of a number without its leading zeros; `nil` for what is no number.
    private static func digits(_ text: [UInt8]) -> ArraySlice<UInt8>? {
        guard !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.drop { $0 == 0x30 }
    }
}
