/// A store's report on work that takes time.
public struct StoreWork: Sendable {
    /// A kind of work, and the unit that it is counted in.
    public enum Activity: Sendable {
        /// Checks the pages of a file that something other than this program changed; counted in bytes.
        case checkingPages
        /// Verifies every event, hash and page; counted in bytes.
        case verifying
        /// Copies events into a new generation of the log; counted in sequences.
        case copying
        /// Reads the pages of a damaged file; counted in bytes.
        case salvaging
    }

    /// The work that the report is about.
    public let activity: Activity
    /// How much of it is done.
    public let done: UInt64
    /// How much there is to do; the work's last report has `done` equal to it.
    public let total: UInt64
}

/// Receives a store's reports, on the thread that does the work.
public typealias StoreWorkReporter = @Sendable (StoreWork) -> Void
