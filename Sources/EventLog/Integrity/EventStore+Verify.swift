extension EventStore {
    /// Reads the whole newest generation and checks all of it: pages, order, hashes, gaps, sums and counts (I7). Then what is
    /// derived from it; of that, what is damaged is removed.
    ///
    /// Cost: every byte is read and hashed. Appends and reads go on meanwhile.
    ///
    /// - Throws: `EventLogError` where the log cannot be read at all; damage within it is what the report says.
    public func verify() throws -> VerifyReport {
        try EventLogError.wrapping("verify log at", path) {
            let generation = try newestGeneration()
            let file = try DataFile(in: generation.folder)
            for attempt in 0..<10 {
                let report = try generation.read { reader in
                    // While others commit, the two meta pages may have moved on before they are read here.
                    let isSettled = file.metaPages().contains { $0?.transaction == reader.view.transaction }
                    guard isSettled || attempt == 9 else { return nil as VerifyReport? }
                    let progress = StoreWork.Activity.verifying.reporter(to: options.progress)
                    var verification = Verification(reader, generation: generation.number, progress: progress)
                    let stamp = file.stamp()
                    let report = verification.run(identity: identity, file: file)
                    if report.isIntact {
                        generation.environment.notePages(of: reader.view.transaction, checkedAt: stamp)
                    }
                    return report
                }
                guard var report, report.damage == nil || attempt == 9 || !report.isDamageOfMetaPages else { continue }
                if report.isIntact { report.derivedDamage = generation.checkDerivedData() }
                return report
            }
            throw LMDBError(0, "find a moment without commits")
        }
    }

    /// Checks the pages of a log's files that opening looks at before anything is opened, then all of the log as `verify()`
    /// does.
    ///
    /// - Throws: `EventLogError` with code `noLog`, `newerFormat` or `io`; damage is what the report says.
    public static func verify(at path: String, options: Options = .init()) throws -> VerifyReport {
        guard let directory = try LogDirectory(existingAt: Directory.resolved(path) ?? path),
            try directory.format() != nil
        else { return try open(at: path, options: options).verify() }
        try directory.checkEntries()
        for number in try directory.generations() {
            do {
                try EventLogError.wrapping("verify log at", path) { try directory.checkPages(of: number) }
            } catch let damage as PageCheck.Damage {
                var report = VerifyReport()
                report.generation = number
                report.damage = .init(damage)
                return report
            }
        }
        var options = options
        options.believesPages = true
        return try open(at: path, options: options).verify()
    }
}

extension LogDirectory {
    /// Checks a generation's pages but for its events, which nobody looks at before they are verified.
    ///
    /// Where another process commits meanwhile, pages may be used again while they are read here; only a state that stays
    /// the newest counts. Where all is in motion, nothing is said.
    ///
    /// - Throws: `PageCheck.Damage`; `LMDBError` where the file cannot be read.
    fileprivate func checkPages(of number: UInt32) throws {
        for attempt in 0..<5 {
            guard let folder = try generation(number), try folder.kind(of: Folder.dataFileName) != .nothing else {
                return
            }
            let file = try DataFile(in: folder)
            let before = file.metaPages()
            do {
                return try PageCheck.run(file, isGrown: true, omitting: LogTables.events)
            } catch let damage as PageCheck.Damage {
                guard attempt < 4, file.metaPages() != before else { throw damage }
            }
        }
    }
}
