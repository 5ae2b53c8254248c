import EventLog
import Projections
import Viewer

/// Lists changes as one self-contained HTML page, `eventlog.audit/1` of `docs/steps.md`: nothing is loaded from elsewhere, and the
/// page shows only the rows that are seen. Entries are written one after another.
///
/// The log's content may come from an attacker. It is data that no browser runs; the page makes text of it (`Report`).
final class AuditPage: AuditPrinter {
    private static let format = "eventlog.audit/1"

    private let title: String
    private let asked: String
    private let report: Report
    private var block: Report.BlockWriter
    private let finish: () throws -> Void

    /// - Parameters:
    ///   - title: The log's name.
    ///   - asked: The options that chose the changes.
    ///   - write: Takes the page in pieces.
    ///   - finish: Called once, behind the last piece.
    init(title: String, asked: String, write: @escaping ([UInt8]) throws -> Void, finish: @escaping () throws -> Void) {
        (self.title, self.asked, self.finish) = (title, asked, finish)
        report = Report(write)
        block = report.block(.audit)
    }

    /// Writes everything up to the first entry. Only title and selection are text from outside.
    func begin() throws {
        try report.begin(.audit, title: "Audit of \(DisplayText.escaped(title))")
        try block.add(Steps.line(["format": .string(Self.format), "title": .string(title), "asked": .string(asked)]))
    }

    /// Adds an entry as in JSON, with its class and its notes.
    func print(_ line: AuditLine) throws {
        var members = line.json
        members["class"] = .string(line.change.class.rawValue)
        members["notes"] = line.notes.isEmpty ? nil : .array(line.notes.map { .string($0) })
        try block.add(Steps.line(members))
    }

    /// Adds the counts, and size and root, by which a holder of the log can compare.
    func end(_ summary: AuditSummary) throws {
        var counts = JSONObject()
        for kind in AuditEntry.Class.allCases { counts[kind.rawValue] = summary.counts[kind].map { .int($0) } }
        let last: JSONObject = [
            "counts": .object(counts), "said": .string(summary.countText),
            "missing": .array(summary.missing.map { .string($0) }),
            "size": .string(String(summary.size)), "root": .string(summary.root.hex),
        ]
        try block.add(Steps.line(last))
        try block.end()
        try report.end(.audit)
        try finish()
    }
}
