extension EventStore {
    /// Makes a new log of every event of a damaged log that still fits its leaf hash (I20). Reads the damaged log
    /// without LMDB, and does not change it.
    ///
    /// Memory: everything that is found, and a hash for each sequence up to the last one found.
    ///
    /// - Parameters:
    ///   - path: The damaged log.
    ///   - target: Where the new log goes; nothing may exist there.
    ///   - now: The `recordedAt` of the act that names what is lost.
    ///   - progress: Receives reports while a data file is read.
    /// - Throws: `EventLogError` with code `noLog` if no generation exists, `io` if the files cannot be read,
    ///   `invalidArgument` if anything exists at the target.
    public static func salvage(
        _ path: String,
        to target: String,
        now: Timestamp,
        progress: StoreWorkReporter? = nil
    ) throws -> SalvageReport {
        let progress = StoreWork.Activity.salvaging.reporter(to: progress)
        return try EventLogError.wrapping("salvage", path) {
            guard let directory = try LogDirectory(existingAt: path), let first = try directory.generations().first,
                var folder = try directory.generation(first)
            else {
                throw EventLogError(
                    .noLog,
                    operation: "salvage",
                    object: path,
                    reason: "there is no generation of a log",
                    advice: "name the log's directory"
                )
            }
            var number = first
            guard try folder.kind(of: Folder.dataFileName) != .nothing else { throw directory.isMissing(number) }
            var parts = try SalvagedParts(DataFile(in: folder), progress: progress)
            // As in an intact log, the newest generation is the log. If it cannot be found, the last one that can be is
            // salvaged.
            var doubts: [String] = []
            while let successor = parts.meta[MetaName.successor], successor.count == 4 {
                let next = successor.reduce(0) { $0 << 8 | UInt32($1) }
                guard next > number else { break }
                guard let found = try directory.generation(next), try found.kind(of: Folder.dataFileName) != .nothing
                else {
                    doubts.append("\(directory.dataName(next)), which took the place of this generation, is missing")
                    break
                }
                (number, folder) = (next, found)
                parts = try SalvagedParts(DataFile(in: folder), progress: progress)
            }
            try checkHead(parts.head, in: folder)
            let evidence = try SalvageEvidence(directory, number, folder: folder, head: parts.head)
            if !evidence.isWhole, parts.meta[MetaName.successor] == nil,
                let other = try directory.generations().first(where: { $0 > number })
            {
                doubts.append("whether \(directory.dataName(other)) took the place of this generation cannot be read")
            }
            let format = try? directory.format()
            // The checksum proves the identity in `meta`; nothing proves that in FORMAT.
            let identity = parts.meta[MetaName.identity] ?? format?.identity ?? systemRandomBytes(16)
            let head = try likelyHead(parts, evidence, in: folder, &doubts)
            var salvage = Salvage(parts, identity: identity, head: head, now: now)
            salvage.doubt(evidence, and: doubts)
            guard Directory.kind(of: target) == .nothing else {
                throw EventLogError(
                    .invalidArgument,
                    operation: "salvage to",
                    object: target,
                    reason: "something is there already",
                    advice: "name a path where nothing is"
                )
            }
            try write(&salvage, to: target)
            return salvage.report
        }
    }

    /// A salvage holds a hash for each sequence, and anyone can compute a checksum. So a forged value must not decide
    /// how much memory the salvage takes.
    private static func checkHead(_ head: UInt64, in folder: Folder) throws {
        let byteCount = try DataFile(in: folder).byteCount()
        guard head > max(sequenceMax, byteCount / leastEventBytes) else { return }
        throw EventLogError(
            .damaged,
            operation: "salvage",
            object: folder.path,
            reason: "an event or gap is at \(head), more than a data file of \(byteCount) bytes can hold",
            advice: "salvage a backup or an earlier copy; no fault of a disk writes many such entries"
        )
    }

    /// The last sequence of which anything tells. Sequences behind the last one found count as lost: what stands beside the
    /// events names them, or the tables count them, and the counts of two tables agree.
    ///
    /// Nothing forged may decide how much memory the salvage takes, so a sequence that the file can hardly have held is
    /// only a doubt.
    private static func likelyHead(
        _ parts: SalvagedParts,
        _ evidence: SalvageEvidence,
        in folder: Folder,
        _ doubts: inout [String]
    ) throws -> UInt64 {
        let bound = max(parts.head, try DataFile(in: folder).byteCount() / leastEventBytes, claimedHeadMax)
        var head = parts.head
        let claimed = parts.claimedHead
        if claimed <= bound {
            head = max(head, claimed)
        } else {
            doubts.append("an entry beside the events tells of event \(claimed)")
        }
        let dropped = parts.runs.values.reduce(0 as UInt64) { $0 &+ $1.count }
        if let events = evidence.counts[LogTables.events], let nodes = evidence.counts[LogTables.nodes] {
            let (counted, overflow) = parts.heldCount(entries: events).addingReportingOverflow(dropped)
            if !overflow, counted <= bound, counted / TreeNode.leafCount == nodes { head = max(head, counted) }
        }
        return head
    }

    /// The greatest sequence that values beside the events may claim in a file of any size.
    private static let claimedHeadMax: UInt64 = 1 << 16

    /// A salvage accepts a head up to this one in a file of any size, because one hash may stand for many dropped
    /// events.
    private static let sequenceMax: UInt64 = 1 << 26
    /// No event takes less in a data file.
    private static let leastEventBytes: UInt64 = 16

    /// Writes the new log: of a part, a part. Even if no event is lost, facts or keys may be. Then they do not fit the existing acts, the
    /// import refuses them, and the log is written again with an act of the salvage.
    private static func write(_ salvage: inout Salvage, to target: String) throws {
        let identity = systemRandomBytes(16)
        if salvage.isPart {
            do {
                return try write(salvage.partPieces(newIdentity: identity), to: target)
            } catch let error as EventLogError {
                guard error.code == .invalidArgument else { throw error }
                salvage.doubtActs()
            }
        } else if !salvage.needsAct {
            do {
                return try write(salvage.pieces(newIdentity: identity, needsAct: false), to: target)
            } catch let error as EventLogError {
                guard error.code == .invalidArgument else { throw error }
                salvage.doubtRemains()
            }
        }
        try write(salvage.pieces(newIdentity: identity, needsAct: true), to: target)
    }

    private static func write(_ log: (header: LogHeader, pieces: [LogPiece]), to target: String) throws {
        _ = try importLog(at: target, header: log.header) { place in
            for piece in log.pieces { try place.add(piece) }
        }
    }
}
