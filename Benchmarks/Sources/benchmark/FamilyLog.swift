import Foundation

/// The log of one kind of traffic, and what its replay is measured beside.
struct FamilyLog {
    /// What a state holds ever more of, the longer such a log is.
    enum Held {
        case messages, rows, commits
    }

    let name: String
    let log: String
    let count: Int
    /// What the Python script is told: the kind of the events, or `foldingPeer`, and the file that has them.
    let peer: (kind: String, file: String)
    /// How many times as fast as Python the replay should be.
    let goal: Double?
    /// How many events a second it should read.
    var rateGoal: Double?
    /// The same traffic, recorded for a decoder of this package; `nil` if the log is that.
    var builtIn: String?
    let held: Held?
    /// The logtool that replays.
    let program: String
    let scratch: Scratch
    /// The Python script's word for the chat that it folds to messages.
    static let foldingPeer = "fold"
    static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "families.py").path
    private static let rounds = 5
    /// The greatest memory of all of them counts, and one look may miss it.
    private static let memoryRounds = 6

    func figures() throws -> [Figure] {
        _ = try use(program, ["replay", log, "--digest", "-q"])
        let rounds = try (0..<Self.rounds).map { _ in try round() }
        return try speeds(rounds) + memory() + sizes()
    }

    func remove() {
        for path in [log, peer.file] + [builtIn].compactMap({ $0 }) {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    // MARK: - Time

    /// What each contender took once, in turns, so that all meet the same machine.
    private struct Round {
        let cold, again, python, foundation, reader, start, quarter: Child.Usage
        let builtIn: Child.Usage?
    }

    private func round() throws -> Round {
        Round(
            cold: try use(program, coldReplay(through: count)),
            again: try use(program, ["replay", log, "--digest", "-q"]),
            python: try use("python3", [Self.script, peer.kind, peer.file]),
            foundation: try ask("read-json", [log, "foundation"]),
            reader: try ask("read-json", [log, "reader"]),
            start: try use(program, coldReplay(through: 1)),
            quarter: try use(program, coldReplay(through: count / 4)),
            builtIn: try builtIn.map { try use(program, coldReplay(of: $0, through: count)) }
        )
    }

    private func speeds(_ rounds: [Round]) -> [Figure] {
        func rates(_ of: (Round) -> Child.Usage) -> [Double] { rounds.map { Double(count) / of($0).seconds } }
        let cold = rates(\.cold)
        func figure(_ name: String, _ rates: [Double], _ other: String, _ others: [Double], _ goal: Double?) -> Figure {
            Figure("replay, \(name)", events: count, rates: rates, beside: other, others, goal: goal)
        }
        let most = rounds.map(\.cold.megabytes).max() ?? 0
        var figures = [
            figure(name, cold, peer.kind == Self.foldingPeer ? "python3 folding" : "python3", rates(\.python), goal),
            figure(name, cold, "JSONSerialization of the payloads", rates(\.foundation), nil),
            figure(name, cold, "the strict JSON reader alone", rates(\.reader), nil),
            // Where no state is kept, both do the same work, and 1 would be a toss of a coin.
            figure("\(name), a second time", rates(\.again), "the first time", cold, 0.95),
            Figure("replay, \(name), MB, the log's pages included", events: count, found: most, allowed: 400),
            Figure(
                "replay, \(name), time of an event beside n / 4",
                events: count,
                found: growth(rounds),
                allowed: 1.3
            ),
        ]
        if builtIn != nil {
            figures.insert(figure(name, cold, "the built-in decoder", rates { $0.builtIn ?? $0.cold }, 0.4), at: 1)
        }
        if let rateGoal { figures.insert(figure(name, cold, "events a second", [rateGoal], 1), at: 1) }
        return figures
    }

    /// Processor time of an event among all events, divided by that among the first quarter of them. The start of a process is
    /// taken off: it would hide growth, as it weighs more on fewer events.
    private func growth(_ rounds: [Round]) -> Double {
        Figure.median(
            rounds.map { round in
                let whole = round.cold.seconds - round.start.seconds
                let quarter = round.quarter.seconds - round.start.seconds
                return (whole / Double(count - 1)) / (quarter / Double(count / 4 - 1))
            }
        )
    }

    // MARK: - Memory

    /// The growth of the greatest anonymous memory of a replay, from a quarter of the events to all, for each thing that the state
    /// holds more of, its texts taken off; only where the system tells.
    private func memory() throws -> [Figure] {
        guard let held else { return [] }
        let few = try measured(through: count / 4)
        let many = try measured(through: count)
        guard let least = few.bytes, let most = many.bytes else { return [] }
        let things = max(1, many.size.count(held) - few.size.count(held))
        let bytes = Double(most - least - (many.size.textBytes - few.size.textBytes)) / Double(things)
        return [
            Figure("replay, \(name), bytes of memory \(held.words)", events: count, found: bytes, allowed: held.allowed)
        ]
    }

    private func measured(through sequence: Int) throws -> (bytes: Int?, size: StateSize) {
        let replay = coldReplay(through: sequence)
        // With a heap of its own, the program would hold huge pages from the start, in which much of the growth lies. glibc
        // ignores 0.
        setenv("MALLOC_ARENA_MAX", "0", 1)
        defer { unsetenv("MALLOC_ARENA_MAX") }
        let peaks = try (0..<Self.memoryRounds).map { _ in
            try Child.peakBytes(program, replay, output: scratch.file("out"))
        }
        _ = try ask("state-size", [log, String(sequence)])
        let size = try JSONDecoder().decode(StateSize.self, from: Data(contentsOf: URL(filePath: scratch.file("out"))))
        return (peaks.compactMap { $0 }.max(), size)
    }

    // MARK: - Processes

    private func coldReplay(of log: String? = nil, through sequence: Int) -> [String] {
        ["replay", log ?? self.log, "--at", String(sequence), "--digest", "--no-snapshots", "-q"]
    }

    /// Has this program do an errand in a process of its own.
    private func ask(_ errand: String, _ arguments: [String]) throws -> Child.Usage {
        try use(CommandLine.arguments[0], ([errand] + arguments).flatMap { ["--answer", $0] })
    }

    private func use(_ program: String, _ arguments: [String]) throws -> Child.Usage {
        try Child.use(program, arguments, output: scratch.file("out"))
    }
}

extension FamilyLog.Held {
    /// The name of one counted thing, as the figure shows it.
    fileprivate var words: String {
        switch self {
        case .messages: "for a live message beside the texts of its versions"
        case .rows: "for a live row beside its values"
        case .commits: "for a commit beside the texts of its message"
        }
    }

    fileprivate var allowed: Double {
        switch self {
        case .messages: 250
        case .rows: 400
        case .commits: 300
        }
    }
}

extension StateSize {
    fileprivate func count(_ held: FamilyLog.Held) -> Int {
        switch held {
        case .messages: messages
        case .rows: rows
        case .commits: events
        }
    }
}
