/// The result of an import.
public struct ImportResult: Hashable, Sendable {
    /// How many events are new in the log.
    public internal(set) var appended: UInt64
    /// The first of the new events; `nil` without any.
    public internal(set) var first: SequenceNumber?
    /// How many events of the input the log already had.
    public let duplicates: UInt64
    /// How many events the log lacks because the input was a part.
    public internal(set) var missing: UInt64
    /// Whether acts name by hash what compactions left beside the events (`VerifyReport.provesRemains`).
    public internal(set) var provesRemains: Bool

    /// Makes a result.
    ///
    /// - Parameter first: `nil` for the one behind the duplicates, if there are new events.
    public init(
        appended: UInt64,
        duplicates: UInt64,
        first: SequenceNumber? = nil,
        missing: UInt64 = 0,
        provesRemains: Bool = true
    ) {
        self.appended = appended
        self.first = first ?? (appended > 0 ? SequenceNumber(duplicates + 1) : nil)
        self.duplicates = duplicates
        self.missing = missing
        self.provesRemains = provesRemains
    }
}

extension EventStore {
    /// Makes the log at a path from a header and pieces, with the same identity, sequences, salts and root.
    ///
    /// If no log exists, makes one. An existing log must be a prefix of the input and receives the rest, and so must a part
    /// of one, which a whole log also completes; if it lacks nothing that the input has, nothing changes. Nothing takes effect before everything is checked against
    /// the header's root (I9).
    ///
    /// - Parameters:
    ///   - followsRewrites: whether an existing log gives up what rewrites of the input have dropped or redacted, as their acts say.
    ///   - fill: adds every piece, in order.
    /// - Throws: what `fill` throws; `EventLogError` with code `invalidArgument` if the pieces do not fit the header,
    ///   if the existing log forks off (at `sequence`), or if it holds events that the input has dropped and
    ///   does not follow its rewrites, or has redacted one that the input holds whole.
    public static func importLog(
        at path: String,
        header: LogHeader,
        options: Options = .init(),
        followsRewrites: Bool = false,
        fill: (LogImport) throws -> Void
    ) throws -> ImportResult {
        guard header.identity.count == 16 else { throw refused(path, "the identity has not 16 bytes") }
        return try EventLogError.wrapping("import log into", path) {
            if try LogDirectory(existingAt: path)?.format() != nil {
                return try open(at: path, options: options).importOver(header, follows: followsRewrites, fill)
            }
            return try importNew(path, header, fill)
        }
    }

    /// Makes a log where none exists, under a partial name until it is whole. An empty folder may be at the path.
    private static func importNew(
        _ path: String,
        _ header: LogHeader,
        _ fill: (LogImport) throws -> Void
    ) throws -> ImportResult {
        let (parentPath, name) = Directory.split(path)
        try Directory.makeWithParents(parentPath)
        let parent = try Folder(at: parentPath)
        let isFree =
            switch try parent.kind(of: name) {
            case .nothing: true
            case .folder: try parent.folder(name)?.names().isEmpty ?? true
            case .file, .foreign: false
            }
        guard isFree else { throw refused(path, "something is there that is no log") }
        var missing: UInt64 = 0
        let provesRemains = try parent.makeLog(name) { draft in
            let provesRemains: Bool
            (provesRemains, missing) = try makeGeneration(in: draft, header, fill)
            _ = try draft.folder.makeFolder(LogDirectory.sources)
            try draft.write(LogFormat(identity: header.identity))
            return provesRemains
        }
        return ImportResult(
            appended: header.size - missing,
            duplicates: 0,
            missing: missing,
            provesRemains: provesRemains
        )
    }

    private static func makeGeneration(
        in draft: LogDirectory,
        _ header: LogHeader,
        _ fill: (LogImport) throws -> Void
    ) throws -> (provesRemains: Bool, missing: UInt64) {
        _ = try draft.folder.makeFolder(LogDirectory.generationName(1))
        let target = try Generation(
            directory: draft,
            number: 1,
            access: .create,
            pages: .own,
            lanes: LaneInterner()
        )
        let pieces = try LogImport(target, header: header)
        try fill(pieces)
        let provesRemains = try pieces.finish()
        try target.folder.sync()
        return (provesRemains, pieces.missing)
    }

