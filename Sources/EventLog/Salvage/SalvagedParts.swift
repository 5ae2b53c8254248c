/// The parts of one generation that are provably as they were written, found in its pages alone.
///
/// Checksums, which cover the table's name and the key, prove the values of small tables; leaf hashes prove events. A
/// proved part counts wherever it lies, because parts do not change within a generation.
struct SalvagedParts {
    /// A candidate for the event at one sequence.
    struct Event {
        let leafHash: Hash256
        /// The record's bytes; `nil` if they do not fit the leaf hash in them.
        let record: [UInt8]?
    }

    private(set) var lanes: [UInt32: Lane] = [:]
    private(set) var runs: [UInt64: GapRun] = [:]
    private(set) var nodes: [UInt64: TreeNode] = [:]
    private(set) var meta: [String: [UInt8]] = [:]
    private(set) var facts: [String: [UInt8]] = [:]
    private(set) var keys: Set<DroppedKeys.Entry> = []
    /// By sequence; several if pages of an aborted commit are left.
    private(set) var events: [UInt64: [Event]] = [:]

    /// Reads a data file twice: lanes must be known before events can be checked.
    ///
    /// - Parameter progress: Receives the number of bytes read so far and the total, over both readings.
    init(_ file: DataFile, progress: PageCheck.Progress? = nil) throws {
        let scan = try PageScan(file)
        scan.forEachEntry(progress: { progress?($0, 2 * $1) }) { key, value in takeSmall(key, value) }
        scan.forEachEntry(progress: { progress?($1 + $0, 2 * $1) }) { key, value in takeEvent(key, value) }
        dropStrayEvents()
    }

    /// The last sequence of an event or a run; 0 without any.
    var head: UInt64 {
        max(events.keys.max() ?? 0, runs.values.map(\.last).max() ?? 0)
    }

    /// Removes events far behind all others. A leaf hash does not cover the sequence, so an event whose key was altered
    /// could move there and make everything in between look lost.
    private mutating func dropStrayEvents() {
        let known = (events.keys + runs.values.map(\.last)).sorted()
        var end = known.count
        var start = end
        while start > 0 {
            start -= 1
            guard start > 0, known[start] - known[start - 1] > Self.strayDistance else { continue }
            if end - start > Self.strayCountMax { return }
            for sequence in known[start..<end] { events[sequence] = nil }
            end = start
        }
    }

    // At most `strayCountMax` events at the end are stray if a gap of more than `strayDistance` sequences precedes
    // them.
    private static let strayDistance: UInt64 = 4_096
    private static let strayCountMax = 16

    private mutating func takeSmall(_ key: [UInt8], _ value: [UInt8]) {
        key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                func opened(_ table: String) -> UnsafeRawBufferPointer? {
                    Checksum.opened(value, table: table, key: key)
                }
                if key.count == 4, let number = key.bigEndian(as: UInt32.self), let bytes = opened("lanes") {
                    lanes[number] = Lane(bytes)
                } else if key.count == 8, let number = key.bigEndian(as: UInt64.self), value.count < 4_096 {
                    if let bytes = opened("gaps") { runs[number] = GapRun(first: number, bytes) }
                    if let bytes = opened("nodes") { nodes[number] = TreeNode(bytes) }
                }
                if key.count == 16, let bytes = opened("keys") {
                    keys.formUnion(DroppedKeys.entries(bytes) ?? [])
                }
                guard let name = String(validating: key, as: UTF8.self) else { return }
                if let bytes = opened("meta") { meta[name] = Array(bytes) }
                if let bytes = opened("facts") { facts[name] = Array(bytes) }
            }
        }
    }

    private mutating func takeEvent(_ key: [UInt8], _ value: [UInt8]) {
        guard key.count == 8, let sequence = key.withUnsafeBytes({ $0.bigEndian(as: UInt64.self) }), sequence > 0,
            sequence < 1 << 48
        else { return }
        let event = value.withUnsafeBytes { bytes -> Event? in
            guard let record = Record(bytes), let lane = lanes[record.laneNumber] else { return nil }
            let isRight = record.recomputedLeafHash(in: lane) == record.leafHash
            return Event(leafHash: record.leafHash, record: isRight ? value : nil)
        }
        guard let event else { return }
        let isKnown = events[sequence, default: []].contains { known in
            known.leafHash == event.leafHash && (known.record != nil || event.record == nil)
        }
        if !isKnown { events[sequence, default: []].append(event) }
    }
}
