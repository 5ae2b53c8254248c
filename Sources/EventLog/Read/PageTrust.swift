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
        case .checked:
            .checked { file, transaction in
                // Nothing is ever removed from a table of a log.
                try PageCheck.run(file, transaction: transaction, isGrown: true, progress: progress)
            }
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
