import Foundation

/// Answers about a log of chat traffic, each in a process of its own. Processor time is counted in units of one cold
/// `replay --digest` of the same log, taken in turns with the question, so that a figure says more than which machine it was
/// measured on.
struct AnswersBenchmark {
    let count: Int
    let scratch: Scratch
    /// The logtool that answers.
    let program: String
    private let rounds = 5

    /// One question, and what its answer may cost.
    private struct Question {
        let name: String
        let arguments: [String]
        /// Processor time, in cold replays.
        let time: Double
        var megabytes: Double?
        /// Whether it is asked once before, so that what the first answer kept is there.
        var again = false
    }

    func run() throws -> [Figure] {
        let capture = scratch.fresh("answers.ndjson")
        try Traffic.mixed.write(count, to: capture)
        let log = scratch.fresh("answers.eventlog")
        let ingest = try (0..<rounds).map { _ in
            try? FileManager.default.removeItem(atPath: log)
            return try use(["ingest", log, "capture", capture, "--kind", Traffic.mixed.kind, "-q"]).seconds
        }
        try FileManager.default.removeItem(atPath: capture)
        // What the first answer keeps is there for all questions.
        _ = try use(["replay", log, "--digest", "-q"])
        var figures = [rate("ingest capture", ingest, goal: 250_000)]
        figures += try questions(log).flatMap { try answer($0, about: log) }
        figures += try searches(log).flatMap { try answer($0, about: log) }
        return try figures + transfer(log)
    }

    /// The log, as a file and from it.
    private func transfer(_ log: String) throws -> [Figure] {
        let file = scratch.fresh("answers.export")
        let exports = try (0..<rounds).map { _ in
            try? FileManager.default.removeItem(atPath: file)
            return try use(["export", log, "-o", file, "-q"]).seconds
        }
        let imports = try (0..<rounds).map { _ in
            let copy = scratch.fresh("copy.eventlog")
            defer { try? FileManager.default.removeItem(atPath: copy) }
            return try use(["import", copy, file, "-q"]).seconds
        }
        return [rate("export", exports, goal: 400_000), rate("import", imports, goal: 200_000)]
    }

    private func questions(_ log: String) -> [Question] {
        let message = "message:\(Traffic.messageID(count / 3))"
        let cache = scratch.fresh("answers.sqlite")
        return [
            Question(name: "stats", arguments: ["stats", log], time: 0.3, megabytes: 300),
            Question(name: "replay --json", arguments: ["replay", log, "--json", "-q"], time: 1.5, megabytes: 700),
            Question(name: "replay", arguments: ["replay", log, "-q"], time: 1.5),
            Question(
                name: "diff of the last ten events",
                arguments: ["diff", "\(log)@\(count - 10)", log, "-q"],
                time: 0.3,
                megabytes: 300
            ),
            Question(
                name: "diff from the middle",
                arguments: ["diff", "\(log)@\(count / 2)", log, "-q"],
                time: 2.5,
                megabytes: 900
            ),
            Question(
                name: "history of a message, again",
                arguments: ["history", log, message, "-q"],
                time: 0.15,
                megabytes: 200,
                again: true
            ),
            Question(
                name: "events --entity, again",
                arguments: ["events", log, "--entity", message, "-q"],
                time: 0.15,
                megabytes: 200,
                again: true
            ),
            Question(
                name: "compact --dry-run",
                arguments: ["compact", log, "--dry-run", "-q"],
                time: 2.5,
                megabytes: 700
            ),
            Question(name: "rebuild", arguments: ["rebuild", log, "--to", cache, "-q"], time: 4, megabytes: 500),
        ]
    }