    /// The error of an import that does not fit what exists at the path; `sequence` is the place where it stops
    /// fitting.
    static func refused(_ path: String, _ reason: String, at sequence: UInt64? = nil) -> EventLogError {
        EventLogError(
            .invalidArgument,
            operation: "import log into",
            object: path,
            reason: reason,
            advice: "name a path where nothing is to make a log of its own",
            sequence: sequence.map { SequenceNumber($0) }
        )
    }
}

// MARK: - Into an existing log

extension EventStore {
    /// Imports into an existing log: writes the whole input into a new generation, compares it with the old one, then
    /// switches. Holds the rewrite lock throughout, the write lock only for the switch.
    private func importOver(
        _ header: LogHeader,
        follows: Bool,
        _ fill: (LogImport) throws -> Void
    ) throws -> ImportResult {
        guard header.identity == identity else {
            throw Self.refused(path, "fork at sequence 1: the log there has another identity", at: 1)
        }
        let lock = try FileLock(LogDirectory.rewriteLock, in: core.directory.folder)
        try lock.acquire(wait: options.wait, operation: "import log into", object: path)
        defer { lock.release() }
        let old = try certainNewest()
        try core.directory.removeLeftovers(except: old.number)
        let number = old.number + 1
        _ = try core.directory.folder.makeFolder(LogDirectory.generationName(number))
        do {
            let target = try core.generation(number, creates: true)
            let (provesRemains, missing) = try old.read { reader in
                let merge = header.isPart ? try PartMerge(reader, path: path) : nil
                let pieces = try LogImport(
                    target,
                    header: header,
                    replacing: merge.map { merge in { try merge.pieces(for: $0) } }
                )
                try fill(pieces)
                return (try pieces.finish(), pieces.missing)
            }
            // Most of the comparison comes before the write lock. `takeOver` compares only what was appended since.
            let compared = try old.read { try check($0, against: target, from: 1, header, follows) }
            var result = try takeOver(header, from: old, to: target, compared: compared, follows)
            // If the log stays as it is, it lacks nothing that the input lacks, and proves what it proved before.
            if result.appended > 0 {
                (result.appended, result.missing) = (result.appended - missing, missing)
                if result.appended == 0 { result.first = nil }
                result.provesRemains = provesRemains
            }
            return result
        } catch {
            // Nothing refers to the new generation yet. If it cannot be removed now, the next rewrite removes it. After
            // the switch the new generation is the current one and must stay.
            if core.current.number == old.number { try? core.directory.discard(number) }
            throw error
        }
    }

    /// Compares what was appended meanwhile, then replaces the old generation with the new one. Keeps the old one if the
    /// input has nothing that it lacks.
    private func takeOver(
        _ header: LogHeader,
        from old: Generation,
        to target: Generation,
        compared: UInt64,
        _ follows: Bool
    ) throws -> ImportResult {
        let result = try core.writer.locked(core.directory, wait: options.wait) {
            let transaction = try old.environment.beginWrite()
            let reader = LogReader(transaction.view, of: old)
            _ = try check(reader, against: target, from: compared + 1, header, follows)
            let result = try reader.result(of: header)
            guard result.appended > 0 else { return result }
            // Within the write lock, since every append may change a bookmark.
            try keepBookmarks(reader, target)
            try core.switchOver(to: target, by: transaction, reader.tables, operation: "import log into")
            return result
        }
        // Nothing refers to this generation any more. If it cannot be removed now, the next rewrite removes it.
        try? core.directory.discard(result.appended > 0 ? old.number : target.number)
        return result
    }

