import EventLog
import Viewer

/// Reads what `export` or `compact` wrote, line by line, and names the line in errors. For one thread.
final class ExportInput {
    private let operation: String
    private let path: String
    private let lines: LineReader
    private var reader = ExportReader()
    /// Finds the export where the input is a report.
    private var report: ReportInput?
    /// The lines that a piece of the report held, the next one last.
    private var waiting: [[UInt8]] = []

    /// - Parameter operation: what errors call the work, such as `import`.
    init(_ path: String, _ lines: LineReader, for operation: String) {
        (self.path, self.lines, self.operation) = (path, lines, operation)
    }

    /// The number of the line that was read last, from 1.
    var number: Int { lines.number }

    /// Reads the header, beginning with the first line, which the caller has taken from the lines.
    func header(_ first: [UInt8]) throws -> LogHeader {
        guard ReportInput.isReport(first) else { return try read { try reader.header(first) } }
        report = ReportInput()
        guard let header = try line() else { throw fault("it is a page that holds no log") }
        return try read { try reader.header(header) }
    }

    /// The next line of the export.
    private func line() throws -> [UInt8]? {
        while waiting.isEmpty {
            guard let line = try lines.next() else { return nil }
            guard report != nil else { return line }
            waiting = try read { try report?.lines(of: line).reversed() ?? [] }
        }
        return waiting.popLast()
    }

    /// The next piece; `nil` after the last.
    ///
    /// - Throws: `Failure` that names the line.
    func next() throws -> LogPiece? {
        guard let line = try line() else { return nil }
        return try read { try reader.piece(line) }
    }

    /// Reads one line and names it in errors of JSON, of an event's form, and of the log's limits.
    private func read<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let fault as ExportFault {
            throw self.fault(fault.description)
        } catch let error as EventLogError {
            throw fault(error.reason)
        }
    }

    /// The error for the line that was read last.
    private func fault(_ reason: String) -> Failure {
        Failure("\(operation) \"\(path)\", line \(lines.number): \(reason)")
    }
}

extension Archive {
    /// Opens an archive.
    ///
    /// - Throws: `Failure` for a file that is none.
    init(at path: String, for operation: String) throws {
        let lines = try LineReader(path)
        let input = ExportInput(path, lines, for: operation)
        guard let first = try lines.next() else { throw Failure("\(operation) \"\(path)\": it is empty") }
        self.init(name: path, header: try input.header(first)) { try input.next() }
    }
}
