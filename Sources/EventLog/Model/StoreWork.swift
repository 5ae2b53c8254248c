/// A report of a store on work that takes time.
public struct StoreWork: Sendable {
    /// A kind of work, and the unit that it is counted in.
    public enum Activity: Sendable {
        /// The pages of a file that this program did not leave as it is; in bytes.
        case checkingPages
        /// Every event, hash and page; in bytes.
        case verifying
        /// Events into a new generation of the log; in sequences.
        case copying
        /// The pages of a damaged file; in bytes.
        case salvaging
    }

    /// Which work the report is about.
    public let activity: Activity
    /// How much of it is done.
    public let done: UInt64
    /// How much there is; the last report of the work has `done` equal to it.
    public let total: UInt64
}

/// Gets the reports of a store. The store calls it on the thread that does the work.
public typealias StoreWorkReporter = @Sendable (StoreWork) -> Void
