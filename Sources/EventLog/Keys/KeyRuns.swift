/// Sorted runs of keys in a generation's derived store, for keys that are too many for memory.
///
/// A run is written once and never changed; eight of a level become one of the next. `KeyRunList`, one value, names the
/// runs that count, so that a reader sees whole runs whatever processes write, merge or crash meanwhile. A run's chunks
/// are stored under `01 ‖ u32 run ‖ u64 hash ‖ u64 sequence` of their first entry.
final class KeyRuns: Sendable {
    /// The runs no longer cover what they did: another process or thread has removed them.
    struct Lost: Error {}

    /// Another process has stored runs whose hashes have another secret.
    struct Foreign: Error {}

    static let tableName = "keys"
    /// Raise it with any change of the entries, the list or `KeyHash`.
    static let tableVersion: UInt32 = 2
    /// The first byte of a chunk's key, and of no other key of the table.
    static let chunkMark: UInt8 = 1
    private static let listKey: [UInt8] = [0]
    /// How many runs of one level are merged into one of the next.
    private static let fanIn = 8
    /// Chunks in one commit of a merge: 8 MiB, which it keeps in memory.
    private static let chunksPerCommit = 2048

    private let table: DerivedTable

    init(_ store: DerivedStore) throws {
        table = try store.table(Self.tableName, version: Self.tableVersion)
    }

    /// The existing runs, for callers that only read; `nil` if there are none.
    init?(existingIn store: DerivedStore) throws {
        guard let table = try store.existingTable(Self.tableName, version: Self.tableVersion) else { return nil }
        self.table = table
    }

    /// Removes all derived data of the generation, not only the runs.
    func discard() {
        table.store.discard()
    }

    /// The stored list; an empty one if there is none.
    func list() throws -> KeyRunList {
        try table.store.read { try list($0) }
    }

    /// Removes all runs, because they are not of this log.
    func reset() throws {
        try table.removeAll()
    }

    private func list(_ view: TransactionView) throws -> KeyRunList {
        let found = try table.withValue(at: Self.listKey, view) { KeyRunList($0) }
        guard let found else { return KeyRunList() }
        guard let list = found else { throw Lost() }
        return list
    }

    private func put(_ list: KeyRunList, _ transaction: borrowing WriteTransaction) throws {
        try table.put(list.bytes, at: Self.listKey, transaction)
    }

    /// The key before all chunks of a run: no entry has hash 0 and sequence 0.
    private static func start(of run: UInt32) -> [UInt8] {
        KeyChunk.key(run: run, KeyIndex.Entry())
    }
}

// MARK: - Looking up

extension KeyRuns {
    /// The sequences under a hash that was made with a secret.
    ///
    /// - Throws: `Lost` if the runs do not reach as far as the caller relies on them, or were made anew.
    func sequences(of hash: UInt64, by secret: Hash256, covered: UInt64) throws -> [UInt64] {
        try table.store.read { view in
            let list = try list(view)
            guard list.covered >= covered, list.secret == secret else { throw Lost() }
            var sequences: [UInt64] = []
            for run in list.runs { try search(run.number, hash, view) { sequences.append($0) } }
            return sequences
        }
    }

    /// Calls `body` with the sequences of a hash in one run. Equal hashes may span several chunks, and the first of
    /// them may be in the chunk before the one that begins with the hash.
    private func search(_ run: UInt32, _ hash: UInt64, _ view: TransactionView, _ body: (UInt64) -> Void) throws {
        let first = KeyChunk.key(run: run, KeyIndex.Entry(hash: hash, sequence: 0))
        let start = Self.start(of: run)
        try table.forEach(from: first, to: Self.start(of: run + 1), lowest: start, view) { _, chunk in
            var place = KeyChunk.firstPlace(of: hash, chunk)
            let count = chunk.count / KeyChunk.entryBytes
            while place < count {
                let entry = KeyChunk.entry(chunk, place)
                guard entry.hash == hash else { return false }
                body(entry.sequence)
                place += 1
            }
            return true
        }
    }

