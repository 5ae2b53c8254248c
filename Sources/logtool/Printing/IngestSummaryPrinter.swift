import EventLog
import Ingest
import Projections

/// Prints what a run of a recorder did.
///
/// `ingest` and `import` share it, so scripts read one document for both.
struct IngestSummaryPrinter {
    let output: StandardOutput
    let summary: IngestSummary

    /// Prints the summary and flushes; for people, issues go to standard error.
    func print(asJSON: Bool) throws {
        try output.line(asJSON ? JSONValue.object(json).text : text)
        try output.flush()
        guard !asJSON else { return }
        for issue in summary.issues { StandardError.line(DisplayText.escaped("logtool: passed over \(issue)")) }
    }

    /// `appended 3 events (18 to 20), 17 were there already`. Counts of zero are left out, but not the first.
    private var text: String {
        var parts = ["appended \(counted(summary.appended, "event"))"]
        if let first = summary.first, let last = summary.last { parts[0] += " (\(first) to \(last))" }
        if summary.duplicates > 0 { parts.append("\(summary.duplicates) were there already") }
        if summary.skipped > 0 { parts.append("\(summary.skipped) passed over") }
        return parts.joined(separator: ", ")
    }

    /// The members of `docs/cli-json.md`. The counts are always there, so that a script need not test for them.
    private var json: JSONObject {
        let issues = summary.issues.map { issue in
            JSONValue.object(["place": .string(issue.place), "reason": .string(issue.reason)])
        }
        return [
            "appended": .int(summary.appended),
            "duplicates": .int(summary.duplicates),
            "skipped": .int(summary.skipped),
            "first": .text(summary.first?.description),
            "last": .text(summary.last?.description),
            "issues": .array(issues),
        ]
    }
}
