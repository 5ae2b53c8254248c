import JSON

/// The messages that one change of a conversation's row states.
struct ConversationStatement: Sendable {
    /// Whether the messages are gone because their row is gone.
    let isRowGone: Bool
    /// In the order of the array; each id once. Empty if the row is gone. Statements of the same ids share one array.
    private(set) var ids: [EntityID]
    /// The indexes of the messages whose text is not that of the statement before at the same index, in ascending order.
    var altered: [Int] = []
    /// The array with the messages; `nil` without messages.
    private let array: StoredJSON?
    /// Where each message of `ids` lies in `array`.
    private var ranges: [Range<Int>] = []

    /// The most ids that are compared with each new one.
    private static let comparedCountMax = 256

    /// A statement without messages.
    init(isRowGone: Bool = false) {
        self.isRowGone = isRowGone
        ids = []
        array = nil
    }

    /// Reads an array of messages; `nil` for another value. Elements without an id, and repeated ids, do not count.
    ///
    /// Cost: O(bytes). A message whose text is that of the statement before at the same index is compared, and not read.
    ///
    /// - Parameters:
    ///   - previous: the statement before this one in the order of commits, or any other: it changes only the cost and `altered`.
    ///   - fault: takes the reason for each element that does not count.
    init?(
        _ array: StoredJSON,
        after previous: ConversationStatement,
        names: inout Names,
        fault: (String) -> Void
    ) {
        isRowGone = false
        self.array = array
        // Mostly all ids are those of the statement before; where they first differ, the rest is cut off.
        ids = previous.ids
        ranges.reserveCapacity(ids.count + 1)
        var isFollowing = true
        var known: Set<EntityID> = []
        var count = 0
        let isArray = array.forEachElement { range, element in
            count += 1
            let index = ranges.count
            let isRepeated = index < previous.ids.count && previous.isSame(element, at: index)
            let id = isRepeated ? previous.ids[index] : element.memberText("id").map { names.id($0) }
            guard let id else { return fault("message \(count): id is missing or no text") }
            if isFollowing, index >= previous.ids.count || id != previous.ids[index] {
                isFollowing = false
                ids.removeSubrange(index...)
            }
            if !isFollowing {
                guard Self.insert(id, into: &ids, &known) else {
                    return fault("message \(count): the id stands twice; the first counts")
                }
            }
            ranges.append(range)
            if !isRepeated { altered.append(index) }
        }
        guard isArray else { return nil }
        if ranges.count < ids.count { ids.removeSubrange(ranges.count...) }
        assert(ids.count == ranges.count, "each id has a message")
    }

    /// Adds an id; false if it occurs before.
    ///
    /// - Parameter known: the ids, once there are so many that comparing with each costs more.
    private static func insert(_ id: EntityID, into ids: inout [EntityID], _ known: inout Set<EntityID>) -> Bool {
        if ids.count <= comparedCountMax {
            if ids.contains(id) { return false }
        } else {
            if known.isEmpty { known = Set(ids) }
            guard known.insert(id).inserted else { return false }
        }
        ids.append(id)
        return true
    }

    /// The message at an index of `ids`; shares the text of the array.
    func element(at index: Int) -> StoredJSON? { array?.part(ranges[index]) }

    /// Whether the text of the message at an index of `ids` has some bytes.
    private func isSame(_ text: UnsafeRawBufferPointer, at index: Int) -> Bool {
        array?.withBytes { UnsafeRawBufferPointer(rebasing: $0[ranges[index]]).isSame(text) } ?? false
    }

    /// The index of each id in `ids`.
    var places: [EntityID: Int] { Dictionary(uniqueKeysWithValues: zip(ids, ids.indices)) }
}