    /// Calls `body` with each hash in all runs.
    func forEachHash(_ body: (UInt64) -> Void) throws {
        try forEachEntry { body($0.hash) }
    }

    /// Calls `body` with each entry of all runs, run by run.
    func forEachEntry(_ body: (KeyIndex.Entry) -> Void) throws {
        try table.store.read { view in
            for run in try list(view).runs {
                let (start, end) = (Self.start(of: run.number), Self.start(of: run.number + 1))
                try table.forEach(from: start, to: end, view) { _, chunk in
                    for place in 0..<chunk.count / KeyChunk.entryBytes { body(KeyChunk.entry(chunk, place)) }
                    return true
                }
            }
        }
    }
}

// MARK: - Adding a run

extension KeyRuns {
    /// Stores the entries of a closed table that the runs do not cover yet, as one run.
    ///
    /// - Parameter prefix: the log up to the table's last event.
    /// - Throws: `Lost` if sequences between the runs and the table are missing; `Foreign` if the runs have another
    ///   secret than the table.
    func store(_ frozen: FrozenKeys, prefix: LogPrefix) throws {
        let entries = frozen.keys.sorted()
        try table.store.write { transaction in
            var list = try list(transaction.view)
            // The list may have changed since the table was closed: another process may have stored runs first.
            guard list.secret ?? frozen.secret == frozen.secret else { throw Foreign() }
            if list.covered >= frozen.last { return }
            guard list.covered + 1 >= frozen.first else { throw Lost() }
            list.secret = frozen.secret
            // Another process may have stored the first part of the table's sequences; those entries must not come
            // twice.
            let new = list.covered + 1 == frozen.first ? entries : entries.filter { $0.sequence > list.covered }
            if !new.isEmpty {
                list.lastNumber += 1
                list.runs.append(.init(number: list.lastNumber, level: 0, count: UInt64(new.count)))
                try put(new[...], in: list.lastNumber, transaction)
            }
            list.prefix = prefix
            list.maxima = frozen.maxima
            try put(list, transaction)
        }
    }

    private func put(
        _ entries: ArraySlice<KeyIndex.Entry>,
        in run: UInt32,
        _ transaction: borrowing WriteTransaction
    ) throws {
        for start in stride(from: entries.startIndex, to: entries.endIndex, by: KeyChunk.countMax) {
            let chunk = entries[start..<min(start + KeyChunk.countMax, entries.endIndex)]
            try table.put(KeyChunk.bytes(chunk), at: KeyChunk.key(run: run, entries[start]), transaction)
        }
    }
}

// MARK: - Merging

extension KeyRuns {
    /// Merges eight runs of a level into one for as long as a level has eight. One process at a time does so; the
    /// others return at once.
    ///
    /// - Parameter pause: called after each commit, for more urgent work.
    func merge(pause: () throws -> Void) throws {
        guard try list().runsToMerge(fanIn: Self.fanIn) != nil else { return }
        let lock = try FileLock(DerivedStore.mergeLockName, in: table.store.folder)
        guard (try? lock.acquire(wait: .zero, operation: "merge keys", object: table.store.folder.path)) != nil
        else { return }
        defer { lock.release() }
        try removeRemains()
        while let runs = try list().runsToMerge(fanIn: Self.fanIn) { try merge(runs, pause: pause) }
    }

    private func merge(_ runs: [KeyRunList.Run], pause: () throws -> Void) throws {
        // The number is taken in a commit of its own. If the merge is cut short, its chunks have a number that no list
        // names, and `removeRemains` finds them.
        let number = try table.store.write { transaction in
            var list = try list(transaction.view)
            list.lastNumber += 1
            try put(list, transaction)
            return list.lastNumber
        }
        var merge = RunMerge(table: table, runs: runs.map(\.number))
        var count: UInt64 = 0
        while case let entries = try merge.next(KeyChunk.countMax * Self.chunksPerCommit), !entries.isEmpty {
            try table.store.write { try put(entries[...], in: number, $0) }
            count += UInt64(entries.count)
            try pause()
        }
        // Somebody has removed chunks in between. A list that named this run would lack their keys.
        guard count == runs.reduce(0, { $0 + $1.count }) else { throw Lost() }
        try table.store.write { transaction in
            var list = try list(transaction.view)
            // The list may have been emptied or gained runs since. The new run replaces exactly those that it was made
            // of.
            guard runs.allSatisfy({ list.runs.contains($0) }) else { throw Lost() }
            list.runs.removeAll { runs.contains($0) }
            let level = (runs.map(\.level).max() ?? 0) + 1
            list.runs.append(.init(number: number, level: level, count: count))
            try put(list, transaction)
        }
        // Only now: until the commit above, readers search these runs.
        for run in runs { try remove(run.number) }
    }

