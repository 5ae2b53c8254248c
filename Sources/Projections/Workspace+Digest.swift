import Dispatch
public import EventLog
import Synchronization

extension Workspace {
    /// The digest of the state (C10), brought up to date: O(changed rows) since the last call, O(all rows) at the first.
    ///
    /// It covers the state document without what only sequence numbers or passing time make of a state: every
    /// `sequence`, `asOf`, `typing`, `stale`, live or expired, `sessionAggregates`. Issues enter as their (source,
    /// reason) pairs with counts. `docs/semantics.md` describes it for other programs.
    public mutating func digest() -> Hash256 {
        // Changed where it is: a second reference to the trie would have it copied whole.
        digestKeeper.update(from: &sources, at: sequence)
        return digestKeeper.root()
    }
}

/// Keeps the digest of a workspace up to date, from the first time that somebody asks for it.
struct DigestKeeper: Sendable {
    private struct Place: Hashable {
        let source: Int
        let key: EntityKey
    }

    private var digest = StateDigest()
    private(set) var isBuilt = false
    /// The last event that the digest covers.
    private var last = SequenceNumber.zero
    private var pending: Set<Place> = []
    private var issuesSeen: [Int: Int] = [:]
    private var issueCounts: [Hash256: Int] = [:]

    /// Remembers rows that may have changed.
    mutating func note(_ touched: [EntityKey], source: Int) {
        guard isBuilt else { return }
        for key in touched { pending.insert(Place(source: source, key: key)) }
    }

    /// Brings the digest up to date.
    mutating func update(from sources: inout [SourceState], at sequence: SequenceNumber) {
        // As if to be changed: only so is it sure that no source is copied, which counts references to all of its parts.
        sources.withUnsafeMutableBufferPointer { sources in
            var writer = CanonicalWriter()
            if isBuilt {
                for place in pending { set(place.key, in: &sources[place.source], &writer) }
                for place in Set(pending.compactMap(Self.channelOfMessage)) {
                    setOrder(of: place.key, in: &sources[place.source])
                }
            } else {
                digest = StateDigest(sources.flatMap(Self.messageLeaves))
                for index in sources.indices { setAllButMessages(in: &sources[index], &writer) }
                isBuilt = true
            }
            for index in sources.indices where sources[index].issues.count != issuesSeen[index, default: 0] {
                countIssues(of: sources[index], index: index)
            }
        }
        pending.removeAll(keepingCapacity: true)
        last = sequence
    }

    mutating func root() -> Hash256 {
        digest.root()
    }

    private mutating func setAllButMessages(in source: inout SourceState, _ writer: inout CanonicalWriter) {
        for section in Section.allCases where section.isInDigest && section != .messages && section != .deletedMessages
        {
            guard let fold = source.fold(for: section) else { continue }
            for key in fold.keys(in: section, names: source.context.names) { set(key, in: &source, &writer) }
        }
        for channel in source.messages.channels(source.context.names) {
            setOrder(of: EntityKey(.channels, channel), in: &source)
        }
    }

    /// The leaves of all messages, hashed by as many threads as there are processors. Their order does not matter.
    private static func messageLeaves(of source: SourceState) -> [StateDigest.Leaf] {
        let count = source.messages.store.count
        let stride = 8192
        let leaves = Mutex<[StateDigest.Leaf]>([])
        DispatchQueue.concurrentPerform(iterations: (count + stride - 1) / stride) { part in
            var writer = CanonicalWriter()
            var list: [StateDigest.Leaf] = []
            list.reserveCapacity(stride)
            for place in part * stride..<min(count, (part + 1) * stride) {
                if let leaf = source.digestLeaf(at: place, &writer) { list.append(leaf) }
            }
            leaves.withLock { $0.append(contentsOf: list) }
        }
        return leaves.withLock { $0 }
    }

    private static func channelOfMessage(_ place: Place) -> Place? {
        guard place.key.section == .messages || place.key.section == .deletedMessages else { return nil }
        return Place(source: place.source, key: EntityKey(.channels, place.key.first))
    }

    private mutating func setOrder(of channel: EntityKey, in source: inout SourceState) {
        guard let order = source.messages.statedOrder(in: channel.first, source.context.names) else { return }
        let row = order.isEmpty ? nil : Hasher256.hash(JSONValue.array(order).canonicalBytes)
        digest.set(key: source.digestKey("order", source.context.names.text(channel.first), ""), row: row)
    }

