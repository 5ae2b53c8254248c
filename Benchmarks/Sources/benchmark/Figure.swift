import Foundation

/// One measurement beside its baseline.
struct Figure: Codable {
    var name: String
    var events: Int
    /// Events per second.
    var rate: Double
    var baseline: String
    var baselineRate: Double
    var ratio: Double
    /// What the ratio should reach at least; nothing is judged where it is absent.
    var goal: Double?
    var met: Bool?

    /// Medians of interleaved rounds. Where both sides have a rate of each round, the ratio is the median of the rounds' own
    /// ratios: a machine whose speed wanders is the same for both sides of a round.
    init(
        _ name: String,
        events: Int,
        rates: [Double],
        beside baseline: String,
        _ baselineRates: [Double],
        goal: Double?
    ) {
        self.name = name
        self.events = events
        rate = Self.median(rates)
        self.baseline = baseline
        baselineRate = Self.median(baselineRates)
        ratio =
            rates.count == baselineRates.count
            ? Self.median(zip(rates, baselineRates).map { $1 > 0 ? $0 / $1 : 0 })
            : baselineRate > 0 ? rate / baselineRate : 0
        self.goal = goal
        met = goal.map { ratio >= $0 }
    }

    /// One value beside the most that it may be, such as bytes per event: the ratio is allowed / found.
    init(_ name: String, events: Int, found: Double, allowed: Double) {
        self.name = name
        self.events = events
        rate = found
        baseline = "at most"
        baselineRate = allowed
        ratio = found > 0 ? allowed / found : 0
        goal = 1
        met = found <= allowed
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    static func json(_ figures: [Figure]) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(figures)
    }

    static func table(_ figures: [Figure]) -> String {
        let rows = figures.map { figure in
            [
                figure.name, String(figure.events), number(figure.rate), figure.baseline, number(figure.baselineRate),
                String(format: "%.2f", figure.ratio), figure.goal.map { String(format: "%.2f", $0) } ?? "",
                figure.met.map { $0 ? "yes" : "no" } ?? "",
            ]
        }
        let header = ["what", "events", "figure", "beside", "figure", "ratio", "goal", "met"]
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        return ([header] + rows)
            .map { row in
                row.enumerated().map { $1.padding(toLength: widths[$0], withPad: " ", startingAt: 0) }
                    .joined(separator: "  ")
            }
            .joined(separator: "\n")
    }

    private static func number(_ value: Double) -> String {
        value >= 10_000 ? String(format: "%.0f k", value / 1000) : String(format: "%.1f", value)
    }
}