    private func remove(_ run: UInt32) throws {
        try table.remove(from: Self.start(of: run), to: Self.start(of: run + 1))
    }

    /// Removes chunks of runs that are not in the list: remains of a merge that was cut short. The caller holds the merge
    /// lock, so no merge is at work.
    private func removeRemains() throws {
        var next: UInt32 = 0
        while let run = try firstRun(from: next) {
            // The list is read after the chunk was found: another process may store a run meanwhile, whose chunks and entry
            // in the list come in one commit. A list from before would let that run go, and its keys with it (I4).
            if try !list().runs.contains(where: { $0.number == run }) { try remove(run) }
            next = run + 1
        }
    }

    /// The least run number from `run` on that has a chunk; `nil` if there is none.
    private func firstRun(from run: UInt32) throws -> UInt32? {
        var found: UInt32?
        try table.forEach(from: Self.start(of: run), to: [Self.chunkMark + 1]) { key, _ in
            found = key.bigEndian(at: 1, as: UInt32.self)
            return false
        }
        return found
    }
}

/// Merges the entries of several runs in order. It reads chunk by chunk, each in a transaction of its own: a run does
/// not change, so no reader has to stay open.
private struct RunMerge {
    private struct Reader {
        /// The run, its current chunk, and the place of the next entry in it.
        let run: UInt32
        var entries: [KeyIndex.Entry] = []
        var place = 0
        var isAtEnd = false
    }

    private let table: DerivedTable
    private var readers: [Reader]

    init(table: DerivedTable, runs: [UInt32]) {
        self.table = table
        readers = runs.map { Reader(run: $0) }
    }

    /// The next entries, at most `limit`; none at the end.
    mutating func next(_ limit: Int) throws -> [KeyIndex.Entry] {
        var entries: [KeyIndex.Entry] = []
        entries.reserveCapacity(limit)
        while entries.count < limit {
            var least: Int?
            for index in readers.indices {
                if readers[index].place == readers[index].entries.count { try refill(index) }
                guard !readers[index].isAtEnd else { continue }
                if let other = least, !isBefore(index, other) { continue }
                least = index
            }
            guard let least else { break }
            entries.append(readers[least].entries[readers[least].place])
            readers[least].place += 1
        }
        return entries
    }

    private func isBefore(_ index: Int, _ other: Int) -> Bool {
        let (left, right) = (readers[index].entries[readers[index].place], readers[other].entries[readers[other].place])
        return left.hash != right.hash ? left.hash < right.hash : left.sequence < right.sequence
    }

    /// Reads the next chunk of a run. The key of a chunk is its first entry, so the chunk wanted is the first one after
    /// the last entry that was read.
    private mutating func refill(_ index: Int) throws {
        if readers[index].isAtEnd { return }
        let run = readers[index].run
        var after = KeyIndex.Entry()
        if let last = readers[index].entries.last {
            after = KeyIndex.Entry(hash: last.hash, sequence: last.sequence + 1)
        }
        var entries: [KeyIndex.Entry] = []
        let end = KeyChunk.key(run: run + 1, KeyIndex.Entry())
        try table.forEach(from: KeyChunk.key(run: run, after), to: end) { _, chunk in
            entries = KeyChunk.entries(chunk)
            return false
        }
        readers[index].isAtEnd = entries.isEmpty
        readers[index].entries = entries
        readers[index].place = 0
    }
}
