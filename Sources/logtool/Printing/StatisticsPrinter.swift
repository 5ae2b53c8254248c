import EventLog
import JSON
import Joining
import Projections

/// Prints what a log holds.
///
/// Counts by source are of held events: nothing here tells the source of a dropped one.
struct StatisticsPrinter {
    let output: StandardOutput
    let statistics: LogStatistics
    /// The logs that are read as one; none for one log.
    let logs: [JoinedLog.Member]

    /// For people.
    func printText() throws {
        // Each sequence that is not held was dropped, or is missing from a part.
        let dropped = statistics.head.rawValue - UInt64(statistics.held)
        let caches = statistics.store.bytesOfCaches
        let share = caches > 0 ? " (\(ByteCountText.text(caches)) of it caches)" : ""
        let size =
            "\(ByteCountText.text(bytesOnDisk)) on disk\(share), \(ByteCountText.text(statistics.store.bytesUsed)) used"
        let others = dropped > 0 ? ", \(dropped) \(statistics.isPart ? "missing" : "dropped")" : ""
        let sealed = statistics.store.sealed > 0 ? ", \(statistics.store.sealed) sealed" : ""
        try output.line("\(counted(statistics.held, "event"))\(sealed)\(others), \(size)")
        for source in statistics.sources { try print(source) }
        let state = statistics.state
        let rows = Section.allCases.filter { state[$0] > 0 }.map { "\($0.rawValue) \(state[$0])" }
        try output.line()
        try output.line("state: \(rows.isEmpty ? "empty" : rows.joined(separator: ", "))")
        if !logs.isEmpty { try output.line() }
        for log in logs { try output.line(Self.text(log)) }
        if let warning = readerWarning {
            try output.line()
            try output.line(warning)
        }
    }

    /// The size of the data file and the caches beside it.
    private var bytesOnDisk: UInt64 { statistics.store.bytesOnDisk + statistics.store.bytesOfCaches }

    /// A reader this many commits behind begins to cost disk space: LMDB reuses no page that some reader may still see.
    private static let readerLagTolerated: UInt64 = 1000

    /// A warning that names the process whose old snapshot keeps replaced pages in use; `nil` if none is far behind.
    private var readerWarning: String? {
        let lag = statistics.store.oldestReaderLag
        guard lag >= Self.readerLagTolerated, let process = statistics.store.oldestReaderProcess else { return nil }
        return "warning: process \(process) has been reading the same state for \(lag) commits; "
            + "until it ends, the space of replaced pages is not used again and the file grows"
    }

    /// As one document. `missing` takes the place of `dropped` in a part, whose lack is not a compaction's.
    func printDocument() throws {
        var state = JSONObject()
        for section in Section.allCases { state[section.rawValue] = .int(statistics.state[section]) }
        let document: JSONObject = [
            "head": .string(statistics.head.description),
            "events": .int(statistics.held),
            statistics.isPart ? "missing" : "dropped": .int(statistics.head.rawValue - UInt64(statistics.held)),
            "sealed": statistics.store.sealed > 0 ? .int(statistics.store.sealed) : nil,
            "generation": .int(statistics.store.generation),
            "bytes": .object([
                "disk": .int(bytesOnDisk), "caches": .int(statistics.store.bytesOfCaches),
                "used": .int(statistics.store.bytesUsed),
                "max": .int(statistics.store.bytesMax),
            ]),
            "readers": .int(statistics.store.readers),
            "oldestReaderLag": .int(statistics.store.oldestReaderLag),
            "sources": .array(statistics.sources.map(json)),
            "state": .object(state),
            "logs": logs.isEmpty ? nil : .array(logs.map(Self.json)),
        ]
        try output.line(JSONValue.object(document).lines)
    }

    /// One of several logs: its events, and what of them does not count.
    private static func text(_ log: JoinedLog.Member) -> String {
        var parts = [counted(Int(clamping: log.head.rawValue), "event")]
        if log.duplicates > 0 { parts.append("\(log.duplicates) of them in a log before") }
        if log.redacted > 0 { parts.append("\(log.redacted) redacted") }
        return "\(DisplayText.escaped(log.name))  \(parts.joined(separator: ", "))"
    }

    private static func json(_ log: JoinedLog.Member) -> JSONValue {
        .object([
            "log": .string(log.name),
            "identity": .string(Base64.encode(log.identity)),
            "head": .string(log.head.description),
            "root": .string(Base64.encode(log.root.bytes)),
            "duplicates": .int(log.duplicates),
            "redacted": .int(log.redacted),
        ])
    }

    /// One source: its events, the bytes of its payloads without envelopes, and the times between which they were
    /// received.
    private func print(_ source: LogStatistics.Source) throws {
        let name = output.style.text(DisplayText.escaped(source.name.rawValue), .heading)
        let size = ByteCountText.text(source.payloadBytes)
        let span = "\(TimeText.full(source.first)) to \(TimeText.full(source.last))"
        try output.line()
        try output.line("\(name)  \(output.style.text("\(counted(source.events, "event")), \(size), \(span)", .quiet))")
        for (kind, count) in sortedKinds(of: source) {
            try output.line("  \(DisplayText.padded(DisplayText.escaped(kind), to: 20))  \(count)")
        }
    }

    /// One source as in `docs/cli-json.md`.
    private func json(_ source: LogStatistics.Source) -> JSONValue {
        var kinds = JSONObject()
        for (kind, count) in sortedKinds(of: source) { kinds[kind] = .int(count) }
        return .object([
            "source": .string(source.name.rawValue),
            "events": .int(source.events),
            "payloadBytes": .int(source.payloadBytes),
            "first": .string(source.first.description),
            "last": .string(source.last.description),
            "kinds": .object(kinds),
        ])
    }

    /// The kinds by their bytes. A dictionary's order would change from run to run.
    private func sortedKinds(of source: LogStatistics.Source) -> [(String, Int)] {
        source.kinds.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
    }
}