    /// Copies the bookmarks of sources for which the input has none, so that their recorders continue where they are.
    private func keepBookmarks(_ reader: LogReader, _ target: Generation) throws {
        let transaction = try target.environment.beginWrite()
        let targetReader = LogReader(transaction.view, of: target)
        var cursor = try Cursor(reader.view, reader.tables.bookmarks)
        while try cursor.advance() {
            if try targetReader.view.value(of: cursor.key, in: target.tables.bookmarks) == nil {
                try transaction.insert(cursor.value, at: cursor.key, in: target.tables.bookmarks)
            }
        }
        try transaction.commit()
    }

    /// Compares the leaves from `first` on, as far as both logs go. Returns the last sequence compared.
    ///
    /// Reads both logs in blocks of 4,096 leaves, so that the memory is bounded.
    private func check(
        _ old: LogReader,
        against target: Generation,
        from first: UInt64,
        _ header: LogHeader,
        _ follows: Bool
    ) throws -> UInt64 {
        let last = min(try old.head(), header.size)
        let replaces = try old.result(of: header).appended > 0
        try target.read { new in
            var start = first
            while start <= last {
                let block = start...min(start + 4095, last)
                try compare(old, new, in: block)
                // A log that stays may hold fewer or more of its events than the input.
                if replaces { try checkHoldings(old, new, in: block, follows) }
                start = block.upperBound + 1
            }
        }
        return max(last, first - 1)
    }

    /// Compares the leaf hashes of a block; of events that the log there lacks, the root of their subtree.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument`, naming the first sequence at which the logs differ.
    private func compare(_ old: LogReader, _ new: LogReader, in block: ClosedRange<UInt64>) throws {
        var hashes: [Hash256] = []
        try new.forEachLeaf(in: block) { hashes.append($0.hash) }
        try old.forEachLeaf(in: block, cutsSubtrees: true) { leaf in
            let count = leaf.last - leaf.sequence + 1
            guard count == 1 << UInt64(leaf.level) else {
                let reason = "the input ends among events that the log there lacks, so the two cannot be compared"
                throw Self.refused(path, reason, at: leaf.sequence)
            }
            let place = Int(leaf.sequence - block.lowerBound)
            guard place + Int(count) <= hashes.count,
                leaf.hash == (count == 1 ? hashes[place] : MerkleTree.root(of: hashes[place..<place + Int(count)]))
            else {
                let range = count == 1 ? "" : ", or within the \(count - 1) behind it"
                let reason = "fork at sequence \(leaf.sequence)\(range): the log there goes on otherwise"
                throw Self.refused(path, reason, at: leaf.sequence)
            }
        }
    }

    /// Checks that the input holds every event that the log holds, in the same form: whole or redacted. What the log has redacted
    /// never becomes whole again; what it holds whole may go where the log follows the input's rewrites.
    private func checkHoldings(
        _ old: LogReader,
        _ new: LogReader,
        in block: ClosedRange<UInt64>,
        _ follows: Bool
    ) throws {
        var holdings: [UInt64: EventHolding] = [:]
        try new.forEachRecord(in: block) { sequence, record in
            holdings[sequence] = record.holding
            return true
        }
        try old.forEachRecord(in: block) { sequence, record in
            let holding = holdings[sequence]
            if holding == record.holding || follows && (record.holding == .whole || holding == nil) { return true }
            throw Self.refused(path, "the log there holds sequence \(sequence) otherwise than the input", at: sequence)
        }
    }
}

extension LogReader {
    /// What an import adds to this log if the input begins the same: the events behind its head; to a part, also those that
    /// it lacks, if the input is as long and whole.
    fileprivate func result(of header: LogHeader) throws -> ImportResult {
        let head = try head()
        let isWhole = try !isPart() || header.isPart
        guard !isWhole, header.size >= head else {
            let known = min(head, header.size)
            return ImportResult(appended: header.size - known, duplicates: known)
        }
        var (missing, first) = (UInt64(0), head + 1)
        try forEachGapRun(in: 1...head) { run in
            guard run.rewrite == GapRun.missing else { return true }
            if missing == 0 { first = run.first }
            missing += run.count
            return true
        }
        let known = head - missing
        return ImportResult(appended: header.size - known, duplicates: known, first: SequenceNumber(first))
    }
}
