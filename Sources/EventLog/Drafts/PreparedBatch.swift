import Dispatch

/// A draft as a record, with everything that can be computed before the write lock is taken. Its bytes belong to the
/// batch; it holds nothing else, so that copying it costs no counting of references.
struct PreparedEvent: @unchecked Sendable {
    /// Kept by the log's interner.
    unowned(unsafe) let lane: Lane
    /// The record, with the lane number 0: the number is known in the write transaction.
    let record: Record
    let leafHash: Hash256

    /// Microseconds for the clock: acts do not move it.
    var clock: Int64 { lane.isAct ? Clock.none : record.recordedAt }

    /// Writes the record into room of exactly its size.
    @inline(__always)
    func write(to room: UnsafeMutableRawBufferPointer, lane number: UInt32) {
        room.copyMemory(from: record.bytes)
        Record.setLane(number, in: room)
    }

    /// Whether source and key are those of another record, byte for byte.
    func hasKey(of other: Record, in otherLane: Lane) -> Bool {
        guard let key = record.key, let otherKey = other.key else { return false }
        return sameBytes(key, otherKey) && sameBytes(lane.source.rawValue, otherLane.source.rawValue)
    }

    /// Whether kind and payload are those of another record, byte for byte.
    func hasContent(of other: Record, in otherLane: Lane) -> Bool {
        sameBytes(record.payload, other.payload) && sameBytes(lane.kind.rawValue, otherLane.kind.rawValue)
    }
}

/// Drafts that are appended together, as records in one piece of memory.
final class PreparedBatch: @unchecked Sendable {
    /// In the order of the drafts; they must not outlive the batch.
    let events: [PreparedEvent]
    /// What the keys are together; `nil` where an event has none, the sources differ or the keys do not ascend.
    let keyAscent: KeyAscent?
    /// The bytes of all records.
    var byteCount: Int { room.count }
    private let room: RecordRoom

    /// From so many events on a second core takes half of them.
    private static let sharedCountMin = 256

    convenience init(_ drafts: DraftBatch, lanes: LaneInterner, salts: SaltSource) {
        self.init(drafts, salts: salts.salts(drafts.count)) { run in
            lanes.lane(source: run.source, kind: run.kind, attributes: run.attributes)
        }
    }

    /// An event again, under a key of its own: another event holds its key with another payload. `nil` where it has none.
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

    private init(_ drafts: DraftBatch, salts: [UInt8], lane: (DraftBatch.Run) -> Lane) {
        let room = drafts.room.claimed()
        self.room = room
        let runs = drafts.runs.map { (first: $0.first, lane: lane($0)) }
        let count = drafts.count
        let parts = count < Self.sharedCountMin ? 1 : 2
        var ascents = [KeyAscent?](repeating: nil, count: parts)
        events = [PreparedEvent](unsafeUninitializedCapacity: count) { events, initializedCount in
            salts.withUnsafeBytes { salts in
                ascents.withUnsafeMutableBufferPointer { ascents in
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

    private static func joined(_ ascents: [KeyAscent?]) -> KeyAscent? {
        guard var all = ascents[0] else { return nil }
        for next in ascents.dropFirst() {
            guard let next, all.append(next) else { return nil }
        }
        return all
    }
}

/// Completes records; several threads may do so for different ranges.
private struct BatchFilling: @unchecked Sendable {
    let starts: [Int]
    let runs: [(first: Int, lane: Lane)]
    let room: UnsafeMutableRawBufferPointer
    let salts: UnsafeRawBufferPointer

    /// What the keys of the range are together; `nil` where it is empty, one has none or they do not ascend.
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

    /// Whether a key is there and ascends.
    private static func extend(_ ascent: inout KeyAscent?, _ key: UnsafeRawBufferPointer?) -> Bool {
        guard let key else { return false }
        if ascent == nil { ascent = KeyAscent(key) } else { return ascent?.append(KeyAscent(key)) ?? false }
        return true
    }

    private func event(_ index: Int, _ lane: Lane) -> PreparedEvent {
        let end = index + 1 < starts.count ? starts[index + 1] : room.count
        let place = UnsafeMutableRawBufferPointer(rebasing: room[starts[index]..<end])
        let salt = UnsafeRawBufferPointer(rebasing: salts[index * Record.saltBytes..<(index + 1) * Record.saltBytes])
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

/// Whether two texts are the same bytes. Swift's own equality of texts is that of Unicode.
func sameBytes(_ left: String, _ right: String) -> Bool {
    let answer = left.utf8.withContiguousStorageIfAvailable { left in
        right.utf8.withContiguousStorageIfAvailable { right in
            sameBytes(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
        }
    }
    return (answer ?? nil) ?? left.utf8.elementsEqual(right.utf8)
}
