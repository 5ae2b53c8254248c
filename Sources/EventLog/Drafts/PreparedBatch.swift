import Dispatch

/// A draft as a record, with everything that can be computed before the write lock is taken.
///
/// `@unchecked Sendable` is right because nothing in it changes once its batch is made. The record's bytes belong to
/// the batch, which must outlive the event, so that a copy of the event counts no references.
struct PreparedEvent: @unchecked Sendable {
    /// The log's interner keeps it alive, so it is not counted.
    unowned(unsafe) let lane: Lane
    /// The record, with lane number 0: the write transaction gives the number.
    let record: Record
    let leafHash: Hash256

    /// The event's contribution to the log's clock, in microseconds. Acts do not move the clock (I1).
    var clock: Int64 { lane.isAct ? Clock.none : record.recordedAt }

    /// Writes the record, with a lane's number, into room of exactly its size.
    @inline(__always)
    func write(to room: UnsafeMutableRawBufferPointer, lane number: UInt32) {
        precondition(room.count == record.bytes.count, "a record fills its room")
        room.copyMemory(from: record.bytes)
        Record.setLane(number, in: room)
    }

    /// Whether source and key are those of another record, byte by byte; false without a key.
    func hasKey(of other: Record, in otherLane: Lane) -> Bool {
        guard let key = record.key, let otherKey = other.key else { return false }
        return sameBytes(key, otherKey) && sameBytes(lane.source.rawValue, otherLane.source.rawValue)
    }

    /// Whether kind and payload are those of another record, byte by byte.
    func hasContent(of other: Record, in otherLane: Lane) -> Bool {
        sameBytes(record.payload, other.payload) && sameBytes(lane.kind.rawValue, otherLane.kind.rawValue)
    }
}

/// Drafts that are appended together, as records in one piece of memory.
///
/// `@unchecked Sendable` is right because nothing changes after `init`, and the batch alone has claimed its memory.
final class PreparedBatch: @unchecked Sendable {
    /// The events in the order of the drafts; they must not outlive the batch.
    let events: [PreparedEvent]
    /// The ascending keys; `nil` if an event has no key, the sources differ or the keys do not ascend.
    let keyAscent: KeyAscent?
    /// The bytes of all records.
    var byteCount: Int { room.count }
    /// Keeps the memory that the events' records lie in.
    private let room: RecordRoom

    /// From this number of events on, a second core fills half of them.
    private static let sharedCountMin = 256

    convenience init(_ drafts: DraftBatch, lanes: LaneInterner, salts: SaltSource) {
        self.init(drafts, salts: salts.salts(drafts.count)) { run in
            lanes.lane(source: run.source, kind: run.kind, attributes: run.attributes)
        }
    }

    /// Copies of events of the same log, which keep their salts; `nil` if one is not whole.
    convenience init?(copiesOf events: [RecordedEvent], lanes: LaneInterner) {
        let salts = events.flatMap { $0.salt ?? [] }
        guard salts.count == events.count * Record.saltBytes else { return nil }
        let drafts = events.map { event in
            DraftEvent(
                recordedAt: event.envelope.recordedAt,
                source: event.envelope.source,
                kind: event.envelope.kind,
                key: event.envelope.key,
                attributes: event.envelope.attributes,
                payload: event.payload
            )
        }
        self.init(DraftBatch(drafts), salts: salts) { run in
            lanes.lane(source: run.source, kind: run.kind, attributes: run.attributes)
        }
    }

    /// The same event under a key of its own, because another event holds its key with another payload. It keeps its
    /// salt. `nil` if it has no key.
    convenience init?(separating event: PreparedEvent) throws {
        guard let key = event.record.key, let salt = event.record.salt else { return nil }
        let payload = Array(event.record.payload)
        let draft = DraftEvent(
            recordedAt: Timestamp(microseconds: event.record.recordedAt),
            source: event.lane.source,
            kind: event.lane.kind,
            key: try EventKey(String(decoding: key, as: UTF8.self)).separated(by: payload),
            attributes: event.lane.attributes,
            payload: payload
        )
        let lane = event.lane
        self.init(DraftBatch([draft]), salts: Array(salt)) { _ in lane }
    }

