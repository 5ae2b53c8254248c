import EventLog
import Synchronization

/// Shows on a terminal what a command does and how far it is. It prints nothing for the first second, and nothing at
/// all if standard error is no terminal, or one that cannot move back to the line's start.
///
/// It is one line, drawn ten times a second by its own thread, so that time passes visibly even if a step reports
/// nothing. The line is removed before output goes to the same terminal. The mutex guards line and drawing; any thread
/// may report. Once ended, it shows nothing more.
final class Progress: Sendable {
    /// Whether the line is shown at all.
    let isShown: Bool
    private let line: Mutex<ProgressLine>
    private let start = ContinuousClock.now

    /// The progress that draws on the terminal: the one made last.
    private static let current = Mutex<Progress?>(nil)

    /// - Parameter activity: The activity until something is reported, such as `verifying`.
    init(_ activity: String, isQuiet: Bool) {
        isShown = !isQuiet && Terminal.knowsEscapes(2)
        line = Mutex(ProgressLine(text: activity))
        guard isShown else { return }
        Self.current.withLock { $0 = self }
        let delay = Self.delay
        if delay == 0 { _ = draw() }
        DetachedThread.start { [self] in
            DetachedThread.sleep(milliseconds: Int(delay * 1_000))
            while draw() { DetachedThread.sleep(milliseconds: 100) }
        }
    }

    /// The delay before the first line, in seconds: one, or `LOGTOOL_PROGRESS_DELAY` (like git's `GIT_PROGRESS_DELAY`).
    private static var delay: Double {
        let seconds = Terminal.environment("LOGTOOL_PROGRESS_DELAY").flatMap(Double.init) ?? 1
        return seconds.isFinite ? min(max(seconds, 0), 3600) : 1
    }

    /// Reports how far the step is. Cheap, but not for every byte: it takes the lock.
    ///
    /// - Parameters:
    ///   - text: The work so far, such as `copied 3 of 7 events`.
    ///   - done: How many things are done, for the rate.
    ///   - total: How many there are; `nil` if unknown.
    func report(_ text: String, done: Int, total: Int? = nil) {
        guard isShown else { return }
        let now = ContinuousClock.now
        line.withLock { $0.report(text, done: done, total: total, at: now) }
    }

    /// Begins another step, whose rate is measured anew.
    func begin(_ activity: String) {
        guard isShown else { return }
        line.withLock { $0.begin(activity) }
    }

    /// A reporter for a replay; `nil` if nothing is shown, so that the replay need not call it.
    func replayReporter(until last: SequenceNumber) -> ((SequenceNumber) -> Void)? {
        guard isShown else { return nil }
        return { sequence in
            self.report(
                "replayed \(sequence) of \(last)",
                done: Int(clamping: sequence.rawValue),
                total: Int(clamping: last.rawValue)
            )
        }
    }

    /// Removes the line for good.
    func end() {
        line.withLock { line in
            if line.isDrawn { StandardError.write("\r\u{1B}[K") }
            line.isEnded = true
            line.isDrawn = false
        }
    }

    /// Removes the line that is drawn now, whichever it is.
    static func endCurrent() {
        current.withLock { $0 }?.end()
    }

    /// Draws the line over the last one; false after `end`.
    private func draw() -> Bool {
        let now = ContinuousClock.now
        return line.withLock { line in
            guard !line.isEnded else { return false }
            let width = Terminal.width(of: 2) ?? 80
            StandardError.write("\r\u{1B}[K" + DisplayText.cut(line.text(after: now - start, at: now), to: width - 1))
            line.isDrawn = true
            return true
        }
    }
}

/// The content of a progress line. It has no clock.
struct ProgressLine {
    private(set) var text: String
    private var done: Int?
    private var total: Int?
    /// The step's first report, from which the rate is measured: work before it may have cost nothing.
    private var first: (done: Int, time: ContinuousClock.Instant)?
    /// True while a line is on the terminal.
    var isDrawn = false
    var isEnded = false

    init(text: String) {
        self.text = text
    }

    mutating func report(_ text: String, done: Int, total: Int?, at now: ContinuousClock.Instant) {
        // Fewer things done, or another total, means that another step has begun.
        if first == nil || total != self.total || done < self.done ?? 0 { first = (done, now) }
        // It may name a table of a map, or a source.
        (self.text, self.done, self.total) = (DisplayText.escaped(text), done, total)
    }

    mutating func begin(_ activity: String) {
        (text, done, total, first) = (DisplayText.escaped(activity), nil, nil, nil)
    }

    /// The line after `elapsed`: rate, percentage and remaining time as far as known, else the elapsed time.
    func text(after elapsed: Duration, at now: ContinuousClock.Instant) -> String {
        guard let done, let first else { return "\(text), \(elapsed.components.seconds) s" }
        var line = text
        let rate = Double(done - first.done) / max((now - first.time) / .seconds(1), 0.001)
        if rate >= 1 { line += ", \(Int(rate))/s" }
        guard let total, total > 0 else { return line }
        line += ", \(min(done, total) * 100 / total) %"
        if rate >= 1, total >= done { line += ", \(Int(Double(total - done) / rate)) s left" }
        return line
    }
}
