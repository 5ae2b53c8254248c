extension StoreWork.Activity {
    /// Makes reports of this kind of work out of counts; `nil` where nobody listens.
    func reporter(to report: StoreWorkReporter?) -> PageCheck.Progress? {
        guard let report else { return nil }
        return { report(StoreWork(activity: self, done: $0, total: $1)) }
    }
}
