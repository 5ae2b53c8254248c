#if Recorders
import CoreMetrics
import Synchronization

/// Collects the metrics reported to swift-metrics and writes them in Prometheus's text format (version 0.0.4).
///
/// Counters add up, recorders and gauges keep the last value, timers give a count and a sum in seconds. The mutex
/// guards all values, so any thread may report. Values live as long as the process.
///
/// Format: https://prometheus.io/docs/instrumenting/exposition_formats/. Counters restart at zero with the process,
/// which Prometheus expects.
final class MetricsRegistry: MetricsFactory {
    /// One metric with one set of dimensions.
    private struct Series {
        /// A counter's total, a gauge's last value, or a summary's sum in seconds.
        var value = 0.0
        /// How many values a timer got; 0 for other kinds.
        var count: Int64 = 0
    }

    /// The raw values are the words of `# TYPE` lines.
    private enum Kind: String {
        case counter, gauge, summary
    }

    /// A metric's name and its dimensions as `name="value"`, in the order in which they were reported.
    private struct Name: Hashable {
        let label: String
        let dimensions: [String]
    }

    private struct Contents {
        /// By label, so that all series of a label have one type. The kind that was reported first stays.
        var kinds: [String: Kind] = [:]
        var series: [Name: Series] = [:]
    }

    private let contents = Mutex(Contents())

    /// The most series that are kept, so that a mistake cannot fill the memory.
    private static let seriesMax = 10_000

    /// Everything as text, sorted by name. Reading it resets nothing.
    var text: String {
        // A copy, so that reporting threads do not wait while the text is made.
        let contents = contents.withLock { $0 }
        var lines: [String] = []
        for (label, kind) in contents.kinds.sorted(by: { $0.key < $1.key }) {
            lines.append("# TYPE \(label) \(kind.rawValue)")
            let series = contents.series.filter { $0.key.label == label }
            for (name, value) in series.sorted(by: { $0.key.dimensions.lexicographicallyPrecedes($1.key.dimensions) }) {
                let labels = name.dimensions.isEmpty ? "" : "{\(name.dimensions.joined(separator: ","))}"
                if kind == .summary {
                    lines.append("\(label)_sum\(labels) \(value.value)")
                    lines.append("\(label)_count\(labels) \(value.count)")
                } else {
                    lines.append("\(label)\(labels) \(value.value)")
                }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Changes one series, and makes it if it is new. Beyond `seriesMax`, new series are ignored.
    private func change(
        _ label: String,
        _ dimensions: [(String, String)],
        _ kind: Kind,
        _ body: (inout Series) -> Void
    ) {
        let name = Name(
            label: Self.legal(label),
            dimensions: dimensions.map { "\(Self.legal($0))=\"\(Self.escaped($1))\"" }
        )
        contents.withLock { contents in
            guard contents.series[name] != nil || contents.series.count < Self.seriesMax else { return }
            contents.kinds[name.label] = contents.kinds[name.label] ?? kind
            body(&contents.series[name, default: Series()])
            assert(contents.series.count <= Self.seriesMax, "the number of series is bounded")
        }
    }

    /// A name in Prometheus's alphabet; other characters become underscores.
    private static func legal(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
    }

    /// A label's value with the three escapes of the text format.
    private static func escaped(_ text: String) -> String {
        // By scalars: CR and LF together are one character, and the LF alone would end the line.
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

extension MetricsRegistry {
    /// The handler has no state: all values are in `contents`, so destroying it loses nothing.
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Handler { amount in self.change(label, dimensions, .counter) { $0.value += amount } }
    }

    /// A recorder keeps its last value, whatever `aggregate` requests.
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Handler { amount in self.change(label, dimensions, .gauge) { $0.value = amount } }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Handler { amount in
            self.change(label, dimensions, .summary) { series in
                // swift-metrics gives nanoseconds, Prometheus expects seconds.
                series.value += amount / 1e9
                series.count += 1
            }
        }
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

/// Passes values on, whatever the metric's kind. `reset` does nothing, because a counter that falls would look like a
/// restart.
private final class Handler: CounterHandler, RecorderHandler, TimerHandler {
    private let take: @Sendable (Double) -> Void

    init(_ take: @escaping @Sendable (Double) -> Void) {
        self.take = take
    }

    func increment(by amount: Int64) { take(Double(amount)) }
    func reset() {}
    func record(_ value: Int64) { take(Double(value)) }
    func record(_ value: Double) { take(value) }
    func recordNanoseconds(_ duration: Int64) { take(Double(duration)) }
}
#endif
