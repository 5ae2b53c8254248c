import EventLog
import Ingest

extension ExportedEvents {
    /// True if a regular file's first line is such an event. False for a pipe and standard input, which cannot be read
    /// twice. Opens the file for its first line alone, so that the source that is chosen then reads it from the start.
    static func begin(file: String) -> Bool {
        guard file != "-", InputFile.isRegular(file), let first = try? LineReader(file).next() else { return false }
        return ExportReader.isEvent(first)
    }

    /// Takes all lines.
    ///
    /// - Parameter first: The first line, if it was read already.
    /// - Throws: `Failure` that names the line.
    mutating func add(_ lines: LineReader, first: [UInt8]? = nil) throws {
        var next = try first ?? lines.next()
        while let line = next {
            do {
                try add(line, number: lines.number)
            } catch let error as ExportFault {
                throw fault(lines, error.description)
            } catch let error as EventLogError {
                throw fault(lines, error.reason)
            }
            next = try lines.next()
        }
    }

    /// The error for the line that was read last. `record` was not called yet, so nothing is appended.
    private func fault(_ lines: LineReader, _ reason: String) -> Failure {
        Failure("\(operation) \"\(object)\", line \(lines.number): \(reason); nothing was appended")
    }
}
