import EventLog

/// Which batches a stream holds, by the ids of its messages. Looks only at what is new since the last look, and anew at everything where the
/// stream is no longer what it was. Memory: O(batches), at most `idsMax`.
struct CourierView {
    private let courier: any Courier
    /// The log's identity, in hex.
    private let identity: String
    /// The positions of each batch's messages, by part: one for each copy, in order. Anybody may have published a copy with other bytes.
    private var places: [BatchName: [Int: [UInt64]]] = [:]
    /// The complete batches of each state, by their first event.
    private(set) var batches: [RewriteState: [UInt64: [BatchName]]] = [:]
    /// The positions of messages that are not what their ids say.
    private var untrue: Set<UInt64> = []
    /// The positions that were looked at, and the id at the last of them.
    private var seen: (first: UInt64, last: UInt64, id: String)?
    /// Whether all that the stream holds was listed, and not only what a reader needs.
    private(set) var isWhole = true
    /// Whether the stream has let go of its first messages.
    private(set) var isTrimmed = false

    /// A stream with more messages is read from the place that a log needs on.
    private static let idsMax: UInt64 = 1 << 20
    /// With fewer messages all are listed; with more, a few are looked up to find where to begin.
    private static let listedMax: UInt64 = 512

    init(of courier: any Courier, identity: [UInt8]) {
        (self.courier, self.identity) = (courier, identity.hexDigits)
    }

    /// Looks at what is new.
    ///
    /// - Parameter head: the last event that a reader has, which needs no batches before it; 0 for all batches.
    mutating func look(behind head: UInt64) throws {
        guard let extent = try courier.extent(), extent.first <= extent.last else { return reset() }
        if let seen {
            // The stream was made anew, or lost its end and got another one.
            var id: String?
            if extent.last >= seen.last, extent.first <= seen.last {
                try courier.forEachID(in: seen.last...seen.last) { id = $1 }
            }
            if id != seen.id { reset() }
        }
        isTrimmed = extent.first > 1
        var next: UInt64
        if let seen {
            next = seen.last + 1
        } else {
            next = try start(in: extent, behind: head)
            isWhole = next == extent.first
        }
        let end = min(extent.last, next + Self.idsMax)
        guard next <= end else { return }
        var (last, lastID) = (next, "")
        try courier.forEachID(in: next...end) { position, id in
            (last, lastID) = (position, id)
            add(id, at: position)
        }
        next = seen?.first ?? next
        if !lastID.isEmpty { seen = (next, last, lastID) }
    }

    /// Forgets what was seen, so that the next look lists everything.
    mutating func reset() {
        (places, batches, untrue, seen) = ([:], [:], [], nil)
    }

    private mutating func add(_ text: String, at position: UInt64) {
        guard let id = PartID(text), id.identity == identity, !untrue.contains(position) else { return }
        places[id.batch, default: [:]][id.part, default: []].append(position)
        guard places[id.batch]?.count == id.batch.parts else { return }
        let known = batches[id.batch.state]?[id.batch.first] ?? []
        guard !known.contains(id.batch) else { return }
        batches[id.batch.state, default: [:]][id.batch.first] = known + [id.batch]
    }

    /// The position from which the batches behind a head lie, if they lie in order: found by looking at O(log n) messages. Where they do not,
    /// a batch is missed, and everything is listed.
    private func start(in extent: CourierExtent, behind head: UInt64) throws -> UInt64 {
        guard head > 0, extent.last - extent.first > Self.listedMax else { return extent.first }
        var (low, high) = (extent.first, extent.last)
        while low < high {
            let middle = low + (high - low) / 2
            var id: PartID?
            try courier.forEachID(in: middle...middle) { id = PartID($1) }
            if let id, id.identity == identity, id.batch.what == .events, id.batch.last > head {
                high = middle
            } else {
                low = middle + 1
            }
        }
        // The first messages of that batch may lie before it.
        return max(extent.first, low - min(low, 64))
    }

    // MARK: - Batches

    /// Believes nothing any more of the messages that a batch was read from. Others may bring it again; copies that are there count next.
    mutating func refuse(_ batch: BatchName) {
        let copies = places[batch]?.filter { $0.value.count > 1 } ?? [:]
        for (part, positions) in copies {
            untrue.insert(positions[0])
            places[batch]?[part]?.removeFirst()
        }
        if copies.isEmpty { passOver(batch) }
    }

    /// Lets go of a batch and all its copies.
    mutating func passOver(_ batch: BatchName) {
        untrue.formUnion(places.removeValue(forKey: batch)?.values.flatMap { $0 } ?? [])
        batches[batch.state]?[batch.first]?.removeAll { $0 == batch }
        if batches[batch.state]?[batch.first]?.isEmpty == true { batches[batch.state]?[batch.first] = nil }
        if batches[batch.state]?.isEmpty == true { batches[batch.state] = nil }
    }

