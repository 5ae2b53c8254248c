/// What went wrong with a log: while doing what, on what, why, and what to do next.
public struct EventLogError: Error, Hashable, Sendable {
    /// What kind of trouble it is; scripts get their exit code from it.
    public struct Code: Hashable, Sendable {
        /// A short name.
        public let name: String

        /// There is no log at the path.
        public static let noLog = Code(name: "noLog")
        /// The log's format is newer than this program reads.
        public static let newerFormat = Code(name: "newerFormat")
        /// Something in the log is not as it was written.
        public static let damaged = Code(name: "damaged")
        /// Another process holds a lock for longer than was allowed to wait.
        public static let locked = Code(name: "locked")
        /// A source, kind, key, attribute or payload breaks a limit.
        public static let invalidEnvelope = Code(name: "invalidEnvelope")
        /// A key of the batch is held already with another payload.
        public static let keyConflict = Code(name: "keyConflict")
        /// The disk is full, a file cannot be read or written, or the environment refuses.
        public static let io = Code(name: "io")
        /// What was asked for is not in the log.
        public static let notFound = Code(name: "notFound")
        /// The call does not fit the log's state, or an argument is wrong.
        public static let invalidArgument = Code(name: "invalidArgument")
    }

    /// What kind of trouble it is.
    public let code: Code
    /// What was being done, such as `append to`.
    public let operation: String
    /// What it was done to, such as a path, a source or a sequence.
    public let object: String
    /// What is wrong, with expected and found.
    public let reason: String
    /// What to do next; empty where there is nothing to do.
    public let advice: String
    /// The event that the error is about, where there is one: of a `keyConflict` the holder of the key.
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
    /// What to say where a part is to be changed.
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
