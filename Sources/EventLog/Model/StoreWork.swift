/// How far a store is with work that takes time.
public struct StoreWork: Sendable {
    /// What is being done.
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

    /// What is being done.
    public let activity: Activity
    /// How much of it is done.
    public let done: UInt64
    /// How much there is; `done` equals it at the end.
    public let total: UInt64
}

/// Is told how far a store is. Called on the thread that does the work.
public typealias StoreWorkReporter = @Sendable (StoreWork) -> Void

extension StoreWork.Activity {
    /// Reports one kind of work; `nil` where nobody listens.
    func reporter(to report: StoreWorkReporter?) -> PageCheck.Progress? {
        guard let report else { return nil }
        return { report(StoreWork(activity: self, done: $0, total: $1)) }
    }
}
