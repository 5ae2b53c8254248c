/// Why LMDB may read the pages of a log's data file, which it maps without validating them (I24).
struct PageTrust: Sendable {
    enum Reason {
        /// The mark beside the file covers them; otherwise all of them are checked at opening.
        case checked
        /// The caller checks each page before LMDB reads it.
        case believed
        /// This process has just written the file.
        case own
    }

    var reason = Reason.checked
    /// Receives the number of bytes checked so far and the total.
    var progress: PageCheck.Progress?

    /// The reason as `Environment` takes it, with the check that it has to run.
    var inEnvironment: Environment.Pages {
        switch reason {
        case .own: .own
        case .believed: .believed
        case .checked: .checked { try Self.check($0, transaction: $1, progress: progress) }
        }
    }

    /// The check of a data file that no mark covers.
    ///
    /// - Throws: `PageCheck.Damage`.
    static func check(_ file: DataFile, transaction: UInt64, progress: PageCheck.Progress? = nil) throws {
        // Nothing is ever removed from a table of a log.
        try PageCheck.run(file, transaction: transaction, isGrown: true, progress: progress)
    }
}

extension Generation {
    /// Checks a generation that this process has made, and that nothing refers to yet, as an open does that finds no mark:
    /// so does one of a copy, in another folder. What fails here would be a log that only its own mark opens (I9, I24).
    ///
    /// - Throws: `EventLogError` with code `damaged`.
    func checkAsForeign(operation: String) throws {
        let file = try DataFile(in: folder)
        do {
            try PageCheck.checkBeforeOpening(file)
            let newest = try PageCheck.checkedMetas(file)
            try PageTrust.check(file, transaction: max(newest.0.transaction, newest.1.transaction))
        } catch let damage as PageCheck.Damage {
            throw EventLogError(
                .damaged,
                operation: operation,
                object: logPath,
                reason: "page \(damage.page) of the new \(directory.dataName(number)): \(damage.reason)",
                advice: "the log is as it was; try again, and look for faults of the disk"
            )
        }
    }
}

extension LogDirectory {
    /// The name of a generation's data file in messages.
    func dataName(_ number: UInt32) -> String {
        "gen-\(Self.padded(number))/data.mdb"
    }

    /// An error with code `damaged` about the log's files.
    func damaged(
        _ reason: String,
        advice: String = "see: logtool verify; logtool salvage keeps what is whole"
    ) -> EventLogError {
        EventLogError(.damaged, operation: "open log at", object: path, reason: reason, advice: advice)
    }

    /// The error for a missing data file.
    func isMissing(_ number: UInt32) -> EventLogError {
        damaged("the data file \(dataName(number)) is missing", advice: "restore a backup")
    }

    /// The error for an empty data file.
    func isEmpty(_ number: UInt32) -> EventLogError {
        damaged("the data file \(dataName(number)) is empty", advice: "restore a backup")
    }

    /// Runs `body`, and turns page damage that it throws into an error that names the data file.
    func naming<Result>(_ number: UInt32, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let damage as PageCheck.Damage {
            throw damaged("page \(damage.page) of \(dataName(number)): \(damage.reason)")
        }
    }
}
