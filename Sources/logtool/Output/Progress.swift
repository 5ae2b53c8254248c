import EventLog
import Synchronization

/// Tells people on a terminal what a command is at, and how far. Says nothing for the first second, and nothing at all
/// elsewhere.
///
/// One line, drawn anew ten times a second by a thread of its own: a step that reports nothing shows that time passes. The
/// line is gone before the first output is written to the same terminal.
final class Progress: Sendable {
    /// Whether anybody is there to see it.
    let isShown: Bool
    private let line: Mutex<ProgressLine>
    private let start = ContinuousClock.now

    /// What is drawn on the terminal now.
    private static let current = Mutex<Progress?>(nil)

    /// - Parameter activity: what is being done, such as `verifying`, until something is reported.
    init(_ activity: String, isQuiet: Bool) {
        isShown = !isQuiet && Terminal.isTerminal(2)
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

    /// After how many seconds something is said: one, or what `LOGTOOL_PROGRESS_DELAY` says (as git's variable does).
    private static var delay: Double {
        let seconds = Terminal.environment("LOGTOOL_PROGRESS_DELAY").flatMap(Double.init) ?? 1
        return seconds.isFinite ? min(max(seconds, 0), 3600) : 1
    }

    /// Says how far it is.
    ///
    /// - Parameters:
    ///   - text: what was done so far.
    ///   - done: how many things were done, for the rate.
    ///   - total: how many there are; `nil` where nobody knows.
    func report(_ text: String, done: Int, total: Int? = nil) {
        guard isShown else { return }
        let now = ContinuousClock.now
        line.withLock { $0.report(text, done: done, total: total, at: now) }
    }

    /// Begins another step, of which nothing is known yet.
    func begin(_ activity: String) {
        guard isShown else { return }
        line.withLock { $0.begin(activity) }
    }

    /// What a replay reports to; `nil` where nobody sees it.
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

    /// Takes the line away for good.
    func end() {
        line.withLock { line in
            if line.isDrawn { StandardError.write("\r\u{1B}[K") }
            line.isEnded = true
            line.isDrawn = false
        }
    }

    /// Takes away what any command draws.
    static func endCurrent() {
        current.withLock { $0 }?.end()
    }

    /// Draws the line; false once it is ended.
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

/// What a line of progress says.
struct ProgressLine {
    private(set) var text: String
    private var done: Int?
    private var total: Int?
    /// The first report of a step: what was done before it may have cost nothing.
    private var first: (done: Int, time: ContinuousClock.Instant)?
    var isDrawn = false
    var isEnded = false

    init(text: String) {
        self.text = text
    }

    mutating func report(_ text: String, done: Int, total: Int?, at now: ContinuousClock.Instant) {
        if first == nil || total != self.total || done < self.done ?? 0 { first = (done, now) }
        (self.text, self.done, self.total) = (text, done, total)
    }

    mutating func begin(_ activity: String) {
        (text, done, total, first) = (activity, nil, nil, nil)
    }

    /// The line after a time: rate, share and what is left as far as they are known, else how long it has taken.
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
