import Dispatch
import EventLog
import Synchronization

/// The kind of row that a message has in the state document. One byte, as `DigestRows` keeps one for each message.
enum MessageRow: UInt8, Sendable {
    case none
    case live
    case deleted

    var section: Section? {
        switch self {
        case .none: nil
        case .live: .messages
        case .deleted: .deletedMessages
        }
    }
}

// MARK: - All rows

typealias WholeSlice = LeafSlice<StateDigest.Leaf>

extension SourceState {
    /// The leaves of all rows but the issues, in any order.
    func digestSlices<Leaf: DigestLeaf>(_: Leaf.Type = StateDigest.Leaf.self) -> [LeafSlice<Leaf>] {
        messageSlices { LeafSlice(leaves(at: $0, &$1)) }
            + [LeafSlice(otherLeaves().map { Leaf($0) }), LeafSlice(orderLeaves().map { Leaf($0) })]
    }

    /// The leaves of all messages before a compaction drops some of them: those of kept messages that stay as they are,
    /// and the others. `changedSlices` has the others afterwards.
    ///
    /// - Parameter withOthers: whether the slices of the others are made; they are empty if not.
    func messageSlices(
        keeping isKept: [Bool],
        withOthers: Bool
    ) -> [(unchanged: WholeSlice, others: WholeSlice)] {
        messageSlices { places, writer in
            var (same, others): ([Int], [Int]) = ([], [])
            for place in places {
                let staysSame = isKept[place] && !parts.messages.lacksParent(at: place) { isKept[$0] }
                if staysSame { same.append(place) } else if withOthers { others.append(place) }
            }
            return (LeafSlice(leaves(at: same, &writer)), LeafSlice(leaves(at: others, &writer)))
        }
    }

    /// The leaves of kept messages whose rows a compaction may have changed.
    func changedSlices() -> [WholeSlice] {
        messageSlices { places, writer in
            LeafSlice(leaves(at: places.filter { parts.messages.lacksParent(at: $0) { _ in true } }, &writer))
        }
    }

    /// Makes a slice of every few thousand places of messages, on all processors. The order of the slices varies, and the
    /// digest does not depend on it. No thread changes the source meanwhile; each has a writer of its own.
    private func messageSlices<Slice: Sendable>(
        _ slice: @Sendable (Range<Int>, inout CanonicalWriter) -> Slice
    ) -> [Slice] {
        let count = parts.messages.store.count
        let stride = 4096
        let slices = Mutex<[Slice]>([])
        DispatchQueue.concurrentPerform(iterations: (count + stride - 1) / stride) { part in
            var writer = CanonicalWriter()
            let made = slice(part * stride..<min(count, (part + 1) * stride), &writer)
            slices.withLock { $0.append(made) }
        }
        return slices.withLock { $0 }
    }

    /// The leaves of the messages at some places that have rows.
    private func leaves<Leaf: DigestLeaf>(at places: some Sequence<Int>, _ writer: inout CanonicalWriter) -> [Leaf] {
        var leaves: [Leaf] = []
        leaves.reserveCapacity(places.underestimatedCount)
        for place in places {
            if let leaf = digestLeaf(at: place, &writer) { leaves.append(Leaf(leaf)) }
        }
        return leaves
    }

    /// The leaves of all rows that are neither messages nor issues. Makes each row as a value.
    func otherLeaves() -> [StateDigest.Leaf] {
        var writer = CanonicalWriter()
        var leaves: [StateDigest.Leaf] = []
        let context = rowContext(asOf: clock)
        for section in Section.allCases where section.isInDigest && section.message == nil {
            let start = DigestKeyStarts.start(section, name)
            fold(for: section)?
                .forEachDigestRow(in: section, context: context) { key, row in
                    leaves.append(
                        StateDigest.Leaf(key: digestKey(key.first, key.second, from: start, &writer), row: row)
                    )
                }
        }
        return leaves
    }

    /// The leaves of the channels' stated orders.
    func orderLeaves() -> [StateDigest.Leaf] {
        parts.messages.channels(context.names).compactMap { channel in
            guard let order = digestOrder(of: channel), let row = order.row else { return nil }
            return StateDigest.Leaf(key: order.key, row: row)
        }
    }

    /// The leaves of the issues, one for each reason. Counts, not sequences, so that two logs of one remote agree.
    func issueLeaves() -> [StateDigest.Leaf] {
        var counts: [Hash256: Int] = [:]
        for issue in issues.rows { counts[digestKey(ofIssue: issue.reason), default: 0] += issue.count }
        return counts.map { StateDigest.Leaf(key: $0.key, row: Self.digestRow(ofIssueCount: $0.value)) }
    }

    /// The kind of row of each message, by place.
    func messageRows() -> [MessageRow] {
        (0..<parts.messages.store.count).map { messageRow(at: $0) }
    }
}

// MARK: - Messages

extension SourceState {
    /// The kind of row of the message at a place.
    func messageRow(at place: Int) -> MessageRow {
        switch parts.messages.state(at: place) {
        case .live: .live
        case .deleted: .deleted
        case .unknown, .compacted: .none
        }
    }