    /// The first log that prepares a batch writes salts and leaf hashes into the batch's own memory; later ones write
    /// into a copy.
    ///
    /// - Parameter salts: sixteen bytes for each draft, in order.
    private init(_ drafts: DraftBatch, salts: [UInt8], lane: (DraftBatch.Run) -> Lane) {
        let room = drafts.room.claimed()
        self.room = room
        let runs = drafts.runs.map { (first: $0.first, lane: lane($0)) }
        let count = drafts.count
        precondition(salts.count == count * Record.saltBytes, "each event has a salt")
        precondition(runs.first.map { $0.first == 0 } ?? (count == 0), "the runs begin with the first draft")
        let parts = count < Self.sharedCountMin ? 1 : 2
        var ascents = [KeyAscent?](repeating: nil, count: parts)
        events = [PreparedEvent](unsafeUninitializedCapacity: count) { events, initializedCount in
            salts.withUnsafeBytes { salts in
                ascents.withUnsafeMutableBufferPointer { ascents in
                    // Each part initializes elements of its own range, and `concurrentPerform` returns after all parts.
                    nonisolated(unsafe) let (events, ascents) = (events, ascents)
                    let filling = BatchFilling(starts: drafts.starts, runs: runs, room: room.filled, salts: salts)
                    DispatchQueue.concurrentPerform(iterations: parts) { part in
                        let range = count * part / parts..<count * (part + 1) / parts
                        ascents[part] = filling.fill(range, events)
                    }
                }
            }
            initializedCount = count
        }
        let isOneSource = runs.allSatisfy { sameBytes($0.lane.source.rawValue, runs[0].lane.source.rawValue) }
        keyAscent = isOneSource ? Self.joined(ascents) : nil
    }

    /// The ascents of all parts as one; `nil` if a part has none or does not follow the one before.
    private static func joined(_ ascents: [KeyAscent?]) -> KeyAscent? {
        guard var all = ascents[0] else { return nil }
        for next in ascents.dropFirst() {
            guard let next, all.append(next) else { return nil }
        }
        return all
    }
}

/// Fills in what a log adds to records.
///
/// `@unchecked Sendable` is right because threads fill disjoint ranges, and `init` of `PreparedBatch` keeps the memory
/// until all are done.
private struct BatchFilling: @unchecked Sendable {
    let starts: [Int]
    let runs: [(first: Int, lane: Lane)]
    /// All records, of which `starts` has the beginnings, and sixteen bytes of salt for each event in order.
    let room: UnsafeMutableRawBufferPointer
    let salts: UnsafeRawBufferPointer

    /// Fills the range's records and initializes its events; the ascending keys of the range, `nil` if it is empty, a
    /// key is missing or the keys do not ascend.
    func fill(_ range: Range<Int>, _ events: UnsafeMutableBufferPointer<PreparedEvent>) -> KeyAscent? {
        var ascent: KeyAscent?
        var ascends = true
        for (number, run) in runs.enumerated() {
            let end = number + 1 < runs.count ? runs[number + 1].first : starts.count
            for index in range.clamped(to: run.first..<end) {
                let event = event(index, run.lane)
                events.initializeElement(at: index, to: event)
                guard ascends else { continue }
                ascends = Self.extend(&ascent, event.record.key)
            }
        }
        return ascends ? ascent : nil
    }

    /// Adds a key; false if it is missing or does not ascend.
    private static func extend(_ ascent: inout KeyAscent?, _ key: UnsafeRawBufferPointer?) -> Bool {
        guard let key else { return false }
        if ascent == nil { ascent = KeyAscent(key) } else { return ascent?.append(KeyAscent(key)) ?? false }
        return true
    }

    private func event(_ index: Int, _ lane: Lane) -> PreparedEvent {
        let end = index + 1 < starts.count ? starts[index + 1] : room.count
        let place = UnsafeMutableRawBufferPointer(rebasing: room[starts[index]..<end])
        let salt = UnsafeRawBufferPointer(rebasing: salts[index * Record.saltBytes..<(index + 1) * Record.saltBytes])
        // The commitment covers the salt, and the leaf hash covers the commitment. Neither covers the lane's number,
        // which is still open.
        Record.setSalt(salt, in: place)
        let record = Record(written: UnsafeRawBufferPointer(place))
        let key = record.key
        let leafHash = LeafHash.hash(
            recordedAt: record.recordedAt,
            lane: lane,
            key: key,
            commitment: record.commitment
        )
        Record.setLeafHash(leafHash, in: place)
        return PreparedEvent(lane: lane, record: record, leafHash: leafHash)
    }
}

/// Whether two texts are the same bytes. Swift's own equality is that of Unicode, to which a composed and a decomposed
/// letter are the same.
func sameBytes(_ left: String, _ right: String) -> Bool {
    let answer = left.utf8.withContiguousStorageIfAvailable { left in
        right.utf8.withContiguousStorageIfAvailable { right in
            sameBytes(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
        }
    }
    return (answer ?? nil) ?? left.utf8.elementsEqual(right.utf8)
}
