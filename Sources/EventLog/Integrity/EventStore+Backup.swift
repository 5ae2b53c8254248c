extension EventStore {
    /// Copies the log as of one moment and verifies the copy. Appends and rewrites continue meanwhile.
    ///
    /// The copy appears at `path` whole and verified, or not at all. It is the same log: its identity, sequences and
    /// root are equal.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` if anything exists at `path`, `damaged` if the log, and so
    ///   its copy, is damaged; `io`.
    /// - Returns: the report on the copy.
    public func backup(to path: String) throws -> VerifyReport {
        let (parentPath, name) = Directory.split(path)
        try Directory.makeWithParents(parentPath)
        let parent = try Folder(at: parentPath)
        guard try parent.kind(of: name) == .nothing else {
            throw EventLogError(
                .invalidArgument,
                operation: "back up log to",
                object: path,
                reason: "something is there already",
                advice: "name a path where nothing is"
            )
        }
        return try parent.makeLog(name) { draft in
            let report = try EventLogError.wrapping("back up log to", path) { try fill(draft) }
            if let damage = report.damage { throw Self.damagedCopy(path, damage) }
            return report
        }
    }

    private func fill(_ draft: LogDirectory) throws -> VerifyReport {
        for _ in 0..<20 {
            let generation = try newestGeneration()
            let name = LogDirectory.generationName(generation.number)
            let folder = try draft.folder.makeFolder(name)
            let file = try folder.makeFile(Folder.dataFileName)
            try generation.environment.copy(to: file)
            try file.sync(folder.path(of: Folder.dataFileName))
            try folder.sync()
            // This process has just written the file, so it may be mapped at once. `finish` checks every page all the
            // same.
            let copy = try Generation.open(
                directory: draft,
                number: generation.number,
                lanes: LaneInterner(),
                pages: PageTrust(reason: .own)
            )
            // A rewrite may have replaced the generation just before it was copied.
            if try copy.read({ try $0.successor() }) == nil { return try finish(draft, copy) }
            try draft.folder.removeFolder(name)
        }
        throw LMDBError(LMDBError.gaveUp, "follow the log's generations, which are replaced too fast")
    }

    /// Verifies the copy, then writes FORMAT, which makes it a log (I8). The report may name damage; then the caller
    /// throws the copy away.
    private func finish(_ draft: LogDirectory, _ copy: Generation) throws -> VerifyReport {
        let file = try DataFile(in: copy.folder)
        let report = try copy.read { reader in
            let progress = StoreWork.Activity.verifying.reporter(to: options.progress)
            var verification = Verification(reader, generation: copy.number, progress: progress)
            return verification.run(identity: identity, file: file)
        }
        try draft.write(LogFormat(identity: identity, isSealed: copy.isSealed()))
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

extension Folder {
    /// Makes a log in this folder that appears under its name once it is whole, or not at all.
    func makeLog<Result>(_ name: String, _ fill: (LogDirectory) throws -> Result) throws -> Result {
        let made = try Partial.makeFolder(for: name, in: self)
        do {
            let result = try fill(LogDirectory(made))
            try move(Partial.name(for: name), to: name)
            try sync()
            return result
        } catch {
            // A folder that cannot be removed keeps its name as a partial one, so nothing takes it for a log.
            try? removeFolder(Partial.name(for: name), depth: LogDirectory.depth)
            throw error
        }
    }
}
