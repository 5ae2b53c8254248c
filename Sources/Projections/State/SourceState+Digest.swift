import Dispatch
import EventLog
import Synchronization

/// Which row of the state document a message has.
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

extension SourceState {
    /// The leaves of all rows but the issues, in any order.
    func digestSlices() -> [LeafSlice] {
        messageSlices() + [LeafSlice(otherLeaves())]
    }

    /// The leaves of all messages, hashed by as many threads as there are processors.
    private func messageSlices() -> [LeafSlice] {
        let count = parts.messages.store.count
        let stride = 4096
        let slices = Mutex<[LeafSlice]>([])
        DispatchQueue.concurrentPerform(iterations: (count + stride - 1) / stride) { part in
            var writer = CanonicalWriter()
            var leaves: [StateDigest.Leaf] = []
            leaves.reserveCapacity(stride)
            for place in part * stride..<min(count, (part + 1) * stride) {
                if let leaf = digestLeaf(at: place, &writer) { leaves.append(leaf) }
            }
            let slice = LeafSlice(leaves)
            slices.withLock { $0.append(slice) }
        }
        return slices.withLock { $0 }
    }

    /// The leaves of all rows that are neither messages nor issues.
    private func otherLeaves() -> [StateDigest.Leaf] {
        var writer = CanonicalWriter()
        var leaves: [StateDigest.Leaf] = []
        for section in Section.allCases where section.isInDigest && section.message == nil {
            for key in fold(for: section)?.keys(in: section, names: context.names) ?? [] {
                guard let row = digestRow(of: key) else { continue }
                leaves.append(StateDigest.Leaf(key: digestKey(of: key, &writer), row: row))
            }
        }
        for channel in parts.messages.channels(context.names) {
            guard let order = digestOrder(of: channel), let row = order.row else { continue }
            leaves.append(StateDigest.Leaf(key: order.key, row: row))
        }
        return leaves
    }

    /// The leaves of the issues: one for each reason.
    func issueLeaves() -> [StateDigest.Leaf] {
        var counts: [Hash256: Int] = [:]
        for issue in issues.rows { counts[digestKey(ofIssue: issue.reason), default: 0] += issue.count }
        return counts.map { StateDigest.Leaf(key: $0.key, row: Self.digestRow(ofIssueCount: $0.value)) }
    }

    /// Which row each message has, by place.
    func messageRows() -> [MessageRow] {
        (0..<parts.messages.store.count).map { messageRow(at: $0) }
    }
}

// MARK: - Messages

extension SourceState {
    /// Which row the message at a place has.
    func messageRow(at place: Int) -> MessageRow {
        switch parts.messages.state(at: place) {
        case .live: .live
        case .deleted: .deleted
        case .unknown, .compacted: .none
        }
    }

    /// The leaf of the message at a place; `nil` for one that has no row.
    func digestLeaf(at place: Int, _ writer: inout CanonicalWriter) -> StateDigest.Leaf? {
        guard let section = messageRow(at: place).section else { return nil }
        let row: Hash256?
        if rowRules.isEmpty, parts.messages.store.cells[place].form == .packed {
            writer.reset()
            let isWritten = parts.messages.writeDigestRow(of: section, packedAt: place, to: &writer, context.names)
            row = isWritten ? writer.hash : nil
        } else {
            let message = parts.messages.store.key(at: place)
            row = digestRow(of: EntityKey(section, message.channel, message.id))
        }
        return row.map { StateDigest.Leaf(key: digestKey(of: section, messageAt: place, &writer), row: $0) }
    }

    /// As `digestKey(of:_:)` with the key of a message's row.
    func digestKey(of section: Section, messageAt place: Int, _ writer: inout CanonicalWriter) -> Hash256 {
        writer.reset()
        writer.raw(section == .messages ? digestKeyStarts.live : digestKeyStarts.deleted)
        let message = parts.messages.store.key(at: place)
        writer.counted(message.channel, context.names)
        writer.counted(message.id, context.names)
        return writer.hash
    }

    /// Key and row of a channel's order, where that is stated; the row is `nil` where no message lives there.
    func digestOrder(of channel: EntityID) -> (key: Hash256, row: Hash256?)? {
        guard let order = parts.messages.statedOrder(in: channel, context.names) else { return nil }
        let row = order.isEmpty ? nil : Hasher256.hash(JSONValue.array(order).canonicalBytes)
        return (digestKey("order", context.names.text(channel), ""), row)
    }
}

/// What the keys of a source's messages begin with: section and source, each with its length in front.
struct DigestKeyStarts: Sendable {
    let live: [UInt8]
    let deleted: [UInt8]

    init(_ name: SourceName) {
        live = Self.start(.messages, name)
        deleted = Self.start(.deletedMessages, name)
    }

    private static func start(_ section: Section, _ name: SourceName) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.counted(section.rawValue)
        writer.counted(name.rawValue)
        return writer.withBytes { Array($0) }
    }
}

// MARK: - Any row

extension SourceState {
    /// SHA-256 over section, source and the two ids, each with its length in front.
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

    /// SHA-256 over the canonical text of the row as the digest sees it; `nil` where there is no such row.
    func digestRow(of key: EntityKey) -> Hash256? {
        let rowContext = rowContext(asOf: clock)
        guard let fold = fold(for: key.section), let row = fold.row(for: key, context: rowContext)?.object else {
            return nil
        }
        var covered = row
        for member in key.section.membersOutsideDigest { covered[member] = nil }
        return Hasher256.hash(JSONValue.object(covered).canonicalBytes)
    }

    /// The row of so many issues.
    static func digestRow(ofIssueCount count: Int) -> Hash256 {
        Hasher256.hash(Array(String(count).utf8))
    }
}

extension CanonicalWriter {
    fileprivate var hash: Hash256 { withBytes { Hasher256.hash($0) } }

    /// A text with its length in front.
    fileprivate mutating func counted(_ text: String) {
        raw(UInt32(text.utf8.count))
        raw(text)
    }

    /// An id as text, with its length in front.
    @inline(__always)
    fileprivate mutating func counted(_ id: EntityID, _ names: Names) {
        guard let number = id.number else { return counted(names.text(id)) }
        let digits = number.digitCount
        raw(UInt32(truncatingIfNeeded: digits))
        self.number(number, digits: digits)
    }
}

extension Section {
    /// Which row of a message stands here.
    fileprivate var message: MessageRow? {
        switch self {
        case .messages: .live
        case .deletedMessages: .deleted
        default: nil
        }
    }
}
