/// How large a log is and what it holds.
public struct StoreStatistics: Hashable, Sendable {
    /// The last sequence ever assigned.
    public let head: SequenceNumber
    /// Events whose envelope and payload, original or substitute, are held.
    public let held: UInt64
    /// Held events that lie in compressed blocks.
    public let sealed: UInt64
    /// Events that are not held: dropped, or missing in a part.
    public let dropped: UInt64
    /// How many different triples of source, kind and attributes there are.
    public let lanes: UInt64
    /// The number of the newest generation.
    public let generation: UInt32
    /// Bytes that the data file occupies on disk.
    public let bytesOnDisk: UInt64
    /// Bytes that derived data occupies on disk: indexes and kept states, which are computed again if they are gone.
    public let bytesOfCaches: UInt64
    /// Bytes of the data file that the newest state needs; the rest is free for later appends.
    public let bytesUsed: UInt64
    /// The size in bytes to which the file can grow before its map is enlarged.
    public let bytesMax: UInt64
    /// Read transactions that are open, in all processes.
    public let readers: Int
    /// How many commits the oldest reader is behind; while it reads, the space of replaced pages is not used again.
    public let oldestReaderLag: UInt64
    /// The process of that reader; `nil` without readers.
    public let oldestReaderProcess: Int32?
}

extension EventStore {
    /// Reads how large the log is. Cost: some lookups, and a look at each file of the derived data.
    public func statistics() throws -> StoreStatistics {
        try EventLogError.wrapping("read the size of", path) {
            let generation = try newestGeneration()
            let information = try generation.environment.information()
            let readers = generation.environment.readers()
            let oldest = readers.min { $0.transaction < $1.transaction }
            return try generation.read { reader in
                let held = try reader.heldCount()
                let head = try reader.head()
                return StoreStatistics(
                    head: SequenceNumber(head),
                    held: held,
                    sealed: try reader.sealing()?.events ?? 0,
                    dropped: head - min(held, head),
                    lanes: try reader.view.count(of: reader.tables.lanes),
                    generation: generation.number,
                    bytesOnDisk: core.directory.dataBytes(generation.number),
                    bytesOfCaches: core.directory.cacheBytes(),
                    bytesUsed: try reader.usedBytes(),
                    bytesMax: information.mapBytes,
                    readers: readers.count,
                    oldestReaderLag: oldest.map {
                        information.lastTransaction - min($0.transaction, information.lastTransaction)
                    } ?? 0,
                    oldestReaderProcess: oldest?.process
                )
            }
        }
    }

    /// The newest generation, for reading. A rewrite may replace it at any time; what the caller has open stays
    /// readable.
    func newestGeneration() throws -> Generation {
        var generation = core.current
        while try generation.read({ try $0.successor() }) != nil {
            generation = try core.follow(from: generation)
        }
        return generation
    }
}

extension LogDirectory {
    /// Bytes that the caches of all generations occupy.
    fileprivate func cacheBytes() -> UInt64 {
        let names = (try? folder.names()) ?? []
        return names.filter { $0.hasPrefix("cache-") }.reduce(0) { total, name in
            guard let cache = try? folder.folder(name), let files = try? cache.names() else { return total }
            return files.reduce(total) { $0 + cache.allocatedBytes(of: $1) }
        }
    }
}

extension LogReader {
    /// Bytes of all pages that this state reaches: those of the tables, the two meta pages and one page of table
    /// headers.
    fileprivate func usedBytes() throws -> UInt64 {
        let all = [
            tables.meta, tables.events, tables.gaps, tables.nodes, tables.lanes, tables.keys, tables.facts,
            tables.bookmarks,
        ]
        return try all.reduce(3 * 4096) { sum, table in
            let statistics = try view.statistics(of: table)
            return sum + statistics.pages * statistics.pageSize
        }
    }
}
