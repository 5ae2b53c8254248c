/// What went wrong with a replay: while doing what, on what, why, and what to do next.
public struct ProjectionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Code: Hashable, Sendable {
        /// The point lies before the last compaction.
        case compactedAway
        /// Nothing of that name is in the state.
        case notFound
        /// What a compaction stored cannot be read.
        case damagedFacts
        /// A compaction would have changed the state.
        case unproved
    }

    /// What kind of trouble it is.
    public let code: Code
    /// Operation and object, what is wrong, what next.
    public let description: String

    /// Makes an error.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static func facts(_ reason: String) -> ProjectionError {
        ProjectionError(.damagedFacts, "read the facts of the last compaction: \(reason); run logtool verify")
    }
}
