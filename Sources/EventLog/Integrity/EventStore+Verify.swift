extension EventStore {
    /// Checks the whole newest generation: pages, order, hashes, gaps, checksums and counts (I7). Then checks its
    /// derived data, and removes it if it is damaged (I17).
    ///
    /// An intact result renews the mark (I24).
    ///
    /// Cost: every byte is read and hashed. Appends and reads continue meanwhile.
    ///
    /// - Throws: `EventLogError` if the log cannot be read at all. The report names damage within it.
    public func verify() throws -> VerifyReport {
        try EventLogError.wrapping("verify log at", path) {
            let generation = try newestGeneration()
            let file = try DataFile(in: generation.folder)
            for attempt in 0..<10 {
                let report = try generation.read { reader in
                    // Other processes may commit, and replace both meta pages before they are read here.
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
                // Derived data of a damaged log is not looked at: the log has to be restored first.
                if report.isIntact { report.derivedDamage = generation.checkDerivedData() }
                return report
            }
            throw LMDBError(LMDBError.gaveUp, "find a moment without commits")
        }
    }

    /// Verifies a log that may be too damaged to open: checks the pages that opening relies on, then does what
    /// `verify()` does.
    ///
    /// - Throws: `EventLogError` with code `noLog`, `newerFormat` or `io`. The report names damage.
    public static func verify(at path: String, options: Options = .init()) throws -> VerifyReport {
        guard let directory = try LogDirectory(existingAt: Directory.resolved(path) ?? path),
            try directory.format() != nil
        else { return try open(at: path, options: options).verify() }
        try directory.checkEntries()
        // Each generation is checked before it is asked for its successor. One that this does not reach is left from a
        // rewrite that was cut short, and does not count.
        var next = try directory.generations().first
        while let number = next {
            do {
                next = try EventLogError.wrapping("verify log at", path) {
                    try directory.checkPages(of: number)
                    return try directory.successor(of: number)
                }
            } catch let damage as PageCheck.Damage {
                var report = VerifyReport()
                report.generation = number
                report.damage = .init(damage)
                return report
            }
        }
        var options = options
        // The pages of the events are still unchecked, so nothing may read an event before `verify()` has checked them.
        options.believesPages = true
        return try open(at: path, options: options).verify()
    }
}

extension LogDirectory {
    /// The generation that took the place of one whose pages have been checked, except those of its events; `nil` if it
    /// is the newest. One without a data file has none: opening the log says what is wrong.
    fileprivate func successor(of number: UInt32) throws -> UInt32? {
        guard let folder = try generation(number), try folder.kind(of: Folder.dataFileName) != .nothing else {
            return nil
        }
        // Without LMDB, which this process may have open here already. A successor has a greater number, so that damaged
        // values cannot lead in a circle.
        return try DataFile(in: folder).successor().flatMap { $0 > number ? $0 : nil }
    }

    /// Checks a generation's pages except those of its events, which nothing reads before `verify()` checks them.
    ///
    /// A commit of another process may reuse pages during the check. So damage counts if the meta pages stayed the
    /// same, or in the fifth attempt.
    ///
    /// - Throws: `PageCheck.Damage`; `LMDBError` if the file cannot be read.
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
