import EventLog

extension Progress {
    /// Reports how far a store's work is.
    func report(_ work: StoreWork) {
        switch work.activity {
        case .checkingPages: reportBytes("checked", work, of: " of the log's pages")
        case .verifying: reportBytes("verified", work)
        case .salvaging: reportBytes("read", work)
        case .copying:
            let (done, total) = (Int(clamping: work.done), Int(clamping: work.total))
            report("copied \(done) of \(total) events", done: done, total: total)
        }
    }

    private func reportBytes(_ verb: String, _ work: StoreWork, of what: String = "") {
        let (done, total) = (Int(clamping: work.done / 1_000_000), Int(clamping: work.total / 1_000_000))
        report("\(verb) \(done) of \(total) MB\(what)", done: done, total: total)
    }
}

extension EventStore.Options {
    /// The default options, with a progress line of their own while the log's pages are checked (I24). The line is gone
    /// before the command's own begins.
    static func withProgress(isQuiet: Bool) -> EventStore.Options {
        let progress = Progress("checking the log's pages", isQuiet: isQuiet)
        return reporting(to: progress, endsWithPages: true)
    }

    /// The default options, with the store's work shown in a progress line.
    ///
    /// - Parameter endsWithPages: Whether the line is removed once the log's pages are checked.
    static func reporting(to progress: Progress, endsWithPages: Bool = false) -> EventStore.Options {
        var options = EventStore.Options()
        options.progress = { work in
            if endsWithPages, work.activity == .checkingPages, work.done == work.total { return progress.end() }
            progress.report(work)
        }
        return options
    }
}
