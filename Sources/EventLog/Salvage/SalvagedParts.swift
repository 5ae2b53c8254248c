/// What of one generation can still be told to be as it was written, from its pages alone.
///
/// Values of small tables are told by their checksums, which cover the table's name and the key; events by their leaf
/// hashes. Both are right wherever they lie: within a generation neither ever changes.
struct SalvagedParts {
    /// What stands at one sequence.
    struct Event {
        let leafHash: Hash256
        /// The record's bytes; `nil` where they do not fit the leaf hash that they say.
        let record: [UInt8]?
    }

    private(set) var lanes: [UInt32: Lane] = [:]
    private(set) var runs: [UInt64: GapRun] = [:]
    private(set) var nodes: [UInt64: TreeNode] = [:]
    private(set) var meta: [String: [UInt8]] = [:]
    private(set) var facts: [String: [UInt8]] = [:]
    private(set) var keys: Set<DroppedKeys.Entry> = []
    /// By sequence; more than one where pages of a commit that never was are left.
    private(set) var events: [UInt64: [Event]] = [:]

    /// Reads a data file twice: lanes have to be known before events can be judged.
    ///
    /// - Parameter progress: Gets the number of bytes read, and of all, both readings together.
    init(_ file: DataFile, progress: PageCheck.Progress? = nil) throws {
        let scan = try PageScan(file)
        scan.forEachEntry(progress: { progress?($0, 2 * $1) }) { key, value in takeSmall(key, value) }
        scan.forEachEntry(progress: { progress?($1 + $0, 2 * $1) }) { key, value in takeEvent(key, value) }
        dropStrayEvents()
    }

    /// The last sequence that anything is there of.
    var head: UInt64 {
        max(events.keys.max() ?? 0, runs.values.map(\.last).max() ?? 0)
    }

    /// An event's hash does not cover its sequence. One whose key was altered to stand far behind all others would make
    /// everything in between look lost.
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
