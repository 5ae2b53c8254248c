/// Why the pages of a log's data file may be read through LMDB, which maps them without looking (I24).
struct PageTrust: Sendable {
    enum Reason {
        /// The mark beside the file covers them, or else a check of all of them finds nothing.
        case checked
        /// The caller looks at each page before LMDB reads it.
        case believed
        /// This process wrote the file just now.
        case own
    }

    var reason = Reason.checked
    /// Is told how many bytes have been looked at, and of how many.
    var progress: PageCheck.Progress?

    /// The same, in terms of the environment.
    var inEnvironment: Environment.Pages {
        switch reason {
        case .own: .own
        case .believed: .believed
        case .checked:
            .checked { file, transaction in
                try PageCheck.run(file, transaction: transaction, isGrown: true, progress: progress)
            }
        }
    }
}

extension LogDirectory {
    /// A generation's data file, as people are told of it.
    func dataName(_ number: UInt32) -> String {
        "gen-\(Self.padded(number))/data.mdb"
    }

    /// An error that says what of the log's files is not as it was written.
    func damaged(
        _ reason: String,
        advice: String = "see: logtool verify; logtool salvage keeps what is whole"
    ) -> EventLogError {
        EventLogError(.damaged, operation: "open log at", object: path, reason: reason, advice: advice)
    }

    /// The error of a data file that is missing.
    func isMissing(_ number: UInt32) -> EventLogError {
        damaged("the data file \(dataName(number)) is missing", advice: "restore a backup")
    }

    /// The error of a data file without a byte.
    func isEmpty(_ number: UInt32) -> EventLogError {
        damaged("the data file \(dataName(number)) is empty", advice: "restore a backup")
    }

    /// Runs a body and says of which data file damage is that it finds.
    func naming<Result>(_ number: UInt32, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let damage as PageCheck.Damage {
            throw damaged("page \(damage.page) of \(dataName(number)): \(damage.reason)")
        }
    }
}
