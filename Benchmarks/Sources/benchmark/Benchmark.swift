import ArgumentParser
import Foundation

/// Runs the benchmarks and prints their ratios.
@main
struct Benchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmark",
        abstract: "Measures the log beside a bare LMDB and SQLite, in one process and one run.",
        discussion: """
            EXAMPLES
              benchmark append --events 1000000
              benchmark read replay --json figures.json
              benchmark --smoke
            """,
        version: "1"
    )

    /// A family of measurements.
    enum Family: String, ExpressibleByArgument, CaseIterable {
        case append, growth, single, read, verify, replay, query, ingest
        /// The two parts of `ingest`.
        case frames, git
        /// Paced by the clock.
        case steady
        /// Need a program.
        case cache, play, families, answers, view, proxy
        case appCache = "app-cache"

        static let usual = allCases.filter {
            ![.frames, .git, .steady, .cache, .appCache, .play, .families, .answers, .view, .proxy].contains($0)
        }
    }

    @Argument(
        help: """
            What to measure: append, growth, single, read, verify, replay, query, ingest (or of it frames, git), steady, app-cache; cache, \
            families, answers, play, proxy and view (in chromium), with --program.
            """
    )
    var families: [Family] = []

    @Option(help: "How many events.")
    var events: Int = 1_000_000

    @Option(help: "Writes the figures to this file as JSON.")
    var json: String?

    @Option(help: "The folder for the logs; they are removed afterwards.")
    var folder: String = FileManager.default.temporaryDirectory.path

    @Option(
        help:
            "The logtool that `query` asks, and that `cache`, `families`, `answers`, `play`, `proxy` and `view` run; `query` without one does the same work itself."
    )
    var program: String?

    @Option(
        help: "A log that `query`, `cache` or `app-cache` made or makes and leaves, so that it need not be made again."
    )
    var log: String?

    @Option(help: .hidden)
    var answer: [String] = []

    @Flag(help: "Runs everything small, in under a minute, and judges nothing.")
    var smoke = false

    func validate() throws {
        guard events >= 10_000 else { throw ValidationError("--events must be at least 10000") }
    }

    func run() async throws {
        if let errand = answer.first { return try await run(errand, Array(answer.dropFirst())) }
        let count = smoke ? 20_000 : events
        let scratch = try Scratch(in: folder)
        var figures: [Figure] = []
        for family in families.isEmpty ? Family.usual : families {
            figures += try await measure(family, count: count, scratch: scratch)
        }
        print(Figure.table(figures))
        if let json { try Figure.json(figures).write(to: URL(filePath: json)) }
    }

    /// What a process does that a measurement has started.
    private func run(_ errand: String, _ arguments: [String]) async throws {
        switch errand {
        case "query": try QueryBenchmark.answer(arguments)
        case "app-cache": try await AppCacheBenchmark.answer(arguments)
        case "read-cache": try CacheReader.answer(arguments)
        case "read-json": try PayloadReading.answer(arguments)
        case "message-bytes": try ReplayBenchmark.answer(arguments)
        case "state-size": try StateSize.answer(arguments)
        #if Recorders
        case "bare-proxy": try await BareProxy.answer(arguments)
        #endif
        default: throw ValidationError("there is no errand \"\(errand)\"")
        }
    }

    private func measure(_ family: Family, count: Int, scratch: Scratch) async throws -> [Figure] {
        switch family {
        case .append: try AppendBenchmark(count: count, scratch: scratch).run()
        case .growth: try GrowthBenchmark(count: count, scratch: scratch).run()
        case .single: try await SingleBenchmark(count: min(count / 50, 20_000), scratch: scratch).run()
        case .read: try ReadBenchmark(count: count, scratch: scratch).run()
        case .verify: try VerifyBenchmark(count: count, scratch: scratch).run()
        case .replay: try ReplayBenchmark(count: count, scratch: scratch).run()
        case .query: try QueryBenchmark(count: count, scratch: scratch, program: program, log: log).run()
        case .ingest:
            try await measure(.frames, count: count, scratch: scratch)
                + measure(.git, count: count, scratch: scratch)
        case .cache: try CacheBenchmark(count: count, scratch: scratch, program: program, log: log).run()
        case .appCache: try AppCacheBenchmark(count: count, scratch: scratch, log: log).run()
        case .families: try FamiliesBenchmark(count: count, scratch: scratch, program: program).run()
        case .answers: try answers(count: count, scratch: scratch)
        case .frames: try await frames(count: min(count / 5, 200_000), scratch: scratch)
        case .steady: try await steady(count: min(count, 20_000), scratch: scratch)
        case .play: try await play(count: count, scratch: scratch)
        case .proxy: try await proxy(count: count, scratch: scratch)
        case .view: try view(count: count, scratch: scratch)
        case .git: try GitIngestBenchmark(commits: min(count / 20, 50_000), scratch: scratch).run()
        }
    }

    private func answers(count: Int, scratch: Scratch) throws -> [Figure] {
        guard let program else { throw ValidationError("answers needs --program, a logtool") }
        return try AnswersBenchmark(count: count, scratch: scratch, program: program).run()
    }

    private func view(count: Int, scratch: Scratch) throws -> [Figure] {
        guard let program else { throw ValidationError("view needs --program, a logtool with recorders") }
        return try ViewBenchmark(count: count, scratch: scratch, program: program).run()
    }

    private func play(count: Int, scratch: Scratch) async throws -> [Figure] {
        #if Recorders
        guard let program else { throw ValidationError("play needs --program LOGTOOL") }
        return try await PlayBenchmark(count: count, scratch: scratch, program: program).run()
        #else
        throw ValidationError("this build has no recorders; build with the trait Recorders")
        #endif
    }

    private func proxy(count: Int, scratch: Scratch) async throws -> [Figure] {
        #if Recorders
        guard let program else { throw ValidationError("proxy needs --program LOGTOOL") }
        return try await ProxyBenchmark(count: count, scratch: scratch, program: program).run()
        #else
        throw ValidationError("this build has no recorders; build with the trait Recorders")
        #endif
    }

    private func steady(count: Int, scratch: Scratch) async throws -> [Figure] {
        #if Recorders
        try await SteadyBenchmark(count: count, scratch: scratch).run()
        #else
        throw ValidationError("this build has no recorders to measure; build with the trait Recorders")
        #endif
    }

    private func frames(count: Int, scratch: Scratch) async throws -> [Figure] {
        #if Recorders
        try await FrameBenchmark(count: count, scratch: scratch).run()
        #else
        throw ValidationError("this build has no recorders to measure; build with the trait Recorders")
        #endif
    }
}
