/// The table `keys`: the keys of dropped events, which no scan of the log can restore (I4).
///
/// Chunks in ascending order. A chunk's key is its first hash, its value up to 168 pairs of hash and sequence,
/// ascending by hash, and a checksum. A hash is the first 16 bytes of SHA-256(str source ‖ str key).
enum DroppedKeys {
    /// 168 × 24 bytes and the checksum: 4,040 bytes, which fit one page of 4 KiB with its header.
    static let chunkCountMax = 168
    private static let entryBytes = 24

    /// The key of one dropped event. Ordered by hash, then by sequence.
    struct Entry: Hashable, Comparable {
        /// The hash as two big-endian numbers: its first eight bytes, then the other eight.
        let high: UInt64
        let low: UInt64
        let sequence: UInt64

        static func < (left: Entry, right: Entry) -> Bool {
            (left.high, left.low, left.sequence) < (right.high, right.low, right.sequence)
        }
    }

    /// The entry of a key. Cost: one SHA-256.
    static func entry(source: SourceName, key: UnsafeRawBufferPointer, sequence: UInt64) -> Entry {
        var writer = ByteWriter()
        writer.write(text: source.rawValue)
        writer.write(UInt16(clamping: key.count))
        writer.write(key)
        let hash = Hasher256.hash(writer.bytes)
        return Entry(high: hash.words.0, low: hash.words.1, sequence: sequence)
    }

    /// The sequence of the dropped event that had a draft's key; `nil` if there is none. Reads one chunk.
    static func sequence(of event: PreparedEvent, in reader: LogReader) throws -> UInt64? {
        guard let key = event.record.key else { return nil }
        return try sequence(of: entry(source: event.lane.source, key: key, sequence: 0), in: reader)
    }

    /// The sequence under the hash of `sought`, whose own sequence does not matter. One event at most has a key (I4),
    /// so equal hashes never span two chunks.
    static func sequence(of sought: Entry, in reader: LogReader) throws -> UInt64? {
        var cursor = try Cursor(reader.view, reader.tables.keys)
        guard try cursor.seek(atMost: keyBytes(of: sought)) else { return nil }
        let entries = try entries(under: cursor, reader)
        return entries.first { $0.high == sought.high && $0.low == sought.low }?.sequence
    }

    static func entries(under cursor: borrowing Cursor, _ reader: LogReader) throws -> [Entry] {
        guard let value = Checksum.opened(cursor.value, table: "keys", key: cursor.key),
            let entries = entries(value)
        else { throw reader.damaged("a chunk of the keys of dropped events is altered") }
        return entries
    }

    /// The entries of a chunk; `nil` if its size does not fit.
    static func entries(_ bytes: UnsafeRawBufferPointer) -> [Entry]? {
        guard bytes.count.isMultiple(of: entryBytes) else { return nil }
        var reader = ByteReader(bytes)
        var entries: [Entry] = []
        while let high = reader.number(UInt64.self), let low = reader.number(UInt64.self),
            let sequence = reader.number(UInt64.self)
        { entries.append(Entry(high: high, low: low, sequence: sequence)) }
        return entries
    }

    /// The hash alone: the key of a chunk that begins with the entry.
    static func keyBytes(of entry: Entry) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(entry.high)
        writer.write(entry.low)
        return writer.bytes
    }

    /// The keys and values of the table for entries in ascending order.
    static func chunks(of sorted: [Entry]) -> [(key: [UInt8], value: [UInt8])] {
        stride(from: 0, to: sorted.count, by: chunkCountMax).map { start in
            let chunk = sorted[start..<min(start + chunkCountMax, sorted.count)]
            var writer = ByteWriter()
            for entry in chunk {
                writer.write(entry.high)
                writer.write(entry.low)
                writer.write(entry.sequence)
            }
            return (keyBytes(of: sorted[start]), writer.bytes)
        }
    }
}