    /// The complete batches of a state, in no order.
    func all(of state: RewriteState) -> [BatchName] { batches[state]?.values.flatMap { $0 } ?? [] }

    /// The batches of events in the order in which they follow one another from an event on, the longest wherever several begin. All
    /// readers of a stream take the same ones.
    func chain(of state: RewriteState, from first: UInt64) -> [BatchName] {
        var chain: [BatchName] = []
        var next = first
        while let batch = batch(of: state, at: next) {
            chain.append(batch)
            next = batch.last + 1
        }
        return chain
    }

    /// The longest batch of events that begins with one.
    func batch(of state: RewriteState, at first: UInt64) -> BatchName? {
        batches[state]?[first]?.filter { $0.what == .events }.max { ($0.last, $0.digest) < ($1.last, $1.digest) }
    }

    /// The batch that has an event, and reaches farthest behind it.
    func batch(of state: RewriteState, with event: UInt64) -> BatchName? {
        all(of: state).filter { $0.what == .events && $0.first <= event && $0.last >= event }
            .max { ($0.last, $0.digest) < ($1.last, $1.digest) }
    }

    /// What rewrites left beside the events in a state.
    func remains(of state: RewriteState) -> BatchName? {
        all(of: state).filter { $0.what == .remains }.max { ($0.last, $0.digest) < ($1.last, $1.digest) }
    }

    /// The batches that may follow a log, and whether they replace it: those of the newest state first.
    ///
    /// - Parameter own: the log's state; `nil` without a log.
    func candidates(
        behind head: UInt64,
        in own: RewriteState?
    ) -> some Sequence<(chain: [BatchName], isWhole: Bool)> {
        batches.keys.sorted(by: >).lazy.compactMap { state -> (chain: [BatchName], isWhole: Bool)? in
            if state == own {
                guard let first = batch(of: state, with: head + 1) else { return nil }
                return ([first] + chain(of: state, from: first.last + 1), false)
            }
            guard own.map({ state > $0 }) ?? true else { return nil }
            let chain = chain(of: state, from: 1)
            guard let last = chain.last, last.last > head, state.count == 0 || remains(of: state) != nil else {
                return nil
            }
            return (chain, true)
        }
    }

    /// The batch that reaches farthest behind a log, in its own state or a newer one; `nil` if none does.
    func reach(behind head: UInt64, in own: RewriteState?) -> BatchName? {
        batches.keys.filter { state in own.map { state >= $0 } ?? true }
            .flatMap { all(of: $0) }
            .filter { $0.last > head }
            .max { ($0.last, $0.digest) < ($1.last, $1.digest) }
    }

    /// The batches that go on from batches of other logs, and so are of these, too. Cost: none without strangers, else at most 256 batches.
    func followers(of strangers: Set<BatchName>, behind head: UInt64) -> [BatchName] {
        guard !strangers.isEmpty else { return [] }
        let known = batches.keys.flatMap { all(of: $0) }.filter { $0.what == .events && $0.last > head }
        var others = strangers
        for batch in known.sorted(by: { $0.first < $1.first }).prefix(256) {
            guard let before = try? read(batch).header.rootBefore else { continue }
            if others.contains(where: { $0.last + 1 == batch.first && $0.root == BatchName.half(before) }) {
                others.insert(batch)
            }
        }
        return Array(others.subtracting(strangers))
    }

    /// The last event of any batch of a state, whatever lies before it.
    func last(of state: RewriteState) -> UInt64 { all(of: state).map(\.last).max() ?? 0 }

    /// The positions of all messages of states before one.
    func positions(before state: RewriteState) -> [UInt64] {
        places.filter { $0.key.state < state }.flatMap { $0.value.values.joined() }.sorted()
    }

    /// Reads a batch.
    ///
    /// - Throws: `CourierFault`.
    func read(_ name: BatchName) throws -> Batch {
        var parts: [[UInt8]] = []
        var bytes = 0
        for part in 1...name.parts {
            guard let position = places[name]?[part]?.first, let message = try courier.message(at: position),
                let id = PartID(message.id), id.batch == name, id.part == part
            else { throw CourierFault.stale }
            bytes += message.bytes.count
            guard bytes <= BatchHeader.sectionsBytesMax + BatchHeader.bytesMax else {
                throw CourierFault.untrue(name, "it has more than \(BatchHeader.sectionsBytesMax >> 20) MiB")
            }
            parts.append(message.bytes)
        }
        return try Self.proving(name) { try Batch(name, identity: identity.hexBytes, parts: parts) }
    }

    /// Turns what is wrong with a batch's bytes into its fault.
    static func proving<Value>(_ name: BatchName, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let fault as ExportFault {
            throw CourierFault.untrue(name, fault.description)
        } catch let error as EventLogError {
            throw CourierFault.untrue(name, error.reason)
        }
    }
}

extension String {
    /// The bytes that hex digits spell.
    fileprivate var hexBytes: [UInt8] {
        let digits = utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
