import EventLog
import Foundation
import Projections

/// The state of one channel at some sequence, as a whole process: from its start until it has written the document to a
/// file and ended. Channels and sequences are drawn evenly by a seed; the first query, which makes the index, is apart.
struct QueryBenchmark {
    let count: Int
    let scratch: Scratch
    /// The logtool that is asked; without one this program does the same.
    let program: String?
    /// Where the log is or is to be left; without one it is made anew and removed.
    let log: String?
    private let queries = 200
    private static let build = "benchmark"

    func run() throws -> [Figure] {
        let path = log ?? scratch.fresh("query.eventlog")
        if !FileManager.default.fileExists(atPath: path) {
            try LogFilling.fill(try EventStore.openOrCreate(at: path), count: count, seed: 5)
        }
        let start = try median(of: 10) { try spawn(["--version"]) }
        let first = try seconds { try ask(path, channel: 0, at: count) }
        var generator = SplitMix(state: 11)
        let times = try (0..<queries).map { _ in
            let (channel, sequence) = (generator.below(400), 1 + generator.below(count))
            return try time { try ask(path, channel: channel, at: sequence) }
        }.sorted()
        let largest = try median(of: 5) { try ask(path, channel: 0, at: count) }
        let log = Double(Scratch.bytes(of: path + "/gen-000001"))
        let derived = Double(Scratch.bytes(of: path + "/cache-000001"))
        func milliseconds(_ name: String, _ time: Double, allowed: Double) -> Figure {
            Figure("query, ms: \(name)", events: count, found: time * 1000, allowed: allowed)
        }
        return [
            milliseconds("start of the program", start, allowed: 50),
            milliseconds("median of \(queries)", times[queries / 2], allowed: 100),
            milliseconds("99th percentile", times[queries * 99 / 100], allowed: 100),
            milliseconds("slowest", times[queries - 1], allowed: 200),
            milliseconds("the largest channel at the head", largest, allowed: 200),
            milliseconds("the first one, a thousand events", first / Double(count) * 1000, allowed: 3),
            Figure("query, derived data beside the log", events: count, found: derived / log, allowed: 0.6),
        ]
    }

    /// The work of one query, for a process of its own.
    static func answer(_ arguments: [String]) throws {
        guard arguments.count == 3, let sequence = UInt64(arguments[2]),
            let name = EntityReference("channel:" + arguments[1])
        else { return }
        var options = ReplayOptions()
        options.keeping = KeptStateOptions(build: build)
        let store = try EventStore.open(at: arguments[0])
        let states = try store.read {
            try Replay.channels(named: name, of: $0, through: SequenceNumber(sequence), options: options)
        }
        for state in states {
            try state.writeLines { bytes in
                let count = write(1, bytes.baseAddress, bytes.count)
                guard count == bytes.count else { throw CocoaError(.fileWriteUnknown) }
            }
        }
    }

    private func ask(_ log: String, channel: Int, at sequence: Int) throws {
        let name = "gateway/\(Corpus.channelID(channel))"
        if program == nil {
            try spawn(["--answer", "query", "--answer", log, "--answer", name, "--answer", String(sequence)])
        } else {
            try spawn(["replay", log, "--channel", name, "--at", String(sequence), "--json"])
        }
    }

    private func spawn(_ arguments: [String]) throws {
        let own = CommandLine.arguments[0]
        let status = Child.run(program ?? own, arguments, output: output)
        guard status == 0 else { throw CocoaError(.executableLoad) }
    }

    private func median(of rounds: Int, _ body: () throws -> Void) throws -> Double {
        Figure.median(try (0..<rounds).map { _ in try time(body) })
    }

    /// How long a query takes that writes a file which was not there before: to cut off one that the system is just
    /// bringing to the disk would take as long as that does.
    private func time(_ body: () throws -> Void) throws -> Double {
        unlink(output)
        return try seconds(body)
    }

    private var output: String { scratch.file("state.json") }
}