    private mutating func set(_ key: EntityKey, in source: inout SourceState, _ writer: inout CanonicalWriter) {
        guard key.section.isInDigest else { return }
        let row = source.digestRow(of: key, &writer)
        // What was not there at the last digest has no row to be taken away.
        if row == nil, source.messages.isPacked(key, addedAfter: last) { return }
        digest.set(key: source.digestKey(of: key, &writer), row: row)
    }

    private mutating func countIssues(of source: SourceState, index: Int) {
        for issue in source.issues[issuesSeen[index, default: 0]...] {
            let key = source.digestKey(section: .issues, issue.reason, "")
            let count = issueCounts[key, default: 0] + 1
            issueCounts[key] = count
            digest.set(key: key, row: Hasher256.hash(Array(String(count).utf8)))
        }
        issuesSeen[index] = source.issues.count
    }
}

extension Section {
    /// Whether the digest covers the section row by row. What only time makes is left out; issues are counted instead.
    var isInDigest: Bool {
        switch self {
        case .typing, .sessionAggregates, .issues: false
        default: true
        }
    }

    /// The members of the section's rows that only sequence numbers or passing time make.
    var membersOutsideDigest: [String] {
        switch self {
        case .deletedMessages: ["sequence"]
        case .sessions: ["stale", "state"]
        default: []
        }
    }
}

extension SourceState {
    func digestKey(of key: EntityKey) -> Hash256 {
        var writer = CanonicalWriter()
        return digestKey(of: key, &writer)
    }

    func digestKey(section: Section, _ first: String, _ second: String) -> Hash256 {
        digestKey(section.rawValue, first, second)
    }

    /// As below, written into room that is there already.
    func digestKey(of key: EntityKey, _ writer: inout CanonicalWriter) -> Hash256 {
        writer.reset()
        writer.counted(key.section.rawValue)
        writer.counted(name.rawValue)
        for id in [key.first, key.second] {
            if let number = id.number { writer.counted(number) } else { writer.counted(context.names.text(id)) }
        }
        return writer.hash
    }

    /// SHA-256 over section, source and the two ids, each with its length in front.
    fileprivate func digestKey(_ section: String, _ first: String, _ second: String) -> Hash256 {
        var writer = CanonicalWriter()
        for text in [section, name.rawValue, first, second] { writer.counted(text) }
        return writer.hash
    }

    /// SHA-256 over the canonical text of the row as the digest sees it; `nil` where there is no such row.
    func digestRow(of key: EntityKey) -> Hash256? {
        var writer = CanonicalWriter()
        return digestRow(of: key, &writer)
    }

    /// As above, written into room that is there already.
    func digestRow(of key: EntityKey, _ writer: inout CanonicalWriter) -> Hash256? {
        if rowRules.isEmpty, let place = messages.packedPlace(of: key) {
            return digestRow(of: key.section, packedAt: place, &writer)
        }
        let rowContext = rowContext(asOf: clock)
        guard let fold = fold(for: key.section), let row = fold.row(for: key, context: rowContext)?.object else {
            return nil
        }
        var covered = row
        for member in key.section.membersOutsideDigest { covered[member] = nil }
        return Hasher256.hash(JSONValue.object(covered).canonicalBytes)
    }

    /// The leaf of the message at a place; `nil` for one that has no row.
    func digestLeaf(at place: Int, _ writer: inout CanonicalWriter) -> StateDigest.Leaf? {
        let section: Section
        switch messages.state(at: place) {
        case .live: section = .messages
        case .deleted: section = .deletedMessages
        case .unknown, .compacted: return nil
        }
        let message = messages.store.key(at: place)
        let key = EntityKey(section, message.channel, message.id)
        let isPacked = rowRules.isEmpty && messages.store.cells[place].form == .packed
        let row = isPacked ? digestRow(of: section, packedAt: place, &writer) : digestRow(of: key, &writer)
        return row.map { StateDigest.Leaf(key: digestKey(of: key, &writer), row: $0) }
    }

    /// SHA-256 over the row of a packed message; `nil` where it has none in this section.
    func digestRow(of section: Section, packedAt place: Int, _ writer: inout CanonicalWriter) -> Hash256? {
        writer.reset()
        let isWritten = messages.writeDigestRow(of: section, packedAt: place, to: &writer, context.names)
        return isWritten ? writer.hash : nil
    }
}

extension CanonicalWriter {
    fileprivate var hash: Hash256 { withBytes { Hasher256.hash($0) } }

    /// A text with its length in front.
    fileprivate mutating func counted(_ text: String) {
        raw(UInt32(text.utf8.count))
        raw(text)
    }

    /// A number's digits with their count in front.
    fileprivate mutating func counted(_ number: UInt64) {
        let digits = number.digitCount
        raw(UInt32(digits))
        self.number(number, digits: digits)
    }
}
