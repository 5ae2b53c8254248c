extension EventStore {
    /// Makes a log of every event of a damaged one that still hashes right. The damaged one is read past LMDB and left as
    /// it is.
    ///
    /// Memory: the whole of what is found.
    ///
    /// - Parameters:
    ///   - path: The damaged log.
    ///   - target: Where the new one goes; nothing may be there.
    ///   - now: When the act is recorded that names what is lost.
    /// - Throws: `EventLogError` with code `noLog` where no generation is, `io` where the files cannot be read,
    ///   `invalidArgument` where something is at the target.
    public static func salvage(_ path: String, to target: String, now: Timestamp) throws -> SalvageReport {
        try EventLogError.wrapping("salvage", path) {
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
            var parts = try SalvagedParts(DataFile(in: folder))
            while let successor = parts.meta[MetaName.successor], successor.count == 4 {
                let next = successor.reduce(0) { $0 << 8 | UInt32($1) }
                guard next > number, let found = try directory.generation(next) else { break }
                (number, folder) = (next, found)
                parts = try SalvagedParts(DataFile(in: folder))
            }
            let format = try? directory.format()
            let identity = parts.meta[MetaName.identity] ?? format?.identity ?? systemRandomBytes(16)
            var salvage = Salvage(parts, identity: identity, now: now)
            let (header, pieces) = try salvage.pieces(newIdentity: systemRandomBytes(16))
            guard Directory.kind(of: target) == .nothing else {
                throw EventLogError(
                    .invalidArgument,
                    operation: "salvage to",
                    object: target,
                    reason: "something is there already",
                    advice: "name a path where nothing is"
                )
            }
            _ = try importLog(at: target, header: header) { log in
                for piece in pieces { try log.add(piece) }
            }
            return salvage.report
        }
    }
}
