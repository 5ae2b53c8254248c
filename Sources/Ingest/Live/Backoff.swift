#if Recorders
/// The waits between attempts: doubled each time up to a limit, plus a random 0 to 10 %, so that many recorders do not
/// come back at the same instant.
struct Backoff: Sendable {
    private let first: Duration
    private let max: Duration
    private let random: @Sendable () -> Double
    /// The last wait without its random part; `nil` after a success.
    private var base: Duration?

    /// - Parameters:
    ///   - random: returns numbers in `0..<1`.
    init(first: Duration = .seconds(1), max: Duration, random: @escaping @Sendable () -> Double) {
        self.first = first
        self.max = max
        self.random = random
    }

    /// The number of attempts since the last success.
    private(set) var count = 0

    /// The next wait.
    mutating func next() -> Duration {
        let wait = base.map { Swift.min($0 * 2, max) } ?? Swift.min(first, max)
        base = wait
        count += 1
        return wait + wait * (random() * 0.1)
    }

    /// Starts over after a success.
    mutating func reset() {
        base = nil
        count = 0
    }
}
#endif
