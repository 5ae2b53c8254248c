/// An error of a replay or a compaction.
public struct ProjectionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Hashable, Sendable {
        /// The point is before the last compaction.
        case compactedAway
        /// The state contains nothing of that name.
        case notFound
        /// The facts that a compaction stored are unreadable.
        case damagedFacts
        /// A compaction would have changed the state (I13).
        case unproved
    }

    /// The kind of error.
    public let code: Code
    /// The operation and its object, what is wrong, and what to do next.
    public let description: String

    /// Makes an error.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The error for facts that this program cannot read. `reason` quotes nothing of them.
    static func facts(_ reason: String) -> ProjectionError {
        ProjectionError(.damagedFacts, "read the facts of the last compaction: \(reason); run logtool verify")
    }
}
