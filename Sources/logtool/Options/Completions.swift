import ArgumentParser
import Clients
import EventLog
import Projections

/// Shell completions for arguments: names known to this build, and names in the log on the command line. Errors give no
/// completions, because a shell shows no messages here.
///
/// The shell runs the program for each completion, so names come from tables of names alone; no event is read.
enum Completions {
    /// The profiles.
    static let profiles = CompletionKind.list(Profile.allCases.map(\.rawValue))

    /// The parts of the state document.
    static let sections = CompletionKind.list(Section.allCases.map(\.rawValue))

    /// The sources of the log on the command line.
    static let sources = CompletionKind.custom { words, _, _ in names(in: words)?.sources ?? [] }

    /// The kinds of that log's events.
    static let kinds = CompletionKind.custom { words, _, _ in names(in: words)?.kinds() ?? [] }

    /// The names in the log that the first fitting word names; `nil` if no word names a log.
    private static func names(in words: [String]) -> KnownNames? {
        // The words may be a command, options with their values, and the log at any place among them. Whatever opens is
        // the log.
        for word in words.dropFirst() where !word.hasPrefix("-") {
            var path = word
            if case .log(let log, _, _)? = try? StateReference.parse(word) { path = log }
            if let store = try? EventStore.open(at: path) { return try? store.read { try KnownNames($0) } }
        }
        return nil
    }
}
