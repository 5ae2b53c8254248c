import ArgumentParser
import EventLog
import Projections

/// What the shell is offered for an argument: what exists in this build, and in the log that the line names.
enum Completions {
    /// The profiles.
    static let profiles = CompletionKind.list(Profile.allCases.map(\.rawValue))

    /// The parts of the state document.
    static let sections = CompletionKind.list(Section.allCases.map(\.rawValue))

    /// The sources of the log that the command line names.
    static let sources = CompletionKind.custom { words, _, _ in names(in: words)?.sources ?? [] }

    /// The kinds of its events.
    static let kinds = CompletionKind.custom { words, _, _ in names(in: words)?.kinds() ?? [] }

    /// The names in the first word that is a log, or a state of one.
    private static func names(in words: [String]) -> KnownNames? {
        for word in words.dropFirst() where !word.hasPrefix("-") {
            var path = word
            if case .log(let log, _, _)? = try? StateReference.parse(word) { path = log }
            if let store = try? EventStore.open(at: path) { return try? store.read { try KnownNames($0) } }
        }
        return nil
    }
}
