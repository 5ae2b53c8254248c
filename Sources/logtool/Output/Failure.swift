import ArgumentParser
import EventLog
import Ingest
import Joining
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The exit codes that scripts rely on. A signal adds 128 + its number.
enum Outcome {
    /// The answer is no: states differ, a check failed, or a thing does not exist.
    static let no = ExitCode(1)
    /// Usage, environment, input or I/O trouble.
    static let trouble = ExitCode(2)
    /// The log is damaged.
    static let damaged = ExitCode(3)
    /// Refused without `--yes`.
    static let refused = ExitCode(4)
    /// No log exists at the path.
    static let noLog = ExitCode(10)
    /// Another process holds the lock.
    static let locked = ExitCode(11)
}

/// An error with its exit code: one line on standard error. For what a user can understand and mend; mistakes of the
/// program are assertions.
struct Failure: Error, CustomStringConvertible {
    let description: String
    let exitCode: ExitCode

    /// Makes a failure: operation and object, what is wrong, what to do next; lower case, no full stop.
    init(_ description: String, exitCode: ExitCode = Outcome.trouble) {
        self.description = description
        self.exitCode = exitCode
    }

    /// A command line that cannot be understood.
    static func usage(_ reason: String, command: String?) -> Failure {
        let help = command.map { "logtool help \($0)" } ?? "logtool help"
        return Failure("\(sentenceFragment(reason)); see: \(help)")
    }

    /// Writes one line to standard error and returns the exit code. Broken pipes and bare exit codes print nothing:
    /// nobody reads on, or the command has said it all.
    static func report(_ error: any Error) -> Int32 {
        if error is BrokenPipe { return ExitCode.success.rawValue }
        if let code = error as? ExitCode { return code.rawValue }
        Progress.endCurrent()
        StandardError.line("logtool: " + text(of: error))
        return exitCode(for: error).rawValue
    }

    /// An error as one line to be shown.
    static func text(of error: any Error) -> String {
        DisplayText.shortened(DisplayText.escaped(oneLine(describe(error))))
    }

    /// True if an error is ours, so that the argument parser is not needed to describe it.
    static func isOwn(_ error: any Error) -> Bool {
        switch error {
        case is Failure, is BrokenPipe, is EngineError, is EventLogError, is ProjectionError: true
        default: false
        }
    }

    /// The exit code that an error stands for.
    static func exitCode(for error: any Error) -> ExitCode {
        switch error {
        case let failure as Failure: failure.exitCode
        case let error as EngineError: exitCode(for: error.code)
        case let trouble as EventLogError: exitCode(for: trouble.code)
        case let trouble as ProjectionError: exitCode(for: trouble.code)
        case let trouble as IngestError where trouble.code == .nothingFits: Outcome.no
        case is CancellationError: ExitCode(130)
        default: Outcome.trouble
        }
    }

    /// The codes that scripts tell apart; every other one is trouble.
    private static func exitCode(for code: EventLogError.Code) -> ExitCode {
        switch code {
        case .noLog: Outcome.noLog
        case .locked: Outcome.locked
        case .damaged: Outcome.damaged
        case .notFound: Outcome.no
        default: Outcome.trouble
        }
    }

    private static func exitCode(for code: EngineError.Code) -> ExitCode {
        switch code {
        case .no: Outcome.no
        case .trouble: Outcome.trouble
        case .refused: Outcome.refused
        case .locked: Outcome.locked
        }
    }

    /// A state that cannot be given is an answer (1); facts that do not fit their log are damage (3).
    private static func exitCode(for code: ProjectionError.Code) -> ExitCode {
        switch code {
        case .compactedAway, .notFound, .unproved: Outcome.no
        case .damagedFacts: Outcome.damaged
        }
    }

    private static func describe(_ error: any Error) -> String {
        switch error {
        case is CancellationError: return "interrupted"
        case let error as CocoaError: return describe(error)
        case let error as EventLogError where [.noLog, .invalidArgument].contains(error.code): return describe(error)
        default: return String(describing: error)
        }
    }

    /// An error of one that takes a folder of logs for a log.
    private static func describe(_ error: EventLogError) -> String {
        let logs = LogFolder.logs(at: error.object)
        if logs.isEmpty { return error.description }
        return
            "\(error.operation) \"\(error.object)\": it is a folder of \(logs.count) logs, and no log; name one of them, such as "
            + "\(LogFolder.path(of: logs[0], in: error.object)); events, replay, diff, history, audit and stats read them as one"
    }

    /// An error of Foundation's files, whose own text is a dump of its members.
    private static func describe(_ error: CocoaError) -> String {
        guard let cause = error.underlying as? POSIXError, let path = error.filePath ?? error.url?.path else {
            return String(describing: error)
        }
        return "use file \"\(path)\": \(DiskRoom.text(cause.code.rawValue))"
    }

    /// The text without line ends, so that scripts read one line for each failure.
    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// The parser's messages are sentences; ours begin in lower case and end without a full stop.
    private static func sentenceFragment(_ text: String) -> String {
        var fragment = oneLine(text)
        for (sentence, clause) in [(". Did you mean", "; did you mean"), (". Please provide", "; give")] {
            guard let range = fragment.firstRange(of: sentence) else { continue }
            fragment.replaceSubrange(range, with: clause)
        }
        while fragment.hasSuffix(".") { fragment.removeLast() }
        guard let first = fragment.first, fragment.dropFirst().first?.isLowercase == true else { return fragment }
        return first.lowercased() + fragment.dropFirst()
    }
}
