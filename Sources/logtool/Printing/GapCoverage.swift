/// Tells people which losses each kind of source shows, and which leave no trace.
enum GapCoverage {
    /// In the order of the lines.
    private static let all: [(prefixes: [String], text: String)] = [
        (
            ["recorder."],
            "recorders: every time in which one noticed that it did not listen; not what nobody recorded"
        ),
        (
            ["gateway."],
            "gateways: connections that were lost, and numbers that never came; not what the server sent to nobody"
        ),
        (
            ["realtime."],
            "realtime: subscriptions that were refused or lost; a change that the server dropped leaves no trace"
        ),
        (
            ["sse.", "items."],
            "item lists: connections that were lost; a list that the server dropped before the next leaves no trace"
        ),
        (
            ["status."],
            "status files: versions that the recorder saw go; between two looks one may come and go without a trace"
        ),
        (["cloudkit."], "CloudKit: times without answers; a version between two looks leaves no trace"),
        (["git."], "commits: all parents of a tip; one that was replaced between two looks leaves no trace"),
    ]

    /// The lines for the kinds of a log's events.
    static func lines(of kinds: [String]) -> [String] {
        all.filter { entry in kinds.contains { kind in entry.prefixes.contains { kind.hasPrefix($0) } } }.map(\.text)
    }
}
