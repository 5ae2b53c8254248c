#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension EventStore {
    /// Copies the log as it is at one moment, while appends and rewrites go on, and checks the copy.
    ///
    /// The copy appears at its place whole and verified, or not at all. It is the same log: identity, sequences, root.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` where something stands at the path already, `damaged` where
    ///   the log, and so its copy, is not as it was written; `io`.
    /// - Returns: what the check of the copy found.
    public func backup(to path: String) throws -> VerifyReport {
        guard Directory.kind(of: path) == .nothing else {
            throw EventLogError(
                .invalidArgument,
                operation: "back up log to",
                object: path,
                reason: "something is there already",
                advice: "name a path where nothing is"
            )
        }
        try Directory.makeWithParents(Directory.parent(of: path))
        let draft = LogDirectory(path: Directory.partial(of: path))
        try Directory.make(draft.path)
        do {
            let report = try EventLogError.wrapping("back up log to", path) { try fill(draft) }
            if let damage = report.damage { throw Self.damagedCopy(path, damage) }
            try Directory.move(draft.path, to: path)
            try Directory.sync(Directory.parent(of: path))
            return report
        } catch {
            // What cannot be removed either is under a name that says what it is.
            try? draft.removeAll()
            throw error
        }
    }

    private func fill(_ draft: LogDirectory) throws -> VerifyReport {
        for _ in 0..<20 {
            let generation = try newestGeneration()
            let folder = draft.generation(generation.number)
            try Directory.make(folder)
            try generation.environment.copy(to: folder)
            try Directory.restrict(draft.dataFile(generation.number))
            try Directory.sync(draft.dataFile(generation.number))
            try Directory.sync(folder)
            let copy = try Generation.open(directory: draft, number: generation.number, lanes: LaneInterner())
            // A rewrite may have taken the generation's place just before it was copied.
            if try copy.read({ try $0.successor() }) == nil { return try finish(draft, copy) }
            try Directory.removeFlat(folder)
        }
        throw LMDBError(0, "follow the log's generations, which are replaced too fast")
    }

    private func finish(_ draft: LogDirectory, _ copy: Generation) throws -> VerifyReport {
        let file = try DataFile(draft.dataFile(copy.number))
        let report = try copy.read { reader in
            var verification = Verification(reader, generation: copy.number)
            return verification.run(identity: identity, file: file)
        }
        try SmallFile.replace(draft.formatFile, with: LogFormat(identity: identity).bytes)
        return report
    }

    private static func damagedCopy(_ path: String, _ damage: VerifyReport.Damage) -> EventLogError {
        EventLogError(
            .damaged,
            operation: "back up log to",
            object: path,
            reason: "the copy is not as the log was written: \(damage)",
            advice: "see: logtool verify",
            sequence: damage.sequence
        )
    }
}

extension LogDirectory {
    /// Removes a log's directory that nobody uses.
    func removeAll() throws {
        for name in try Directory.names(in: path) {
            let entry = "\(path)/\(name)"
            if Directory.kind(of: entry) == .directory { try Directory.removeFlat(entry) }
        }
        try Directory.removeFlat(path)
    }
}

extension Directory {
    /// Where something is made that appears at a path once it is whole.
    static func partial(of path: String) -> String {
        var place = path[...]
        while place.count > 1, place.last == "/" { place.removeLast() }
        return "\(place).partial-\(processNumber)"
    }

    /// Allows only the owner to read and write a file.
    static func restrict(_ path: String) throws {
        guard chmod(path, 0o600) == 0 else { throw EventLogError.system("set the permissions of", path) }
    }
}
