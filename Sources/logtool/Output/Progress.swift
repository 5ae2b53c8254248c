/// Tells people on a terminal how far a long run is. Says nothing for the first second, and nothing at all elsewhere.
final class Progress {
    /// Whether anybody is there to see it.
    let isShown: Bool
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var lastShown: ContinuousClock.Instant?

    init(isQuiet: Bool) {
        isShown = !isQuiet && Terminal.isTerminal(2)
        start = clock.now
    }

    /// Shows one line in place of the last, at most ten times a second.
    ///
    /// - Parameters:
    ///   - text: what was done so far.
    ///   - done: how many things were done, for the rate.
    ///   - total: how many there are; `nil` where nobody knows.
    func report(_ text: String, done: Int, total: Int? = nil) {
        let now = clock.now
        guard isShown, now - start >= .seconds(1) else { return }
        if let lastShown, now - lastShown < .milliseconds(100) { return }
        lastShown = now
        let seconds = max(Self.seconds(now - start), 1)
        var line = "\(text), \(Int(Double(done) / seconds))/s"
        if let total, total > 0, done > 0 {
            let left = Int(seconds * Double(total - done) / Double(done))
            line += ", \(done * 100 / total) %, \(left) s left"
        }
        StandardError.write("\r\u{1B}[K\(line)")
    }

    /// Takes the line away.
    func end() {
        if lastShown != nil { StandardError.write("\r\u{1B}[K") }
        lastShown = nil
    }

    deinit {
        end()
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
