extension StoreWork.Activity {
    /// Turns counts into reports of this activity; `nil` without a reporter.
    func reporter(to report: StoreWorkReporter?) -> PageCheck.Progress? {
        guard let report else { return nil }
        return { report(StoreWork(activity: self, done: $0, total: $1)) }
    }
}
