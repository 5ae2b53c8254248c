import JSON

/// The messages that one change of a conversation's row states.
struct ConversationStatement: Sendable {
    /// A message whose text is not that of the statement before at the same index. Borrows the text of its array.
    struct Altered {
        /// The index in `ids`.
        let index: Int
        let members: ObjectView
    }

    /// Whether the messages are gone because their row is gone.
    let isRowGone: Bool
    /// In the order of the array; each id once. Empty if the row is gone. Statements of the same ids share one array.
    private(set) var ids: [EntityID]
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
    ///   - text: the text of the array, which `altered` borrows.
    ///   - previous: the statement before this one in the order of commits, or any other: it changes only the cost and `altered`.
    ///   - altered: gets the messages that were read, in ascending order of their indexes.
    ///   - fault: takes the reason for each element that does not count.
    init?(
        _ array: StoredJSON,
        text: UnsafeRawBufferPointer,
        after previous: ConversationStatement,
        names: inout Names,
        altered: inout [Altered],
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
        // The text was checked when it was stored, so the reader finds no fault.
        var reader = JSONReader(text, allowsAnyBytes: true)
        guard (try? reader.enterArray()) != nil else { return nil }
        while (try? reader.nextElement()) ?? false {
            count += 1
            let index = ranges.count
            guard let kind = try? reader.kind() else { break }
            let start = reader.offset
            let isRepeated = index < previous.ids.count && previous.isTaken(by: &reader, at: index)
            let members = isRepeated || kind != .object ? nil : try? ObjectView(&reader)
            if !isRepeated, members == nil, (try? reader.skip()) == nil { break }
            let id = isRepeated ? previous.ids[index] : members?["id"]?.text.map { names.id($0) }
            guard let id else {
                fault("message \(count): id is missing or no text")
                continue
            }
            if isFollowing, index >= previous.ids.count || id != previous.ids[index] {
                isFollowing = false
                ids.removeSubrange(index...)
            }
            if !isFollowing, !Self.insert(id, into: &ids, &known) {
                fault("message \(count): the id stands twice; the first counts")
                continue
            }
            ranges.append(start..<reader.offset)
            if let members { altered.append(Altered(index: index, members: members)) }
        }
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

    /// Whether a reader comes to the text of the message at an index of `ids`, which it then passes.
    private func isTaken(by reader: inout JSONReader, at index: Int) -> Bool {
        array?.withBytes { reader.take(known: UnsafeRawBufferPointer(rebasing: $0[ranges[index]])) } ?? false
    }

    /// The index of each id in `ids`.
    var places: [EntityID: Int] { Dictionary(uniqueKeysWithValues: zip(ids, ids.indices)) }
}
