/// Drafts in order, in one piece of memory, each laid out as the record that it becomes (`docs/decisions/0018`).
///
/// For recorders of many small payloads: adding a draft copies its bytes and allocates no object. A copy of a batch
/// shares its memory until one of the two is added to.
public struct DraftBatch: Sendable {
    /// Consecutive drafts that share everything but time, key and payload.
    struct Run: Sendable {
        /// The place of the first of them in the batch.
        let first: Int
        let source: SourceName
        let kind: EventKind
        let attributes: Attributes
    }

    /// The records. Lane number, salt and leaf hash are left open: only a log can fill them in.
    private(set) var room = RecordRoom()
    /// The byte at which each record begins, ascending.
    private(set) var starts: [Int] = []
    /// Ascending by `first`, the first one at 0; none if the batch is empty.
    private(set) var runs: [Run] = []
    /// The bytes of all payloads together.
    public private(set) var payloadByteCount = 0
    /// The bytes of the longest payload.
    private(set) var longestPayload = 0

    /// Makes an empty batch.
    public init() {}

    /// Makes an empty batch with room for as many drafts and bytes as another holds.
    public init(roomOf other: DraftBatch) {
        starts.reserveCapacity(other.count)
        room.reserve(other.room.count)
    }

    /// Makes a batch of drafts in their order.
    public init(_ drafts: [DraftEvent]) {
        starts.reserveCapacity(drafts.count)
        room.reserve(drafts.reduce(0) { $0 + Record.byteCount(of: $1) })
        for draft in drafts { append(draft) }
    }

    /// The number of drafts.
    public var count: Int { starts.count }

    /// Whether the batch has no drafts.
    public var isEmpty: Bool { starts.isEmpty }

    /// Adds a draft at the end.
    public mutating func append(_ draft: DraftEvent) {
        draft.payload.withUnsafeBytes { payload in
            append(
                recordedAt: draft.recordedAt,
                source: draft.source,
                kind: draft.kind,
                key: draft.key,
                attributes: draft.attributes,
                payload: payload
            )
        }
    }

    /// Adds a draft at the end; `payload` is copied. The parameters are those of `DraftEvent`.
    public mutating func append(
        recordedAt: Timestamp,
        source: SourceName,
        kind: EventKind,
        key: EventKey? = nil,
        attributes: Attributes = .none,
        payload: UnsafeRawBufferPointer
    ) {
        var text = key?.rawValue ?? ""
        text.withUTF8 { key in
            append(
                recordedAt: recordedAt,
                source: source,
                kind: kind,
                key: UnsafeRawBufferPointer(key),
                attributes: attributes,
                payload: payload
            )
        }
    }

    /// Adds a draft at the end, with a key of at most 255 bytes of UTF-8; an empty one means no key. Traps on a longer
    /// one, and does not check that it is UTF-8. Key and payload are copied.
    package mutating func append(
        recordedAt: Timestamp,
        source: SourceName,
        kind: EventKind,
        key: UnsafeRawBufferPointer,
        attributes: Attributes,
        payload: UnsafeRawBufferPointer
    ) {
        if runs.isEmpty || !runs[runs.count - 1].holds(source, kind, attributes) {
            runs.append(Run(first: count, source: source, kind: kind, attributes: attributes))
        }
        assert(starts.last.map { $0 < room.count } ?? (room.count == 0), "records follow one another without a gap")
        starts.append(room.count)
        let place = ownRoom(Record.byteCount(keyBytes: key.count, payloadBytes: payload.count))
        Record.write(to: place, recordedAt: recordedAt, key: key, payload: payload)
        payloadByteCount += payload.count
        longestPayload = max(longestPayload, payload.count)
    }

    /// Adds the drafts of another batch at the end. Cost: a copy of their bytes.
    public mutating func append(contentsOf other: DraftBatch) {
        // An empty batch without enough memory shares the other one's. One that has the memory keeps it for later
        // drafts.
        if isEmpty, room.capacity < other.room.count { return self = other }
        let (countBefore, bytesBefore) = (count, room.count)
        starts.append(contentsOf: other.starts.lazy.map { bytesBefore + $0 })
        runs.append(
            contentsOf: other.runs.lazy.map { run in
                Run(first: countBefore + run.first, source: run.source, kind: run.kind, attributes: run.attributes)
            }
        )
        ownRoom(other.room.count).copyMemory(from: other.room.bytes)
        payloadByteCount += other.payloadByteCount
        longestPayload = max(longestPayload, other.longestPayload)
        assert(starts.isEmpty == runs.isEmpty, "each draft belongs to a run")
    }

    /// True if a payload, or an attribute's value, meets a condition. Copies no payload.
    package func contains(where isMeant: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        starts.indices.contains { isMeant(Record(written: recordBytes($0)).payload) }
            || runs.contains { run in
                run.attributes.pairs.contains { pair in
                    var value = pair.value
                    return value.withUTF8 { isMeant(UnsafeRawBufferPointer($0)) }
                }
            }
    }

    /// The drafts as single values. Cost: a copy of every payload.
    public var drafts: [DraftEvent] {
        var run = 0
        return starts.indices.map { place in
            if run + 1 < runs.count, runs[run + 1].first == place { run += 1 }
            return draft(at: place, of: runs[run])
        }
    }

    private func draft(at place: Int, of run: Run) -> DraftEvent {
        let record = Record(written: recordBytes(place))
        return DraftEvent(
            recordedAt: Timestamp(microseconds: record.recordedAt),
            source: run.source,
            kind: run.kind,
            key: record.key.map { EventKey(unchecked: String(decoding: $0, as: UTF8.self)) },
            attributes: run.attributes,
            payload: Array(record.payload)
        )
    }

    /// The bytes of the record at a place; valid until the batch changes.
    private func recordBytes(_ place: Int) -> UnsafeRawBufferPointer {
        let end = place + 1 < starts.count ? starts[place + 1] : room.count
        return UnsafeRawBufferPointer(rebasing: room.bytes[starts[place]..<end])
    }

    /// Room for `byteCount` more bytes at the end. Memory that another batch or a log shares is copied first.
    private mutating func ownRoom(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
        if !isKnownUniquelyReferenced(&room) { room = room.copy() }
        return room.extend(by: byteCount)
    }
}

extension DraftBatch.Run {
    /// Whether a draft with these belongs to the run. Compares bytes, because Swift's equality of texts is that of
    /// Unicode.
    @inline(__always)
    fileprivate func holds(_ source: SourceName, _ kind: EventKind, _ attributes: Attributes) -> Bool {
        sameBytes(self.source.rawValue, source.rawValue) && sameBytes(self.kind.rawValue, kind.rawValue)
            && (sharesMemory(with: attributes)
                || self.attributes.pairs.elementsEqual(attributes.pairs) { left, right in
                    sameBytes(left.name, right.name) && sameBytes(left.value, right.value)
                })
    }

    /// Whether both attributes are the same piece of memory, as those of one recorder's frames mostly are. Equal
    /// addresses and counts prove equal pairs, since both arrays exist during the comparison; different addresses prove
    /// nothing.
    @inline(__always)
    private func sharesMemory(with other: Attributes) -> Bool {
        attributes.pairs.withUnsafeBufferPointer { own in
            other.pairs.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress && own.count == $0.count }
        }
    }
}
