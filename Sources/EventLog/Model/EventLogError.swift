/// An error of a log: what was being done, to what, why it failed, and what to do next.
public struct EventLogError: Error, Hashable, Sendable {
    /// The kind of error; scripts get their exit code from it.
    public struct Code: Hashable, Sendable {
        /// A short name.
        public let name: String

        /// No log exists at the path.
        public static let noLog = Code(name: "noLog")
        /// The log's format is newer than this program reads.
        public static let newerFormat = Code(name: "newerFormat")
        /// Something in the log is not as it was written, or is missing.
        public static let damaged = Code(name: "damaged")
        /// Another process or thread holds a lock for longer than the caller allowed to wait.
        public static let locked = Code(name: "locked")
        /// A source, kind, key, attribute or payload breaks a limit of `EnvelopeLimits`, or a recorder uses the source
        /// `logtool`.
        public static let invalidEnvelope = Code(name: "invalidEnvelope")
        /// A key of the batch is already in the log with another payload.
        public static let keyConflict = Code(name: "keyConflict")
        /// The disk is full, a file cannot be read or written, or the environment refuses.
        public static let io = Code(name: "io")
        /// The log does not contain the requested sequence, size or hash.
        public static let notFound = Code(name: "notFound")
        /// The call does not fit the log's state, or an argument is wrong.
        public static let invalidArgument = Code(name: "invalidArgument")
    }

    /// The kind of error.
    public let code: Code
    /// The operation, such as `append to`.
    public let operation: String
    /// The operation's object, such as a path, a source or a sequence.
    public let object: String
    /// The cause: what was expected and what was found.
    public let reason: String
    /// The next step for a person; empty if there is none.
    public let advice: String
    /// The event that the error is about, if there is one; for `keyConflict`, the event that holds the key.
    public let sequence: SequenceNumber?

    /// Makes an error.
    public init(
        _ code: Code,
        operation: String,
        object: String,
        reason: String,
        advice: String = "",
        sequence: SequenceNumber? = nil
    ) {
        self.sequence = sequence
        self.code = code
        self.operation = operation
        self.object = object
        self.reason = reason
        self.advice = advice
    }
}

extension EventLogError {
    /// The error for an attempt to change a part of a log.
    static func isPart(_ operation: String, _ path: String) -> EventLogError {
        EventLogError(
            .invalidArgument,
            operation: operation,
            object: path,
            reason: "the log is a part of another one",
            advice: "import the whole log"
        )
    }
}

extension EventLogError: CustomStringConvertible {
    /// The text that people and scripts read.
    public var description: String {
        let subject = object.isEmpty ? operation : "\(operation) \"\(object)\""
        return advice.isEmpty ? "\(subject): \(reason)" : "\(subject): \(reason); \(advice)"
    }
}
