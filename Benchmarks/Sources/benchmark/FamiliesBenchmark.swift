import ArgumentParser
import Foundation

/// A replay of each kind of traffic, in a process of its own, beside a Python script that keeps the same capture in dictionaries
/// (`families.py`; `json.loads` and `dict.update`). Processor time of whole processes.
struct FamiliesBenchmark {
    let count: Int
    let scratch: Scratch
    /// The logtool that replays.
    let program: String?
    private let rounds = 3

    func run() throws -> [Figure] {
        guard let program else { throw ValidationError("families needs --program, a logtool") }
        return try Traffic.allCases.flatMap { try figures(of: $0, program) }
    }

    private func figures(of traffic: Traffic, _ program: String) throws -> [Figure] {
        let count = max(500, count / traffic.share)
        let capture = scratch.fresh("capture.ndjson")
        try traffic.write(count, to: capture)
        let log = scratch.fresh("family.eventlog")
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "families.py").path
        _ = try use(program, ["ingest", log, "capture", capture, "--kind", traffic.kind, "-q"])
        _ = try use(program, ["replay", log, "--digest", "-q"])
        var (rates, others, again): ([Double], [Double], [Double]) = ([], [], [])
        var megabytes = 0.0
        for _ in 0..<rounds {
            let cold = try use(program, ["replay", log, "--digest", "--no-snapshots", "-q"])
            rates.append(Double(count) / cold.seconds)
            others.append(Double(count) / (try use("python3", [script, traffic.kind, capture]).seconds))
            again.append(Double(count) / (try use(program, ["replay", log, "--digest", "-q"]).seconds))
            megabytes = max(megabytes, cold.megabytes)
        }
        try FileManager.default.removeItem(atPath: capture)
        try FileManager.default.removeItem(atPath: log)
        let name = "replay, \(traffic.rawValue)"
        return [
            Figure(name, events: count, rates: rates, beside: "python3", others, goal: traffic.goal),
            Figure("\(name), a second time", events: count, rates: again, beside: "the first time", rates, goal: 1),
            Figure("\(name), MB, the log's pages included", events: count, found: megabytes, allowed: 400),
        ]
    }

    private func use(_ program: String, _ arguments: [String]) throws -> Child.Usage {
        try Child.use(program, arguments, output: scratch.file("out"))
    }
}
