/// The parts of one generation that are provably as they were written, found in its pages alone. "Provably" means
/// against damage: whoever forges a value can compute its checksum too.
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

    /// By number.
    private(set) var lanes: [UInt32: Lane] = [:]
    /// By first sequence.
    private(set) var runs: [UInt64: GapRun] = [:]
    /// By number, counted from 0.
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
        let decompressor = BlockDecompressor()
        scan.forEachEntry(progress: { progress?($1 + $0, 2 * $1) }) { key, value in
            takeEvent(key, value, decompressor)
        }
        dropStrays()
    }

    /// Whether the log is a part of another one.
    var isPart: Bool { meta[MetaName.part] != nil }

    /// The runs of events that a part never had; none in a whole log.
    var missingRuns: [GapRun] { isPart ? runs.values.filter(\.isWellFormedMissing) : [] }

    /// The last sequence of an event or a run; 0 without any.
    var head: UInt64 {
        max(events.keys.max() ?? 0, runs.values.map(\.last).max() ?? 0)
    }

    /// How many events a table `events` with so many entries holds.
    func heldCount(entries: UInt64) -> UInt64 {
        guard let sealing = meta[MetaName.sealed].flatMap({ Sealing($0) }), sealing.blocks <= entries else {
            return entries
        }
        return entries - sealing.blocks &+ sealing.events
    }

    /// The last sequence that anything found here tells of, also of events of which nothing else is left: what stands
    /// beside the events names sequences, and each tree node covers 256 of them.
    var claimedHead: UInt64 {
        // The counts of sealed events are not above their last sequence.
        let numbers = [MetaName.decidedAt, MetaName.acts, MetaName.sealed].flatMap { Self.numbers(meta[$0] ?? []) }
        let node = nodes.keys.max().map { $0 < 1 << 40 ? ($0 + 1) * TreeNode.leafCount : 0 } ?? 0
        return max(head, numbers.max() ?? 0, node, keys.lazy.map(\.sequence).max() ?? 0)
    }

    /// The `u64` numbers of a value.
    static func numbers(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: 0, to: bytes.count - 7, by: 8).map { start in
            bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// Removes events and runs far behind all others, and long runs that cover an event.
    ///
    /// A leaf hash does not cover the sequence, and a checksum has no key: an entry whose key or value was altered could
    /// lie there and make everything in between look lost.
    private mutating func dropStrays() {
        let held = events.keys.sorted()
        runs = runs.filter { $0.value.count <= Self.strayDistance || !Self.contains(held, in: $0.value) }
        let spans = (held.map { (first: $0, last: $0) } + runs.values.map { (first: $0.first, last: $0.last) })
            .sorted { $0.first < $1.first }
        // At each index: the greatest sequence that the spans up to there reach. Runs may overlap, so the last span
        // need not reach furthest.
        var heads: [UInt64] = []
        for span in spans { heads.append(max(heads.last ?? 0, span.last)) }
        var end = spans.count
        // From the end, so that several groups of strays are found, each with its own distance.
        for start in stride(from: end - 1, to: 0, by: -1) {
            let (first, head) = (spans[start].first, heads[start - 1])
            guard first > head, first - head > Self.strayDistance else { continue }
            if end - start > Self.strayCountMax { return }
            for span in spans[start..<end] {
                events[span.first] = nil
                runs[span.first] = nil
            }
            end = start
        }
    }

    /// Whether a run covers one of the sequences, which ascend.
    private static func contains(_ sequences: [UInt64], in run: GapRun) -> Bool {
        var (low, high) = (0, sequences.count)
        while low < high {
            let middle = (low + high) / 2
            if sequences[middle] < run.first { low = middle + 1 } else { high = middle }
        }
        return low < sequences.count && sequences[low] <= run.last
    }

    // At most `strayCountMax` entries at the end are stray if a gap of more than `strayDistance` sequences precedes
    // them.
    private static let strayDistance: UInt64 = 4_096
    private static let strayCountMax = 16

    /// Takes an entry if a table's checksum proves it. A page does not name its table. The length of the key narrows
    /// the choice, and the checksum, which covers the table's name, decides.
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
                if let bytes = opened("meta") { take(meta: Array(bytes), name) }
                if let bytes = opened("facts") { facts[name] = Array(bytes) }
            }
        }
    }

    /// Takes a value of `meta`. A page that is no longer in use may hold an earlier one: a list that only grows, or a
    /// smaller number.
    private mutating func take(meta value: [UInt8], _ name: String) {
        if let known = meta[name], known.count > value.count { return }
        if let known = meta[name], known.count == value.count, value.lexicographicallyPrecedes(known) { return }
        meta[name] = value
    }

    /// Takes an entry if it is a record whose lane is known, or a block of such records.
    private mutating func takeEvent(_ key: [UInt8], _ value: [UInt8], _ decompressor: BlockDecompressor) {
        // The bound keeps sums of sequences within 64 bits; `checkHead` sets the real one.
        guard key.count == 8, let last = key.withUnsafeBytes({ $0.bigEndian(as: UInt64.self) }), last > 0,
            last < 1 << 48
        else { return }
        value.withUnsafeBytes { bytes in
            if let record = Record(bytes) {
                take(record, last)
            } else if let block = SealedBlock.open(bytes, last: last, with: decompressor) {
                for (place, sequence) in block.sequences.enumerated() {
                    if let record = block.record(at: place) { take(record, sequence) }
                }
            }
        }
    }

    /// Takes the record of an event. Of equal leaf hashes, one candidate that fits its bytes is enough.
    private mutating func take(_ record: Record, _ sequence: UInt64) {
        guard let lane = lanes[record.laneNumber] else { return }
        let isRight = record.recomputedLeafHash(in: lane) == record.leafHash
        let event = Event(leafHash: record.leafHash, record: isRight ? Array(record.bytes) : nil)
        let isKnown = events[sequence, default: []].contains { known in
            known.leafHash == event.leafHash && (known.record != nil || event.record == nil)
        }
        if !isKnown { events[sequence, default: []].append(event) }
    }
}
