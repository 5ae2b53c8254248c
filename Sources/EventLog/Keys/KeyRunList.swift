/// The list of the key runs that are in use, and of the sequences that they cover; stored as one value.
///
/// ```
/// u64 covered ‖ 32 prefix hash ‖ 32 secret ‖ u32 last run number ‖ u16 count ‖ (u32 run ‖ u8 level ‖ u64 entries) …
/// ‖ maxima
/// ```
struct KeyRunList {
    /// One sorted run.
    struct Run: Hashable {
        let number: UInt32
        /// 0 for a run that was a table in memory; one more than its parts for a merged one.
        let level: UInt8
        /// How many entries the run has.
        let count: UInt64
    }

    /// The runs contain the keys of all held events of this prefix.
    var prefix = LogPrefix.empty
    /// The secret of the runs' hashes; `nil` if nothing was ever stored.
    var secret: Hash256?
    /// The last run number given, also to a merge that was cut short. No number is given twice, until all runs are
    /// removed.
    var lastNumber: UInt32 = 0
    var runs: [Run] = []
    /// The greatest keys up to there, as `KeyMaxima.bytes`.
    var maxima: [UInt8] = [0, 0]

    init() {}

    /// The last sequence that the runs cover.
    var covered: UInt64 { prefix.sequence }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(prefix.sequence)
        writer.write(prefix.hash)
        writer.write(secret ?? .zero)
        writer.write(lastNumber)
        writer.write(UInt16(clamping: runs.count))
        for run in runs {
            writer.write(run.number)
            writer.write(run.level)
            writer.write(run.count)
        }
        writer.write(maxima)
        return writer.bytes
    }

    /// Reads a value whose checksum matched; `nil` if it is too short.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let covered = reader.number(UInt64.self), let prefixHash = reader.hash(),
            let secret = reader.hash(), let lastNumber = reader.number(UInt32.self),
            let count = reader.number(UInt16.self)
        else { return nil }
        (prefix, self.lastNumber) = (LogPrefix(sequence: covered, hash: prefixHash), lastNumber)
        self.secret = secret
        for _ in 0..<count {
            guard let number = reader.number(UInt32.self), let level = reader.number(UInt8.self),
                let count = reader.number(UInt64.self)
            else { return nil }
            runs.append(Run(number: number, level: level, count: count))
        }
        maxima = reader.raw(reader.remainingCount).map { Array($0) } ?? []
    }

    /// The first `fanIn` runs of the lowest level that has at least as many; `nil` if no level has.
    func runsToMerge(fanIn: Int) -> [Run]? {
        let levels = Set(runs.map(\.level)).sorted()
        return levels.lazy.map { level in Array(runs.filter { $0.level == level }.prefix(fanIn)) }
            .first { $0.count == fanIn }
    }
}

/// One value of a run: up to 254 entries in order, `u64 hash ‖ u64 sequence` each. With its checksum it fills a page.
enum KeyChunk {
    /// 254 × 16 bytes and the checksum: 4,072 bytes, which fit one page of 4 KiB with its header.
    static let countMax = 254
    static let entryBytes = 16

    /// The key of a chunk whose first entry this is. Keys sort by run, hash and sequence.
    static func key(run: UInt32, _ entry: KeyIndex.Entry) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(KeyRuns.chunkMark)
        writer.write(run)
        writer.write(entry.hash)
        writer.write(entry.sequence)
        return writer.bytes
    }

    static func bytes(_ entries: ArraySlice<KeyIndex.Entry>) -> [UInt8] {
        assert(entries.count <= countMax, "a chunk fits a page")
        return [UInt8](unsafeUninitializedCapacity: entries.count * entryBytes) { room, count in
            let raw = UnsafeMutableRawBufferPointer(room)
            for (place, entry) in entries.enumerated() {
                raw.storeBytes(of: entry.hash.bigEndian, toByteOffset: place * entryBytes, as: UInt64.self)
                raw.storeBytes(of: entry.sequence.bigEndian, toByteOffset: place * entryBytes + 8, as: UInt64.self)
            }
            count = entries.count * entryBytes
        }
    }

    /// The entry at a place, counted from 0; zeros behind the last one.
    static func entry(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> KeyIndex.Entry {
        KeyIndex.Entry(
            hash: bytes.bigEndian(at: place * entryBytes, as: UInt64.self) ?? 0,
            sequence: bytes.bigEndian(at: place * entryBytes + 8, as: UInt64.self) ?? 0
        )
    }

    static func entries(_ bytes: UnsafeRawBufferPointer) -> [KeyIndex.Entry] {
        (0..<bytes.count / entryBytes).map { entry(bytes, $0) }
    }

    /// The first place whose hash is not below `hash`, by binary search.
    static func firstPlace(of hash: UInt64, _ bytes: UnsafeRawBufferPointer) -> Int {
        var low = 0
        var high = bytes.count / entryBytes
        while low < high {
            let middle = (low + high) / 2
            if entry(bytes, middle).hash < hash { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