    private func answer(_ question: Question, about log: String) throws -> [Figure] {
        if question.again { _ = try use(question.arguments) }
        let turns = try (0..<rounds).map { _ in
            (
                cold: try use(["replay", log, "--digest", "--no-snapshots", "-q"]).seconds,
                usage: try use(question.arguments)
            )
        }
        let time = Figure.median(turns.map { $0.usage.seconds / $0.cold })
        let megabytes = turns.map(\.usage.megabytes).max() ?? 0
        let figure = Figure("\(question.name), in cold replays", events: count, found: time, allowed: question.time)
        guard let allowed = question.megabytes else { return [figure] }
        return [figure, Figure("\(question.name), MB", events: count, found: megabytes, allowed: allowed)]
    }

    // MARK: - Questions without anything kept, and again

    /// One question that is asked of the log without derived data, and then again.
    private struct Search {
        let name: String
        let arguments: [String]
        /// Processor time, in cold replays.
        let first: Double
        let again: Double
        let megabytes: Double
    }

    private func searches(_ log: String) -> [Search] {
        let text = Traffic.mark
        func search(_ name: String, _ arguments: [String], _ first: Double, _ again: Double, _ megabytes: Double)
            -> Search
        {
            Search(
                name: name,
                arguments: [arguments[0], log] + arguments.dropFirst() + ["-q"],
                first: first,
                again: again,
                megabytes: megabytes
            )
        }
        let bisect = ["bisect", "--when", "exists(messages[content=\"\(text)\"])"]
        return [
            search("profiles", ["profiles"], 2.5, 1, 500),
            search("history --match", ["history", "--match", text], 1, 0.15, 300),
            search("events --match", ["events", "--match", text], 0.5, 0.15, 500),
            search("audit --match", ["audit", "--match", text], 1, 0.15, 300),
            search("audit --deletes -n 1", ["audit", "--deletes", "-n", "1"], 1, 0.15, 300),
            search("bisect --when", bisect, 2, 1, 500),
            search("bisect --profile retrocast-web", bisect + ["--profile", "retrocast-web"], 2, 1, 500),
            search("diff with retrocast-web", ["diff", "\(log)#retrocast-web"], 2, 1, 500),
            search("replay --channel --at", ["replay", "--channel", "7", "--at", "\(count / 2)"], 0.8, 0.1, 500),
            search("stats", ["stats"], 0.8, 0.3, 500),
            search("gaps", ["gaps"], 0.8, 0.3, 500),
        ]
    }

    private func answer(_ search: Search, about log: String) throws -> [Figure] {
        let turns = try (0..<3).map { _ in
            let cold = try use(["replay", log, "--digest", "--no-snapshots", "-q"])
            try removeDerivedData(of: log)
            let first = try use(search.arguments)
            return (cold: cold, first: first, again: try use(search.arguments))
        }
        func figures(_ name: String, _ goal: Double, _ usage: (Int) -> Child.Usage) -> [Figure] {
            let (name, all) = ("\(search.name), \(name)", turns.indices.map(usage))
            func median(_ value: (Child.Usage) -> Double) -> Double {
                Figure.median(zip(all, turns).map { value($0) / value($1.cold) })
            }
            return [
                Figure("\(name), in cold replays", events: count, found: median(\.seconds), allowed: goal),
                Figure("\(name), in those by the clock", events: count, found: median(\.wall), allowed: goal),
                Figure("\(name), MB", events: count, found: all.map(\.megabytes).max() ?? 0, allowed: search.megabytes),
            ]
        }
        return figures("first", search.first) { turns[$0].first } + figures("again", search.again) { turns[$0].again }
    }

    private func removeDerivedData(of log: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: log) where name.hasPrefix("cache-") {
            try FileManager.default.removeItem(atPath: "\(log)/\(name)")
        }
    }

    private func rate(_ name: String, _ seconds: [Double], goal: Double) -> Figure {
        let rates = seconds.map { Double(count) / $0 }
        return Figure(name, events: count, rates: rates, beside: "events/s", [goal], goal: 1)
    }

    private func use(_ arguments: [String]) throws -> Child.Usage {
        try Child.use(
            program,
            arguments,
            output: scratch.file("out"),
            differs: ["diff", "audit"].contains(arguments[0])
        )
    }
}