    /// The leaf of the message at a place; `nil` if it has no row. `writer` is scratch memory.
    func digestLeaf(at place: Int, _ writer: inout CanonicalWriter) -> StateDigest.Leaf? {
        guard let section = messageRow(at: place).section else { return nil }
        writer.reset()
        guard parts.messages.writeRow(of: section, at: place, to: &writer, context.names, rowRules) else { return nil }
        let row = writer.hash
        return StateDigest.Leaf(key: digestKey(of: section, messageAt: place, &writer), row: row)
    }

    /// The key that `digestKey(of:_:)` gives for a message's row, from a prepared beginning.
    func digestKey(of section: Section, messageAt place: Int, _ writer: inout CanonicalWriter) -> Hash256 {
        let message = parts.messages.store.key(at: place)
        let start = section == .messages ? digestKeyStarts.live : digestKeyStarts.deleted
        return digestKey(message.channel, message.id, from: start, &writer)
    }

    /// The key that `digestKey(of:_:)` gives for a row with two ids.
    ///
    /// - Parameter start: that of the row's section.
    @inline(__always)
    private func digestKey(
        _ first: EntityID,
        _ second: EntityID,
        from start: [UInt8],
        _ writer: inout CanonicalWriter
    ) -> Hash256 {
        writer.reset()
        writer.raw(start)
        writer.counted(first, context.names)
        writer.counted(second, context.names)
        return writer.hash
    }

    /// Key and row of a channel's order; `nil` if the remote states none. The row is `nil` if the channel has no live
    /// message.
    func digestOrder(of channel: EntityID) -> (key: Hash256, row: Hash256?)? {
        guard let order = parts.messages.statedOrder(in: channel, context.names) else { return nil }
        let row = order.isEmpty ? nil : JSONValue.array(order).canonicalHash
        return (digestKey("order", context.names.text(channel), ""), row)
    }
}

/// The common beginnings of the digest keys of a source's messages: section and source, each behind its length.
struct DigestKeyStarts: Sendable {
    let live: [UInt8]
    let deleted: [UInt8]

    init(_ name: SourceName) {
        live = Self.start(.messages, name)
        deleted = Self.start(.deletedMessages, name)
    }

    /// The beginning of the keys of a section's rows.
    static func start(_ section: Section, _ name: SourceName) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.counted(section.rawValue)
        writer.counted(name.rawValue)
        return writer.withBytes { Array($0) }
    }
}

// MARK: - Any row

extension SourceState {
    /// SHA-256 over section, source and the two ids, each behind its length (4 bytes, big-endian), which keeps
    /// different keys apart. `docs/semantics.md` documents it for other programs, so it must not change.
    func digestKey(of key: EntityKey, _ writer: inout CanonicalWriter) -> Hash256 {
        writer.reset()
        writer.counted(key.section.rawValue)
        writer.counted(name.rawValue)
        writer.counted(key.first, context.names)
        writer.counted(key.second, context.names)
        return writer.hash
    }

    /// The key of all issues with a reason.
    func digestKey(ofIssue reason: String) -> Hash256 {
        digestKey(Section.issues.rawValue, reason, "")
    }

    private func digestKey(_ section: String, _ first: String, _ second: String) -> Hash256 {
        var writer = CanonicalWriter()
        for text in [section, name.rawValue, first, second] { writer.counted(text) }
        return writer.hash
    }

    /// SHA-256 over the canonical text of the row, without the members outside the digest; `nil` if the row does not
    /// exist. The row has no `source` here: the key contains it.
    func digestRow(of key: EntityKey) -> Hash256? {
        fold(for: key.section)?.digestRow(for: key, context: rowContext(asOf: clock))
    }

    /// The row hash for a number of issues of one reason.
    static func digestRow(ofIssueCount count: Int) -> Hash256 {
        Hasher256.hash(Array(String(count).utf8))
    }
}

extension CanonicalWriter {
    fileprivate var hash: Hash256 { withBytes { Hasher256.hash($0) } }

    /// Writes a text behind its length in bytes.
    fileprivate mutating func counted(_ text: String) {
        raw(UInt32(text.utf8.count))
        raw(text)
    }

    /// Writes an id's text behind its length; a number without making a `String`. `EntityID.none` is the empty text.
    @inline(__always)
    fileprivate mutating func counted(_ id: EntityID, _ names: Names) {
        guard let number = id.number else {
            return names.withName(id) { name in
                raw(UInt32(truncatingIfNeeded: name.count))
                raw(name)
            }
        }
        let digits = number.digitCount
        raw(UInt32(truncatingIfNeeded: digits))
        self.number(number, digits: digits)
    }
}

extension Section {
    /// The kind of message row that the section contains; `nil` for other sections.
    fileprivate var message: MessageRow? {
        switch self {
        case .messages: .live
        case .deletedMessages: .deleted
        default: nil
        }
    }
}
