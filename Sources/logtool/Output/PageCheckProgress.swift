import EventLog
import Synchronization

/// Tells people on a terminal how far the check of a log's pages is.
final class PageCheckProgress: Sendable {
    private let progress: Mutex<Progress>

    init(isQuiet: Bool) {
        progress = Mutex(Progress("checking the log's pages", isQuiet: isQuiet))
    }

    /// Shows how many bytes were checked; takes the line away at the end.
    func report(_ done: UInt64, of total: UInt64) {
        progress.withLock { progress in
            guard done < total else { return progress.end() }
            let (some, all) = (Int(clamping: done / 1_000_000), Int(clamping: total / 1_000_000))
            progress.report("checked \(some) of \(all) MB of the log's pages", done: some, total: all)
        }
    }
}

extension EventStore.Options {
    /// The usual options, with progress where the log's pages have to be checked.
    static func withProgress(isQuiet: Bool) -> EventStore.Options {
        let progress = PageCheckProgress(isQuiet: isQuiet)
        var options = EventStore.Options()
        options.pageCheckProgress = { progress.report($0, of: $1) }
        return options
    }
}
