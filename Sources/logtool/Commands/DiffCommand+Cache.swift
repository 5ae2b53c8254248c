import CacheTables
import EventLog
import Projections

extension DiffCommand {
    /// Compares a log with an app's own cache, row by row.
    ///
    /// The log is always side `a`. The cache is only read, and may come from an attacker (`CacheComparison`).
    ///
    /// - Throws: `Outcome.no` if a row differs, after all were printed; `Failure` with exit code 2 if the first state
    ///   is no log, or the map or the cache cannot be read.
    func compareWithCache() throws {
        guard case .log(let path, let point, let profile) = one, let cache = other.plainPath else {
            throw Failure("diff: a cache is compared with a log; write LOG[@POINT][#PROFILE] and the cache's file")
        }
        // With `--map` the cache needs no meta table: an app's own cache has none.
        let map =
            try mapping.map.map { try MappedSchema.map(at: $0, values: mapping.valuesByName) }
            ?? MappedSchema.ownMap(of: cache)
        let progress = output.progress("replaying")
        let store = try decoders.used(
            in: EventStore.open(at: path, options: .withProgress(isQuiet: output.quiet)),
            isQuiet: output.quiet
        )
        let loader = StateLoader(store: store, progress: progress, isQuiet: output.quiet)
        let query = StateQuery(point: point, profile: profile, source: selectors.source)
        let state = try loader.logState(for: query)
        progress.begin("comparing")
        let output = output.paged(unless: lists.form)
        let printer = CacheListPrinter(output: output, form: lists.form, countMax: selectors.count ?? .max)
        // Compares to the end even if `-n` limits what is printed, so that the counts are complete.
        try CacheComparison.compare(state, map, of: store, with: cache) { difference in
            // The first printed row must not share its line with the progress.
            progress.end()
            return try printer.add(difference)
        }
        progress.end()
        try printer.finish()
        if !printer.differences.isEmpty { throw Outcome.no }
    }
}

/// Prints the differences of a cache as they are found, so that a long list needs no memory. The JSON document is
/// therefore written in pieces.
private final class CacheListPrinter {
    private let output: StandardOutput
    private let form: ListForm
    private let countMax: Int
    private var printed = 0
    private(set) var differences = CacheDifferences()

    init(output: StandardOutput, form: ListForm, countMax: Int) {
        (self.output, self.form, self.countMax) = (output, form, countMax)
    }

    /// Counts a difference, and prints it until `countMax` were printed. Always returns true, because all are counted.
    func add(_ difference: CacheComparison.Difference) throws -> Bool {
        _ = differences.add(difference)
        guard printed < countMax else { return true }
        switch form {
        case .text: try CachePrinter(output: output).print(difference)
        case .lines: try output.line(CachePrinter(output: output).json(difference).text)
        case .document:
            try output.line(printed == 0 ? #"{"same":false,"differences":["# : ",")
            try output.write(CachePrinter(output: output).json(difference).text.utf8)
        }
        printed += 1
        return true
    }

    /// Ends the list with the counts of each table.
    func finish() throws {
        switch form {
        case .text:
            for line in differences.lines() { try output.line(line) }
            if differences.isEmpty { try output.line("the cache is what the log says") }
        // Each line is one difference, so the counts of the tables have no place here.
        case .lines: break
        case .document:
            // The members before the list were not printed yet. With `-n 0` the list stays empty although the sides
            // differ.
            if printed == 0 { try output.write(#"{"same":\#(differences.isEmpty),"differences":["#.utf8) }
            try output.line(#"],"tables":\#(differences.json().text)}"#)
        }
        try output.flush()
    }
}
