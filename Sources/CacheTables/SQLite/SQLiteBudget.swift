/// What SQL written by others may still take: instructions of SQLite's virtual machine, and time.
///
/// Instructions alone do not tell: one of them may make or search a value of the greatest length. Time is that of the monotonic
/// clock while SQL runs, so it does not count how long the log took to read, or how long a follower waited.
struct SQLiteBudget {
    /// Instructions that SQL may take, whatever its rows: some seconds.
    static let stepsMin = 200_000_000
    /// Instructions allowed for each row: indexes, triggers and full-text search together.
    static let stepsPerRow = 20_000
    /// The time that SQL may take, whatever its rows.
    static let timeMin = Duration.seconds(10)
    /// The time allowed for each row.
    static let timePerRow = Duration.milliseconds(1)
    /// What SQLite may allocate. It is a limit of the process: SQLite has no other.
    static let heapBytesMax: Int64 = 512 << 20

    private var steps = stepsMin
    private var time = timeMin
    /// The time for one statement of the caller's own; `nil` for SQL whose rows decide.
    private var timeMax: Duration?
    /// When time was taken last.
    private var since = ContinuousClock.now

    /// The budget of SQL that comes with a schema or a cache.
    init() {}

    /// The budget of one statement of the caller's own, which may take so long whatever its rows.
    init(time: Duration) {
        (steps, self.time, timeMax) = (.max, time, time)
    }

    /// Adds what statements on so many rows may take.
    mutating func add(rows: Int) {
        let rows = min(max(rows, 0), 1 << 40)
        steps += rows * Self.stepsPerRow
        time += Self.timePerRow * rows
    }

    /// Begins to count time.
    mutating func beginStep() { since = .now }

    /// Takes instructions, and the time since the last call.
    mutating func take(steps: Int) {
        self.steps -= steps
        let now = ContinuousClock.now
        time -= now - since
        since = now
    }

    /// Names the limit that is used up, as a predicate; `nil` while none is.
    var excess: String? {
        if let timeMax { return time <= .zero ? "takes longer than \(timeMax.components.seconds) s (--timeout)" : nil }
        if steps <= 0 { return "takes too long for the rows there are (more instructions than a schema needs)" }
        if time <= .zero { return "takes too long for the rows there are (more seconds than a schema needs)" }
        return nil
    }
}
